"""Labels and gold labels on different scales: the measure is on the gold scale, labels only help to predict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.errors import BadInput
from karat.records import Judgments

QUERIES, DOCS = 40, 20


def world(seed: int) -> tuple[pl.DataFrame, dict[str, dict[str, dict[str, float]]]]:
    """Documents with a true grade of 0 to 3 and two systems, of which `b` ranks by a better guess of it."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, QUERIES * DOCS, p=[0.5, 0.25, 0.15, 0.1]).astype(float)
    frame = pl.DataFrame(
        {
            "query": np.repeat([f"q{n:02}" for n in range(QUERIES)], DOCS),
            "doc": [f"d{n}" for n in range(QUERIES * DOCS)],
            "truth": truth,
            "binary": (truth + rng.normal(size=len(truth)) * 0.8 > 1.2).astype(float),
        }
    ).with_columns(share=((pl.col("truth") + pl.Series(rng.normal(size=len(truth)) * 0.7)) / 3).clip(0, 1).round(3))
    runs = {}
    for name, noise in (("a", 2.5), ("b", 0.8)):
        scores = truth + rng.normal(size=len(truth)) * noise
        rows = frame.select("query", "doc").with_columns(score=pl.Series(scores)).rows()
        run: dict[str, dict[str, float]] = {}
        for query, doc, score in rows:
            run.setdefault(query, {})[doc] = score
        runs[name] = run
    return frame, runs


def sample(frame: pl.DataFrame, seed: int, share: float = 0.4) -> pl.DataFrame:
    """A uniform gold sample."""
    rng = np.random.default_rng(seed)
    drawn = frame.filter(pl.Series(rng.random(frame.height) < share))
    return drawn.select("query", "doc", label="truth", probability=pl.lit(share))


