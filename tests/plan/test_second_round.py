"""Gold labels in two rounds: new documents only, one file for both, and intervals that hold as often as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.pool import Pool
from karat.correction.ppi import powered
from karat.plan.gold_selection import GoldPlan, chances, guessed_chances, joint_probabilities, plan_gold
from karat.simulate import TwoSystems, two_systems
from karat.simulate.two_systems import JudgeKind
from karat.stats.sampling import draw, inclusion_probabilities
from pools import pool_of_study
from simulated import THOROUGH, about, studies


def first_round(study: TwoSystems, n: int, seed: int, *, unequal: bool = False) -> Pool:
    """A first round among documents that count: all as likely, or as unlike as one to seven for no good reason."""
    counts = (study.rank > 0).sum(axis=1) == 1
    size = np.random.default_rng(seed + 1000).uniform(0.2, 1.5, len(counts)) if unequal else np.ones(len(counts))
    chance = inclusion_probabilities(np.where(counts, size, 0.0), n)
    return pool_of_study(study, draw(chance, seed=seed), chance)


def second_round(study: TwoSystems, pool: Pool, n: int, seed: int) -> Pool:
    """New documents beside those of the pool, drawn where the label is often wrong: labels of 1, in this test."""
    counts = ((study.rank > 0).sum(axis=1) == 1).astype(float)
    guessed = guessed_chances(pool, counts)
    chance = chances(counts * (1 + study.label), guessed, 0.05 * counts, n, ~pool.drawn)
    new = draw(np.where(pool.drawn, 0.0, chance), seed=seed)
    joint = joint_probabilities(pool, guessed, chance)
    return replace(
        pool, gold=np.where(new, study.truth, pool.gold), probability=np.where(pool.drawn | new, joint, np.nan)
    )


def answered(plan: GoldPlan, study: TwoSystems, rows: int | None = None) -> kt.Judgments:
    """The plan's file with its empty labels filled in, the first so many of them."""
    truth = study.gold(np.ones(len(study.truth), bool), 1.0).frame.select("query", "doc", told="label")
    file = plan.to_frame().join(truth, on=["query", "doc"], maintain_order="left").with_row_index("row")
    asked = plan.frame.height if rows is None else rows
    known = pl.when(pl.col("row") < asked).then("told").otherwise("label")
    return kt.Judgments.of(file.with_columns(label=known).drop("row", "told"))


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.evidence
def test_both_rounds_together_are_right_on_average(unequal: bool) -> None:
    study = two_systems(30, difference=0.05, judge="by document", seed=3)
    sign = ((study.rank[:, 1] > 0) * 1.0 - (study.rank[:, 0] > 0)) / study.depth / study.queries
    error = sign * (study.truth - study.label)
    found = []
    for seed in studies(150, 3000):
        pool = first_round(study, 60, seed, unequal=unequal)
        found.append(float((error * second_round(study, pool, 50, seed + 5000).inverse).sum()))
    off = np.mean(found) - error.sum()
    assert abs(off) < 3 * np.std(found) / np.sqrt(len(found))


@pytest.mark.parametrize(("judge", "unequal"), [("lenient", True), ("by document", False)])
@pytest.mark.evidence
def test_intervals_of_both_rounds_hold_and_are_as_narrow_as_of_one_large_round(judge: JudgeKind, unequal: bool) -> None:
    held: dict[bool, list[bool]] = {True: [], False: []}
    widths: dict[str, list[float]] = {"first": [], "both": [], "at once": []}
    for seed in studies(60, 2000):
        study = two_systems(80, difference=0.03, judge=judge, seed=seed)
        truth = float((study.truth * ((study.rank[:, 1] > 0) * 1.0 - (study.rank[:, 0] > 0))).sum()) / 800
        first = first_round(study, 150, seed, unequal=unequal)
        both = second_round(study, first, 100, seed + 5000)
        for fixed, true in ((False, 0.03), (True, truth)):
            found = powered(both, fixed=fixed).difference(0, 1)
            held[fixed].append(found.low <= true <= found.high)
        for name, pool in (("first", first), ("both", both), ("at once", first_round(study, 250, seed))):
            found = powered(pool).difference(0, 1)
            widths[name].append(found.high - found.low)
    for hits in held.values():
        assert np.mean(hits) == about(0.95, len(hits), off=0.005)
    assert np.mean(widths["both"]) < 0.9 * np.mean(widths["first"])
    # A first round as unequal as this one for no reason is of less use than it might be.
    assert np.mean(widths["both"]) < (1.2 if unequal else 1.05 if THOROUGH else 1.1) * np.mean(widths["at once"])


def test_new_documents_only_are_drawn_and_the_file_holds_both_rounds() -> None:
    study = two_systems(60, judge="lenient", seed=1)
    first = answered(plan_gold(study.judgments(), study.runs(), "P@10", 100), study)
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 80, pilot=first, seed=2)
    assert plan.frame.height == 80
    assert plan.frame.join(first.frame, on=["query", "doc"], how="semi").height == 0
    assert (plan.labelled, plan.counting) == (100, 480 - 100)
    assert "100 have a gold label; 380 of the others count more" in plan.finding
    file = plan.to_frame()
    assert file.height == 180
    assert file.group_by("round").agg(pl.len(), pl.col("label").count()).sort("round").rows() == [
        (1, 100, 100),
        (2, 80, 0),
    ]
    # 100 of 480 before, 80 of the 380 others now: all in all the chance is about 180 of 480.
    assert 1 / (1 / file["probability"]).mean() == pytest.approx(180 / 480, abs=0.03)
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=answered(plan, study), draws=100)
    assert found.methods.filter(pl.col("method") == "ppi")["n_gold"][0] == 180


