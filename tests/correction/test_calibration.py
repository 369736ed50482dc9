"""Gold labels teach what a judge's label is worth; no document is predicted from its own gold label."""

from __future__ import annotations

import numpy as np
import pytest

from karat.correction.calibration import calibrate
from karat.stats.random_intercept import random_intercept, with_and_without


def crowd(queries: int, each: int, seed: int, lenient: float = 1.0) -> tuple[np.ndarray, ...]:
    """Grades 0 to 2, and labels of a judge who is kinder on some queries than on others."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), each)
    truth = np.searchsorted([0.5, 1.8], rng.normal(size=queries)[query] + rng.logistic(size=len(query))).astype(float)
    kind = lenient * rng.normal(size=queries)
    label = np.clip(np.rint(truth + kind[query] + 0.5 * rng.normal(size=len(query))), 0, 2)
    return query, truth, label


def test_the_model_finds_what_statsmodels_finds_without_groups() -> None:
    """Each row a group of its own, and groups that do not differ: then it is the ordinary proportional odds model."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 2))
    y = np.searchsorted([-0.5, 0.4, 1.5], x @ [1.2, -0.6] + rng.logistic(size=3000))
    other = OrderedModel(y, x, distr="logit").fit(method="bfgs", disp=False)
    mine = random_intercept(y, x, np.arange(3000) % 500, np.arange(4.0))
    assert mine.sigma < 0.3
    assert mine.slopes == pytest.approx(other.params[:2], abs=0.03)
    cuts = [other.params[2], other.params[2] + np.exp(other.params[3])]
    assert mine.cuts[:2] == pytest.approx(cuts, abs=0.03)


def test_the_spread_of_queries_is_found() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(1000), 12)
    y = (1.5 * rng.normal(size=1000)[group] + rng.logistic(size=12_000) > 0.3).astype(int)
    fit = random_intercept(y, np.zeros((12_000, 1)), group, np.array([0.0, 1.0]))
    assert fit.sigma == pytest.approx(1.5, abs=0.15)
    assert fit.cuts == pytest.approx([0.3], abs=0.2)


def test_a_fit_without_some_rows_is_that_of_the_others_alone() -> None:
    query, truth, label = crowd(40, 8, seed=9)
    part, x = np.arange(320) % 5 == 0, (label[:, None] - label.mean()) / label.std()
    code, grades = truth.astype(int), np.arange(3.0)
    whole, without = with_and_without(code, x, query, grades, [part])
    alone = random_intercept(code[~part], x[~part], query[~part], grades)
    assert without.cuts == pytest.approx(alone.cuts, abs=0.01)
    assert without.slopes == pytest.approx(alone.slopes, abs=0.01)
    assert without.sigma == pytest.approx(alone.sigma, abs=0.01)
    assert np.abs(without.cuts - whole.cuts).max() > 0.02


def test_a_documents_own_gold_label_does_not_reach_its_prediction() -> None:
    query, truth, label = crowd(30, 10, seed=2)
    gold = np.where(np.random.default_rng(3).random(300) < 0.5, truth, np.nan)
    own = np.flatnonzero(~np.isnan(gold))[7]
    turned = gold.copy()
    turned[own] = (gold[own] + 1) % 3
    before, after = (calibrate(values, label[:, None], query) for values in (gold, turned))
    assert after.probability[own] == pytest.approx(before.probability[own], abs=1e-12)
    others = np.flatnonzero((query == query[own]) & np.isnan(gold))
    assert np.abs(after.probability[others] - before.probability[others]).max() > 1e-4


def test_predictions_are_right_on_average_and_better_than_labels_where_queries_are_judged_kindly() -> None:
    query, truth, label = crowd(100, 20, seed=5)
    drawn = np.random.default_rng(6).random(2000) < 0.4
    found = calibrate(np.where(drawn, truth, np.nan), label[:, None], query)
    expected = found.expected(found.grades)
    assert expected.mean() == pytest.approx(truth.mean(), abs=0.03)
    assert ((expected - truth) ** 2).mean() < 0.7 * ((label - truth) ** 2).mean()


def test_draws_have_the_probabilities_and_documents_of_a_query_go_together() -> None:
    query, truth, label = crowd(20, 15, seed=7)
    gold = np.where(np.arange(300) % 3 == 0, truth, np.nan)
    found = calibrate(gold, label[:, None], query)
    draws = found.draws(4000, np.random.default_rng(8))
    shares = np.stack([(draws == place).mean(axis=1) for place in range(3)], axis=1)
    assert np.abs(shares - found.probability).max() < 0.05


@pytest.mark.parametrize("grades", [[1.0], [0.0, 1.0]])
def test_labels_that_say_nothing_and_gold_that_never_varies_still_have_a_prediction(grades: list[float]) -> None:
    gold = np.full(60, np.nan)
    gold[:30] = np.resize(grades, 30)
    found = calibrate(gold, np.ones((60, 1)), np.repeat(np.arange(6), 10))
    assert found.expected(found.grades) == pytest.approx(np.mean(grades), abs=0.1)
    assert found.probability.sum(axis=1) == pytest.approx(1.0)
