"""Error models: published fits, another library's, planted truth, and honest words where nothing can be learnt."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import BadInput, Undefined
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_model import ErrorModel, majority_posterior, one_coin
from karat.judges.ordinal import ordinal
from karat.records import Judgments, Scale

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[3] / "shared" / "data"))
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MODELS = [majority_posterior, one_coin, dawid_skene, ordinal]
FITTED = MODELS[1:]


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"no {DATA / name}: set KARAT_DATA to the folder with the research data")
    return DATA / name


@pytest.fixture
def classic() -> Path:
    return folder("classic")


@pytest.fixture
def rf10() -> Path:
    return folder("rf10")


def crowd(path: Path) -> tuple[Judgments, Judgments]:
    """The labels of the Relevance Feedback track's crowd without broken links, and NIST's."""
    with gzip.open(path / "trec-rf10-data.txt.gz") as file:
        frame = pl.read_csv(file.read(), separator="\t")
    frame = frame.rename({"topicID": "query", "docID": "doc", "workerID": "judge"})
    gold = frame.filter(pl.col("gold") >= 0).select("query", "doc", pl.col("gold").alias("label")).unique()
    return Judgments.of(frame.filter(pl.col("label") >= 0).drop("gold")), Judgments.of(gold)


def judged(item: Ints, judge: Ints, label: Ints) -> Judgments:
    return Judgments.of(
        pl.DataFrame(
            {
                "query": pl.Series(item % 20).cast(pl.String),
                "doc": pl.Series(item).cast(pl.String),
                "label": label,
                "judge": pl.Series(judge).cast(pl.String).str.zfill(4),
            }
        )
    )


def draw(chances: Floats, rng: np.random.Generator) -> Ints:
    labels: Ints = (rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return labels


def planted(
    seed: int, *, items: int, judges: int, per_item: int, confusion: Floats, prior: Floats
) -> tuple[Judgments, Ints]:
    """Labels by judges with these matrices (judges x truth x label), and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prior), items, p=prior)
    item = np.repeat(np.arange(items), per_item)
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :per_item].ravel()
    return judged(item, judge, draw(confusion[judge, truth[item]], rng)), truth


def lenient_and_scattered(seed: int, judges: int, per_judge: int, levels: int = 5) -> tuple[Judgments, Ints]:
    """Judges who see the true grade with a normal error of their own and add their leniency."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    grades = np.arange(levels)
    mean = grades[None, :] + rng.normal(0, 0.6, judges)[:, None]
    borders = (np.arange(levels - 1) + 0.5)[None, None, :]
    below = ndtr((borders - mean[:, :, None]) / rng.uniform(0.4, 1.0, judges)[:, None, None])
    confusion = np.diff(np.concatenate([np.zeros_like(below[..., :1]), below, np.ones_like(below[..., :1])], -1))
    return planted(
        seed,
        items=judges * per_judge // 5,
        judges=judges,
        per_item=5,
        confusion=confusion,
        prior=np.array([0.35, 0.25, 0.2, 0.12, 0.08]),
    )


def accuracy(model: ErrorModel, truth: Ints) -> float:
    found = model.posterior.select(pl.col("doc").cast(pl.Int64), "label").sort("doc")
    return float((found["label"].to_numpy() == truth[found["doc"].to_numpy()]).mean())


def chances(model: ErrorModel) -> Floats:
    """P(truth) by document, in the order of the documents' names as numbers."""
    columns = [name for name in model.posterior.columns if name.startswith("p_")]
    return model.posterior.sort(pl.col("doc").cast(pl.Int64)).select(columns).to_numpy()


# --- published and other libraries' figures ---------------------------------------------------------------------


