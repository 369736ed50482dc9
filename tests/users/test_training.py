"""Rankers trained on judges' labels: who learns what, and whether it holds on the labels of others."""

from __future__ import annotations

import sys
from functools import cache
from itertools import permutations
from time import perf_counter

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel

import karat as kt
from karat.errors import BadInput, MissingExtra
from karat.labels import Panel
from karat.records import Judgments, Result, Runs
from karat.simulate import judging_study
from karat.users import train
from karat.users.lambdarank import Pool, rotation
from karat.users.ranker_training import taught


def made(queries: int, docs: int, seed: int = 0) -> tuple[Judgments, pl.DataFrame]:
    """Labels that follow `words` a little and `good` a lot; `noise` has nothing to do with them."""
    rng = np.random.default_rng(seed)
    n = queries * docs
    words, good, noise = rng.normal(size=(3, n))
    label = np.clip(np.round(2 + 0.4 * words + good + rng.normal(0, 0.5, n)), 0, 4)
    frame = pl.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(queries)], docs),
            "doc": np.tile([f"d{i}" for i in range(docs)], queries),
            "label": label,
            "words": words,
            "good": good,
            "noise": noise,
        }
    )
    return Judgments.of(frame.select("query", "doc", "label")), frame.drop("label")


@cache
def trained() -> Result:
    judgments, features = made(60, 12)
    sets = {"words": ["words"], "words + good": ["words", "good"], "words + noise": ["words", "noise"]}
    return train(judgments, features, feature_sets=sets)


def rows(result: Result) -> dict[tuple[str, str, str], dict[str, float]]:
    return {(r["train"], r["test"], r["features"]): r for r in result.frame.iter_rows(named=True)}


def test_a_feature_that_labels_depend_on_wins_and_a_random_one_does_not() -> None:
    found = rows(trained())
    base, good, noise = (found["all", "all", name] for name in ("words", "words + good", "words + noise"))
    assert good["significant"]
    assert good["difference"] > 0.1
    assert good["p"] < 0.001
    assert good["p_permutation"] < 0.01
    assert good["difference_low"] > 0
    # Chaff cannot help; in so small a study it may hurt a little.
    assert noise["difference"] < 0.01
    assert base["difference"] is None
    assert base["p"] is None
    assert [r["n_queries"] for r in (base, good, noise)] == [60, 60, 60]
    assert base["low"] < base["ndcg"] < base["high"]
    assert trained().frame.columns[:10] == [
        "train", "test", "features", "ndcg", "low", "high", "n_queries", "difference", "p", "significant",
    ]  # fmt: skip


def test_differences_are_those_of_the_means() -> None:
    found = rows(trained())
    for (by, on, features), row in found.items():
        if features == "words":  # what the others are compared with
            assert row["difference"] is None
        else:
            assert row["difference"] == pytest.approx(row["ndcg"] - found[by, on, "words"]["ndcg"])


def test_no_query_is_both_learnt_from_and_tested_on() -> None:
    _, features = made(23, 4)
    pool = Pool.of(features.sort("query", "doc"), 5, fold_seed=3)
    tested = []
    for learn, stop, test in rotation(5):
        parts = [set(pool.query[rows]) for rows in (pool.rows(*learn), pool.rows(stop), pool.rows(test))]
        assert sum(len(part) for part in parts) == len(set().union(*parts)) == 23
        assert len(parts[1]) in (4, 5)
        tested += list(parts[2])
    assert sorted(tested) == list(range(23))


def test_a_ranker_that_remembers_queries_gains_nothing() -> None:
    """A feature that gives every document of a query away, but for other queries says nothing."""
    judgments, features = made(40, 8, seed=2)
    rng = np.random.default_rng(0)
    by_heart = features.join(judgments.frame, on=["query", "doc"], maintain_order="left")
    # The order of the labels within a query, turned round in every other query.
    turn = np.repeat(rng.permutation(40) % 2 * 2 - 1, 8)
    key = pl.Series(np.repeat(rng.permutation(40), 8) * 10.0) + by_heart["label"] * turn
    features = features.with_columns(key=key).select("query", "doc", "words", "key")
    row = rows(train(judgments, features))["all", "all", "words + key"]
    assert row["difference"] < 0.02


