"""The counts of Sanderson et al. (SIGIR 2010): every percentage of Tables 1, 2 and 4 to 9, and what is significant."""

from __future__ import annotations

import pytest

from karat.errors import BadInput
from karat.validity import agreement_from_counts

#: Column: counts of agree, rank equal, disagree (and ties), and the percentages printed.
TABLES = {
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


@pytest.mark.parametrize("number", TABLES)
def test_all_percentages_follow_from_the_counts(number: str) -> None:
    columns = TABLES[number]
    table, _ = agreement_from_counts({k: v[0] for k, v in columns.items()}, ties="in" if number == "8" else "out")
    assert tuple(table.frame["n"]) == SIZES[number]
    for row, (_, printed) in zip(table.frame.iter_rows(named=True), columns.values(), strict=True):
        names = ("agree_share", "equal_share", "disagree_share", "ties_share")
        for name, percent in zip(names, printed, strict=False):
            assert 100 * row[name] == pytest.approx(percent, abs=0.5), (row["measure"], name)


def test_users_agree_with_every_measure_but_p10_where_both_lists_have_something() -> None:
    for number in ("1", "2", "4", "5", "6", "8", "9"):
        table, _ = agreement_from_counts({k: v[0] for k, v in TABLES[number].items()})
        whole = table.frame.row(0, named=True)
        assert whole["p"] < 0.05
        assert whole["t_p"] < 0.05
    seven, _ = agreement_from_counts({k: v[0] for k, v in TABLES["7"].items()})
    p = dict(zip(seven.frame["measure"], seven.frame["p"], strict=True))
    assert p["P(10)"] > 0.5
    assert max(p["nDCG"], p["MRR"], p["ERR"]) < 0.05


def test_a_list_without_anything_relevant_makes_a_significant_difference() -> None:
    _, tests = agreement_from_counts({"score=0": (88, 10, 24), "score>0": (72, 11, 42)})
    assert tests.frame["p"][0] < 0.05
    assert "a significant difference" in tests.finding


@pytest.mark.parametrize("number", ["1", "5", "9"])
def test_small_and_large_differences_and_kinds_of_subtopics_do_not(number: str) -> None:
    columns = {k: v[0] for k, v in list(TABLES[number].items())[1:]}
    _, tests = agreement_from_counts(columns)
    assert tests.frame["p"][0] > 0.05
    assert "no significant difference" in tests.finding


def test_no_two_measures_of_table_4_differ() -> None:
    _, tests = agreement_from_counts({k: v[0] for k, v in TABLES["4"].items()})
    assert tests.frame.height == 6
    assert tests.frame["p"].min() > 0.05
    assert (tests.frame["p_adjusted"] >= tests.frame["p"]).all()


def test_counts_that_are_none_are_refused() -> None:
    for columns in ({"x": (1, 2)}, {"x": (1, -2, 3)}, {}):
        with pytest.raises(BadInput):
            agreement_from_counts(columns)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="out or in"):
        agreement_from_counts({"x": (1, 2, 3)}, ties="half")


def test_no_pairs_have_no_share_and_no_test() -> None:
    table, tests = agreement_from_counts({"x": (0, 0, 0), "y": (1, 0, 0)})
    assert table.frame["agree_share"].is_nan().to_list() == [True, False]
    assert tests.frame["p"].is_nan().all()


@pytest.mark.parametrize(
    "column", [("x", 1, 2), (1.5, 1, 2), (float("nan"), 1, 2), (None, 1, 2), (-1, 1, 2), (1, 2), "123", 7]
)
def test_counts_that_are_no_whole_numbers_are_refused(column: object) -> None:
    with pytest.raises(BadInput, match="the counts of RR"):
        agreement_from_counts({"RR": column})  # type: ignore[dict-item]


def test_whole_numbers_of_any_kind_are_counts() -> None:
    table, _ = agreement_from_counts({"RR": (50.0, 4, 24)})
    assert table.frame["agree"].to_list() == [50]
