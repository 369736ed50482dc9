"""Scores of runs corrected for the judges' errors: S2's own figures, hand calculations, the calculator, other paths."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.corrected_runs import corrected_runs
from karat.simulate import two_systems

Rows = dict[str, dict[str, float]]


def queries_scoring(name: str, scores: list[float], depth: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels and a run whose P@depth are these, each query with documents of its own."""
    query = np.repeat([f"{name}{n}" for n in range(len(scores))], depth)
    place = np.tile(np.arange(depth), len(scores))
    label = (place < np.repeat(np.round(np.array(scores) * depth), depth)).astype(float)
    names = {"query": query, "doc": [f"{name}-{at}" for at in place]}
    return pl.DataFrame(names | {"label": label}), pl.DataFrame(names | {"score": -place.astype(float)})


def gold_apart(right: tuple[int, int], of: tuple[int, int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels and gold labels of documents that no run shows, one a query, relevant ones first; so many are right."""
    truth = np.repeat([1.0, 0.0], of)
    agrees = np.concatenate([np.arange(n) < r for r, n in zip(right, of, strict=True)])
    names = {"query": [f"gold{n}" for n in range(len(truth))], "doc": ["x"] * len(truth)}
    labels = pl.DataFrame(names | {"label": np.where(agrees, truth, 1 - truth)})
    return labels, pl.DataFrame(names | {"label": truth})


def row(found: pl.DataFrame, method: str) -> dict[str, float]:
    return found.row(by_predicate=pl.col("method") == method, named=True)


def spread_out(n: int, thirds: int, ones: int) -> list[float]:
    """Queries of P@3: so many of a third and of two thirds, so many of 1, the rest of 0."""
    return [1 / 3] * thirds + [2 / 3] * thirds + [1.0] * ones + [0.0] * (n - 2 * thirds - ones)


def test_the_papers_section_6_comes_out_of_files() -> None:
    """Two samples without a common query, gold labels apart: .626, .414 of 10,278 and .6385, .402 of 20,604."""
    a, run_a = queries_scoring("a", spread_out(10_278, 1451, 4983), 3)
    b, run_b = queries_scoring("b", spread_out(20_604, 3209, 9947), 3)
    labels, gold = gold_apart((43, 67), (59, 84))
    found = corrected_runs(pl.concat([a, b, labels]), {"a": run_a, "b": run_b}, "P@3", gold=gold, draws=0)
    naive = found.scores.filter(pl.col("method") == "naive")
    assert naive["score"].to_list() == pytest.approx([0.6260, 0.6385], abs=5e-5)
    spread = naive["standard_error"] * naive["n_queries"].sqrt()
    assert spread.to_list() == pytest.approx([0.414, 0.402], abs=5e-4)
    corrected = found.scores.filter(pl.col("method") == "corrected")
    assert corrected["score"].to_list() == pytest.approx([0.805, 0.828], abs=5e-4)
    assert corrected["standard_error"].to_list() == pytest.approx([0.0903, 0.0923], abs=1e-4)
    assert found.pair is not None
    assert row(found.pair, "naive")["p"] == pytest.approx(0.0115, abs=5e-4)
    assert row(found.pair, "independent")["p_normal"] == pytest.approx(0.854, abs=1e-3)
    assert row(found.pair, "shared")["p"] == pytest.approx(0.017, abs=5e-4)
    assert (found.verdict, found.method, found.in_common) == ("better", "shared", 0)
    assert "over 10,278 and 20,604 queries, none of them the same" in found.finding


@pytest.mark.parametrize("same", [True, False])
def test_files_and_the_calculator_agree(same: bool) -> None:
    """Counts of gold labels beside the files: the figures are those of `corrected_difference`."""
    rng = np.random.default_rng(2)
    scores = [list(rng.integers(0, 6, n) / 5) for n in ((40, 40) if same else (40, 70))]
    names = ("q", "q") if same else ("a", "b")
    frames = [queries_scoring(name, score, 5) for name, score in zip(names, scores, strict=True)]
    if same:  # other documents of the same queries
        frames[1] = tuple(frame.with_columns(pl.col("doc") + "-b") for frame in frames[1])  # type: ignore[assignment]
    table = [(1, 1, 0.85, 100), (1, 0, 0.15, 100), (0, 0, 0.8, 90), (0, 1, 0.2, 90)]
    matrix = pl.DataFrame(table, schema=["grade", "label", "share", "n"], orient="row")
    labels = pl.concat([frame[0] for frame in frames])
    found = corrected_runs(labels, {"A": frames[0][1], "B": frames[1][1]}, "P@5", confusion=matrix, draws=0)
    observed = [kt.Observed(float(np.mean(s)), len(s), sd=float(np.std(s, ddof=1))) for s in scores]
    apart = float(np.std(np.array(scores[1]) - np.array(scores[0]), ddof=1)) if same else None
    by_hand = kt.corrected_difference(*observed, kt.Accuracy.of("85/100", "72/90"), sd_difference=apart, draws=0)
    assert found.pair is not None
    for method in ("naive", "independent", "shared"):
        ours, theirs = row(found.pair, method), row(by_hand.frame, method)
        for figure in ("a", "b", "difference", "standard_error", "low", "high", "p", "df"):
            if not (method == "independent" and figure in ("low", "high", "p", "df")):
                assert ours[figure] == pytest.approx(theirs[figure], rel=1e-6), (method, figure)
    own = found.scores.filter(pl.col("method") == "corrected")
    assert own["low"].to_list() == pytest.approx([by_hand.a.low, by_hand.b.low])
    assert own["high"].to_list() == pytest.approx([by_hand.a.high, by_hand.b.high])


def test_two_matrices_are_those_of_the_calculator_with_two_gold_samples() -> None:
    frames = [queries_scoring(name, [0.2, 0.6, 0.4, 0.8, 0.4] * n, 5) for name, n in (("a", 8), ("b", 10))]
    tables = [
        pl.DataFrame(rows, schema=["grade", "label", "share", "n"], orient="row")
        for rows in (
            [(1, 1, 0.85, 100), (1, 0, 0.15, 100), (0, 0, 0.8, 90), (0, 1, 0.2, 90)],
            [(1, 1, 0.7, 50), (1, 0, 0.3, 50), (0, 0, 0.9, 60), (0, 1, 0.1, 60)],
        )
    ]
    labels = pl.concat([frame[0] for frame in frames])
    found = corrected_runs(labels, {"A": frames[0][1], "B": frames[1][1]}, "P@5", confusion=tables, draws=0)
    scores = [[0.2, 0.6, 0.4, 0.8, 0.4] * n for n in (8, 10)]
    observed = [kt.Observed(float(np.mean(s)), len(s), sd=float(np.std(s, ddof=1))) for s in scores]
    by_hand = kt.corrected_difference(*observed, kt.Accuracy.of("85/100", "72/90"), kt.Accuracy.of("35/50", "54/60"))
    assert found.pair is not None
    assert found.method == "per run"
    ours, theirs = row(found.pair, "per run"), row(by_hand.frame, "independent")
    for figure in ("a", "b", "standard_error", "p", "df"):
        assert ours[figure] == pytest.approx(theirs[figure], rel=1e-6), figure


def test_graded_labels_by_hand() -> None:
    """The paper's Figure 1 with a matrix: E[J] (0, 1/2, 1/2) and (1/2, 0, 1/2) over highly, partly, not relevant.

    By hand with J = [[.8, .1, .1], [.2, .6, .2], [.1, .1, .8]] (rows: true 2, 1, 0): the inverse is
    [[46, -7, -4], [-14, 63, -14], [-4, -7, 46]] / 35, so labels 2, 1, 0 are worth (85, 35, -15) / 35. Rank 1 then adds
    (35 - 15) / 70, rank 2 (85 - 15) / 70 / log2(3).
    """
    shares = {2: (0.1, 0.1, 0.8), 1: (0.2, 0.6, 0.2), 0: (0.8, 0.1, 0.1)}  # of labels 0, 1, 2
    table = pl.DataFrame(
        [(grade, label, share) for grade, row in shares.items() for label, share in enumerate(row)],
        schema=["grade", "label", "share"],
        orient="row",
    )
    labels: Rows = {"q1": {"a": 0, "b": 2}, "q2": {"c": 1, "d": 0}}
    run: Rows = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 2.0, "d": 1.0}}
    found = corrected_runs(labels, {"mine": run}, "DCG@2", confusion=table, draws=0)
    assert found.scores["score"][1] == pytest.approx(20 / 70 + 70 / 70 / math.log2(3))
    assert "the confusion matrix has no column n: it is taken to be known exactly" in found.notes


def test_what_gold_labels_add_to_the_error_of_a_graded_score_is_the_bootstraps() -> None:
    """Whole queries with their gold documents, drawn again: within a few per cent of the closed form."""
    labels, gold, runs = graded_study(np.random.default_rng(4), queries=150, gold_queries=120)
    found = corrected_runs(labels, runs, "DCG@5", gold=gold, draws=4000)
    closed, again = (found.scores.filter(pl.col("method") == m) for m in ("closed form", "bootstrap"))
    assert again["standard_error"].to_list() == pytest.approx(closed["standard_error"].to_list(), rel=0.08)
    assert found.pair is not None
    shared = row(found.pair, "shared")
    assert shared["bootstrap_error"] == pytest.approx(shared["standard_error"], rel=0.08)


def graded_study(
    rng: np.random.Generator, *, queries: int, gold_queries: int
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:
    """Two runs of queries of their own, labels of a judge of three grades, gold labels of further queries."""
    shares = np.array([[0.75, 0.2, 0.05], [0.2, 0.6, 0.2], [0.05, 0.25, 0.7]])
    frames, runs = list[pl.DataFrame](), dict[str, pl.DataFrame]()
    for name, number in (("a", queries), ("b", queries), ("g", gold_queries)):
        truth = rng.binomial(2, rng.beta(2, 2, number)[:, None], (number, 5)).ravel()
        label = (rng.random(len(truth))[:, None] > shares[truth].cumsum(axis=1)).sum(axis=1).clip(0, 2)
        names = {
            "query": np.repeat([f"{name}{n}" for n in range(number)], 5),
            "doc": [f"{n}" for n in range(5)] * number,
        }
        frames.append(pl.DataFrame(names | {"label": label.astype(float), "truth": truth.astype(float)}))
        runs[name] = pl.DataFrame(names | {"score": [5.0, 4.0, 3.0, 2.0, 1.0] * number})
    gold = frames[2].select("query", "doc", label="truth")
    del runs["g"]
    return pl.concat(frames).drop("truth"), gold, runs


def test_where_gold_is_among_the_documents_compared_it_is_the_inversion_of_compare() -> None:
    made = two_systems(120, difference=0.1, seed=5)
    drawn = made.draw_gold(400, 5)
    gold, labels, runs = made.gold(drawn, 400 / len(drawn)), made.judgments(), made.runs()
    measure = f"P@{made.depth}"
    theirs = kt.compare(labels, runs, measure, gold=gold, method="inversion").methods
    ours = corrected_runs(labels, runs, measure, gold=gold, draws=0)
    assert ours.pair is not None
    one, two = row(ours.pair, "shared"), row(theirs, "inversion")
    assert (one["a"], one["b"]) == (pytest.approx(two["a"]), pytest.approx(two["b"]))
    assert one["high"] - one["low"] == pytest.approx(two["high"] - two["low"], rel=0.03)


def test_queries_that_both_runs_have_covary() -> None:
    """Two of four queries of each are common: V = sa^2/4 + sb^2/4 - 2 * (sum of products over the common) / (3 * 4)."""
    labels: Rows = {f"q{n}": {"a": float(n in (0, 2, 3)), "b": float(n in (2, 4))} for n in range(6)}
    a: Rows = {f"q{n}": {"a": 1.0} for n in (0, 1, 2, 3)}
    b: Rows = {f"q{n}": {"b": 1.0} for n in (2, 3, 4, 5)}
    exact = pl.DataFrame([(0, 0, 1.0), (1, 1, 1.0)], schema=["grade", "label", "share"], orient="row")
    found = corrected_runs(labels, {"A": a, "B": b}, "P@1", confusion=exact, draws=0)
    assert found.pair is not None
    # A: 1 0 1 1, mean 3/4; B: 1 0 1 0, mean 1/2; common q2 (1/4, 1/2) and q3 (1/4, -1/2): products 1/8 - 1/8.
    assert row(found.pair, "shared")["standard_error"] == pytest.approx(math.sqrt(0.25 / 4 + (1 / 3) / 4))
    assert found.in_common == 2


def test_each_run_may_have_accuracies_of_its_own() -> None:
    """A's judges are right on 4 of 5 relevant documents and 4 of 5 others, B's on all: .62 becomes .7, .5 stays."""
    labels, gold, runs = {}, {}, {}
    for name in ("a", "b"):
        for n in range(50):
            truth = float(n % 10 < 7) if name == "a" else float(n % 2)
            wrong = name == "a" and n in (0, 10, 20, 30, 1, 11, 21, 7, 17, 27)  # 7 relevant ones of 35, 3 others of 15
            labels[f"{name}{n}"] = {"d": 1 - truth if wrong else truth}
            gold[f"{name}{n}"] = {"d": truth}
        runs[name] = {f"{name}{n}": {"d": 1.0} for n in range(50)}
    found = corrected_runs(labels, runs, "P@1", gold=gold, per_run=True, draws=0)
    assert found.accuracy["right"].to_list() == pytest.approx([0.8, 0.8, 1.0, 1.0])
    assert found.accuracy["n"].to_list() == [15, 35, 25, 25]
    naive, own = (found.scores.filter(pl.col("method") == method)["score"] for method in ("naive", "corrected"))
    assert naive.to_list() == pytest.approx([0.62, 0.5])
    assert own.to_list() == pytest.approx([0.7, 0.5])
    assert found.method == "per run"


def test_judges_who_favour_one_run_are_found_out() -> None:
    """Of the documents that only B shows and gold calls not relevant, judges call half relevant; of A's none."""
    labels, gold, runs = {}, {}, {}
    for name in ("a", "b"):
        for n in range(60):
            truth = float(n % 2)
            labels[f"{name}{n}"] = {"d": 1.0 if name == "b" and n % 4 == 0 else truth}
            gold[f"{name}{n}"] = {"d": truth}
        runs[name] = {f"{name}{n}": {"d": 1.0} for n in range(60)}
    found = corrected_runs(labels, runs, "P@1", gold=gold, draws=0)
    assert any(
        "right on 100 % of what only a shows and 50 % of what only b shows; per_run=True" in n for n in found.notes
    )


def test_the_papers_table_2_is_refused_run_by_run() -> None:
    """Accuracies per run of 17/38, 216/262 and 14/50, 230/285: the second's judges may be guessing."""
    a, run_a = queries_scoring("a", [0.5, 0.55] * 15, 20)
    b, run_b = queries_scoring("b", [0.5, 0.5] * 15, 20)
    tables = []
    for right, of, right_not, of_not in ((17, 38, 216, 262), (14, 50, 230, 285)):
        rows = [(1, 1, right / of, of), (1, 0, 1 - right / of, of)]
        rows += [(0, 0, right_not / of_not, of_not), (0, 1, 1 - right_not / of_not, of_not)]
        tables.append(pl.DataFrame(rows, schema=["grade", "label", "share", "n"], orient="row"))
    runs = {"DocRun02": run_a, "YORK07ED4": run_b}
    with pytest.raises(kt.Undefined, match="YORK07ED4: the labels hardly depend on the gold grade"):
        corrected_runs(pl.concat([a, b]), runs, "P@20", confusion=tables)


def test_an_impossible_score_gives_no_verdict() -> None:
    """d = .25: .9 becomes (.9 - .35) / .25 = 2.2, .2 becomes -.6, a difference of -2.8 that nothing can have."""
    a, run_a = queries_scoring("a", [0.8, 1.0] * 100, 5)
    b, run_b = queries_scoring("b", [0.0, 0.4] * 100, 5)
    labels, gold = gold_apart((60, 65), (100, 100))
    found = corrected_runs(pl.concat([a, b, labels]), {"a": run_a, "b": run_b}, "P@5", gold=gold)
    assert found.scores.filter(pl.col("method") == "corrected")["score"].to_list() == pytest.approx([2.2, -0.6])
    assert (found.verdict, found.impossible) == ("cannot say", ("a", "b"))
    assert found.finding.startswith(
        "Cannot say which is better by P@5: a corrected score of 2.20 for a and -0.60 for b"
    )
    assert any("the nearest that can is 1.000" in note for note in found.notes)


def test_an_inversion_that_comes_out_impossible_decides_no_comparison() -> None:
    """All that B shows is labelled 1. Judges are right on 23 of 25 relevant documents and 14 of 15 others:

    (1 - 1 + 14/15) / (23/25 + 14/15 - 1) = 1.09, within what chance may do, and still no score.
    """
    labels = {f"q{n}": {"a": 1.0, "b": float(n % 3 == 0)} for n in range(24)}
    gold: Rows = {f"q{n}": {"a": float(n != 3)} for n in range(24)}
    for n in range(24):
        gold[f"q{n}"] |= {"b": float(n < 3)} if n % 3 else {}
    runs = {name: {f"q{n}": {doc: 1.0} for n in range(24)} for name, doc in (("A", "b"), ("B", "a"))}
    found = kt.compare(labels, runs, "P@1", gold=gold, method="inversion")
    inverted = row(found.methods, "inversion")
    assert inverted["b"] == pytest.approx(14 / 15 / (23 / 25 + 14 / 15 - 1))
    assert inverted["low"] > 0  # a verdict it would have been
    assert found.verdict == "cannot say"
    assert "B's corrected score 1.094 is impossible (between 0 and 1)" in found.finding
    assert kt.compare(labels, runs, "P@1", gold=gold).verdict == "better"


def test_the_wrong_way_round_too_few_gold_labels_and_other_mistakes_are_said() -> None:
    a, run = queries_scoring("a", [0.4, 0.6] * 10, 5)
    labels, gold = gold_apart((5, 5), (40, 40))
    with pytest.raises(kt.Undefined, match="the wrong way round"):
        corrected_runs(pl.concat([a, labels]), {"a": run}, "P@5", gold=gold)
    labels, gold = gold_apart((1, 30), (1, 40))
    with pytest.raises(kt.Undefined, match="1 gold label on documents worth 1"):
        corrected_runs(pl.concat([a, labels]), {"a": run}, "P@5", gold=gold)
    with pytest.raises(kt.BadInput, match="a sum over documents"):
        corrected_runs(a, {"a": run}, "nDCG@5", gold=gold)
    with pytest.raises(kt.BadInput, match="gold labels, or a confusion matrix"):
        corrected_runs(a, {"a": run}, "P@5")
    with pytest.raises(kt.Undefined, match="no document has both"):
        corrected_runs(a, {"a": run}, "P@5", gold=gold)
    unknown = run.with_columns(pl.col("doc") + "?")
    with pytest.raises(kt.Undefined, match="none of the documents that a shows"):
        corrected_runs(pl.concat([a, labels]), {"a": unknown}, "P@5", gold=gold)
    with pytest.raises(kt.BadInput, match="one or two"):
        corrected_runs(pl.concat([a, labels]), dict.fromkeys("abc", run), "P@5", gold=gold)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 0, 0.5), (0, 1, 0.2), (1, 1, 1.0)], "add up to 1"),
        ([(0, 0, 1.2), (1, 1, 1.0)], "shares from 0 to 1"),
        ([(0, 0, 0.8), (0, 2, 0.2), (1, 1, 1.0)], "a row for every label"),
        ([(0, 0, 1.0)], "two grades or more"),
        ([(0, 0, 1.0), (0, 0, 1.0), (1, 1, 1.0)], "two rows for one grade and label"),
        ([(0, 0, 1.0), (2, 2, 1.0), (3, 3, 1.0)], "a row and a column for every grade of the labels shown"),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(rows: list[tuple[float, float, float]], said: str) -> None:
    a, run = queries_scoring("a", [0.4, 0.6] * 10, 5)
    table = pl.DataFrame(rows, schema=["grade", "label", "share"], orient="row")
    with pytest.raises(kt.BadInput, match=said):
        corrected_runs(a, {"a": run}, "P@5", confusion=table)


def test_documents_that_nobody_judged_are_not_corrected() -> None:
    """Half of the places have a label, all 1, by judges right on 9 of 10 of each: (.5 - .05) / .8."""
    labels: Rows = {f"q{n}": {"a": float(n % 10 != 0)} for n in range(40)}
    run: Rows = {f"q{n}": {"a": 2.0, "z": 1.0} for n in range(40)}
    rows = [(0, 0, 0.9), (0, 1, 0.1), (1, 0, 0.1), (1, 1, 0.9)]
    table = pl.DataFrame(rows, schema=["grade", "label", "share"], orient="row")
    found = corrected_runs(labels, {"a": run}, "P@2", confusion=table, draws=0)
    assert found.scores["score"].to_list()[:2] == pytest.approx([0.45, (0.45 - 0.05) / 0.8])
    assert any("have no label" in note for note in found.notes)