def labels(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    return frame.select("query", "doc", label=column)


@pytest.mark.parametrize("column", ["binary", "share"])
@pytest.mark.parametrize("measure", ["P@5", "P(rel=2)@5", "DCG@5", "nDCG@5"])
def test_coarser_labels_are_corrected_to_the_gold_scale(column: str, measure: str) -> None:
    frame, runs = world(1)
    true = kt.compare(labels(frame, "truth"), runs, measure).methods["difference"][0]
    found = kt.compare(labels(frame, column), runs, measure, gold=sample(frame, 2), queries="fixed")
    assert found.verdict == "better"
    row = found.methods.row(by_predicate=pl.col("method") == "ppi", named=True)
    assert row["low"] <= true <= row["high"]
    assert any("on different scales: corrected figures are on the gold scale" in note for note in found.notes)


def test_own_scores_are_on_the_gold_scale() -> None:
    frame, runs = world(3)
    measures = ["DCG@5", "ERR@5"]
    truth = {row[:2]: row[2] for row in kt.score(labels(frame, "truth"), runs, measures, draws=0).means.iter_rows()}
    made = kt.score(labels(frame, "binary"), runs, measures, gold=sample(frame, 4, 0.6), draws=100)
    for row in made.means.iter_rows(named=True):
        assert row["low"] <= truth[row["system"], row["measure"]] <= row["high"]
    uncorrected = dict(made.uncorrected.select("system", "value").filter(made.uncorrected["measure"] == "DCG@5").rows())
    assert uncorrected["b"] < truth["b", "DCG@5"] / 1.5  # sums of 0 and 1, not of 0 to 3


def test_an_uncorrected_figure_out_of_reach_is_undefined() -> None:
    frame, runs = world(1)
    found = kt.compare(labels(frame, "binary"), runs, "P(rel=2)@5", gold=sample(frame, 2))
    plain = found.methods.row(by_predicate=pl.col("method") == "plain", named=True)
    assert all(np.isnan(plain[name]) for name in ("a", "b", "difference", "low", "high", "p"))
    assert any(note.startswith("uncorrected P(rel=2)@5 is undefined: no label (0 to 1)") for note in found.notes)
    scores = kt.score(labels(frame, "binary"), runs, "P(rel=2)@5", gold=sample(frame, 2), draws=0)
    assert scores.uncorrected["value"].is_nan().all()
    assert scores.means["value"].is_not_nan().all()


def test_a_confusion_matrix_needs_one_scale() -> None:
    frame, runs = world(1)
    found = kt.compare(labels(frame, "binary"), runs, "DCG@5", gold=sample(frame, 2), method="inversion")
    assert found.verdict == "cannot say"
    assert found.reason == "a confusion matrix needs labels (0 to 1) and gold labels (0 to 3) on one scale"


def test_label_errors_are_not_told_across_scales() -> None:
    """Sums of 0 and 1 lie below sums of 0 to 3, which says nothing about the judge."""
    frame, runs = world(1)
    found = kt.compare(labels(frame, "binary"), runs, "DCG@5", gold=sample(frame, 2))
    assert not any("errors favour" in note or "taken as they are" in note for note in found.notes)
    assert found.judge is None


def test_gold_that_begins_at_another_grade_is_refused() -> None:
    frame, runs = world(1)
    from_one = sample(frame, 2).with_columns(pl.col("label") + 1)
    with pytest.raises(
        BadInput, match=r"the gold labels: expected grades that begin where the labels do \(0 to 3\)"
    ) as e:
        kt.compare(labels(frame, "truth"), runs, "P@5", gold=from_one)
    assert "kt.Judgments.of(labels, scale=...)" in str(e.value)
    assert "--" not in str(e.value)


def test_both_scales_can_be_stated_in_python() -> None:
    """Twelve gold labels above 1 are too few to infer it; a stated scale decides."""
    frame, runs = world(1)
    few = sample(frame, 2, 0.06)
    judged, gold = labels(frame, "binary"), Judgments.of(few, scale="0..3")
    told = "labels (0 to 1) and gold labels (0 to 3) are on different scales"
    assert not any(told in note for note in kt.compare(judged, runs, "P@5", gold=few).notes)
    found = kt.compare(Judgments.of(judged, scale="0..1"), runs, "P@5", gold=gold)
    assert any(told in note for note in found.notes)
    with pytest.raises(BadInput, match=r"a grade of the scale 0\.\.1, found"):
        Judgments.of(Judgments.of(few), scale="0..1")


def test_agreement_with_gold_still_needs_one_scale() -> None:
    frame, _ = world(1)
    with pytest.raises(BadInput, match="Errors against gold need one scale; compare and score take") as e:
        kt.judges.against_gold(labels(frame, "binary"), sample(frame, 2))
    assert "--" not in str(e.value)


def test_the_command_line_takes_both_scales(tmp_path: Path) -> None:
    frame, runs = world(1)
    labels(frame, "binary").write_csv(tmp_path / "labels.csv")
    sample(frame, 2).write_csv(tmp_path / "gold.csv")
    for name, run in runs.items():
        lines = [f"{q} Q0 {d} 1 {s} {name}" for q, docs in run.items() for d, s in docs.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    files = [str(tmp_path / name) for name in ("labels.csv", "a.run", "b.run")]
    gold = ["--gold", str(tmp_path / "gold.csv")]
    for options in ([], ["--scale", "0..1", "--gold-scale", "0..3"]):
        done = karat("compare", *files, "-m", "DCG@5", *gold, *options)
        assert done.returncode == 0, done.stderr
        assert "on different scales" in done.stdout
        scored = karat("score", *files, "-m", "DCG@5", *gold, *options)
        assert scored.returncode == 0, scored.stderr
    alone = karat("compare", *files, "-m", "DCG@5", "--gold-scale", "0..3")
    assert alone.returncode == 2
    assert "--gold-scale: expected gold labels" in alone.stderr


@pytest.mark.parametrize("judge", ["gpt4o-binary", "llama3.2-binary"])
def test_binary_llm_labels_with_nist_gold_hold_the_truth(judge: str, dl21: Path) -> None:
    """TREC DL 2021: 95% intervals of P@10 and DCG@10 for these queries, 300 gold labels, ten pairs of systems."""
    text = {"schema_overrides": {"query": pl.String, "label": pl.Float64}}
    judged = pl.read_csv(dl21 / "judges.csv.gz", **text).filter(pl.col("judge") == judge).drop("judge")
    nist = pl.read_csv(dl21 / "nist.csv.gz", **text)
    runs = pl.read_csv(dl21 / "runs.csv.gz", schema_overrides={"query": pl.String})
    rng = np.random.default_rng(5)
    systems, held = runs["system"].unique().sort().to_list(), []
    for _ in range(10):
        pair = rng.choice(systems, 2, replace=False).tolist()
        two = runs.filter(pl.col("system").is_in(pair))
        plan = kt.plan_gold(judged, two, "DCG@10", 300, seed=int(rng.integers(1000)))
        gold = plan.frame.drop("label").join(nist, on=["query", "doc"])
        for measure in ("P@10", "DCG@10"):
            true = kt.compare(nist, two, measure).methods["difference"][0]
            found = kt.compare(judged, two, measure, gold=gold, queries="fixed", draws=100)
            row = found.methods.row(by_predicate=pl.col("method") == "ppi", named=True)
            held.append(row["low"] - 1e-9 <= true <= row["high"] + 1e-9)
    assert np.mean(held) >= 0.8, held
