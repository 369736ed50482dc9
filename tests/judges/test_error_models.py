"""Error models: published fits, another library's, and the same answer whatever way it is worked out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowds import judged, lenient_and_scattered
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_models import ErrorModel, majority_posterior, one_coin
from karat.judges.ordinal_model import ordinal
from karat.labels import Panel
from karat.records import Judgments
from simulated import studies

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MODELS = [majority_posterior, one_coin, dawid_skene, ordinal]
FITTED = MODELS[1:]


def chances(model: ErrorModel) -> Floats:
    """P(truth) by document, in the order of the documents' names as numbers."""
    columns = [name for name in model.posterior.columns if name.startswith("p_")]
    return model.posterior.sort(pl.col("doc").cast(pl.Int64)).select(columns).to_numpy()


def test_dawid_and_skenes_patients_have_the_published_fit(classic: Path) -> None:
    table = pl.read_csv(classic / "dawid_skene_1979_table1_long.csv")
    solution = json.loads((classic / "dawid_skene_em_solution.json").read_text())
    judgments = Judgments.of(
        table.select(pl.lit("q").alias("query"), pl.col("patient").alias("doc"), "label", judge="observer")
    )
    # The first observer saw each patient three times, and all three count in the published fit.
    model = dawid_skene(Panel.of(judgments, repeats="all"), smoothing=0, tolerance=1e-9)
    assert model.converged
    assert [round(share, 4) for share in model.prior.values()] == [0.3996, 0.4220, 0.1118, 0.0667]
    assert list(model.prior.values()) == pytest.approx(solution["marginals"], abs=1e-6)
    assert chances(model) == pytest.approx(np.array(solution["posteriors"]), abs=1e-5)
    matrices = model.confusion["probability"].to_numpy().reshape(5, 4, 4)
    assert matrices == pytest.approx(np.array(solution["error_rates[observer][true][said]"]), abs=1e-5)
    assert model.log_likelihood == pytest.approx(solution["loglik"], abs=1e-4)


def random_labels(seed: int, levels: int = 4) -> tuple[Ints, Ints, Ints, Ints]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, 300)
    item, judge = np.repeat(np.arange(300), 5), np.argsort(rng.random((300, 25)), axis=1)[:, :5].ravel()
    right = rng.random(1500) < rng.uniform(0.3, 0.9, 25)[judge]
    return item, judge, np.where(right, truth[item], rng.integers(0, levels, 1500)), truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [0, 60])
def test_the_same_steps_as_crowd_kit_give_the_same_answer(seed: int, known: int) -> None:
    """crowd-kit 1.4.2: begins with the majority, expected counts not below 1e-10, `n_iter` steps when tol is -inf."""
    import pandas as pd
    from crowdkit import aggregation

    item, judge, label, truth = random_labels(seed)
    rival = aggregation.DawidSkene(n_iter=25, tol=-np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = pd.DataFrame({"task": item, "worker": judge, "label": label})
        rival.fit(rows, true_labels=pd.Series(truth[:known]) if known else None)
    gold = Judgments.of({str(q): {str(i): int(truth[i]) for i in range(q, known, 20)} for q in range(20)})
    model = dawid_skene(
        judged(item, judge, label),
        gold=gold if known else None,
        smoothing=0,
        max_iterations=25,
        tolerance=0,
        accelerate=False,
    )
    assert not model.converged
    assert model.iterations == 25
    expected = rival.probas_.sort_index().sort_index(axis=1).to_numpy()
    assert chances(model) == pytest.approx(expected, abs=1e-9)
    assert list(model.prior.values()) == pytest.approx(rival.priors_.sort_index().to_numpy(), abs=1e-9)
    theirs = rival.errors_.unstack("label").fillna(0.0)
    ours = model.confusion.filter(pl.col("judge") == "0003").select("truth", "label", "probability")
    assert ours.height == len(model.prior) ** 2
    for true, said, probability in ours.iter_rows():
        assert probability == pytest.approx(theirs.loc[3, (true, said)], abs=1e-7)


def test_one_coin_is_crowd_kits() -> None:
    import pandas as pd
    from crowdkit import aggregation

    item, judge, label, _ = random_labels(7)
    rival = aggregation.OneCoinDawidSkene(n_iter=20, tol=-np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival.fit(pd.DataFrame({"task": item, "worker": judge, "label": label}))
    model = one_coin(judged(item, judge, label), smoothing=0, max_iterations=20, tolerance=0, accelerate=False)
    assert chances(model) == pytest.approx(rival.probas_.sort_index().sort_index(axis=1).to_numpy(), abs=1e-9)
    assert model.judges["accuracy"].to_numpy() == pytest.approx(rival.skills_.sort_index().to_numpy(), abs=1e-9)


def plain_em(item: Ints, judge: Ints, label: Ints, levels: int, smoothing: float, steps: int) -> Floats:
    """Dawid and Skene's steps spelt out label by label: slow and obvious."""
    items, judges = item.max() + 1, judge.max() + 1
    posterior = np.zeros((items, levels))
    for i, k in zip(item, label, strict=True):
        posterior[i, k] += 1
    posterior /= posterior.sum(axis=1, keepdims=True)
    for _ in range(steps):
        counts = np.zeros((judges, levels, levels))
        for i, j, k in zip(item, judge, label, strict=True):
            counts[j, :, k] += posterior[i]
        pooled = counts.sum(axis=0)
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), 1e-10)
        counts = np.maximum(counts + smoothing * pooled, 1e-10)
        confusion = counts / counts.sum(axis=2, keepdims=True)
        prior = np.maximum(posterior.mean(axis=0), 1e-10)
        log = np.tile(np.log(prior), (items, 1))
        for i, j, k in zip(item, judge, label, strict=True):
            log[i] += np.log(confusion[j, :, k])
        posterior = np.exp(log - log.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


@settings(max_examples=len(studies(16, 120)))
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 2.0]), st.integers(2, 4))
def test_the_fast_steps_are_the_obvious_ones(seed: int, smoothing: float, levels: int) -> None:
    rng = np.random.default_rng(seed)
    item = np.append(np.arange(12), rng.integers(0, 12, 40))
    judge = np.append(rng.permutation(np.arange(12) % 4), rng.integers(0, 4, 40))
    label = np.append(np.arange(12) % levels, rng.integers(0, levels, 40))
    # Some judges labelled a document again, and the steps spelt out count that.
    every = Panel.of(judged(item, judge, label), repeats="all")
    model = dawid_skene(every, smoothing=smoothing, max_iterations=8, tolerance=0, accelerate=False)
    assert chances(model) == pytest.approx(plain_em(item, judge, label, levels, smoothing, 8), abs=1e-8)