def test_a_second_round_that_is_half_done_counts_for_all_of_it_and_one_not_begun_is_refused() -> None:
    study = two_systems(60, judge="lenient", seed=1)
    first = answered(plan_gold(study.judgments(), study.runs(), "P@10", 100), study)
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 80, pilot=first, seed=2)
    half = kt.correction.gold_sample.Gold.of(answered(plan, study, 40))
    assert (1 / half.frame["probability"]).sum() == pytest.approx(480, rel=0.12)
    assert any("40 drawn documents of 80 without a gold label" in note for note in half.notes)
    with pytest.raises(kt.BadInput, match="a round without any"):
        kt.correction.gold_sample.Gold.of(answered(plan, study, 0))


def test_a_third_round_goes_on_from_the_file_of_two() -> None:
    """480 documents count; what 180 gold labels stand for varies by some 17 from study to study."""
    stand_for = []
    for seed in range(6):
        study = two_systems(60, judge="lenient", seed=10 + seed)
        labels = plan_gold(study.judgments(), study.runs(), "P@10", 60, seed=seed)
        for turn in (1, 2):
            pilot = answered(labels, study)
            labels = plan_gold(study.judgments(), study.runs(), "P@10", 60, pilot=pilot, seed=10 * seed + turn)
        assert sorted(labels.to_frame()["round"].unique()) == [1, 2, 3]
        full = kt.correction.gold_sample.Gold.of(answered(labels, study)).frame
        assert full.height == 180
        stand_for.append((1 / full["probability"]).sum())
    assert np.mean(stand_for) == pytest.approx(480, abs=3 * 17 / np.sqrt(6))


def test_labels_drawn_nobody_knows_how_speak_for_themselves_alone() -> None:
    study = two_systems(60, judge="lenient", seed=5)
    liked = study.gold((study.label == 1) & (np.arange(len(study.label)) % 3 == 0), 1.0)
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 80, pilot=liked.frame.drop("probability"))
    assert plan.earlier is not None
    assert (plan.earlier["probability"] == 1).all()
    assert any("does not say with which probability" in note for note in plan.notes)
    # Those on documents that both show are not beside any new ones.
    assert any("count alike for all systems left out" in note for note in plan.notes)
    other = two_systems(60, judge="lenient", seed=5, shared=0)
    b_only = other.gold((other.rank[:, 1] > 0) & (np.arange(len(other.label)) % 4 == 0), 0.25)
    strange = plan_gold(other.judgments(), other.runs(), "P@10", 80, pilot=b_only)
    assert any("not drawn for these runs" in note for note in strange.notes)
    assert strange.earlier is not None
    assert (strange.earlier["probability"] == 1).all()


def test_a_pilot_of_other_documents_is_left_out_and_one_of_all_leaves_nothing_to_draw() -> None:
    study = two_systems(20, seed=6)
    strangers = kt.Judgments.of([{"query": "000001", "doc": "none", "label": 1, "probability": 0.5}])
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 30, pilot=strangers)
    assert plan.earlier is None
    assert plan.to_frame().equals(plan_gold(study.judgments(), study.runs(), "P@10", 30).to_frame())
    assert any("1 gold label of the pilot on documents that these systems do not show" in note for note in plan.notes)
    everything = study.gold(np.ones(len(study.truth), bool), 1.0)
    with pytest.raises(kt.Undefined, match="nothing is left to draw"):
        plan_gold(study.judgments(), study.runs(), "P@10", 30, pilot=everything)


def test_as_many_as_drawn_uniformly_is_right_for_a_second_round() -> None:
    # Ten documents a query of which two count, 40 of these 80 known: of the 360 others, 20 of the 40 that count are
    # drawn, and a uniform draw that leaves as much to chance takes half of all.
    docs = [f"d{i}" for i in range(10)]
    other = [docs[9], *docs[1:9], docs[0]]
    labels = {f"q{i:02d}": {doc: (i + place) % 2 for place, doc in enumerate(docs)} for i in range(40)}
    runs = {
        name: {query: {doc: float(10 - place) for place, doc in enumerate(order)} for query in labels}
        for name, order in (("a", docs), ("b", other))
    }
    first = plan_gold(labels, runs, "DCG@10", 40)
    done = kt.Judgments.of(first.frame.with_columns(label=pl.int_range(pl.len()) % 2 * 1.0))
    plan = plan_gold(labels, runs, "DCG@10", 20, pilot=done)
    assert plan.frame.height == 20
    assert plan.as_many_uniform == pytest.approx(180, rel=0.05)


def test_a_document_with_two_chances_is_refused() -> None:
    rows = [{"query": "q", "doc": "d", "label": 1.0, "probability": p} for p in (0.2, 0.5)]
    # Without names they are two people's, and still one document drawn twice.
    with pytest.raises(kt.BadInput, match=r"document d of query q: expected one probability, found 0\.2"):
        kt.correction.gold_sample.Gold.of(kt.Judgments.of(rows))
    named = kt.Judgments.of([row | {"judge": "ann"} for row in rows])
    with pytest.raises(kt.BadInput, match="pilot=FIRST"):
        kt.correction.gold_sample.Gold.of(named)
    rows = [
        {"query": "q", "doc": "d", "label": label, "probability": p, "judge": "a"}
        for label, p in ((1, 0.2), (None, 0.5))
    ]
    with pytest.raises(kt.BadInput, match="one probability"):
        kt.correction.gold_sample.Gold.of(kt.Judgments.of(rows))
