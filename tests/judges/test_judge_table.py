"""The judge table: figures by hand, and an answer or a reason for any judgments."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowds import crowd
from karat.errors import BadInput, Undefined
from karat.judges.agreement import agreement
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_models import majority_posterior, one_coin
from karat.judges.jackknife import reliability
from karat.judges.judge_table import judge_table
from karat.judges.ordinal_model import ordinal
from karat.labels import Panel
from karat.records import Judgments
from simulated import studies


def said(labels: dict[str, list[int | None]], queries: int = 1) -> Judgments:
    return Judgments.of([
        {"query": f"q{i % queries}", "doc": f"d{i}", "label": label, "judge": judge}
        for judge, given in labels.items()
        for i, label in enumerate(given)
    ])  # fmt: skip


def row(frame: pl.DataFrame, judge: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("judge") == judge, named=True)


def test_a_judge_is_compared_with_the_others_not_with_themselves() -> None:
    table = judge_table(said({"ann": [0, 1, 2], "bob": [0, 1, 0], "eve": [0, 2, 1]})).frame
    # ann: d0 with 0, 0; d1 with 1 and 2, half right; d2 with 0 and 1, wrong.
    assert row(table, "ann")["agreement"] == pytest.approx(1.5 / 3)
    assert row(table, "bob")["agreement"] == pytest.approx(1.5 / 3)
    assert row(table, "eve")["agreement"] == pytest.approx(1 / 3)
    # ann - mean of others: 0, 1 - 1.5, 2 - 0.5.
    assert row(table, "ann")["leniency"] == pytest.approx(1.0 / 3)
    assert row(table, "ann")["leniency_against"] == "others"


def test_repeats_of_ones_own_are_not_agreement() -> None:
    """A repeat is evidence about the judge, not another label: the first counts, and where all do, not as another's."""
    twice = [("ann", 1), ("ann", 1), ("bob", 0)]
    labels = [{"query": "q", "doc": "d", "judge": j, "label": v} for j, v in twice]
    ann = row(judge_table(labels).frame, "ann")
    assert (ann["n"], ann["agreement"]) == (1, 0.0)
    ann = row(judge_table(Panel.of(labels, repeats="all")).frame, "ann")
    assert (ann["n"], ann["agreement"]) == (2, 0.0)


def test_accuracy_against_gold_has_wilsons_interval() -> None:
    """Newcombe 1998: 81 of 263 gives .2553 to .3662 by Wilson's score method."""
    ann = [1] * 81 + [0] * 182
    judgments = said({"ann": ann, "bob": [1] * 263})
    gold = Judgments.of({"q0": {f"d{i}": 1 for i in range(263)}})
    ann_row = row(judge_table(judgments, gold=gold).frame, "ann")
    assert ann_row["n_gold"] == 263
    assert ann_row["accuracy"] == pytest.approx(81 / 263)
    assert ann_row["accuracy_low"] == pytest.approx(0.2553, abs=5e-5)
    assert ann_row["accuracy_high"] == pytest.approx(0.3662, abs=5e-5)
    assert ann_row["leniency"] == pytest.approx(-182 / 263)
    assert ann_row["leniency_against"] == "gold"
    # One query does not tell how sure that is.
    assert np.isnan(ann_row["leniency_low"])


def test_habits_speed_and_silence() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge, "seconds": seconds}
        for judge, given in {
            "ann": [(0, 5.0), (0, 9.0), (1, 30.0), (2, None), (None, 4.0)],
            "bob": [(1, 2.0), (1, 2.0), (1, 2.0), (1, 2.0), (1, 2.0)],
            "mum": [(None, 1.0)],
        }.items()
        for i, (label, seconds) in enumerate(given)
    ]
    table = judge_table(Judgments.of(rows)).frame
    ann, bob, mum = (row(table, name) for name in ("ann", "bob", "mum"))
    assert (ann["n"], ann["cant_tell"], ann["seconds"]) == (4, 0.2, 9.0)
    assert ann["entropy"] == pytest.approx(1.5)
    assert (ann["most_used"], ann["most_used_share"]) == (0.0, 0.5)
    assert (bob["entropy"], bob["most_used_share"]) == (0.0, 1.0)
    assert (mum["n"], mum["cant_tell"], mum["agreement"], mum["likely_spammer"]) == (0, 1.0, None, None)


def test_information_is_raykar_and_yus_score() -> None:
    """Two grades: (sensitivity + specificity - 1) squared."""
    judgments, _ = crowd(1, judges=8, per_judge=60, prior=(0.6, 0.4))
    model = dawid_skene(judgments)
    table = judge_table(judgments).frame
    right = (
        model.confusion.filter(pl.col("truth") == pl.col("label")).group_by("judge").agg(pl.col("probability").sum())
    )
    both = table.join(right, on="judge")
    assert both["information"].to_numpy() == pytest.approx((both["probability"].to_numpy() - 1) ** 2)


