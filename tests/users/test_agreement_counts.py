"""The counts of Sanderson et al. (SIGIR 2010): every percentage of Tables 1, 2 and 4 to 9, and what is significant."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from karat.stats.hypothesis_tests import welch_p
from karat.users.measure_agreement import figures

#: Column: counts of agree, rank equal, disagree (and ties), and the percentages printed.
TABLES: dict[str, dict[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "1": {
        "alpha-nDCG": ((50, 4, 24), (64, 5, 31)),
        "small": ((25, 2, 15), (60, 5, 36)),
        "large": ((25, 2, 9), (69, 6, 25)),
    },
    "2": {
        "alpha-nDCG": ((50, 4, 24), (64, 5, 31)),
        "CR": ((54, 4, 20), (69, 5, 26)),
        "NRBP": ((51, 4, 24), (65, 5, 30)),
        "IA-PC": ((28, 1, 18), (60, 2, 38)),
    },
    "4": {
        "nDCG": ((160, 21, 66), (65, 9, 27)),
        "MRR": ((159, 21, 57), (67, 9, 24)),
        "P(10)": ((131, 18, 61), (62, 9, 29)),
        "ERR": ((164, 21, 62), (66, 9, 25)),
    },
    "5": {
        "nDCG": ((160, 21, 66), (65, 9, 27)),
        "small": ((96, 16, 43), (62, 10, 28)),
        "large": ((64, 5, 23), (70, 5, 25)),
    },
    "6": {"nDCG": ((88, 10, 24), (72, 8, 20))},
    "7": {
        "nDCG": ((72, 11, 42), (58, 9, 34)),
        "MRR": ((71, 11, 33), (62, 10, 29)),
        "P(10)": ((43, 8, 37), (49, 9, 42)),
        "ERR": ((76, 11, 38), (61, 9, 30)),
    },
    "8": {
        "nDCG": ((72, 11, 42, 3), (56, 9, 33, 2)),
        "MRR": ((71, 11, 33, 13), (55, 9, 26, 10)),
        "P(10)": ((43, 8, 37, 40), (34, 6, 29, 31)),
        "ERR": ((76, 11, 38, 3), (59, 9, 30, 2)),
    },
    "9": {
        "nDCG": ((160, 21, 66), (65, 9, 27)),
        "informational": ((146, 21, 62), (64, 9, 27)),
        "navigational": ((14, 0, 4), (78, 0, 22)),
    },
}
SIZES = {"1": (78, 42, 36), "2": (78, 78, 79, 47), "4": (247, 237, 210, 247), "5": (247, 155, 92), "6": (122,)}
SIZES |= {"7": (125, 115, 88, 125), "8": (128,) * 4, "9": (247, 229, 18)}


def column(counts: tuple[int, ...], ties: str = "out") -> dict[str, Any]:
    agree, equal, disagree, tied = (*counts, 0)[:4]
    return figures(agree, equal, disagree, tied, ties, 0.95)


def between(one: tuple[int, ...], two: tuple[int, ...]) -> float:
    """The paper's t-test of two columns, each of pairs of its own."""
    return welch_p(one[0], sum(one[:3]), two[0], sum(two[:3]))


@pytest.mark.parametrize("number", TABLES)
def test_all_percentages_follow_from_the_counts(number: str) -> None:
    for size, (counts, printed) in zip(SIZES[number], TABLES[number].values(), strict=True):
        found = column(counts, "in" if number == "8" else "out")
        assert found["n"] == size
        names = ("agree_share", "equal_share", "disagree_share", "ties_share")
        for name, percent in zip(names, printed, strict=False):
            assert 100 * found[name] == pytest.approx(percent, abs=0.5), name


def test_users_agree_with_every_measure_but_p10_where_both_lists_have_something() -> None:
    for number in ("1", "2", "4", "5", "6", "8", "9"):
        whole = column(next(iter(TABLES[number].values()))[0][:3])
        assert whole["p"] < 0.05
        assert whole["t_p"] < 0.05
    p = {name: column(counts)["p"] for name, (counts, _) in TABLES["7"].items()}
    assert p["P(10)"] > 0.5
    assert max(p["nDCG"], p["MRR"], p["ERR"]) < 0.05


def test_a_list_without_anything_relevant_makes_a_significant_difference() -> None:
    assert between((88, 10, 24), (72, 11, 42)) < 0.05


@pytest.mark.parametrize("number", ["1", "5", "9"])
def test_small_and_large_differences_and_kinds_of_subtopics_do_not(number: str) -> None:
    _, one, two = (counts for counts, _ in TABLES[number].values())
    assert between(one, two) > 0.05


def test_no_two_measures_of_table_4_differ() -> None:
    columns = [counts for counts, _ in TABLES["4"].values()]
    assert min(between(one, two) for one, two in combinations(columns, 2)) > 0.05


def test_no_pairs_have_no_share_and_no_test() -> None:
    assert np.isnan(column((0, 0, 0))["agree_share"])
    assert np.isnan(between((0, 0, 0), (1, 0, 0)))