def test_dawid_and_skenes_patients_have_the_published_fit(classic: Path) -> None:
    table = pl.read_csv(classic / "dawid_skene_1979_table1_long.csv")
    solution = json.loads((classic / "dawid_skene_em_solution.json").read_text())
    judgments = Judgments.of(
        table.select(pl.lit("q").alias("query"), pl.col("patient").alias("doc"), "label", judge="observer")
    )
    model = dawid_skene(judgments, smoothing=0, tolerance=1e-9)
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
    item, judge = np.repeat(np.arange(300), 5), rng.integers(0, 25, 1500)
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


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 2.0]), st.integers(2, 4))
def test_the_fast_steps_are_the_obvious_ones(seed: int, smoothing: float, levels: int) -> None:
    rng = np.random.default_rng(seed)
    item = np.append(np.arange(12), rng.integers(0, 12, 40))
    judge = np.append(rng.permutation(np.arange(12) % 4), rng.integers(0, 4, 40))
    label = np.append(np.arange(12) % levels, rng.integers(0, levels, 40))
    model = dawid_skene(
        judged(item, judge, label), smoothing=smoothing, max_iterations=8, tolerance=0, accelerate=False
    )
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
        model = dawid_skene(judged(item, judge, label), **settings)  # type: ignore[arg-type]
        assert chances(model) == pytest.approx(plain_em(item, judge, label, 3, smoothing, 10), abs=1e-8)
    # Twenty judges who never agree with twenty others: no grade explains all labels of a document well.
    many = judged(np.repeat(np.arange(30), 60), np.tile(np.arange(60), 30), np.tile(np.arange(60) % 3, 30))
    assert np.isfinite(dawid_skene(many, smoothing=0, max_iterations=50).log_likelihood)


# --- properties --------------------------------------------------------------------------------------------------


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


# --- planted truth ----------------------------------------------------------------------------------------------


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


# --- what it says ------------------------------------------------------------------------------------------------


def test_a_fit_that_did_not_settle_says_so() -> None:
    judgments, _ = lenient_and_scattered(3, 20, 30)
    model = dawid_skene(judgments, max_iterations=3)
    assert not model.converged
    assert "did NOT converge in 3 iterations" in repr(model)
    assert any("not converged" in note for note in model.notes)
    assert model.to_dict()["converged"] is False
    settled = dawid_skene(judgments)
    assert f"converged in {settled.iterations} iterations" in repr(settled)


def test_labels_are_judgments_that_score() -> None:
    import karat as kt

    judgments, _ = lenient_and_scattered(3, 20, 30)
    model = dawid_skene(Judgments.of(judgments.frame, scale=Scale.parse("0..4")))
    labels, expected = model.labels(), model.labels(expected=True)
    assert labels.frame.columns == ["query", "doc", "label"]
    assert labels.scale == Scale.parse("0..4")
    assert set(labels.frame["label"].unique()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert (expected.frame["label"] % 1 != 0).any()
    assert any("Dawid-Skene" in note for note in labels.notes)
    run = {"0": {"0": 2.0, "20": 1.0}, "1": {"1": 1.0}}
    assert kt.score(run, expected, ["nDCG@10"], draws=0).means["value"][0] > 0


def test_of_two_equally_probable_grades_the_lower_stands() -> None:
    rows = [{"query": "q", "doc": "d", "label": label, "judge": judge} for judge, label in [("ann", 2), ("bob", 1)]]
    assert majority_posterior(Judgments.of(rows)).posterior["label"].to_list() == [1.0]
    assert majority_posterior(Judgments.of(rows)).posterior["expected"].to_list() == [1.5]


def test_answers_without_a_label_are_counted_and_left_aside() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
        for judge, labels in {"ann": [0, 1, None], "bob": [0, 1, 1], "eve": [0, None, 1]}.items()
        for i, label in enumerate(labels)
    ]
    model = dawid_skene(Judgments.of(rows))
    assert "2 answers without a label (can't tell) left aside" in model.notes
    assert model.posterior["n"].to_list() == [3, 2, 2]


@pytest.mark.parametrize("model", FITTED)
def test_nothing_is_learnt_from_one_grade_one_judge_or_no_shared_document(model: Any) -> None:
    def rows(*labels: tuple[str, str, int | None]) -> Judgments:
        return Judgments.of([{"query": "q", "doc": d, "judge": j, "label": label} for d, j, label in labels])

    with pytest.raises(Undefined, match="all 2 labels are 1"):
        model(rows(("d", "ann", 1), ("d", "bob", 1)))
    with pytest.raises(Undefined, match="only one judge"):
        model(rows(("d", "ann", 1), ("e", "ann", 0)))
    with pytest.raises(Undefined, match="no two judges labelled the same document"):
        model(rows(("d", "ann", 1), ("e", "bob", 0)))
    with pytest.raises(Undefined, match="no label to learn from"):
        model(rows(("d", "ann", None)))
    with pytest.raises(BadInput, match="the column judge"):
        model(Judgments.of({"q": {"d": 1, "e": 0}}))
    # With gold, one judge is enough.
    alone = rows(*((f"d{i}", "ann", i % 2) for i in range(20)))
    gold = Judgments.of({"q": {f"d{i}": i % 2 for i in range(10)}})
    assert model(alone, gold=gold).converged


