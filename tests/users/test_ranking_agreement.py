"""Rankings of systems under two label sets: tau and AP correlation of the systems' means, with intervals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

import karat as kt
from commands import karat
from karat.errors import BadInput, Undefined
from karat.stats import Resampling
from karat.users.ranking_agreement import _correlations
from simulated import THOROUGH, studies

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "rankings"


def yilmaz(truth: np.ndarray, estimate: np.ndarray) -> float:
    """tau_AP as Yilmaz, Aslam and Robertson define it: 2 / (N - 1) sum C(i) / (i - 1) - 1.

    A tie in the truth counts half; pairs that are tied in the estimate stand in both orders, of which the mean counts.
    """
    truth, estimate = truth.round(12), estimate.round(12)
    found = []
    for order in (np.argsort(-estimate, kind="stable"), np.argsort(estimate, kind="stable")[::-1]):
        above = [truth[order[:i]] - truth[order[i]] for i in range(1, len(order))]
        found.append(2 * np.mean([((gap > 0) + 0.5 * (gap == 0)).mean() for gap in above]) - 1)
    return float(np.mean(found))


def ndcg(ranked: list[str], label: dict[str, float], k: int = 10) -> float:
    """nDCG@k with linear gains and the ideal over all labelled documents."""
    discount = 1 / np.log2(np.arange(2, k + 2))
    gains = np.array([label.get(doc, 0.0) for doc in ranked[:k]])
    best = np.sort([max(grade, 0.0) for grade in label.values()])[::-1][:k]
    ideal = float((best * discount[: len(best)]).sum())
    return float((gains * discount[: len(gains)]).sum()) / ideal if ideal else 0.0


def recomputed(runs: pl.DataFrame, labels: pl.DataFrame) -> dict[str, np.ndarray]:
    """Each system's nDCG@10 by query, in plain Python."""
    by_query = {
        query: dict(zip(part["doc"], part["label"], strict=True))
        for (query,), part in labels.group_by("query", maintain_order=True)
    }
    ranked = {
        key: part.sort("rank")["doc"].to_list() for key, part in runs.group_by("system", "query", maintain_order=True)
    }
    systems = sorted({system for system, _ in ranked})
    return {s: np.array([ndcg(ranked.get((s, q), []), by_query[q]) for q in sorted(by_query)]) for s in systems}


def example() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    return tuple(pl.read_csv(EXAMPLE / f"{name}.csv") for name in ("labels", "gold", "runs"))  # type: ignore[return-value]


def test_tau_and_tau_ap_are_those_of_scipy_and_yilmaz() -> None:
    labels, gold, runs = example()
    found = kt.compare_rankings(labels, runs, "nDCG@10", gold=gold, draws=0).frame
    truth = np.array([v.mean() for v in recomputed(runs, gold).values()])
    assert found["judge"].to_list() == ["llm-fair", "llm-lenient"]
    for row in found.iter_rows(named=True):
        mine = recomputed(runs, labels.filter(pl.col("judge") == row["judge"]))
        means = np.array([v.mean() for v in mine.values()])
        assert row["tau"] == pytest.approx(kendalltau(truth, means).statistic)
        assert row["tau_ap"] == pytest.approx(yilmaz(truth, means))
        assert (row["systems"], row["top_systems"], row["queries"]) == (8, 0, 24)


def test_gold_against_itself_is_one() -> None:
    _, gold, runs = example()
    row = kt.compare_rankings(gold, runs, ["nDCG@10", "P@5"], gold=gold, draws=200).frame.row(0, named=True)
    assert (row["tau"], row["tau_ap"]) == pytest.approx((1.0, 1.0))


def test_real_llm_judges_rank_63_runs_as_scipy_has_it(dl21: Path) -> None:
    """TREC DL 2021: 63 runs, 26 queries, four LLM judges and NIST."""
    text = {"schema_overrides": {"query": pl.String, "label": pl.Float64}}
    labels, nist = (pl.read_csv(dl21 / f"{name}.csv.gz", **text) for name in ("judges", "nist"))
    runs = pl.read_csv(dl21 / "runs.csv.gz", schema_overrides={"query": pl.String})
    found = kt.compare_rankings(labels, runs, "nDCG@10", gold=nist, draws=0)
    truth = np.array([v.mean() for v in recomputed(runs, nist).values()])
    top = np.argsort(-truth, kind="stable")[:21]
    for row in found.frame.iter_rows(named=True):
        mine = recomputed(runs, labels.filter(pl.col("judge") == row["judge"]))
        means = np.array([v.mean() for v in mine.values()])
        assert row["tau"] == pytest.approx(kendalltau(truth.round(12), means.round(12)).statistic)
        assert row["tau_ap"] == pytest.approx(yilmaz(truth, means), abs=1e-9)
        assert row["tau_top"] == pytest.approx(kendalltau(truth[top].round(12), means[top].round(12)).statistic)
    taus = dict(found.frame.select("judge", pl.col("tau").round(2)).rows())
    assert taus == {"gpt4-umbrela": 0.92, "gpt4o-binary": 0.88, "gpt4-exam-mean": 0.80, "llama3.2-binary": 0.73}
    assert any(note.startswith("gpt4-exam-mean: labels (0 to 4.6)") for note in found.notes)


