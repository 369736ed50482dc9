"""One judge's perfect ranking, scored with another's labels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.users import robustness


def paired(noise: float, seed: int = 0) -> kt.Judgments:
    """Two judges of twelve queries who give the same label, or with some probability any."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(12):
        for doc in range(20):
            truth = int(rng.choice(3, p=[0.6, 0.25, 0.15]))
            for judge in "ab":
                label = int(rng.integers(0, 3)) if rng.random() < noise else truth
                rows.append({"query": f"q{query}", "doc": f"d{doc}", "judge": judge, "label": label})
    return kt.Judgments.of(rows)


def test_judges_who_agree_give_each_other_full_marks() -> None:
    found = robustness(paired(0.0), 2).frame
    assert found["mean"].to_list() == pytest.approx([1.0] * found.height)
    assert found["n"].to_list() == [24] * found.height


def test_the_papers_measures_are_there_and_weights_make_them_steadier() -> None:
    found = robustness(paired(0.4), 2)
    frame = {row["measure"]: row for row in found.frame.iter_rows(named=True)}
    assert list(frame) == [
        "AP(rel=2)",
        "GAP(gains=udm(1/2))",
        "GAP(gains=udm(1/3))",
        "GAP(gains=udm(1/4))",
        "nDCG(gains='exp',discount='zipf')",
        "nDCG(gains='exp')",
        "nDCG(gains=udm(1/2))",
        "nDCG(gains=udm(1/3))",
        "nDCG(gains=udm(1/4))",
    ]
    # As in the paper's Table 2: the more users a level may please, the higher and the steadier the score.
    assert frame["AP(rel=2)"]["mean"] < frame["GAP(gains=udm(1/2))"]["mean"] < frame["GAP(gains=udm(1/4))"]["mean"]
    assert frame["nDCG(gains=udm(1/4))"]["sd"] < frame["AP(rel=2)"]["sd"]


def test_queries_with_one_judge_cannot_tell() -> None:
    alone = kt.Judgments.of(
        pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "label": [1, 0], "judge": ["x", "x"]})
    )
    with pytest.raises(Undefined, match="no query was judged by two judges"):
        robustness(alone)
    with pytest.raises(kt.BadInput, match="the column judge for paired judgments"):
        robustness(kt.Judgments.of({"q": {"a": 1}}))


def test_queries_without_a_top_label_are_left_out_and_counted() -> None:
    labels = paired(0.0).frame.with_columns(
        # In one query nobody says 2: average precision of what is not there is no 0.
        label=pl.when(pl.col("query") == "q0").then(pl.col("label").clip(upper_bound=1)).otherwise("label")
    )
    found = robustness(labels, 2)
    ap = found.frame.filter(measure="AP(rel=2)").row(0, named=True)
    assert (ap["mean"], ap["n"], ap["n_queries"]) == (pytest.approx(1.0), 22, 11)
    assert found.frame.filter(measure="nDCG(gains='exp')")["n"].to_list() == [24]
    assert any(note.startswith("2 of 24 rankings left out for AP(rel=2)") for note in found.notes)


def renamed(labels: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The same labels with other names for everything, in another order."""
    rng = np.random.default_rng(seed)
    for column in ("query", "doc", "judge"):
        names = labels[column].unique().sort().to_list()
        labels = labels.with_columns(pl.col(column).replace_strict(names, rng.permutation(names).tolist()))
    return labels.sample(fraction=1, shuffle=True, seed=seed)


def test_figures_do_not_hang_on_names_and_all_pairs_of_judges_count() -> None:
    labels = paired(0.4).frame
    # A third judge as far from both as they are from each other: three pairs with as many documents each.
    third = paired(0.4, seed=1).frame.filter(pl.col("judge") == "a").with_columns(judge=pl.lit("c"))
    labels = pl.concat([labels, third])
    found = robustness(labels, 2).frame
    assert found["n"].to_list()[1:] == [12 * 6] * 8
    for seed in range(4):
        other = robustness(renamed(labels, seed), 2).frame
        for column in ("mean", "sd", "n"):
            assert other[column].to_list() == pytest.approx(found[column].to_list())


def test_labels_of_snippets_and_repeats_change_nothing() -> None:
    labels = paired(0.4).frame
    snippets = labels.with_columns(label=2 - pl.col("label"), surface=pl.lit("snippet"))
    again = labels.with_columns(label=2 - pl.col("label"), surface=pl.lit("page"))
    more = pl.concat([labels.with_columns(surface=pl.lit("page")), snippets, again])
    assert robustness(more, 2).frame.equals(robustness(labels, 2).frame)


def test_grades_above_top_count_as_top() -> None:
    labels = paired(0.4).frame
    rng = np.random.default_rng(3)
    nav = pl.Series(rng.random(labels.height) < 0.5)
    higher = labels.with_columns(label=pl.when((pl.col("label") == 2) & nav).then(3.0).otherwise("label"))
    found = robustness(higher, 2)
    assert found.frame.equals(robustness(labels, 2).frame)
    assert "labels above 2 (3) count as 2" in found.notes


def test_junk_and_grade_0_are_both_worth_nothing() -> None:
    # y calls top what x calls 0, so 0 would be worth as much as 2. Ranked by x, y's labels give 1; ranked by y, a and b
    # in any order, of which only a counts to x: (1 + 1/2) / 2.
    given = {"a": (2, 2), "b": (0, 2), "c": (-2, -2)}
    labels = [
        {"query": query, "doc": doc, "judge": judge, "label": label}
        for query in "12"
        for doc, both in given.items()
        for judge, label in zip("xy", both, strict=True)
    ]
    found = robustness(labels).frame
    assert found.filter(measure="GAP(gains=udm(1/2))")["mean"].to_list() == [pytest.approx((1 + 0.75) / 2)]
