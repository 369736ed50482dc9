"""Measures of answers, by hand and by nuggetizer's own definition, and their correction with gold labels."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat

EXAMPLE = Path(__file__).parents[2] / "examples" / "answers"
#: The output of assignments to answers, from castorini/nuggetizer (references/input-output-examples.md).
ASSIGNED = {
    "query": "What is Python?",
    "qid": "q1",
    "answer_text": "Python is a high-level programming language...",
    "response_length": 42,
    "run_id": "run-123",
    "nuggets": [
        {"text": "Python is a high-level programming language", "importance": "vital", "assignment": "support"},
        {"text": "Python was created by Guido van Rossum", "importance": "vital", "assignment": "support"},
        {"text": "Python is used for data science", "importance": "okay", "assignment": "partial_support"},
        {"text": "Python supports multithreading", "importance": "okay", "assignment": "not_support"},
    ],
}
PASSAGE = {
    "text": "What is Python?",
    "qid": "q1",
    "candidate_text": "Python is a high-level programming language...",
    "docid": "d1",
    "nuggets": [
        {"text": "Python is a programming language", "importance": "vital", "assignment": "support"},
        {"text": "Python supports multithreading", "importance": "okay", "assignment": "not_support"},
    ],
}


def saved(folder: Path, *records: object) -> str:
    (folder / "answers.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(folder / "answers.jsonl")


def by_nuggetizer(nuggets: list[dict[str, str]]) -> dict[str, float]:
    """The four scores of nuggetizer, by the definition of its metrics: counts, halves for partial support."""
    scores = {}
    for scope, some in (("vital", [n for n in nuggets if n["importance"] == "vital"]), ("all", nuggets)):
        full = sum(n["assignment"] == "support" for n in some)
        half = sum(n["assignment"] == "partial_support" for n in some)
        scores |= {f"strict_{scope}_score": full / len(some), f"{scope}_score": (full + half / 2) / len(some)}
    return scores


def mean(path: str, measure: str, format: str) -> dict[str, float]:
    scores = kt.score(kt.read_judgments(path), kt.read_runs(path, format=format), measure)
    return dict(scores.means.select("system", "value").iter_rows())


@pytest.mark.parametrize(
    ("name", "measure", "format"),
    [
        ("all_score", "NuggetRecall", "nuggetizer"),
        ("strict_all_score", "NuggetRecall(strict=True)", "nuggetizer"),
        ("vital_score", "NuggetRecall", "nuggetizer-vital"),
        ("strict_vital_score", "NuggetRecall(strict=True)", "nuggetizer-vital"),
    ],
)
def test_nugget_recall_is_nuggetizers(tmp_path: Path, name: str, measure: str, format: str) -> None:
    assert mean(saved(tmp_path, ASSIGNED), measure, format) == {"run-123": by_nuggetizer(ASSIGNED["nuggets"])[name]}
    records = [json.loads(line) for line in (EXAMPLE / "answers.jsonl").read_text().splitlines()]
    theirs: dict[str, list[float]] = {}
    for record in records:
        theirs.setdefault(record["run_id"], []).append(by_nuggetizer(record["nuggets"])[name])
    ours = mean(str(EXAMPLE / "answers.jsonl"), measure, format)
    assert ours == pytest.approx({run: sum(values) / len(values) for run, values in theirs.items()})


def test_a_failed_assignment_counts_as_not_supported_and_is_told(tmp_path: Path) -> None:
    failed = {
        **ASSIGNED,
        "nuggets": [*ASSIGNED["nuggets"], {"text": "x", "importance": "okay", "assignment": "failed"}],
    }
    path = saved(tmp_path, failed)
    assert "1 assignment failed: no label" in "".join(kt.read_judgments(path).notes)
    assert mean(path, "NuggetRecall", "nuggetizer") == {"run-123": 2.5 / 5}


def test_assignments_to_passages_are_labels_by_subtopic(tmp_path: Path) -> None:
    path = saved(tmp_path, PASSAGE)
    assert kt.read_judgments(path).frame.select("query", "doc", "subtopic", "label").rows() == [
        ("q1", "d1", "1", 2.0),
        ("q1", "d1", "2", 0.0),
    ]
    with pytest.raises(kt.BadInput, match=r"expected assignments to answers \(run_id\), found assignments to passages"):
        kt.read_runs(path)


def test_a_person_sees_the_nugget_and_the_answer(tmp_path: Path) -> None:
    path = saved(tmp_path, ASSIGNED)
    first = kt.read_documents(path).frame.row(0, named=True)
    assert first == {"doc": "run-123/q1/1", "title": ASSIGNED["nuggets"][0]["text"], "text": ASSIGNED["answer_text"]}
    assert kt.read_queries(path).frame.row(0) == ("q1", "What is Python?")
    # Another query has nuggets of its own: they were shown with the texts of the first one's.
    other = {**ASSIGNED, "qid": "q2", "answer_text": "Another answer"}
    Path(path).write_text(json.dumps(ASSIGNED) + "\n" + json.dumps(other) + "\n")
    shown = dict(kt.read_documents(path).frame.select("doc", "text").iter_rows())
    assert (len(shown), shown["run-123/q2/1"]) == (len(kt.read_runs(path)), "Another answer")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({**ASSIGNED, "nuggets": [{"text": "x", "assignment": "maybe"}]}, 'expected an assignment: .*, found "maybe"'),
        (
            {**ASSIGNED, "nuggets": [{"text": "x", "importance": 7, "assignment": "support"}]},
            "vital or okay as importance",
        ),
        ({**ASSIGNED, "qid": None}, "record 1: expected lines with qid"),
        ({**ASSIGNED, "run_id": None}, "record 1: expected lines with qid, run_id"),
    ],
)
def test_what_is_wrong_with_assignments_is_told(tmp_path: Path, record: object, said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.read_judgments(saved(tmp_path, record))


def test_citations_by_hand() -> None:
    """Four sentences, three with a citation: full, partial and no support. Precision 1.5 of 3, recall 1.5 of 4."""
    labels = {"q": {"s1": 2, "s2": 1, "s3": 0}}
    run = {"q": {"s1": 4.0, "s2": 3.0, "s3": 2.0, "s4": 1.0}}
    names = ["CitationPrecision", "CitationRecall", "CitationPrecision(strict=True)", "CitationRecall(strict=True)"]
    means = kt.score(labels, run, names).means
    assert dict(zip(means["measure"], means["value"], strict=True)) == pytest.approx(
        dict(zip(names, (1.5 / 3, 1.5 / 4, 1 / 3, 1 / 4), strict=True))
    )


def test_gold_labels_correct_nugget_recall() -> None:
    """Both systems are equally good by construction; the labels call one better, and gold labels do not."""
    path = str(EXAMPLE / "answers.jsonl")
    labels, runs = kt.read_judgments(path), kt.read_runs(path)
    plain = kt.compare(labels, runs, "NuggetRecall")
    corrected = kt.compare(labels, runs, "NuggetRecall", gold=kt.read_judgments(str(EXAMPLE / "gold.csv")))
    assert plain.verdict == "better"
    assert corrected.verdict != "better"
    # Gold labels of everything are the truth, whatever the labels: each system's own mean by them.
    every = labels.frame.with_columns(label=pl.lit(1.0), probability=pl.lit(1.0))
    truth = kt.compare(labels, runs, "NuggetRecall", gold=kt.Judgments.check(every))
    ppi = truth.methods.filter(pl.col("method") == "ppi").row(0, named=True)
    assert ppi["difference"] == pytest.approx(0.0, abs=1e-9)


def test_citation_precision_says_that_it_is_not_corrected(tmp_path: Path) -> None:
    path = str(EXAMPLE / "answers.jsonl")
    done = karat("compare", path, path, "-m", "CitationPrecision", "--gold", str(EXAMPLE / "gold.csv"))
    assert done.returncode in (0, 1)
    assert "correct" in done.stdout + done.stderr