@pytest.mark.parametrize("most", [60, 90])
def test_documents_with_very_many_labels_are_no_trouble(most: int) -> None:
    """Up to 64 labels are multiplied, more are added as logarithms, and so are products that come out as 0."""
    rng = np.random.default_rng(most)
    item = np.append(np.zeros(most, np.int64), rng.integers(0, 15, 300))
    item = np.append(item, np.arange(15))
    judge = rng.integers(0, 40, len(item))
    label = np.where(rng.random(len(item)) < 0.6, item % 3, rng.integers(0, 3, len(item)))
    for smoothing in (0.0, 1.0):
        settings = {"smoothing": smoothing, "max_iterations": 10, "tolerance": 0.0, "accelerate": False}
        every = Panel.of(judged(item, judge, label), repeats="all")
        model = dawid_skene(every, **settings)  # type: ignore[arg-type]
        assert chances(model) == pytest.approx(plain_em(item, judge, label, 3, smoothing, 10), abs=1e-8)
    # Twenty judges who never agree with twenty others: no grade explains all labels of a document well.
    many = judged(np.repeat(np.arange(30), 60), np.tile(np.arange(60), 30), np.tile(np.arange(60) % 3, 30))
    assert np.isfinite(dawid_skene(many, smoothing=0, max_iterations=50).log_likelihood)


@pytest.mark.parametrize("model", MODELS)
def test_probabilities_add_up_and_rows_may_come_in_any_order(model: Any) -> None:
    judgments, _ = lenient_and_scattered(1, 20, 20)
    fitted = model(judgments)
    assert chances(fitted).sum(axis=1) == pytest.approx(np.ones(fitted.posterior.height))
    assert sum(fitted.prior.values()) == pytest.approx(1)
    rows = fitted.confusion.group_by("judge", "truth").agg(pl.col("probability").sum())
    assert rows["probability"].to_numpy() == pytest.approx(np.ones(rows.height))
    assert fitted.confusion["n"].sum() == pytest.approx(len(judgments))
    shuffled = model(Judgments.of(judgments.frame.sample(fraction=1, shuffle=True, seed=3)))
    assert chances(shuffled) == pytest.approx(chances(fitted), abs=1e-4)
    assert shuffled.judges["judge"].to_list() == fitted.judges["judge"].to_list()


@pytest.mark.parametrize("model", FITTED)
def test_short_cuts_end_where_plain_steps_end(model: Any) -> None:
    judgments, _ = lenient_and_scattered(2, 30, 60)
    quick, plain = model(judgments), model(judgments, accelerate=False, max_iterations=5000)
    assert quick.converged
    assert plain.converged
    assert quick.iterations < plain.iterations
    assert np.abs(chances(quick) - chances(plain)).max() < 0.002
    assert quick.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.01)


def test_more_steps_never_make_the_labels_less_likely() -> None:
    judgments, _ = lenient_and_scattered(3, 20, 40)
    steps = [
        dawid_skene(judgments, smoothing=0, max_iterations=n, tolerance=0, accelerate=False).log_likelihood
        for n in (1, 2, 5, 10, 30)
    ]
    assert steps == sorted(steps)
