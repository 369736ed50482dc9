"""Error models: what was planted is found, gold labels help, and a real crowd is set right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from crowds import lenient_and_scattered, planted, rf10_crowd
from karat.errors import BadInput
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_models import ErrorModel, majority_posterior
from karat.judges.ordinal_model import ordinal
from karat.records import Judgments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def accuracy(model: ErrorModel, truth: Ints) -> float:
    found = model.posterior.select(pl.col("doc").cast(pl.Int64), "label").sort("doc")
    return float((found["label"].to_numpy() == truth[found["doc"].to_numpy()]).mean())


def test_planted_confusion_matrices_are_recovered() -> None:
    rng = np.random.default_rng(5)
    share = rng.uniform(0.55, 0.9, 10)
    confusion = np.stack([s * np.eye(3) + (1 - s) * rng.dirichlet(np.ones(3), 3) for s in share])
    prior = np.array([0.5, 0.3, 0.2])
    judgments, truth = planted(6, items=4000, judges=10, per_item=5, confusion=confusion, prior=prior)
    model = dawid_skene(judgments)
    assert model.converged
    found = model.confusion["probability"].to_numpy().reshape(10, 3, 3)
    assert np.abs(found - confusion).max() < 0.06
    assert list(model.prior.values()) == pytest.approx(prior, abs=0.02)
    assert accuracy(model, truth) > accuracy(majority_posterior(judgments), truth)
    right = np.einsum("jkk,k->j", confusion, prior)
    assert model.judges["accuracy"].to_numpy() == pytest.approx(right, abs=0.04)


def test_known_items_stay_known_and_help_the_rest() -> None:
    """Of ten judges eight call grade 1 a 0 more often than not: without gold the majority wins."""
    good, bad = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.65, 0.35]])
    confusion, prior = np.stack([good] * 2 + [bad] * 8), np.array([0.5, 0.5])
    judgments, truth = planted(8, items=1500, judges=10, per_item=4, confusion=confusion, prior=prior)
    gold = Judgments.of({str(q): {str(i): int(truth[i]) for i in range(q, 300, 20)} for q in range(20)})
    without, with_gold = dawid_skene(judgments), dawid_skene(judgments, gold=gold)
    fixed = with_gold.posterior.filter("known")
    assert fixed.height == 300
    assert (fixed["label"].to_numpy() == truth[fixed["doc"].cast(pl.Int64).to_numpy()]).all()
    assert set(fixed["p_1"].to_list()) == {0.0, 1.0}
    rest = {str(i) for i in range(300, 1500)}

    def right(model: ErrorModel) -> float:
        kept = model.posterior.filter(pl.col("doc").is_in(rest))
        return float((kept["label"].to_numpy() == truth[kept["doc"].cast(pl.Int64).to_numpy()]).mean())

    assert right(with_gold) >= right(without)
    assert right(with_gold) > right(majority_posterior(judgments)) + 0.1
    off = [abs(model.prior[1.0] - 0.5) for model in (with_gold, without)]
    assert off[0] < 0.05
    assert off[0] <= off[1] + 0.005


def test_gold_may_be_a_group_of_the_judgments() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge, "group": group}
        for group, judge, labels in [("crowd", "w", [0, 1, 1]), ("crowd", "v", [1, 1, 0]), ("gold", "g", [0, 1, None])]
        for i, label in enumerate(labels)
    ]
    model = dawid_skene(Judgments.of(rows))
    assert model.judges.select("group", "judge").rows() == [("crowd", "v"), ("crowd", "w")]
    assert model.posterior["known"].to_list() == [True, True, False]
    with pytest.raises(BadInput, match="gold labels in one place"):
        dawid_skene(Judgments.of(rows), gold=Judgments.of({"q": {"d0": 0}}))


def test_with_few_labels_each_the_ordinal_model_beats_dawid_and_skene() -> None:
    ordinal_right, dawid_skene_right, majority_right = [], [], []
    for seed in range(4):
        judgments, truth = lenient_and_scattered(seed, 100, 20)
        ordinal_right.append(accuracy(ordinal(judgments), truth))
        dawid_skene_right.append(accuracy(dawid_skene(judgments), truth))
        majority_right.append(accuracy(majority_posterior(judgments), truth))
    assert np.mean(ordinal_right) > np.mean(dawid_skene_right) + 0.03
    assert np.mean(ordinal_right) > np.mean(majority_right) + 0.03


def test_the_ordinal_model_knows_the_lenient_from_the_strict() -> None:
    from scipy.special import ndtr

    planned = np.linspace(-0.8, 0.8, 17)
    borders, mean = np.arange(4) + 0.5, np.arange(5)[None, :] + planned[:, None]
    below = ndtr((borders[None, None, :] - mean[:, :, None]) / 0.6)
    confusion = np.diff(np.concatenate([np.zeros((17, 5, 1)), below, np.ones((17, 5, 1))], -1))
    judgments, _ = planted(4, items=1200, judges=17, per_item=5, confusion=confusion, prior=np.full(5, 0.2))
    expected = (confusion @ np.arange(5) - np.arange(5)).mean(axis=1)
    model = ordinal(judgments)
    assert model.judges["leniency"].to_numpy() == pytest.approx(expected, abs=0.15)
    assert np.corrcoef(model.judges["leniency"], expected)[0, 1] > 0.98


def test_smoothing_makes_a_judge_with_one_label_like_the_others() -> None:
    judgments, _ = lenient_and_scattered(9, 10, 40)
    once = pl.DataFrame({"query": ["0"], "doc": ["0"], "label": [4.0], "judge": ["new"]})
    model = dawid_skene(Judgments.of(pl.concat([judgments.frame, once])), smoothing=2.0)
    new = model.confusion.filter(judge="new", truth=1.0)["probability"].to_numpy()
    others = model.confusion.filter(pl.col("judge") != "new", truth=1.0).group_by("label").agg(pl.col("n").sum())
    pooled = others.sort("label")["n"].to_numpy() / others["n"].sum()
    assert new == pytest.approx(pooled, abs=0.02)
    alone = dawid_skene(Judgments.of(pl.concat([judgments.frame, once])), smoothing=0)
    assert alone.confusion.filter(judge="new")["probability"].is_nan().any()


def test_a_whole_crowd_is_fitted_and_beats_its_majority(rf10: Path) -> None:
    judgments, gold = rf10_crowd(rf10)
    assert len(judgments) == 91_783
    right = {}
    for fit in (majority_posterior, dawid_skene, ordinal):
        model = fit(judgments)
        assert model.converged
        both = model.posterior.join(gold.frame, on=["query", "doc"], suffix="_gold")
        right[fit.__name__] = (both["label"] == both["label_gold"]).mean()
    assert right["dawid_skene"] > right["majority_posterior"] + 0.02
    assert right["ordinal"] > right["majority_posterior"] + 0.02
