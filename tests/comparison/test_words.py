"""What is said beside the verdict is true: gold labels contradict, or are too few to tell, and never both."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.comparison import Comparer
from karat.comparison.interim import Look
from karat.comparison.methods import notes_on
from karat.correction import calibration as evidence
from karat.correction.estimate import Estimate
from karat.correction.estimators import WithGold
from karat.correction.ppi import powered
from karat.records.result import Caution
from karat.simulate import two_systems
from karat.simulate.graded_pair import graded_pair
from pools import pool_of_study

AGAINST, TOO_FEW, NO_SIGN = "gold labels do not bear it out", "too few gold labels to tell", "no sign that the labels'"


def notes(judge: Literal["fair", "lenient"], difference: float, queries: int, gold: int, seed: int) -> str:
    """What is noted of one study by P@10, as the labels have it and with gold labels drawn uniformly."""
    study = two_systems(queries, difference=difference, judge=judge, leniency=0.3, seed=seed)
    drawn = study.draw_gold(gold, seed + 1_000_000)
    pool = pool_of_study(study, drawn, gold / len(drawn))
    plain = Estimate.of_values("plain", pool.systems, pool.by_query(pool.predicted))
    return "; ".join(
        notes_on({"plain": plain, "ppi": powered(pool)}, "ppi", WithGold(), None, Look(0.95, None), "sample")
    )


def test_few_gold_labels_are_not_said_to_contradict_what_is_true() -> None:
    """B is better by 0.05, the judge is fair: gold labels that seem to contradict it do so by chance."""
    said = [notes("fair", 0.05, 150, 100, seed) for seed in range(300)]
    assert np.mean([TOO_FEW in one for one in said]) > 0.4
    assert np.mean([AGAINST in one for one in said]) < 0.05
    assert not any(AGAINST in one and (NO_SIGN in one or "errors favour B" not in one) for one in said)


def test_many_gold_labels_contradict_a_judge_who_favours_one_system() -> None:
    said = [notes("lenient", 0.0, 300, 1500, seed) for seed in range(60)]
    assert np.mean([AGAINST in one for one in said]) > 0.8
    assert not any(TOO_FEW in one for one in said)
    assert all("the labels' errors favour B" in one for one in said)


def test_nothing_is_contradicted_for_these_queries_only() -> None:
    study = two_systems(100, judge="lenient", leniency=0.3, seed=1)
    gold = study.gold(study.draw_gold(600, 2), 600 / len(study.truth))
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=gold, queries="fixed")
    assert not any("taken as they are" in note for note in found.notes)
    row = found.methods.filter(found.methods["method"] == "ppi").row(0, named=True)
    assert np.isfinite([row["low"], row["high"]]).all()


@pytest.mark.parametrize(("share", "said"), [(1.0, "the difference is known, not estimated"), (0.02, ""), (0.2, "")])
def test_these_queries_only_have_an_interval_or_the_reason_why_not(share: float, said: str) -> None:
    study = two_systems(12, difference=0.05, seed=3)
    drawn = np.random.default_rng(4).random(len(study.truth)) < share
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=study.gold(drawn, share), queries="fixed")
    row = found.methods.filter(found.methods["method"] == "ppi")
    interval = row.height > 0 and np.isfinite(row["low"][0])
    assert interval or found.verdict == "cannot say" or (said and said in " ".join(found.notes))
    assert found.reason


@pytest.mark.parametrize(
    ("labels", "uniform", "queries", "measure", "refused"),
    [
        (340, 0.0, "fixed", "nDCG@10", True),
        (340, 0.0, "sample", "nDCG@10", False),
        (340, 0.0, "fixed", "DCG@10", False),
        (120, 0.0, "fixed", "nDCG@10", False),
        (340, 0.2, "fixed", "nDCG@10", False),
    ],
)
def test_an_interval_that_rests_on_the_model_is_refused_with_the_remedy(
    labels: int, uniform: float, queries: Any, measure: str, refused: bool
) -> None:
    """30 queries have 420 documents that lists show, and 480 that none does; the latter had a chance if `uniform`."""
    study = graded_pair(30, seed=3)
    plan = kt.plan_gold(study.judgments(), study.runs(), "nDCG@10", labels, uniform=uniform, seed=4).frame
    gold = plan.drop("label").join(study.judgments(study.truth).frame, on=["query", "doc"], maintain_order="left")
    found = kt.compare(study.judgments(), study.runs(), measure, gold=gold, queries=queries, draws=100)
    assert (found.verdict == "cannot say") == refused
    assert all(remedy in found.reason for remedy in ('queries="sample"', "take DCG")) == refused
    assert "uniform=" not in found.reason  # on real runs it made coverage worse


def test_pairs_of_systems_that_the_model_alone_tells_apart_have_no_interval() -> None:
    """A and its copy with two documents swapped, which have gold labels for sure, and B, which the draw decides."""
    study = graded_pair(30, seed=3)
    a, b = study.runs()
    swapped = {1: 2, 2: 1}
    near = a.frame.drop("score").with_columns(system=pl.lit("A2"), rank=pl.col("rank").replace(swapped))
    runs = [a, b, kt.Runs.check(near)]
    shown = (study.rank <= 10).any(axis=1)
    sizes = np.where(study.rank[:, 0] <= 2, 1.0, 0.2 * shown)
    gold = study.gold(np.random.default_rng(1).random(len(shown)) < sizes, sizes)
    found = kt.compare(study.judgments(), runs, gold=gold, queries="fixed", draws=100)
    pair = {frozenset((row["a"], row["b"])): row["low"] for row in found.pairs.iter_rows(named=True)}
    assert np.isnan(pair[frozenset(("A", "A2"))])
    assert np.isfinite(pair[frozenset(("A", "B"))])
    assert any("1 pair of systems without an interval" in note for note in found.notes)


@pytest.mark.parametrize(("queries", "warned"), [(4, True), (5, True), (9, True), (10, False)])
def test_up_to_nine_queries_are_a_guess(queries: int, warned: bool) -> None:
    study = two_systems(queries, seed=2)
    found = kt.compare(study.judgments(), study.runs(), "P@10")
    assert any(note == f"{queries} queries only: the interval is a guess" for note in found.notes) == warned


def test_the_judge_is_calibrated_once_for_several_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    study, asked = graded_pair(30, seed=1), list[int]()
    true = evidence.calibrate

    def counted(*given: Any, **named: Any) -> Any:
        asked.append(1)
        return true(*given, **named)

    monkeypatch.setattr(evidence, "calibrate", counted)
    drawn = np.random.default_rng(1).random(len(study.truth)) < 0.2
    gold = study.gold(drawn, np.full(len(drawn), 0.2))
    comparer = Comparer(study.judgments(), study.runs(), gold=gold, draws=100)
    several = [comparer.by(name) for name in ("P@10", "DCG@10", "nDCG@10")]
    assert len(asked) == 1
    alone = kt.compare(study.judgments(), study.runs(), "DCG@10", gold=gold, draws=100)
    assert several[1].to_dict() == alone.to_dict()


def test_a_column_to_calibrate_with_is_told_where_it_has_gaps_and_refused_where_it_tells_nothing() -> None:
    study = graded_pair(30, seed=1)
    frame = study.judgments().frame.select("query", "doc", "label")
    drawn = np.random.default_rng(1).random(len(study.truth)) < 0.2
    gold = study.gold(drawn, np.full(len(drawn), 0.2))
    holes = [None if place % 9 == 0 else float(one) for place, one in enumerate(study.truth)]
    labels = frame.with_columns(guess=pl.Series(holes), always=pl.lit(1.0))
    called = [
        lambda column: kt.compare(labels, study.runs(), "P@10", gold=gold, calibrate=[column]),
        lambda column: kt.score(labels, study.runs(), "P@10", gold=gold, calibrate=[column], draws=0),
        lambda column: kt.plan_gold(labels, study.runs(), "P@10", 20, pilot=gold, calibrate=[column]),
        lambda column: kt.pilot_variance(labels, study.runs(), "P@10", gold=gold, calibrate=[column]),
    ]
    for call in called:
        assert "guess has no value for 100 of 900 documents: the mean is taken" in call("guess").notes
        with pytest.raises(kt.BadInput, match="values that differ between documents, found 1 everywhere"):
            call("always")


@pytest.mark.parametrize(
    ("measure", "queries", "warned"),
    [("nDCG@10", "sample", False), ("nDCG@10", "fixed", True), ("RR@10", "fixed", False), ("DCG@10", "fixed", None)],
)
def test_measures_that_rest_on_a_model_say_so(measure: str, queries: Any, warned: bool | None) -> None:
    study = graded_pair(30, seed=3)
    plan = kt.plan_gold(study.judgments(), study.runs(), "nDCG@10", 120, seed=4).frame
    gold = plan.drop("label").join(study.judgments(study.truth).frame, on=["query", "doc"], maintain_order="left")
    found = kt.compare(study.judgments(), study.runs(), measure, gold=gold, queries=queries, draws=100)
    notes = [note for note in found.notes if "rests on a model of unlabelled documents" in note]
    expected = [] if warned is None else [warned]
    assert [isinstance(note, Caution) for note in notes] == expected
    assert ["82 to 89% of such 95% intervals held" in note for note in notes] == expected
    assert all(len(note) < 200 for note in notes)
