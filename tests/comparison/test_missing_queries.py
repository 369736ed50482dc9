"""A judged query that a system does not answer counts 0 wherever systems are compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
import karat.judges
from commands import karat
from karat.comparison import by_group, by_measure, compare_scores, gate
from karat.simulate import two_systems
from karat.simulate.graded_pair import graded_pair

Run = dict[str, dict[str, float]]
#: 100 queries with one relevant document each.
LABELS = {f"q{n:03}": {"good": 1, "bad": 0} for n in range(100)}


def run_of(right: int, wrong: int = 0) -> Run:
    """A run with the relevant document on top of so many queries, and the other one on top of the next."""
    queries = list(LABELS)
    best = {query: {"good": 2.0, "bad": 1.0} for query in queries[:right]}
    return best | {query: {"good": 1.0, "bad": 2.0} for query in queries[right : right + wrong]}


HALF = run_of(50, 50)
#: Answers 22 queries and is right on all of them.
BROKEN = run_of(22)


def test_a_query_that_a_system_misses_counts_0() -> None:
    found = kt.compare(LABELS, {"live": HALF, "new": BROKEN}, "P@1")
    row = found.methods.row(0, named=True)
    assert (row["a"], row["b"], row["n_queries"]) == pytest.approx((0.50, 0.22, 100))  # 50 and 22 right of 100
    assert found.verdict == "worse"


def test_a_broken_engine_fails_the_gate() -> None:
    found = kt.compare(LABELS, {"live": HALF, "new": run_of(10)}, "P@1")
    told = gate(found, if_worse=0.01)
    assert told.startswith("failed: new is worse than live")
    assert "new misses 90 of 100 judged queries" in told


def test_the_verdict_counts_the_missing_queries() -> None:
    found = kt.compare(LABELS, {"live": HALF, "new": BROKEN}, "P@1")
    assert found.finding.endswith("(new misses 78 of 100 judged queries; they count as 0).")
    assert (found.judged_queries, found.missing_queries) == (100, {"live": 0, "new": 78})
    document = found.to_dict()
    assert (document["judged_queries"], document["missing_queries"]) == (100, {"live": 0, "new": 78})


def test_a_query_missing_from_every_run_counts_too() -> None:
    found = kt.compare(LABELS, {"live": run_of(10), "new": run_of(20, 10)}, "P@1")
    assert found.methods["n_queries"][0] == 100
    assert found.methods["difference"][0] == pytest.approx(0.1)  # 20 of 100 less 10 of 100
    assert "live misses 90 and new misses 70 of 100 judged queries; they count as 0" in found.finding
    assert any("70 judged queries are missing from every run" in note for note in found.notes)


def test_common_queries_leaves_missing_ones_out() -> None:
    found = kt.compare(LABELS, {"live": HALF, "new": BROKEN}, "P@1", common_queries=True)
    assert found.methods["n_queries"][0] == 22
    assert found.methods["difference"][0] == pytest.approx(0.0)  # both are right on the first 22
    assert "(the 22 of 100 judged queries that all systems answer)" in found.finding


def test_nothing_is_said_where_no_query_is_missing() -> None:
    found = kt.compare(LABELS, {"live": HALF, "new": run_of(60, 40)}, "P@1")
    assert "judged queries" not in found.finding
    assert found.missing_queries == {"live": 0, "new": 0}


def test_queries_without_labels_are_counted_in_a_note() -> None:
    more = {**HALF, "x1": {"good": 1.0}, "x2": {"good": 1.0}}
    found = kt.compare(LABELS, {"live": HALF, "new": more}, "P@1")
    assert found.methods["n_queries"][0] == 100
    assert any("2 queries of the run without labels left aside: x1, x2" in note for note in found.notes)


def test_of_many_systems_a_missing_query_counts_0() -> None:
    found = kt.compare(LABELS, {"a": HALF, "b": run_of(60, 40), "c": BROKEN}, "P@1")
    scores = dict(found.ranks.select("system", "score").iter_rows())
    assert scores == pytest.approx({"a": 0.5, "b": 0.6, "c": 0.22})
    assert "c misses 78 of 100 judged queries" in found.finding


def test_groups_and_measures_count_missing_queries() -> None:
    every = [kt.compare(LABELS, {"live": HALF, "new": BROKEN}, measure) for measure in ("P@1", "RR")]
    groups = pl.DataFrame({"query": list(LABELS), "group": ["head"] * 22 + ["tail"] * 78})
    parts = by_group(every[0], groups)
    tail = parts.frame.row(by_predicate=pl.col("group") == "tail", named=True)
    assert (tail["queries"], tail["b"]) == (78, 0.0)
    assert "new misses 78 of 100 judged queries" in parts.finding
    assert "new misses 78 of 100 judged queries" in by_measure(every).finding


def test_scores_compared_count_missing_queries_as_0() -> None:
    rows = [{"system": "live", "query": f"q{n}", "P@1": float(n % 2)} for n in range(40)]
    rows += [{"system": "new", "query": f"q{n}", "P@1": 1.0} for n in range(10)]
    scores = kt.Scores.of_queries(pl.DataFrame(rows), ["P@1"])
    found = compare_scores(scores)
    assert found.methods.select("a", "b").row(0) == pytest.approx((0.5, 0.25))
    assert found.missing_queries == {"live": 0, "new": 30}
    assert compare_scores(scores, common_queries=True).methods["n_queries"][0] == 10


@pytest.mark.parametrize("measure", ["P@10", "DCG@10", "nDCG@10", "RR@10", "ERR@10"])
@pytest.mark.parametrize("queries", ["sample", "fixed"])
def test_corrected_and_uncorrected_count_the_same_queries(measure: str, queries: str) -> None:
    study = graded_pair(60, shift=1.0, seed=4)
    labels, runs = study.judgments(), study.runs()
    names = labels.frame["query"].unique().sort().to_list()
    cut = [runs[0], runs[1].frame.filter(~pl.col("query").is_in(names[:15]))]
    size = labels.frame.height
    gold = study.gold(np.random.default_rng(1).random(size) < 0.4, np.full(size, 0.4))
    found = kt.compare(labels, cut, measure, gold=gold, queries=queries)  # type: ignore[arg-type]
    corrected = found.methods.filter(pl.col("method") == "ppi")
    assert corrected["n_queries"][0] == kt.compare(labels, cut, measure).methods["n_queries"][0] == 60
    assert list(found.missing_queries.values()) == [0, 15]


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_corrected_differences_hold_the_truth_where_queries_are_missing(measure: str) -> None:
    held = 0
    for seed in range(20):
        study = graded_pair(60, shift=1.0, seed=seed)
        runs = study.runs()
        labels = study.judgments()
        gold_all = study.gold(np.ones(labels.frame.height, bool), np.ones(labels.frame.height))
        names = labels.frame["query"].unique().sort().to_list()
        cut = [runs[0], runs[1].frame.filter(~pl.col("query").is_in(names[:12]))]
        size = labels.frame.height
        gold = study.gold(np.random.default_rng(seed).random(size) < 0.3, np.full(size, 0.3))
        truth = kt.compare(gold_all.frame.select("query", "doc", "label"), cut, measure).methods["difference"][0]
        row = kt.compare(labels, cut, measure, gold=gold, queries="fixed").methods.filter(pl.col("method") == "ppi")
        held += row["low"][0] <= truth <= row["high"][0]
    assert held >= 17  # 95 % of 20; fewer than 17 has a chance of 0.3 %


def test_gold_is_planned_for_queries_that_a_system_misses() -> None:
    study = two_systems(40, seed=3)
    runs = study.runs()
    names = runs[1].frame["query"].unique().sort().to_list()
    cut = [runs[0], runs[1].frame.filter(~pl.col("query").is_in(names[:10]))]
    plan = kt.plan_gold(study.judgments(), cut, "P@10", 10_000)
    assert set(names[:10]) <= set(plan.frame["query"])
    common = kt.plan_gold(study.judgments(), cut, "P@10", 10_000, common_queries=True)
    assert not set(names[:10]) & set(common.frame["query"])


def test_a_pilot_counts_missing_queries_as_0() -> None:
    spread = kt.pilot_variance(LABELS, {"live": HALF, "new": BROKEN}, "P@1")
    assert spread.queries == 100
    difference = np.array([0.0] * 22 + [-1.0] * 28 + [0.0] * 50)
    assert spread.sd == pytest.approx(difference.std(ddof=1))
    with pytest.raises(kt.Undefined):  # on the common queries the two do not differ
        kt.pilot_variance(LABELS, {"live": HALF, "new": BROKEN}, "P@1", common_queries=True)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    named = [str(tmp_path / name) for name in ("labels.qrels", "live.run", "new.run")]
    kt.write(kt.Judgments.of(LABELS), named[0])
    kt.write(kt.Runs.of(HALF, system="live"), named[1])
    kt.write(kt.Runs.of(BROKEN, system="new"), named[2])
    return named


def test_the_command_fails_a_broken_engine(files: list[str]) -> None:
    done = karat("compare", *files, "-m", "P@1", "--fail-if-worse", "0.01")
    assert done.returncode == 3
    assert "new misses 78 of 100 judged queries" in " ".join(done.stdout.split())
    assert "failed: new is worse than live" in done.stderr
    common = karat("compare", *files, "-m", "P@1", "--fail-if-worse", "0.01", "--common-queries")
    assert common.returncode == 0


def test_only_some_queries_are_the_judged_ones(files: list[str], tmp_path: Path) -> None:
    some = tmp_path / "some.csv"
    some.write_text("query\n" + "\n".join(list(LABELS)[:30]) + "\n")
    done = karat("compare", *files, "-m", "P@1", "--only", str(some), "--json")
    document = json.loads(done.stdout)
    assert document["missing_queries"] == {"live": 0, "new": 8}
    assert document["judged_queries"] == 30


def test_scores_say_how_many_judged_queries_each_run_misses(files: list[str]) -> None:
    done = karat("score", *files, "-m", "P@1", "--json")
    document = json.loads(done.stdout)
    by_system = {entry["system"]: entry for entry in document["systems"]}
    assert by_system["new"]["missing_queries"] == 78
    assert by_system["live"]["missing_queries"] == 0
    assert by_system["new"]["judged_queries"] == 100
    assert by_system["new"]["scores"]["P@1"]["value"] == 1.0  # trec_eval's mean, over the queries in both


def test_the_report_counts_missing_queries(files: list[str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = karat("report", *files, "-m", "P@1", "-o", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "new misses 78 of 100 judged queries" in text
    assert "new is worse than live" in text
