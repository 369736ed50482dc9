"""Gold labels without probabilities, and blank gold rows: what is no random sample is warned about or refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom, mannwhitneyu

import karat as kt
from karat.stats.stratified_ranks import probability_of_none, stratified_rank_test
from simulated import THOROUGH, about, studies

QUERIES, DOCS, DEPTH = 60, 30, 10
MEASURES = ("P@10", "DCG@10", "nDCG@10")


def world(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Documents with a true grade, a lenient judge's label and the better rank of two systems; and the two runs."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, (QUERIES, DOCS), p=[0.6, 0.25, 0.15])
    error = rng.choice([0, 1, -1], truth.shape, p=[0.65, 0.3, 0.05])
    label = np.clip(truth + error, 0, 2)
    rows, shown = [], []
    for name, noise in (("a", 1.4), ("b", 1.0)):
        order = np.argsort(-(truth + rng.normal(size=truth.shape) * noise), axis=1)[:, :DEPTH]
        rows += [(name, f"q{q}", f"d{q}-{d}", rank) for q, docs in enumerate(order) for rank, d in enumerate(docs, 1)]
        shown += [(q, d, rank, name) for q, docs in enumerate(order) for rank, d in enumerate(docs, 1)]
    runs = pl.DataFrame(rows, schema=["system", "query", "doc", "rank"], orient="row")
    docs = pl.DataFrame(
        [(f"q{q}", f"d{q}-{d}", int(truth[q, d]), int(label[q, d]), rank, name) for q, d, rank, name in shown],
        schema=["query", "doc", "truth", "label", "rank", "system"],
        orient="row",
    )
    docs = docs.group_by("query", "doc", maintain_order=True).agg(
        pl.col("truth", "label").first(), pl.col("rank").min(), systems=pl.col("system").sort().str.join("")
    )
    return docs, runs


def gold_of(docs: pl.DataFrame, chosen: pl.Series) -> pl.DataFrame:
    return docs.filter(chosen).select("query", "doc", label="truth")


def random(docs: pl.DataFrame, share: float, seed: int) -> pl.Series:
    return pl.Series(np.random.default_rng(seed).random(docs.height) < share)


def compared(docs: pl.DataFrame, runs: pl.DataFrame, gold: pl.DataFrame, measure: str) -> kt.Comparison:
    return kt.compare(docs.select("query", "doc", "label"), runs, measure, gold=gold, queries="fixed", draws=100)


def held(docs: pl.DataFrame, runs: pl.DataFrame, found: kt.Comparison) -> bool:
    """Whether the interval holds the difference by the true grades."""
    true = kt.compare(docs.select("query", "doc", label="truth"), runs, found.measure, draws=100).methods["difference"][
        0
    ]
    row = found.methods.row(by_predicate=pl.col("method") == "ppi", named=True)
    return bool(row["low"] <= true <= row["high"])


def warned(found: kt.Comparison, words: str) -> bool:
    return any(words in note for note in found.notes)


def test_the_rank_test_of_one_stratum_is_wilcoxons() -> None:
    rng = np.random.default_rng(3)
    values, chosen = rng.integers(0, 5, 80).astype(float), rng.random(80) < 0.4
    p = stratified_rank_test(values, chosen, np.zeros(80, dtype=np.int64))[1]
    exact = mannwhitneyu(values[chosen], values[~chosen], method="asymptotic", use_continuity=False).pvalue
    assert p == pytest.approx(exact)


def test_that_none_of_a_kind_is_chosen_is_hypergeometric() -> None:
    stratum = np.repeat([0, 1], [10, 12])
    kind, chosen = np.zeros(22, dtype=bool), np.zeros(22, dtype=bool)
    kind[[0, 1, 10, 11, 12]] = True
    chosen[[5, 6, 7, 20, 21]] = True
    expected = hypergeom.pmf(0, 10, 2, 3) * hypergeom.pmf(0, 12, 3, 2)
    assert probability_of_none(kind, chosen, stratum) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_labels_of_top_ranks_only_are_refused_alike(measure: str) -> None:
    docs, runs = world(1)
    found = compared(docs, runs, gold_of(docs, docs["rank"] <= 3), measure)
    assert (found.verdict, found.refusal) == ("cannot say", "gold out of reach")
    assert found.to_dict()["refusal"] == "gold out of reach"
    assert "none of them is on documents below rank 3" in found.reason


@pytest.mark.parametrize("measure", MEASURES)
def test_labels_of_one_system_only_are_refused_alike(measure: str) -> None:
    docs, runs = world(1)
    found = compared(docs, runs, gold_of(docs, docs["systems"].str.contains("a") & random(docs, 0.6, 2)), measure)
    assert (found.verdict, found.refusal) == ("cannot say", "gold out of reach")
    assert "documents that only b retrieves" in found.reason


@pytest.mark.parametrize("measure", MEASURES)
def test_labels_of_what_the_judge_likes_are_refused_alike(measure: str) -> None:
    docs, runs = world(1)
    found = compared(docs, runs, gold_of(docs, (docs["label"] > 0) & random(docs, 0.6, 2)), measure)
    assert (found.verdict, found.refusal) == ("cannot say", "gold out of reach")
    assert "documents with label 0" in found.reason


@pytest.mark.parametrize("measure", MEASURES)
def test_a_sample_that_leans_to_top_ranks_is_warned_about(measure: str) -> None:
    docs, runs = world(1)
    share = np.where(docs["rank"].to_numpy() <= 3, 0.7, 0.3)
    chosen = pl.Series(np.random.default_rng(2).random(docs.height) < share)
    found = compared(docs, runs, gold_of(docs, chosen), measure)
    assert found.verdict != "cannot say"
    assert warned(found, "are no uniform sample: too many are on high ranks (p < 0.001)")


def test_stated_probabilities_are_not_tested() -> None:
    docs, runs = world(1)
    share = np.where(docs["rank"].to_numpy() <= 3, 0.7, 0.3)
    chosen = pl.Series(np.random.default_rng(2).random(docs.height) < share)
    gold = (
        docs.with_columns(probability=pl.Series(share))
        .filter(chosen)
        .select("query", "doc", "probability", label="truth")
    )
    assert not warned(compared(docs, runs, gold, "DCG@10"), "uniform sample")


@pytest.mark.evidence
def test_a_uniform_sample_is_neither_refused_nor_warned_about() -> None:
    """Nor is the interval off; of whole queries, too, the documents are a uniform sample within each."""
    seeds, alarms, right = studies(8, 40), 0, []
    for seed in seeds:
        docs, runs = world(seed)
        found = compared(docs, runs, gold_of(docs, random(docs, 0.4, seed)), "DCG@10")
        alarms += warned(found, "no uniform sample") or found.verdict == "cannot say"
        right.append(held(docs, runs, found))
        queries = docs["query"].unique().sort().sample(20, seed=seed)
        whole = compared(docs, runs, gold_of(docs, docs["query"].is_in(queries.implode())), "DCG@10")
        alarms += whole.refusal is not None or warned(whole, "no uniform sample")
    assert alarms <= (0.02 if THOROUGH else 0.1) * 2 * len(seeds)
    assert np.mean(right) == about(0.95, len(seeds), off=0.02)


@pytest.mark.evidence
def test_top_ranks_alone_would_have_misled() -> None:
    """Why it is refused: gold of the top ranks misses that the judge is lenient lower down."""
    from karat.correction import ppi

    seeds, right = studies(8, 30), []
    for seed in seeds:
        docs, runs = world(seed)
        lower = (pl.col("systems") == "b") & (pl.col("rank") > 3)
        docs = docs.with_columns(label=pl.when(lower).then((pl.col("truth") + 1).clip(0, 2)).otherwise("label"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ppi, "refuse_out_of_reach", lambda pool: None)
            patch.setattr(ppi, "out_of_reach", lambda pool: "")
            patch.setattr(ppi, "reaches_all", lambda pool: True)
            right.append(held(docs, runs, compared(docs, runs, gold_of(docs, docs["rank"] <= 3), "DCG@10")))
    assert np.mean(right) < 0.93


def blanked(docs: pl.DataFrame, seed: int, *, where_zero: bool) -> pl.DataFrame:
    """A uniform sample with probabilities whose label is blank for half of all rows, or where the grade is 0."""
    sample = docs.filter(random(docs, 0.5, seed)).select("query", "doc", "truth", probability=pl.lit(0.5))
    rng = np.random.default_rng(seed + 10_000)
    blank = (sample["truth"] == 0) & pl.Series(rng.random(sample.height) < 0.9)
    if not where_zero:
        blank = pl.Series(rng.random(sample.height) < 0.5)
    label = pl.when(~blank).then(pl.col("truth"))
    return sample.with_columns(label=label).drop("truth")


@pytest.mark.evidence
def test_blanks_where_the_grade_is_zero_are_warned_about() -> None:
    """Such files mislead in more than one study of ten; blanks at random do not, and are not warned about."""
    seeds = studies(8, 30)
    told, right = {True: 0, False: 0}, {True: list[bool](), False: list[bool]()}
    for seed in seeds:
        docs, runs = world(seed)
        for where_zero in (True, False):
            found = compared(docs, runs, blanked(docs, seed, where_zero=where_zero), "P@10")
            told[where_zero] += warned(found, "blank gold rows are mostly documents with low labels")
            right[where_zero].append(held(docs, runs, found))
    assert told[True] == len(seeds)
    assert told[False] <= (0.03 if THOROUGH else 0.1) * len(seeds)
    assert np.mean(right[False]) == about(0.95, len(seeds), off=0.02)
    assert np.mean(right[True]) < 0.9


def test_the_warning_about_blanks_has_means_and_p() -> None:
    docs, runs = world(1)
    gold = blanked(docs, 1, where_zero=True)
    found = compared(docs, runs, gold, "P@10")
    (note,) = [note for note in found.warnings if note.startswith("blank gold rows")]
    known = gold.join(docs.select("query", "doc", judged="label"), on=["query", "doc"])
    means = [known.filter(pl.col("label").is_null() == blank)["judged"].mean() for blank in (True, False)]
    assert f"(mean label {means[0]:.2f}, of labelled rows {means[1]:.2f}; p < 0.001)" in note
    assert "blank means not yet labelled, never grade 0" in note
    scores = kt.score(docs.select("query", "doc", "label"), runs, "P@10", gold=gold, draws=100)
    assert any(note.startswith("blank gold rows are mostly") for note in scores.notes)
