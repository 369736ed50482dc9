"""A real engine over HTTP: Groonga with 2,000 documents, asked 100 queries."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from groonga import Groonga

pytest.importorskip("httpx2", reason="the extra http is not installed")


@pytest.fixture
def queries(groonga: Groonga, tmp_path: Path) -> Path:
    groonga.queries(100).write_csv(tmp_path / "queries.csv")
    return tmp_path / "queries.csv"


def lists(run: kt.Runs) -> dict[str, list[str]]:
    """The documents of each query, as measures see them: best score first."""
    frame = run.frame.sort("query", "score", "doc", descending=[False, True, True])
    return dict(frame.group_by("query", maintain_order=True).agg("doc").iter_rows())


def test_the_run_has_the_engines_own_order(groonga: Groonga, queries: Path, tmp_path: Path) -> None:
    out, docs = tmp_path / "new.run", tmp_path / "docs.jsonl"
    done = karat(
        *("fetch", groonga.select, str(queries), "--depth", "20", "--system", "new"),
        *("--out", str(out), "--documents", str(docs)),
    )
    assert done.returncode == 0, done.stderr
    asked = kt.read_queries(queries).frame
    own = groonga.own_order(asked["text"].to_list(), 20)
    assert sum(map(len, own)) > 500
    run = kt.read_runs(out)
    assert run.systems == ["new"]
    assert lists(run) == {query: docs for query, docs in zip(asked["query"], own, strict=True) if docs}
    # Groonga counts words: many scores are equal, and doc ids would decide where karat and trec_eval see ties.
    assert "the scores are by rank, so that the order is the engine's" in " ".join(done.stdout.split())
    found = kt.read_documents(docs).frame
    there = groonga.documents.filter(pl.col("doc").is_in(found["doc"].implode())).sort("doc")
    assert found.sort("doc")["doc"].equals(there["doc"])
    assert found.sort("doc")["text"].equals(there["text"].str.strip_chars())
    assert not list(tmp_path.glob("*.answers*"))  # nothing is left of a fetch that is done


def test_python_gives_the_same_as_the_command(groonga: Groonga, queries: Path, tmp_path: Path) -> None:
    asked = kt.read_queries(queries)
    found = kt.fetch(groonga.select, asked, depth=5, system="new")
    done = karat(
        "fetch", groonga.select, str(queries), "--depth", "5", "--system", "new", "--out", f"{tmp_path}/new.csv"
    )
    assert done.returncode == 0, done.stderr
    assert lists(found.runs) == lists(kt.read_runs(tmp_path / "new.csv"))
    assert found.finding.startswith("new answered 100 of 100 queries with ")
    assert found.to_frame().row(0)[:4] == ("new", 100, 100, 0)
    assert json.loads(json.dumps(found.to_dict()))["failed"] == []
    assert repr(found).startswith(found.finding)


def test_two_templates_are_two_systems_that_can_be_compared(groonga: Groonga, queries: Path, tmp_path: Path) -> None:
    words = "table=Docs&output_columns=_key,_score,title&sort_keys=-_score&limit={{depth}}&query={{query}}"
    (tmp_path / "old.form").write_text(f"{words}&match_columns=text")
    (tmp_path / "new.form").write_text(f"{words}&match_columns=title*9||text")
    done = karat(
        *("fetch", f"{groonga.url}/d/select", str(queries), "--template", f"{tmp_path}/old.form"),
        *("--template", f"{tmp_path}/new.form", "--out", f"{tmp_path}/runs/", "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert [row["system"] for row in json.loads(done.stdout)["rows"]] == ["old", "new"]
    # Labels with a reason: the document that a query's words were taken from is what was looked for.
    asked = kt.read_queries(queries).frame
    step = groonga.documents.height // 100
    wanted = zip(asked["query"], groonga.documents["doc"][::step], strict=False)
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 {doc} 1\n" for query, doc in wanted))
    verdict = karat(
        "compare", f"{tmp_path}/qrels.txt", f"{tmp_path}/runs/old.run", f"{tmp_path}/runs/new.run", "--allow-unjudged"
    )
    assert verdict.returncode == 0, verdict.stderr
    assert "new" in verdict.stdout.partition(".")[0]


def test_a_query_that_the_engine_cannot_parse_is_named_and_the_others_are_kept(
    groonga: Groonga, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text("query,text\ngood,python\nbad,python (\nalso,string\n")
    out = tmp_path / "new.run"
    done = karat("fetch", groonga.select, f"{tmp_path}/q.csv", "--system", "new", "--out", str(out))
    assert done.returncode == 1
    assert "new: no answer for 1 query (bad): status 400: Syntax error: <python (||>" in " ".join(done.stdout.split())
    assert done.stderr == "karat: 1 of 3 queries without an answer; the same command asks for these again\n"
    assert {*kt.read_runs(out).frame["query"]} == {"good", "also"}


def test_a_table_that_is_not_there_ends_it_at_once(groonga: Groonga, queries: Path, tmp_path: Path) -> None:
    address = groonga.select.replace("table=Docs", "table=Nope")
    done = karat("fetch", address, str(queries), "--system", "new", "--out", f"{tmp_path}/new.run")
    assert done.returncode == 1
    assert "16 queries in a row had no answer" in " ".join(done.stdout.split())
    why = "status 400: [select][table] invalid name: <Nope>"
    assert done.stderr == f"karat: no query has an answer, the first for this reason: {why}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["queries.csv"]  # nothing came, nothing is left