def test_reliability_is_the_intraclass_correlation() -> None:
    """Shrout and Fleiss 1979: six targets, four judges, ICC(1,1) = .17."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    judgments = said({f"j{j}": [target[j] for target in ratings] for j in range(4)})
    assert reliability(Panel.of(judgments)) == pytest.approx(0.17, abs=0.005)


def test_one_judge_alone_has_a_row_and_nothing_is_claimed() -> None:
    result = judge_table(said({"ann": [0, 1, 2, 1]}))
    only = row(result.frame, "ann")
    assert only["n"] == 4
    assert np.isnan(only["agreement"])
    assert only["likely_spammer"] is None
    assert any("only one judge" in note for note in result.notes)
    assert result.finding == "Nothing shows whether 1 judge looked at the documents: too few labels to compare."


def test_perfect_agreement_is_no_reason_to_fail() -> None:
    result = judge_table(said({name: [0, 1, 2] * 10 for name in ("ann", "bob", "eve")}, queries=6))
    assert result.frame["agreement"].to_list() == [1.0] * 3
    assert result.frame["leniency"].to_list() == [0.0] * 3
    assert result.frame["leniency_low"].is_nan().all()
    assert result.frame["likely_spammer"].to_list() == [False] * 3


def test_groups_keep_judges_of_the_same_name_apart() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": "ann", "group": group}
        for group, labels in {"crowd": [0, 1, 1], "llm": [0, 1, 0]}.items()
        for i, label in enumerate(labels)
    ]
    table = judge_table(Judgments.of(rows)).frame
    assert table.select("group", "judge", "n").rows() == [("crowd", "ann", 3), ("llm", "ann", 3)]


labels = st.lists(
    st.fixed_dictionaries(
        {
            "query": st.sampled_from(["q1", "q2"]),
            "doc": st.sampled_from(["d1", "d2", "d3"]),
            "label": st.sampled_from([None, 0, 1, 2]),
            "judge": st.sampled_from(["ann", "bob", "eve", None]),
            "group": st.sampled_from(["crowd", "llm", None]),
            "seconds": st.sampled_from([None, 1.0, 7.0]),
            "time": st.sampled_from([None, "2020-01-01", "2020-01-02"]),
        }
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.evidence
@settings(max_examples=len(studies(12, 200)))
@given(labels, st.booleans())
@example([{"query": "q1", "doc": "d1", "label": None, "judge": "ann", "group": "crowd"}], True)
def test_any_judgments_give_a_row_per_judge_or_a_reason(rows: list[dict[str, object]], with_gold: bool) -> None:
    judgments = Judgments.of(pl.DataFrame(rows, schema_overrides={"label": pl.Float64, "group": pl.String}))
    gold = Judgments.of({"q1": {"d1": 1}}) if with_gold else None
    for model in (majority_posterior, one_coin, dawid_skene, ordinal):
        with suppress(BadInput, Undefined):
            json.dumps(model(judgments, gold=gold).to_dict(), allow_nan=False)
    with suppress(BadInput, Undefined):
        result = judge_table(judgments, gold=gold)
        # A group has one row for its people without a name.
        who = judgments.frame.select("judge", *(["group"] if judgments.has("group") else []))
        assert result.frame.height == who.n_unique()
        panel = Panel.of(judgments, gold).of_judges()
        assert result.frame["n"].sum() == len(panel.item)
        assert result.finding.endswith(".")
        json.dumps(result.to_dict(), allow_nan=False)


def test_bad_settings_are_named() -> None:
    judgments, _ = crowd(0, judges=5, per_judge=10)
    with pytest.raises(BadInput, match="level"):
        judge_table(judgments, level=1.0)
    with pytest.raises(BadInput, match="fewest"):
        judge_table(judgments, fewest=1)


def test_people_without_a_name_have_one_row_a_group_and_nobody_is_blamed() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 60)
    rows = [
        {"query": f"q{d % 6}", "doc": f"d{d}", "group": group, "judge": judge, "label": label}
        for d in range(60)
        for group, judge, label in [
            ("crowd", None, int(rng.integers(3))),
            ("crowd", None, int(rng.integers(3))),
            *(("staff", name, int(truth[d])) for name in ("ann", "bob", "eve")),
        ]
    ]
    result = judge_table(pl.DataFrame(rows))
    assert result.frame.select("group", "judge", "n").sort("group", "judge", nulls_last=True).rows() == [
        ("crowd", None, 120),
        ("staff", "ann", 60),
        ("staff", "bob", 60),
        ("staff", "eve", 60),
    ]
    crowd = result.frame.filter(pl.col("judge").is_null())
    assert crowd["likely_spammer"].to_list() == [None]
    # Somebody else without a name is another user: each of the two agrees with the other by chance, in a third.
    assert 0.1 < crowd["agreement"][0] < 0.5


def test_gold_drawn_with_different_chances_is_said_to_count_alike() -> None:
    judgments, gold = crowd(1, judges=6, per_judge=20)
    drawn = gold.frame.with_columns(probability=pl.when(pl.col("label") > 1).then(1.0).otherwise(0.5))
    said = "gold labels were drawn with different probabilities: here each counts alike"
    for result in (judge_table(judgments, gold=drawn), agreement(judgments, drawn, draws=0)):
        assert said in result.notes
    assert said not in judge_table(judgments, gold=gold).notes


def test_people_without_a_name_are_not_counted_as_a_judge() -> None:
    """Ten named judges who look, and nameless people on the same documents."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 40)
    named = [
        {"query": f"q{doc % 8}", "doc": f"d{doc}", "label": float(truth[doc]), "judge": f"j{judge}", "group": "staff"}
        for doc in range(40)
        for judge in range(10)
    ]
    crowd = [{**row, "judge": None, "group": "crowd"} for row in named if row["judge"] in ("j0", "j1")]
    found = judge_table([*named, *crowd])
    assert found.finding.startswith("None of 10 judges looks like a spammer")
    assert "the nameless of crowd: of people without a name nobody can tell who looked" in found.notes
    assert judge_table(crowd).finding == "Nobody has a name: who looked at the documents cannot be told."
