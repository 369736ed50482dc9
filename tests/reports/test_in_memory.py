"""`kt.report` takes labels and runs as every other function does: tables, dictionaries, files, or a study."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt
from karat.errors import BadInput
from karat.study import Study

QUERIES = range(12)
LABELS = {f"q{q}": {f"d{n}": int(n < 2 + q % 3) for n in range(8)} for q in QUERIES}
GOOD = {f"q{q}": {f"d{n}": 9.0 - n for n in range(8)} for q in QUERIES}
BAD = {f"q{q}": {f"d{n}": float(n) for n in range(8)} for q in QUERIES}
HOW = {"measure": "P@3", "measures": [], "draws": 100}


def test_a_report_of_labels_and_runs_agrees_with_compare() -> None:
    found = kt.report(LABELS, {"good": GOOD, "bad": BAD}, **HOW)
    compared = kt.compare(LABELS, {"good": GOOD, "bad": BAD}, "P@3", draws=100)
    assert found.comparison is not None
    assert found.comparison.pairs["difference"].to_list() == compared.pairs["difference"].to_list()
    assert "good" in found.verdict
    assert "<html" in found.html()


def test_a_report_takes_files_frames_and_a_study(tmp_path: Path) -> None:
    rows = [{"query": q, "doc": d, "label": label} for q, docs in LABELS.items() for d, label in docs.items()]
    pl.DataFrame(rows).write_csv(tmp_path / "labels.csv")
    runs = {"good": GOOD, "bad": BAD}
    files = []
    for name, run in runs.items():
        lines = [f"{q} Q0 {d} 1 {score} {name}\n" for q, docs in run.items() for d, score in docs.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
        files.append(tmp_path / f"{name}.run")
    study = Study("S", labels=kt.Judgments.of(LABELS))
    asked = [
        kt.report(pl.DataFrame(rows), runs, **HOW),
        kt.report(tmp_path / "labels.csv", files, **HOW),
        kt.report(str(tmp_path / "labels.csv"), runs, **HOW),
        kt.report(study, runs, **HOW),
        kt.report(study, files, **HOW),
    ]
    assert len({repr(found) for found in asked}) == 1
    assert kt.report(LABELS, files[0], **HOW).scores is not None


def test_gold_labels_correct_the_report_as_they_correct_compare() -> None:
    flat = {q: dict.fromkeys(docs, 1) for q, docs in LABELS.items()}
    judged = {q: {d: label if int(d[1:]) % 3 else 1 - label for d, label in docs.items()} for q, docs in flat.items()}
    gold = [
        {"query": q, "doc": d, "label": label, "probability": 1.0}
        for q, docs in LABELS.items()
        for d, label in docs.items()
    ]
    found = kt.report(judged, {"good": GOOD, "bad": BAD}, gold=gold, **HOW)
    assert found.comparison is not None
    assert "ppi" in found.comparison.to_frame()["method"].to_list()


@pytest.mark.parametrize(
    ("labels", "runs", "more", "words"),
    [
        ("nowhere", None, {}, "nowhere"),
        (LABELS, "nowhere.run", {}, "nowhere.run"),
        (LABELS, GOOD, {"gold": 300}, "n_gold="),
        (42, GOOD, {}, "judgments"),
    ],
)
def test_what_is_no_study_is_refused_in_words(
    labels: object, runs: object, more: dict[str, object], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        kt.report(labels, runs, **more, **HOW)  # type: ignore[arg-type]
