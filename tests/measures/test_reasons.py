"""Why a corrected score is missing: what is said of the gold sample is true of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt

TO_COMPARE = "sampled to compare systems"


def study() -> tuple[pl.DataFrame, pl.DataFrame, dict[str, dict[str, dict[str, float]]]]:
    """Labels that err, the truth, and the rankings of two systems."""
    rng = np.random.default_rng(0)
    pairs = [(f"q{query}", f"d{doc:02}") for query in range(40) for doc in range(12)]
    truth = rng.integers(0, 3, len(pairs))
    label = np.clip(truth + rng.integers(-1, 2, len(pairs)), 0, 2)
    query, doc = map(list, zip(*pairs, strict=True))
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for name in runs:
        for place in range(40):
            order = rng.permutation(12)
            runs[name][f"q{place}"] = {f"d{n:02}": float(12 - at) for at, n in enumerate(order[:8])}
    labels = pl.DataFrame({"query": query, "doc": doc, "label": label})
    return labels, labels.with_columns(label=pl.Series(truth)), runs


@pytest.mark.parametrize(("number", "measure"), [(10, "nDCG@5"), (20, "nDCG@5"), (20, "P@5"), (10, "RR")])
def test_a_uniform_sample_is_not_said_to_compare_systems(number: int, measure: str) -> None:
    labels, truth, runs = study()
    gold = truth.sample(number, seed=3).with_columns(probability=pl.lit(number / len(truth)))
    scores = kt.score(labels, runs, measure, gold=gold)
    assert not [text for text in [*scores.means["reason"], *scores.notes] if TO_COMPARE in text or "apart" in text]


def test_a_sample_of_differences_is_said_to_compare_systems() -> None:
    labels, truth, runs = study()
    plan = kt.plan_gold(labels, runs, "P@5", 100, uniform=0.0, seed=1)
    gold = plan.to_frame().drop("label", strict=False).join(truth, on=["query", "doc"])
    scores = kt.score(labels, runs, "P@5", gold=gold)
    assert all(TO_COMPARE in reason for reason in scores.means["reason"])
    assert all("plan_gold" in reason and "--" not in reason for reason in scores.means["reason"])


def test_fixed_queries_narrow_the_interval_of_a_corrected_score() -> None:
    labels, truth, runs = study()
    gold = truth.sample(200, seed=3).with_columns(probability=pl.lit(200 / len(truth)))
    sampled, fixed = (
        kt.score(labels, runs, "P@5", gold=gold, queries=queries).means for queries in ("sample", "fixed")
    )
    assert sampled["value"].to_list() == pytest.approx(fixed["value"].to_list())
    assert ((fixed["high"] - fixed["low"]) < (sampled["high"] - sampled["low"])).all()


def test_fixed_queries_without_gold_labels_are_refused_as_nothing_is_random() -> None:
    labels, _, runs = study()
    with pytest.raises(kt.BadInput, match=r'queries="fixed": expected gold labels.*nothing is random.*give gold='):
        kt.score(labels, runs, "P@5", queries="fixed")