def test_training_is_repeatable() -> None:
    judgments, features = made(20, 6)
    one, two = (train(judgments, features, seed=4).frame for _ in range(2))
    assert one.equals(two, null_equal=True)


@pytest.mark.thorough
def test_table_7_is_one_call_on_a_simulated_study() -> None:
    """The crowd overrates Wikipedia: its labels reward a ranker that uses the feature, gold labels do not."""
    # A whole grade: half a grade shows too, but not surely, in so few queries.
    study = judging_study(seed=1, queries=300, wikipedia=1.0)
    features = study.pairs.select("query", "doc", "bm25", "wikipedia")
    result = train(study.judgments, features)
    found = rows(result)
    assert len(found) == 27
    both = {key[:2]: row for key, row in found.items() if key[2] == "bm25 + wikipedia"}
    assert both["crowd", "crowd"]["significant"]
    assert both["crowd", "crowd"]["difference_low"] > 0.01
    assert abs(both["gold", "gold"]["difference"]) < 0.01
    assert abs(both["professional", "professional"]["difference"]) < 0.01
    # What the crowd teaches does not hold for the truth.
    assert both["crowd", "gold"]["difference_high"] < 0
    alone = [row for (_, _, name), row in found.items() if name == "wikipedia"]
    assert len(alone) == 9
    for row in alone:
        assert row["significant"]
        assert row["difference"] < 0
    assert "trained on crowd and tested on crowd, bm25 + wikipedia has nDCG@10" in result.finding


@pytest.mark.thorough
def test_a_study_of_the_papers_size_takes_seconds() -> None:
    study = judging_study(seed=2)
    begin = perf_counter()
    result = train(study.judgments, study.pairs.select("query", "doc", "bm25", "wikipedia"))
    assert perf_counter() - begin < 30
    assert result.frame["n_queries"].to_list() == [100] * 27


def test_baselines_with_one_feature_do_not_care_who_trained_them() -> None:
    """One feature only has a sign to learn, as in the paper's first columns."""
    judgments, features = made(50, 10)
    harsh = judgments.frame.with_columns(label=(pl.col("label") - 1).clip(0), group=pl.lit("harsh"))
    both = Judgments.of(pl.concat([judgments.frame.with_columns(group=pl.lit("kind")), harsh]))
    found = rows(train(both, features.select("query", "doc", "good")))
    assert found["kind", "kind", "good"]["ndcg"] == pytest.approx(found["harsh", "kind", "good"]["ndcg"], abs=0.03)


def test_a_yes_or_no_in_words_is_a_feature_too() -> None:
    judgments, features = made(15, 6)
    words = features.select(
        "query", "doc", "words", wp=pl.when(pl.col("good") > 0).then(pl.lit("WP")).otherwise(pl.lit("nWP"))
    )
    numbers = words.with_columns(pl.col("wp") == "WP")
    assert train(judgments, words).frame.equals(train(judgments, numbers).frame, null_equal=True)
    with pytest.raises(BadInput, match="numbers, or two values"):
        train(judgments, words.with_columns(wp=pl.col("doc")))


def test_identical_rankings_differ_by_nothing() -> None:
    judgments, features = made(15, 6)
    twice = features.select("query", "doc", "good", same=pl.col("good"))
    row = rows(train(judgments, twice))["all", "all", "same"]
    assert (row["difference"], row["p"], row["significant"]) == (0.0, 1.0, False)


def test_the_t_test_is_scipys() -> None:
    result = trained()
    found = rows(result)["all", "all", "words + good"]
    values = result.queries.pivot(on="features", index="query", values="ndcg")  # type: ignore[attr-defined]
    assert found["p"] == pytest.approx(ttest_rel(values["words + good"], values["words"]).pvalue)


