"""What `karat compare` writes to files, and queries picked by their id or text."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from commands import karat

QUERIES = [f"q{n:02d}" for n in range(24)]
TEXTS = {"q00": "headlamp", "q01": "red kettle, small", "q02": "Tent"}


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """a has the relevant document on top in the last 16 queries and in q00, b in all others but q00."""
    labels = ["query,doc,label", *(f"{q},{d},{int(d == 'rel')}" for q in QUERIES for d in ("rel", "non"))]
    (tmp_path / "labels.csv").write_text("\n".join(labels) + "\n")
    (tmp_path / "queries.csv").write_text("query,text\n" + "".join(f'{q},"{text}"\n' for q, text in TEXTS.items()))
    for name in "ab":
        tops = [(n >= 8 or n == 0) if name == "a" else n > 0 for n in range(24)]
        lines = [
            f"{q} Q0 {d} 1 {1 + (d == ('rel' if top else 'non'))} {name}"
            for q, top in zip(QUERIES, tops, strict=True)
            for d in ("rel", "non")
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return ["compare", *(str(tmp_path / name) for name in ("labels.csv", "a.run", "b.run"))]


def test_scores_of_every_query_are_shown_for_all_measures(words: list[str], tmp_path: Path) -> None:
    several = [*words, "-m", "P@1", "-m", "RR", "--by-query"]
    shown = karat(*several).stdout
    assert "Every query's P@1 by the labels:" in shown
    assert "Every query's RR by the labels:" in shown
    rows = json.loads(karat(*several, "--json").stdout)["by_query"]
    assert len(rows) == 48
    assert {row["measure"] for row in rows} == {"P@1", "RR"}
    assert [row for row in rows if row["query"] == "q03"] == [
        {"query": "q03", "measure": "P@1", "a": 0.0, "b": 1.0},
        {"query": "q03", "measure": "RR", "a": 0.5, "b": 1.0},
    ]
    assert karat(*several, "--out", str(tmp_path / "all.md")).returncode == 0
    assert (tmp_path / "all.md").read_text().count("| q03 ") == 2


def test_one_measure_keeps_its_plain_table(words: list[str]) -> None:
    rows = json.loads(karat(*words, "-m", "P@1", "--by-query", "--json").stdout)["by_query"]
    assert rows[0] == {"query": "q00", "a": 1.0, "b": 0.0}


def test_queries_that_moved_are_written_winners_and_losers(words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "moved.csv"
    assert karat(*words, "-m", "P@1", "--moved", "3", "--out", str(out)).returncode == 0
    with out.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["query"], float(row["difference"])) for row in rows] == [
        ("q00", -1.0),
        ("q01", 1.0),
        ("q02", 1.0),
        ("q03", 1.0),
    ]
    assert karat(*words, "-m", "P@1", "--moved", "3", "--out", str(tmp_path / "moved.md")).returncode == 0
    text = (tmp_path / "moved.md").read_text()
    assert "## Queries that moved" in text
    assert "| q00 " in text
    assert "| q01 " in text


@pytest.mark.parametrize("ending", ["md", "html", "tex"])
@pytest.mark.parametrize(("rule", "code", "outcome"), [("0.01", 0, "Passed: b is better"), ("0.9", 3, "Failed: b")])
def test_a_written_gate_says_whether_it_passed(
    words: list[str], tmp_path: Path, ending: str, rule: str, code: int, outcome: str
) -> None:
    out = tmp_path / f"gate.{ending}"
    assert karat(*words, "-m", "P@1", "--fail-unless-better", rule, "--out", str(out)).returncode == code
    text = out.read_text()
    assert outcome in text
    if ending != "tex":
        assert text.index(outcome) < text.index("Comparison</h2>" if ending == "html" else "## Comparison")


def test_a_gate_without_a_verdict_is_written_as_such(words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "gate.md"
    done = karat(*words, "--only", "query=q00", "--fail-if-worse", "0.1", "--out", str(out))
    assert done.returncode == 1
    assert "No verdict: by nDCG@10" in out.read_text()


@pytest.mark.parametrize(
    ("only", "texts", "number"),
    [
        ("query=q00,q05", False, 2),
        ("query=headlamp,q05", True, 2),
        ("query=red kettle, small", True, 1),
        ("query=tent", True, 1),
    ],
)
def test_queries_are_picked_by_their_id_or_text(
    words: list[str], tmp_path: Path, only: str, texts: bool, number: int
) -> None:
    more = ["--queries", str(tmp_path / "queries.csv")] if texts else []
    done = karat(*words, "-m", "P@1", "--only", only, "--by-query", "--json", *more)
    assert done.returncode == (0 if number > 1 else 1), done.stderr
    assert f"only {number} quer" in done.stdout
    assert len(json.loads(done.stdout)["by_query"]) == number


def test_a_query_that_is_not_there_is_refused(words: list[str], tmp_path: Path) -> None:
    done = karat(*words, "--only", "query=headlamp")
    assert done.returncode == 2
    assert "expected the id of a query with labels (q00, q01" in done.stderr
    assert "texts of queries are read with --queries" in " ".join(done.stderr.split())


def test_init_advises_what_init_can_do(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("1\ttwo words\n2\tthree more words\n")
    done = karat("init", str(tmp_path / "study"), str(tmp_path / "words.tsv"))
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "--kind" not in said
    assert "call the file queries.tsv or documents.tsv" in said