@pytest.mark.evidence
def test_intervals_hold_the_tau_of_all_queries() -> None:
    """Systems and judges with known means, 40 queries: the 95% intervals hold the truth in 0.88 to 0.93 of studies."""
    seeds, held = studies(12, 200), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        quality = rng.normal(size=24) * 0.08
        means = np.stack([quality + rng.normal(size=24) * 0.02, quality])
        shared, own = rng.normal(size=(24, 40)), rng.normal(size=(2, 24, 40))
        found = _correlations(means[:, :, None] + 0.15 * shared + 0.08 * own, Resampling(0.95, 200, seed))
        true = (kendalltau(*means).statistic, yilmaz(means[1], means[0]))
        held += [found[1] <= true[0] <= found[2], found[4] <= true[1] <= found[5]]
    assert np.mean(held) >= 0.87 - (0 if THOROUGH else 0.15)


def test_intervals_hold_the_estimate_and_depend_on_the_seed_alone() -> None:
    labels, gold, runs = example()
    one, two = (kt.compare_rankings(labels, runs, gold=gold, draws=200, seed=3).frame for _ in range(2))
    assert one.equals(two)
    assert (one["tau_low"] <= one["tau"]).all()
    assert (one["tau"] <= one["tau_high"]).all()
    assert (one["tau_high"] <= 1).all()


def test_a_crowd_ranks_systems_with_one_label_a_document() -> None:
    labels, gold, runs = example()
    fair = labels.filter(pl.col("judge") == "llm-fair")
    workers = pl.Series([f"w{i % 9}" for i in range(fair.height)])
    crowd = fair.with_columns(judge=workers, group=pl.lit("crowd"))
    found = kt.compare_rankings(crowd, runs, gold=gold, draws=0).frame
    alone = kt.compare_rankings(fair, runs, gold=gold, draws=0).frame
    assert found["judge"].to_list() == ["crowd"]
    assert found["tau"].to_list() == alone["tau"].to_list()


def test_what_cannot_rank_systems_is_refused() -> None:
    labels, gold, runs = example()
    with pytest.raises(BadInput, match="expected gold labels, found none; give gold="):
        kt.compare_rankings(labels, runs)
    with pytest.raises(BadInput, match="a sample does not rank systems by itself"):
        kt.compare_rankings(labels, runs, gold=gold.with_columns(probability=pl.lit(0.5)))
    with pytest.raises(Undefined, match="needs 3 systems or more, not 2"):
        kt.compare_rankings(labels, runs.filter(pl.col("system").is_in(["lexical-1", "neural-2"])), gold=gold)


def test_missing_rankings_and_labels_are_told() -> None:
    labels, gold, runs = example()
    fewer = runs.filter((pl.col("system") != "neural-1") | (pl.col("query") > "q04"))
    found = kt.compare_rankings(labels, fewer, gold=gold, draws=0)
    assert found.notes[0] == "4 of 192 rankings are missing and count 0"
    most = gold.filter(pl.int_range(pl.len()) % 4 != 0)
    warnings = kt.compare_rankings(labels, runs, gold=most, draws=0).warnings
    assert any(note.startswith("gold: 2") and "in the top 10 have no label" in note for note in warnings)
    with pytest.raises(Undefined, match="of the documents in the top 10 have no label, too many to rank systems by"):
        kt.compare_rankings(labels, runs, gold=gold.filter(pl.int_range(pl.len()) % 4 == 0), draws=0)


def test_a_judge_of_few_documents_has_no_correlation() -> None:
    labels, gold, runs = example()
    few = labels.filter((pl.col("judge") == "llm-lenient") & (pl.int_range(pl.len()) % 4 == 0))
    found = kt.compare_rankings(few, runs, gold=gold, draws=0)
    assert found.frame["tau"].is_nan().all()
    assert any("too many to rank systems by" in note for note in found.warnings)


def test_queries_without_gold_labels_are_counted() -> None:
    labels, gold, runs = example()
    found = kt.compare_rankings(labels, runs, gold=gold.filter(pl.col("query") > "q04"), draws=0)
    assert any("20 of 24 queries count" in note for note in found.notes)


def test_a_measure_out_of_reach_has_no_correlation() -> None:
    labels, gold, runs = example()
    binary = labels.with_columns(label=(pl.col("label") > 1).cast(pl.Int64))
    found = kt.compare_rankings(binary, runs, ["P(rel=2)@5", "P@5"], gold=gold, draws=0)
    assert found.frame["tau"].is_nan().to_list() == [True, False, True, False]
    assert any("P(rel=2)@5 is undefined, since no label reaches" in note for note in found.notes)


def test_the_command_has_every_form(tmp_path: Path) -> None:
    files = [str(EXAMPLE / "labels.csv"), "--gold", str(EXAMPLE / "gold.csv"), "--runs", str(EXAMPLE / "runs.csv")]
    words = ["judges", "rankings", *files, "-m", "nDCG@10,P@5", "--draws", "200"]
    document = json.loads(karat(*words, "--json").stdout)
    labels, gold, runs = example()
    same = kt.compare_rankings(labels, runs, ["nDCG@10", "P@5"], gold=gold, draws=200)
    assert [row["tau"] for row in document["rows"]] == same.frame["tau"].to_list()
    assert karat(*words, "--plot", str(tmp_path / "tau.svg")).returncode == 0
    assert "llm-lenient" in (tmp_path / "tau.svg").read_text()
    assert karat(*words, "--out", str(tmp_path / "tau.csv")).returncode == 0
    assert pl.read_csv(tmp_path / "tau.csv").height == 4
    assert r"\toprule" in karat(*words, "--latex").stdout
    bare = karat("judges", "rankings", *files[:3])
    assert bare.returncode == 2
    assert "runs are needed" in bare.stderr