def test_what_cannot_be_trained_is_said() -> None:
    judgments, features = made(15, 6)
    with pytest.raises(BadInput, match="3 folds or more"):
        train(judgments, features, folds=2)
    with pytest.raises(BadInput, match="as many queries as folds"):
        train(*made(4, 6))
    with pytest.raises(BadInput, match="a column of the features"):
        train(judgments, features, feature_sets={"x": ["colour"]})
    with pytest.raises(BadInput, match="each document of a query once"):
        train(judgments, pl.concat([features, features]))
    with pytest.raises(BadInput, match="documents that the judges labelled"):
        train(judgments, features.with_columns(query=pl.lit("x") + pl.col("query")))
    with pytest.raises(BadInput, match="nDCG with a cutoff"):
        train(judgments, features, measure="P@10")


def test_a_group_whose_labels_are_all_alike_teaches_nothing() -> None:
    judgments, features = made(15, 6)
    flat = judgments.frame.with_columns(label=pl.lit(1.0), group=pl.lit("flat"))
    both = Judgments.of(pl.concat([judgments.frame.with_columns(group=pl.lit("keen")), flat]))
    result = train(both, features.select("query", "doc", "words", "good"))
    found = rows(result)
    assert np.isnan(found["flat", "keen", "words"]["ndcg"])
    assert np.isfinite(found["keen", "keen", "words"]["ndcg"])
    assert any("flat" in note and "alike" in note for note in result.notes)


def test_a_feature_that_is_always_the_same_ranks_at_random() -> None:
    judgments, features = made(40, 10)
    flat = features.select("query", "doc", "good", flat=pl.lit(1.0), missing=pl.lit(None, pl.Float64))
    found = rows(train(judgments, flat, feature_sets={"flat": ["flat"], "missing": ["missing"], "good": ["good"]}))
    assert found["all", "all", "missing"]["difference"] == 0.0
    assert found["all", "all", "good"]["difference_low"] > 0.05


def test_negative_and_broken_grades_are_learnt_in_order() -> None:
    judgments, features = made(15, 6)
    odd = judgments.frame.with_columns(label=pl.col("label").replace({0.0: -2.0, 3.0: 2.5}))
    assert np.isfinite(
        rows(train(Judgments.of(odd), features.select("query", "doc", "good")))["all", "all", "good"]["ndcg"]
    )


def test_a_group_teaches_the_label_in_the_middle_of_three_different_ones() -> None:
    """0, 2 and 3 are 2: the lowest of three would teach that good documents are bad."""
    rows = [{"query": "q", "doc": "d", "label": label, "judge": f"w{label}", "group": "crowd"} for label in (0, 2, 3)]
    panel = Panel.of([*rows, rows[0] | {"doc": "e"}])
    labels, notes = taught(panel)
    assert labels["crowd"].frame.rows() == [("q", "d", 2.0), ("q", "e", 0.0)]
    assert any(note.startswith("crowd: 4 labels of 2 documents: the median counts") for note in notes)


def test_without_lightgbm_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtra, match=r"pip install 'karat\[train\]'"):
        train(*made(15, 6))


def test_linear_weights_have_the_sign_of_what_labels_reward() -> None:
    """`good` and `words` are planted with weights of 1 and 0.4, `bad` is `good` turned round, `noise` is nothing."""
    judgments, features = made(60, 12)
    features = features.with_columns(bad=-pl.col("good"))
    sets = {"words": ["words"], "bad": ["bad"], "all": ["words", "good", "noise"]}
    found = train(judgments, features, feature_sets=sets, ranker="linear", draws=0)
    weight = {row["features"] + " " + row["feature"]: row for row in found.weights.to_dicts()}
    assert [weight[name]["positive"] for name in ("words words", "bad bad", "all good", "all words")] == [5, 0, 5, 5]
    planted = weight["all words"]["weight"] / weight["all good"]["weight"]
    assert planted == pytest.approx(0.4, abs=0.1)
    assert abs(weight["all noise"]["weight"]) < 0.1 * weight["all good"]["weight"]


