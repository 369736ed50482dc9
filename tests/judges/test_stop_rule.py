"""Agreement where a third label was asked for on disagreement only: noticed, and not taken for more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

import karat as kt
from crowds import slips, table_of
from karat.judges import agreement, agreement_tests
from karat.records.study_design import Rules

Labels = npt.NDArray[np.int64]


def row(result: kt.records.Result, **wanted: object) -> dict[str, object]:
    found = result.frame
    for name, value in wanted.items():
        found = found.filter(pl.col(name).is_null() if value is None else pl.col(name) == value)
    assert found.height == 1, found
    return found.row(0, named=True)


def stopped(labels: Labels) -> Labels:
    """Three labels per document, the third only where the first two differ."""
    cut = labels.copy()
    cut[labels[:, 0] == labels[:, 1], 2] = -1
    return cut


def test_a_third_label_only_on_disagreement_is_noticed_and_the_first_two_are_read() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    judgments = kt.Judgments.of(table_of(stopped(labels), group="crowd"))
    result = agreement(judgments, draws=200)
    assert result.frame["labels"].to_list() == ["all", "first two"]
    full = agreement(kt.Judgments.of(table_of(labels[:, :2], group="crowd")), draws=200).frame
    assert result.frame[1].drop("labels").equals(full.drop("labels"))
    assert result.frame["fleiss"][0] > result.frame["fleiss"][1] + 0.05
    assert np.isnan(result.frame["fleiss_p"][0])
    assert result.frame["fleiss_p"][1] < 0.001
    assert f"ordinal alpha {full['alpha_ordinal'][0]:.2f}" in result.finding
    assert "first two labels" in result.finding
    assert result.notes[0].startswith("crowd: more than 2 labels only where the first two differed, as the labels show")


def test_time_says_which_labels_came_first() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = table_of(stopped(labels)).with_columns(time="2024-05-1" + pl.col("judge").str.slice(2, 1))
    backwards = kt.Judgments.of(frame.reverse())
    assert agreement(backwards, draws=0).frame.equals(agreement(kt.Judgments.of(frame), draws=0).frame)


def test_the_first_two_differed_even_where_their_order_was_lost() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = table_of(stopped(labels))
    shuffled = agreement(kt.Judgments.of(frame.sample(fraction=1, shuffle=True, seed=3)), draws=0).frame
    kept = agreement(kt.Judgments.of(frame), draws=0).frame
    assert shuffled["labels"].to_list() == ["all", "first two"]
    assert shuffled["raw"][1] == kept["raw"][1]
    assert shuffled["alpha_nominal"][1] == pytest.approx(kept["alpha_nominal"][1], abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_labels_missing_at_random_are_no_stop_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = slips(rng, 60, 4, [0.5, 0.7, 0.9, 0.97, 1.0][seed % 5])
    labels[rng.random(labels.shape) < 0.3] = -1
    assert set(agreement(kt.Judgments.of(table_of(labels)), draws=0).frame["labels"]) == {"all"}


def test_the_stop_rule_inflates_alpha_on_all_labels_and_not_on_the_first_two() -> None:
    """With slips to any grade, alpha of a full design is the square of the share of careful labels."""
    means = []
    for seed in range(20):
        labels = slips(np.random.default_rng(seed), 600, 3, 0.8)
        frame = agreement(kt.Judgments.of(table_of(stopped(labels))), draws=0).frame
        means.append(frame["alpha_ordinal"].to_list() + frame["fleiss"].to_list())
    alpha_all, alpha_two, fleiss_all, fleiss_two = np.mean(means, axis=0)
    assert alpha_two == pytest.approx(0.64, abs=0.01)
    assert fleiss_two == pytest.approx(0.64, abs=0.01)
    assert alpha_all > alpha_two + 0.01
    assert fleiss_all > fleiss_two + 0.08


def by_hand(frame: pl.DataFrame) -> float:
    """Fleiss' kappa of two labels each by another library: documents with one label have no part in it."""
    wide = frame.group_by("doc", maintain_order=True).agg("label").filter(pl.col("label").list.len() == 2)
    labels = np.array(wide["label"].to_list())
    return float(fleiss_kappa(np.stack([(labels == grade).sum(axis=1) for grade in range(4)], axis=1)))


