"""The user disagreement model: the paper's figures on its own data, hand-worked cases, and simulated users."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import betabinom, binom, hypergeom

import karat as kt
from karat.errors import Undefined
from karat.judges import (
    combined_weights,
    consistency,
    disagreement,
    disagreement_by,
    overlap,
    resampled_p,
)
from karat.judges.document_gains import random_user
from karat.labels import Panel
from karat.stats.beta_binomial import beta_binomial_tail, binomial_tail, fit_beta_binomial, hypergeometric_tail
from simulated import about, studies

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "rf10"


@pytest.fixture(scope="module")
def rf10() -> kt.Judgments:
    """Crowd and NIST labels of the TREC 2010 Relevance Feedback track, broken links dropped."""
    path = DATA / "trec-rf10-data.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path}: set KARAT_DATA to the folder with the research data")
    raw = pl.read_csv(gzip.decompress(path.read_bytes()), separator="\t", infer_schema=False)
    pair = [pl.col("topicID").alias("query"), pl.col("docID").alias("doc")]
    crowd = raw.select(*pair, pl.col("label").cast(float), pl.col("workerID").alias("judge"))
    gold = raw.select(*pair, pl.col("gold").cast(float).alias("label")).unique().with_columns(judge=pl.lit("NIST"))
    return kt.Judgments.of(pl.concat([crowd, gold]).filter(pl.col("label") >= 0))


def study(documents: dict[str, list[int]], query: str = "q") -> list[dict[str, object]]:
    return [
        {"query": query, "doc": doc, "label": label, "judge": f"j{n}"}
        for doc, labels in documents.items()
        for n, label in enumerate(labels)
    ]


def test_the_papers_own_data_gives_the_known_figures(rf10: kt.Judgments) -> None:
    # The figures are of all labels, also of those that a worker gave again: 1,345 of 95,060.
    model = disagreement(Panel.of(rf10, repeats="all"), 2, min_labels=6)
    assert len(model.votes.counts) == 2598
    assert model.p.round(3).tolist() == [0.233, 0.302, 0.343]
    pairs = [(1, 3), (2, 3), (2, 4), (2, 5)]
    assert [round(model.binomial(m, n)[1], 3) for m, n in pairs] == [0.512, 0.091, 0.218, 0.351]
    assert [round(model.experimental(m, n)[1], 3) for m, n in pairs] == [0.499, 0.105, 0.232, 0.353]
    assert [round(model.beta_binomial(m, n)[1], 3) for m, n in pairs] == [0.498, 0.104, 0.232, 0.354]
    assert model.opinions[1] == pytest.approx((4.35, 10.11), abs=0.01)


def test_models_are_compared_with_counts_on_one_set_of_documents(rf10: kt.Judgments) -> None:
    # The crowd's documents with eight labels or more, for 1 of N users up to 8: known from the same data elsewhere.
    crowd = kt.Judgments.of(rf10.frame.filter(pl.col("judge") != "NIST"))
    model = disagreement(Panel.of(crowd, repeats="all"), 2, draws=0)
    pairs = [(1, n) for n in range(2, 9)]
    assert model.furthest(pairs) == pytest.approx((0.034, 0.012), abs=0.0005)
    assert any(
        "on the 1,016 documents with at least 8 labels, furthest from what was counted: binomial by 0.034, "
        "beta-binomial by 0.012" in note
        for note in model.table(pairs).notes
    )


def test_documents_with_fewer_labels_are_no_error_of_the_model() -> None:
    # Of 16 documents with four labels, users say top by a coin: p(1|0) is 1/2 but for chance, 1 of 3 is 1 - 1/4. Of 300
    # with two labels nobody does. Fitted to all of them, both models would be off by far from what four labels show.
    even = [[0, 0, 0, 0]] + [[0, 0, 0, 1]] * 4 + [[0, 0, 1, 1]] * 6 + [[0, 1, 1, 1]] * 4 + [[1, 1, 1, 1]]
    rows = study({f"a{i}": given for i, given in enumerate(even)})
    model = disagreement(rows + study({f"b{i}": [0, 0] for i in range(300)}, "r"), draws=0)
    assert model.with_labels(4).p.tolist() == pytest.approx([0.5, 0.5])
    assert model.furthest([(1, 3), (1, 4)]) == pytest.approx((0.0, 0.0), abs=0.001)
    assert model.experimental(1, 3)[0] - model.binomial(1, 3)[0] > 0.5


def test_the_beta_binomial_is_closer_to_the_experiment_on_all_pairs(rf10: kt.Judgments) -> None:
    model = disagreement(Panel.of(rf10, repeats="all"), 2, min_labels=6, draws=0)
    # With N = 2 there is one other user, and the binomial is exact by construction.
    for m, n in [(1, 3), (2, 3), (1, 4), (2, 4), (3, 4), (1, 5), (2, 5)]:
        counted = model.experimental(m, n)[1]
        apart = abs(model.binomial(m, n)[1] - counted), abs(model.beta_binomial(m, n)[1] - counted)
        assert apart[1] < apart[0], (m, n)


def test_random_draws_agree_with_the_exact_form(rf10: kt.Judgments) -> None:
    found = resampled_p(rf10, 2, min_labels=6, repeats=20, seed=1).frame
    exact = dict(zip((0.0, 1.0, 2.0), disagreement(rf10, 2, min_labels=6, draws=0).p, strict=True))
    for row in found.iter_rows(named=True):
        assert row["mean"] == pytest.approx(exact[row["level"]], abs=0.02)
    sds = found.filter(pl.col("level") == 1).sort("others")["sd"].to_list()
    assert sds[0] > sds[-1]


def test_a_small_study_by_hand() -> None:
    # a: 2 2 1, b: 1 0 0. Given 1: a (weight 1/3, others 2 of 2 top), b (1/3, 0 of 2) -> 1/2.
    # Given 2: a only, the other labels are 2 and 1 -> 1/2. Given 0: b only -> 0.
    model = disagreement(kt.Judgments.of(study({"a": [2, 2, 1], "b": [1, 0, 0]})))
    assert model.p.tolist() == pytest.approx([0.0, 0.5, 0.5])
    assert model.binomial(1, 3).tolist() == pytest.approx([0.0, 1 - 0.5**2, 1.0])
    assert model.binomial(2, 3).tolist() == pytest.approx([0.0, 0.5**2, 1 - 0.5**2])
    # At least one of three, counted: given 1 the other two of a are top, of b neither.
    assert model.experimental(1, 3).tolist() == pytest.approx([0.0, 0.5, 1.0])
    assert model.weights(1, 3, zero_lowest=True) == {0.0: 0.0, 1.0: 0.75, 2.0: 1.0}


def test_binomial_predictions_of_the_paper() -> None:
    assert [round(binomial_tail(m, n - 1, 0.30), 3) for m, n in [(1, 3), (2, 3), (2, 4), (2, 5)]] == [
        0.51,
        0.09,
        0.216,
        0.348,
    ]


@pytest.mark.parametrize(("need", "of"), [(0, 4), (1, 4), (3, 4), (5, 4)])
def test_tails_are_scipys(need: int, of: int) -> None:
    assert binomial_tail(need, of, 0.3) == pytest.approx(binom.sf(need - 1, of, 0.3))
    assert beta_binomial_tail(need, of, 2.0, 3.0) == pytest.approx(betabinom.sf(need - 1, of, 2.0, 3.0))
    yes, among = np.array([0, 2, 5, 9]), np.array([4, 7, 9, 9])
    drawn = hypergeometric_tail(need, of, yes, among)
    assert drawn == pytest.approx(hypergeom.sf(need - 1, among, yes, of), abs=1e-12)


def test_a_beta_distribution_is_recovered() -> None:
    rng = np.random.default_rng(5)
    of = rng.integers(3, 12, 20_000)
    yes = rng.binomial(of, rng.beta(2.0, 5.0, 20_000))
    a, b = fit_beta_binomial(yes, of, np.ones(20_000))
    assert (a, b) == (pytest.approx(2.0, rel=0.05), pytest.approx(5.0, rel=0.05))


def simulated(rng: np.random.Generator, a: float, b: float, queries: int = 40, docs: int = 15) -> kt.Judgments:
    """Users who call a document top with its own probability, drawn from a beta; else relevant or not by a coin."""
    share = rng.beta(a, b, (queries, docs))
    size = rng.integers(2, 7, (queries, docs))
    rows = [
        (f"q{q}", f"d{d}", 2.0 if top else float(rng.random() < 0.5), f"j{n}")
        for q in range(queries)
        for d in range(docs)
        for n, top in enumerate(rng.random(size[q, d]) < share[q, d])
    ]
    return kt.Judgments.of(pl.DataFrame(rows, schema=["query", "doc", "label", "judge"], orient="row"))


@pytest.mark.evidence
def test_intervals_cover_and_both_models_are_right_where_they_hold() -> None:
    rng = np.random.default_rng(11)
    a, b = 1.5, 3.0
    held = 0
    # Given a label below top, the share of users who say top is Beta(a, b + 1); given top, Beta(a + 1, b).
    truth = a / (a + b + 1)
    seeds = studies(15, 800)
    for seed in seeds:
        model = disagreement(simulated(rng, a, b), 2, draws=300, seed=seed)
        low, high = model.intervals
        held += low[1] <= truth <= high[1]
    assert held / len(seeds) == about(0.95, len(seeds), off=0.015)
    large = disagreement(simulated(rng, a, b, 300, 40), 2, draws=0)
    assert large.p[2] == pytest.approx((a + 1) / (a + b + 1), abs=0.02)
    assert large.beta_binomial(2, 5)[1] == pytest.approx(betabinom.sf(1, 4, a, b + 1), abs=0.015)
    alike = disagreement(simulated(rng, 3000.0, 7000.0, 300, 40), 2, draws=0)
    assert alike.binomial(2, 5)[1] == pytest.approx(binom.sf(1, 4, 0.3), abs=0.02)
    assert alike.beta_binomial(2, 5)[1] == pytest.approx(binom.sf(1, 4, 0.3), abs=0.02)


def test_conditions_are_told_apart() -> None:
    rows = [row | {"kind": "faceted"} for row in study({f"d{i}": [2, 2, 1] for i in range(6)}, "q1")]
    rows += [row | {"kind": "ambiguous"} for row in study({f"d{i}": [2, 1, 1] for i in range(6)}, "q2")]
    found = disagreement_by(kt.Judgments.of(rows), "kind").frame
    p = {(row["kind"], row["level"]): row["p"] for row in found.iter_rows(named=True)}
    assert p["faceted", 1.0] == pytest.approx(1.0)
    assert p["ambiguous", 1.0] == pytest.approx(0.5)
    with pytest.raises(kt.BadInput, match="list_quality, or top5"):
        disagreement_by(kt.Judgments.of(rows), "colour")


@pytest.mark.parametrize(("told", "asked", "weight"), [(5, 36, 0.26), (87, 372, 0.41)])  # 0.31 is printed for 0.41
def test_combined_levels_give_the_printed_weight(told: int, asked: int, weight: float) -> None:
    rows = []
    for n in range(asked):
        other = (3.0, 3.0) if n < told else (0.0, 0.0)
        for judge, (snippet, page) in (("x", (0.0, 2.0)), ("y", other)):
            rows += [
                {"query": f"q{n % 6}", "doc": f"d{n}", "judge": judge, "surface": s, "label": g}
                for s, g in (("snippet", snippet), ("page", page))
            ]
    found = combined_weights(kt.Judgments.of(rows), ["snippet", "page"], [3, 3], zero={"page": 0})
    row = found.frame.filter(pl.col("level") == "0, 2").row(0, named=True)
    assert (row["told"], row["asked"], row["few"]) == (told, asked, asked < 50)
    assert row["weight"] == pytest.approx(1 - ((asked - told) / asked) ** 2)
    assert round(row["weight"], 2) == weight
    assert found.frame.filter(pl.col("level") == "0, 0")["weight"][0] == 0.0


def test_judges_agree_with_themselves_more_than_with_others() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for doc in range(150):
        for judge in "xy":
            opinion = rng.integers(0, 3)
            rows += [
                {
                    "query": f"q{doc % 9}",
                    "doc": f"d{doc}",
                    "judge": judge,
                    "label": int(opinion if rng.random() < 0.9 else 1),
                }
                for _ in range(3)
            ]
    frame = consistency(kt.Judgments.of(rows), 2, draws=200, seed=0).frame
    means = {(r["kind"], r["level"]): r["p"] for r in frame.iter_rows(named=True)}
    assert means["self", 2.0] > 0.75
    assert means["cross", 2.0] < 0.5


def test_two_labels_per_document_estimate_the_same(rf10: kt.Judgments) -> None:
    # Of the same documents, those with six labels or more: documents with two labels are others.
    panel = Panel.of(rf10)
    panel = panel.kept((panel.counts().sum(axis=1) >= 6)[panel.item])
    every = disagreement(panel, 2, draws=0).p
    two = disagreement(panel, 2, most_labels=2, draws=200)
    low, high = two.intervals
    assert two.votes.size.max() == 2
    assert ((low < every) & (every < high)).all()


def test_overlap_is_jaccards() -> None:
    rows = study({"a": [2, 2], "b": [2, 0], "c": [0, 2], "d": [2, 2], "e": [0, 0]})
    found = overlap(kt.Judgments.of(rows), 2).frame.row(0, named=True)
    assert (found["both"], found["either"], found["overlap"]) == (2, 4, 0.5)


def test_the_top_level_is_the_scales_highest_grade() -> None:
    scale = kt.Scale.parse("Non, Rel, HRel, Key")
    labels = kt.Judgments.of(study({"a": [2, 1], "b": [1, 0], "c": [2, 2]}), scale=scale)
    model = disagreement(labels, draws=0)
    assert model.top == 3
    assert model.p[:-1].tolist() == [0, 0, 0]  # nobody says Key, whatever another said
    assert any("no judge gave Key, the top level; the highest label given is HRel" in note for note in model.notes)
    assert disagreement(labels, 3, draws=0).top == 3
    assert random_user(labels, draws=0).frame["weight"].to_list() == [0, 0, 0]
    # Without a scale, or with a lower top level, the highest label is the top.
    assert disagreement(kt.Judgments.of(study({"a": [2, 1], "b": [1, 0], "c": [2, 2]})), draws=0).top == 2
    assert disagreement(labels, 2, draws=0).top == 2


def combined_study(documents: dict[str, list[tuple[int, int]]]) -> list[dict[str, object]]:
    return [
        {"query": "q", "doc": doc, "judge": f"j{n}", "surface": surface, "label": grade}
        for doc, given in documents.items()
        for n, both in enumerate(given)
        for surface, grade in zip(("snippet", "page"), both, strict=True)
    ]


def test_combined_zero_includes_lower_grades() -> None:
    rows = combined_study({"a": [(3, 3), (3, -2)], "b": [(3, 3), (3, 0)], "c": [(3, 3), (3, 1)]})
    found = combined_weights(kt.Judgments.of(rows), ["snippet", "page"], [3, 3], zero={"page": 0}, draws=0).frame
    worth = {level: (weight, alone) for level, weight, alone in found.select("level", "weight", "alone").rows()}
    assert worth["3, -2"] == worth["3, 0"] == (0, 0)
    assert worth["3, 1"] == (1, 1)


def test_a_top_combination_that_nobody_gave_is_no_error() -> None:
    rows = combined_study({"a": [(3, 2), (3, 2)], "b": [(2, 2), (1, 1)]})
    labels = kt.Judgments.of(rows, scale=kt.Scale.parse("0..3"))
    found = combined_weights(labels, ["snippet", "page"], [3, 3], draws=0)
    assert found.frame.select("level", "weight", "n").row(0) == ("3, 3", 1, 0)
    assert found.frame["weight"][1:].to_list() == [0, 0, 0]
    assert any("no judge gave [3, 3], the top combination" in note for note in found.notes)
    with pytest.raises(kt.BadInput, match="a level of the scale"):
        combined_weights(labels, ["snippet", "page"], [3, 9], draws=0)


def test_data_that_cannot_tell_says_so() -> None:
    with pytest.raises(Undefined, match="no document has 2 labels"):
        disagreement(kt.Judgments.of(study({"a": [1], "b": [2]})))
    with pytest.raises(Undefined, match="every label is at the top"):
        disagreement(kt.Judgments.of(study({"a": [1, 1]})))
    with pytest.raises(kt.BadInput, match="a label of these judgments"):
        disagreement(kt.Judgments.of(study({"a": [1, 2]})), 5)
    with pytest.raises(kt.BadInput, match="2 or more"):
        disagreement(kt.Judgments.of(study({"a": [1, 2]})), min_labels=1)
    with pytest.raises(kt.BadInput, match="M from 1 to N"):
        disagreement(kt.Judgments.of(study({"a": [1, 2]}))).binomial(3, 2)
    with pytest.raises(Undefined, match="no judge judged a document twice"):
        consistency(kt.Judgments.of(study({"a": [1, 2]})))
    few = disagreement(kt.Judgments.of(study({"a": [1, 2], "b": [1, 1]})))
    assert np.isnan(few.intervals[0]).all()
    assert any("too few for intervals" in note for note in few.notes)


def test_weights_are_gains() -> None:
    labels = kt.Judgments.of(study({"a": [2, 2, 1], "b": [1, 0, 0], "c": [2, 1, 1]}))
    worth = disagreement(labels, draws=0).weights(1, 3)
    run = {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}
    table = "{" + ",".join(f"{g:g}:{w!r}" for g, w in worth.items()) + "}"
    both = kt.score(labels, run, ["nDCG(gains=udm(1/3))@3", f"nDCG(gains={table})@3"], draws=0).means["value"]
    assert both[0] == pytest.approx(both[1])
    given = kt.score(labels, run, "nDCG(gains=udm(1/3))@3", user_weights=lambda m, n: {0: 0, 1: 0, 2: 1}, draws=0)
    assert given.means["value"][0] == pytest.approx(0.5)
    with pytest.raises(Undefined, match="no document has 2 labels"):
        kt.score({"q": {"a": 1, "b": 0}}, run, "nDCG(gains=udm(1/3))@3")