def test_one_feature_keeps_its_own_order_whoever_trained_the_linear_ranker() -> None:
    """Table 7's first column: BM25 alone is BM25's own order."""
    study = judging_study(seed=3, queries=40)
    features = study.pairs.select("query", "doc", "bm25", "wikipedia")
    found = rows(train(study.judgments, features, ranker="linear", draws=0))
    own = Runs.of(features.select("query", "doc", system=pl.lit("bm25"), score="bm25"))
    for on in ("crowd", "professional", "gold"):
        labels = taught(Panel.of(study.judgments))[0][on]
        (plain,) = kt.score(labels, own, ["nDCG@10"], draws=0).means["value"]
        for by in ("crowd", "professional", "gold"):
            assert found[by, on, "bm25"]["ndcg"] == pytest.approx(plain)


def test_a_ranker_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadInput, match="expected trees or linear, found forest"):
        train(*made(20, 6), ranker="forest")  # type: ignore[arg-type]


def over_all_orders(gains: list[float], discounts: list[float]) -> float:
    """The mean nDCG of all orders of documents with these gains."""
    best = sum(g * d for g, d in zip(sorted(gains, reverse=True), discounts, strict=False))
    orders = list(permutations(gains))
    return sum(sum(g * d for g, d in zip(order, discounts, strict=False)) for order in orders) / len(orders) / best


@pytest.mark.parametrize(
    ("measure", "gains", "discounts"),
    [
        ("nDCG@2", [0, 1, 2, 3], [1, 1 / np.log2(3)]),
        ("nDCG(gains='exp')@3", [0, 1, 3, 7], [1, 1 / np.log2(3), 1 / 2]),
        ("nDCG(discount='zipf')@2", [0, 1, 2, 3], [1, 1 / 2]),
    ],
)
def test_tied_scores_count_as_the_mean_over_all_orders(
    measure: str, gains: list[float], discounts: list[float]
) -> None:
    rows = [{"query": f"q{q}", "doc": f"d{d}", "label": (d + q) % 4} for q in range(10) for d in range(4)]
    features = pl.DataFrame([{"query": r["query"], "doc": r["doc"], "flat": 1.0} for r in rows])
    for seed in (0, 1):
        found = train(rows, features, measure=measure, ranker="linear", draws=0, seed=seed)
        assert found.frame["ndcg"].to_list() == [pytest.approx(over_all_orders(gains, discounts))]
        assert any("ties in score" in note and "all their orders" in note for note in found.notes)


def test_the_seed_changes_neither_folds_nor_linear_figures() -> None:
    judgments, features = made(20, 6)
    one, two = (train(judgments, features, ranker="linear", draws=0, seed=seed) for seed in (0, 7))
    assert one.frame.equals(two.frame, null_equal=True)
    assert one.weights.equals(two.weights)
    other = train(judgments, features, ranker="linear", draws=0, fold_seed=7)
    assert not one.weights.equals(other.weights)


def test_documents_without_a_feature_are_noted() -> None:
    judgments, features = made(20, 6)
    gaps = features.with_columns(good=pl.when(pl.col("doc") == "d0").then(None).otherwise("good"))
    notes = train(judgments, gaps, ranker="linear", draws=0).notes
    assert "good is unknown for 20 of 120 labelled documents: they count as having its mean" in notes
    assert not any("words is unknown" in note for note in notes)
    notes = train(judgments, gaps, draws=0).notes
    assert "good is unknown for 20 of 120 labelled documents: trees treat it as a value of its own" in notes


def test_training_takes_no_context_weight() -> None:
    with pytest.raises(BadInput, match="without a context weight"):
        train(*made(15, 6), measure="nDCG(context=0.5)@10")