def asked(labels: Labels, apart: int, silent: npt.NDArray[np.bool_]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What a study collects, answer by answer, and the first two labels of each document.

    Two answers; a third where the two are so far apart, or one of them could not tell.
    """
    rows, first = [], []
    for doc, (given, cannot) in enumerate(zip(labels, silent, strict=True)):
        more = cannot[:2].any() or abs(given[0] - given[1]) >= apart
        said = [
            {
                "query": f"q{doc // 10}",
                "doc": f"d{doc}",
                "judge": f"j{place}",
                "label": None if cannot[place] else label,
            }
            for place, label in enumerate(given[: 3 if more else 2].tolist())
        ]
        rows += said
        first += [row for row in said if row["label"] is not None][:2]
    return pl.DataFrame(rows), pl.DataFrame(first)


def test_a_few_who_cannot_tell_do_not_hide_the_rule() -> None:
    """Three in four hundred such answers, judges who are right in 40 % of cases: Fleiss' kappa is .16, not .33."""
    rng = np.random.default_rng(15)
    labels = slips(rng, 4000, 3, 0.4)
    collected, first = asked(labels, 1, rng.random(labels.shape) < 0.0075)
    frame = agreement(collected, draws=0).frame
    assert frame["labels"].to_list() == ["all", "first two"]
    assert frame["fleiss"][1] == pytest.approx(by_hand(first), abs=1e-12)
    assert frame["fleiss"][1] == pytest.approx(0.16, abs=0.02)
    assert frame["fleiss"][0] > 0.28


def test_a_third_label_for_two_that_are_two_grades_apart_is_noticed_too() -> None:
    rng = np.random.default_rng(16)
    labels = slips(rng, 4000, 3, 0.465)
    collected, first = asked(labels, 2, np.zeros(labels.shape, bool))
    frame = agreement(collected.with_columns(time=pl.int_range(pl.len()).cast(pl.String)), draws=0).frame
    assert frame["labels"].to_list() == ["all", "first two"]
    assert frame["fleiss"][1] == pytest.approx(by_hand(first), abs=1e-12)
    assert frame["fleiss"][0] > frame["fleiss"][1] + 0.03


def test_the_rule_of_a_study_need_not_show_in_its_labels() -> None:
    """Four documents with a third label are too few to see a rule by; the study knows that it has one."""
    labels = np.array([[0, 0, -1], [1, 1, -1], [2, 2, -1], [0, 2, 1], [1, 2, 2], [0, 1, 0], [3, 1, 3]])
    judgments = kt.Judgments.of(table_of(labels))
    assert agreement(judgments, draws=0).frame["labels"].to_list() == ["all"]
    known = agreement(replace(judgments, rules=Rules(labels=2)), draws=0)
    assert known.frame["labels"].to_list() == ["all", "first two"]
    assert known.frame["raw"][1] == pytest.approx(3 / 7)
    assert "as the study says" in known.notes[0]


def test_a_difference_says_of_which_labels_both_figures_are() -> None:
    """A crowd with a third label where the first two differ, against two editors who label everything."""
    said = [[0, 0] if n % 4 else [0, 1, 1] for n in range(80)]
    crowd = [(n, f"c{j}", "crowd", label) for n, given in enumerate(said) for j, label in enumerate(given)]
    editors = [(n, f"e{j}", "editors", (n + (j and n % 5 == 0)) % 2) for n in range(80) for j in range(2)]
    rows = [
        {"query": f"q{n % 10}", "doc": f"d{n}", "judge": judge, "group": group, "label": label}
        for n, judge, group, label in (*crowd, *editors)
    ]
    found = agreement_tests(rows, figures=["fleiss"]).frame
    assert found["labels"].to_list() == ["first two, all"]
