"""The prediction-powered mean: the worked example of its authors' formula, and what weak predictions cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from scipy.optimize import nnls

from karat.correction.pool import Pool
from karat.correction.ppi import out_of_reach, powered

Y = [0, 1, 1, 0, 1, 0, 0, 1, 1, 0]
F = [0.1, 0.8, 0.6, 0.3, 0.9, 0.2, 0.4, 0.7, 0.5, 0.1]
U = [0.2, 0.9, 0.4, 0.6, 0.1, 0.8, 0.3, 0.7, 0.5, 0.2, 0.1, 0.9, 0.6, 0.4, 0.3, 0.8, 0.2, 0.5, 0.7, 0.1]


def every_query() -> Pool:
    """Every query that shows two documents of U, with its value (u + u') / 2 + (y - f) for one of the gold ones.

    Its gold document is one of four and was drawn with chance 1/4. A gold document's own prediction would count a
    quarter too; the fourth document, with the same prediction, takes that away again: in the example the mean of the
    predictions is over documents without gold only.
    """
    rows = list(product(U, U, zip(Y, F, strict=True)))
    predicted = np.array([[u, v, f, f] for u, v, (_, f) in rows]).ravel()
    gold = np.array([[np.nan, np.nan, y, np.nan] for _, _, (y, _) in rows]).ravel()
    return Pool(
        systems=("A",),
        queries=tuple(map(str, range(len(rows)))),
        docs=pl.DataFrame(),
        query=np.repeat(np.arange(len(rows)), 4),
        weight=np.tile([1 / 2, 1 / 2, 1 / 4, -1 / 4], len(rows))[:, None],
        rank=np.tile([1, 2, 3, 4], len(rows)),
        predicted=predicted,
        gold=gold,
        probability=np.where(np.isnan(gold), np.nan, 1 / 4),
    )


def test_the_worked_example_with_predictions_in_full() -> None:
    found = powered(every_query(), tuned=False)
    assert found.scores[0] == pytest.approx(0.505)
    # Over all pairs of U and all gold documents the values vary by var(U)/2 + var(Y - F): that of ten queries' mean
    # is var(U)/20 + var(Y - F)/10, the example's. Variances there divide by n; by n - 1 here.
    n = len(U) ** 2 * len(Y)
    error = np.sqrt(found.covariance[0, 0] * (n - 1) / 10)
    reach = NormalDist().inv_cdf(0.95) * error
    assert (found.scores[0] - reach, found.scores[0] + reach) == pytest.approx((0.324787, 0.685213), abs=1e-6)


def few_of_many(predicted: np.ndarray, truth: np.ndarray, drawn: np.ndarray) -> Pool:
    n = len(truth)
    return Pool(
        systems=("A",),
        queries=tuple(map(str, range(n))),
        docs=pl.DataFrame(),
        query=np.arange(n),
        weight=np.ones((n, 1)),
        rank=np.ones(n, dtype=np.int64),
        predicted=predicted,
        gold=np.where(drawn, truth, np.nan),
        probability=np.where(drawn, drawn.mean(), np.nan),
    )


def test_good_predictions_narrow_the_interval_and_useless_ones_do_not_widen_it() -> None:
    rng = np.random.default_rng(6)
    ratios: dict[str, list[float]] = {"good": [], "useless": []}
    for _ in range(300):
        truth, noise = (rng.random(600) < 0.3).astype(float), rng.random(600)
        drawn = rng.permutation(600) < 60
        predictions = {"good": np.where(noise < 0.95, truth, 1 - truth), "useless": noise}
        alone = powered(few_of_many(np.zeros(600), truth, drawn), tuned=False).covariance[0, 0]
        for kind, predicted in predictions.items():
            found = powered(few_of_many(predicted, truth, drawn)).covariance[0, 0]
            ratios[kind].append(np.sqrt(found / alone))
    assert np.mean(ratios["good"]) < 0.65
    assert np.mean(ratios["useless"]) < 1.02


def test_a_rare_document_that_was_drawn_does_not_make_the_gold_labels_unfit() -> None:
    """Of twenty shared documents with a chance of 1 in 200 one is drawn in every tenth study, and stands for 200."""
    alone, shared = 2000, 20
    weight = np.concatenate([np.tile([[1.0, 0.0], [0.0, 1.0]], (alone // 2, 1)), np.tile([1.0, 0.9], (shared, 1))])
    drawn = np.arange(alone + shared) % 4 < 2
    drawn[alone:] = np.arange(shared) == 3
    n = alone + shared
    pool = Pool(
        systems=("A", "B"),
        queries=tuple(map(str, range(n))),
        docs=pl.DataFrame(),
        query=np.arange(n),
        weight=weight,
        rank=np.ones(n, int),
        predicted=np.zeros(n),
        gold=np.where(drawn, 1.0, np.nan),
        probability=np.where(drawn, np.where(np.arange(n) < alone, 0.5, 0.005), np.nan),
    )
    assert out_of_reach(pool) == ""
    # Without a chance for what only B shows, they are unfit.
    assert "only B shows" in out_of_reach(replace(pool, gold=np.where(weight[:, 1] == 1.0, np.nan, pool.gold)))


def test_shared_documents_that_hardly_matter_and_were_passed_over_do_not_make_the_gold_labels_unfit() -> None:
    """Of 53 with a chance of 1 in 20 none is drawn in one study of fifteen; small weights say so."""
    alone, apart, alike = 300, 12, 53
    kinds = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.2], [1.0, 0.93]]
    weight = np.repeat(kinds, [alone // 2, alone // 2, apart, alike], axis=0)
    n = len(weight)
    drawn = np.where(np.arange(n) < alone, np.arange(n) % 2 == 0, np.arange(n) < alone + apart)
    pool = Pool(
        systems=("A", "B"),
        queries=tuple(map(str, range(n))),
        docs=pl.DataFrame(),
        query=np.arange(n),
        weight=weight,
        rank=np.ones(n, int),
        predicted=np.zeros(n),
        gold=np.where(drawn, 1.0, np.nan),
        probability=np.where(drawn, np.where(np.arange(n) < alone, 0.5, 2 / 3), np.nan),
    )
    assert out_of_reach(pool) == ""
    assert "only B shows" in out_of_reach(replace(pool, gold=np.where(weight[:, 1] == 1.0, np.nan, pool.gold)))


def test_a_variance_that_rests_on_few_documents_has_few_degrees_of_freedom() -> None:
    """By hand: errors of 2, 1, 1, 0, 0, 0, each drawn with chance 1/2.

    The estimate of the variance is as 4 + 1 + 1, its own variance as 16 + 1 + 1, so 2 x 6^2 / 18 = 4 degrees; six equal
    errors have the five of six documents, as 2 x 6^2 / 6 = 12 is more.
    """
    drawn = np.arange(12) < 6
    few, alike = ([2.0, 1, 1, 0, 0, 0], [1.0] * 6)
    found = [
        powered(few_of_many(np.zeros(12), np.array([*errors, *[0.0] * 6]), drawn), fixed=True, tuned=False)
        for errors in (few, alike)
    ]
    assert [float(one.df[0, 0]) for one in found] == pytest.approx([4.0, 5.0])


@pytest.mark.parametrize("seed", range(20))
def test_what_few_gold_labels_teach_of_the_judge_never_costs_more_than_its_own_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random(200) < 0.4).astype(float)
    label = np.where(rng.random(200) < 0.8, truth, 1 - truth)
    # From too few gold labels one may learn anything, also the contrary.
    learned = np.clip(rng.normal(0, 1) * truth + rng.random(200), 0, None)
    drawn, chance = rng.random(200) < (size := rng.uniform(0.2, 0.9, 200)), size
    pools = [few_of_many(predicted, truth, drawn) for predicted in (label, learned)]
    labels, calibrated = (replace(pool, probability=np.where(drawn, chance, np.nan)) for pool in pools)
    both, own, other = (
        powered(calibrated, fixed=True, labels=labels),
        powered(labels, fixed=True),
        powered(calibrated, fixed=True),
    )
    assert both.covariance[0, 0] <= min(own.covariance[0, 0], other.covariance[0, 0]) * (1 + 1e-9)
    # The weights are those of non-negative least squares, each gold document as heavy as it is left to chance.
    heavy = np.sqrt(1 / chance**2 - 1 / chance)[drawn]
    predictions = np.column_stack([learned, label])
    weights, _ = nnls(predictions[drawn] * heavy[:, None], truth[drawn] * heavy)
    expected = predictions @ weights
    change = np.where(drawn, (truth - expected) / chance, 0.0)
    assert both.scores[0] == pytest.approx((expected + change).mean(), abs=1e-9)
    # It is no other where queries are a sample: how far they differ is not the predictions' doing.
    assert powered(calibrated, labels=labels).scores[0] == pytest.approx(both.scores[0], abs=1e-12)