@pytest.mark.parametrize("model", FITTED)
def test_bad_settings_are_named(model: Any) -> None:
    judgments, _ = lenient_and_scattered(3, 10, 10)
    for setting in ({"max_iterations": 0}, {"tolerance": -1.0}, {"smoothing": -1.0}, {"smoothing": np.nan}):
        with pytest.raises(BadInput):
            model(judgments, **setting)
    with pytest.raises(BadInput, match="above 0"):
        ordinal(judgments, smoothing=0)


def test_real_valued_labels_are_refused_with_a_remedy() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"query": "q", "doc": [f"d{i}" for i in range(200)], "judge": "j", "label": rng.random(200)})
    with pytest.raises(BadInput, match="round the labels"):
        dawid_skene(Judgments.of(frame))


def test_a_judge_who_shared_no_document_is_mentioned() -> None:
    judgments, _ = lenient_and_scattered(3, 10, 20)
    lonely = pl.DataFrame({"query": ["q"], "doc": ["9999"], "label": [1.0], "judge": ["lonely"]})
    model = dawid_skene(Judgments.of(pl.concat([judgments.frame, lonely])))
    assert "1 judge shared no document with another: nothing is known of their errors" in model.notes


def test_the_same_name_in_two_groups_is_two_judges() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": "ann", "group": group}
        for group, labels in {"crowd": [0, 1, 1], "llm": [0, 1, 0]}.items()
        for i, label in enumerate(labels)
    ]
    assert dawid_skene(Judgments.of(rows)).judges["group"].to_list() == ["crowd", "llm"]


def test_aspects_are_not_mixed() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge, "aspect": aspect}
        for aspect, judge, labels in [
            (None, "ann", [0, 1, 1]),
            ("overall", "bob", [0, 1, 0]),
            ("novelty", "ann", [1, 1, 0]),
        ]
        for i, label in enumerate(labels)
    ]
    model = dawid_skene(Judgments.of(rows))
    assert model.posterior["n"].to_list() == [2, 2, 2]
    assert "3 judgments of another aspect than overall left aside" in model.notes


def test_a_vanished_grade_is_mentioned(rf10: Path) -> None:
    """One coin per judge does not fit this crowd: it explains all labels as scatter around the middle grade."""
    judgments, _ = crowd(rf10)
    model = one_coin(judgments)
    assert any("no document is left with it" in note for note in model.notes)


def test_judges_who_err_alike_are_noticed() -> None:
    """Dawid-Skene explains what 33 language models have in common as finer grades, further from gold than majority."""
    submissions = folder("llmjudge") / "submissions"
    names = ["column_1", "column_2", "column_3", "column_4"]
    frames = []
    for path in sorted(submissions.iterdir()):
        with gzip.open(path) as file:
            frame = pl.read_csv(file.read(), separator=" ", has_header=False, schema=dict.fromkeys(names, pl.String))
        frames.append(frame.select(query="column_1", doc="column_3", label="column_4", group=pl.lit(path.stem)))
    labels = pl.concat(frames).with_columns(pl.col("label").cast(pl.Float64)).filter(pl.col("label") <= 3)
    model = dawid_skene(Judgments.of(labels))
    assert model.judges.height == 33
    assert model.judges["judge"].is_null().all()
    assert any("taken for those of one judge in each group" in note for note in model.notes)
    assert any("documents taken for grade 2 are mostly labelled 1" in note for note in model.notes)


# --- a real crowd ------------------------------------------------------------------------------------------------


def test_a_whole_crowd_is_fitted_and_beats_its_majority(rf10: Path) -> None:
    judgments, gold = crowd(rf10)
    assert len(judgments) == 91_783
    right = {}
    for fit in (majority_posterior, dawid_skene, ordinal):
        model = fit(judgments)
        assert model.converged
        both = model.posterior.join(gold.frame, on=["query", "doc"], suffix="_gold")
        right[fit.__name__] = (both["label"] == both["label_gold"]).mean()
    assert right["dawid_skene"] > right["majority_posterior"] + 0.02
    assert right["ordinal"] > right["majority_posterior"] + 0.02
