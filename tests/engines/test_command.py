"""`karat fetch` as it is typed: what is shown, what is written, what is refused, and what follows from there."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import karat as kt
from commands import karat
from hostile_server import Call, Reply


def answering(call: Call) -> Reply:
    """Solr on one path, a service of its own on the other; what they find differs."""
    text = "horse" if "horse" in call.path or b"horse" in call.raw else "cow"
    if call.path.startswith("/solr"):
        docs = [{"id": f"{text}-{n}", "score": 9.0 - n, "title": f"{text} {n}"} for n in range(3)]
        return Reply(json.dumps({"responseHeader": {"status": 0}, "response": {"docs": docs}}).encode())
    found = [{"sku": f"{text}-{n}", "info": {"name": f"{text} {n}"}} for n in (2, 1, 5)]
    return Reply(json.dumps({"payload": {"found": found}, "ads": [{"id": 1}]}).encode())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries.csv").write_text("query,text\n1,horse\n2,cow\n")
    (tmp_path / "own.json").write_text('{"q": "{{query}}"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def toml(folder: Path, url: str) -> None:
    (folder / "engines.toml").write_text(
        f"""
        [solr]
        url = "{url}/solr/select?q={{{{query}}}}&rows={{{{depth}}}}"
        [own]
        url = "{url}/find"
        template = "own.json"
        headers = {{ X-Api-Key = "env:OWN_KEY" }}
        hits = "payload.found"
        columns = {{ doc = "sku", title = "info.name" }}
        """
    )


def test_engines_of_several_servers_go_from_one_file_to_a_study(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", "k1")
    assert karat("init", "study", "--empty").returncode == 0
    (here / "study" / "queries.csv").write_text((here / "queries.csv").read_text())
    with hostile.running(answering) as server:
        toml(here, server.url)
        words = ["engines.toml", "queries.csv", "--out", "study/runs/", "--documents", "study/documents.jsonl"]
        done = karat("fetch", *words)
        assert done.returncode == 0, done.stderr
        assert {call.headers.get("x-api-key") for call in server.calls} == {None, "k1"}
    runs = kt.read_runs("study/runs/solr.run"), kt.read_runs("study/runs/own.run")
    assert [run.frame.filter(query="1")["doc"].to_list() for run in runs] == [
        ["horse-0", "horse-1", "horse-2"],
        ["horse-2", "horse-1", "horse-5"],
    ]
    assert {path.name for path in (here / "study" / "runs").iterdir()} == {"solr.run", "own.run"}
    study = kt.Study.load("study")
    assert study.documents is not None
    assert len(study.documents) == 8
    # What was fetched is what the next commands want.
    files = ["--queries", "queries.csv", "--documents", "study/documents.jsonl"]
    asked = karat(
        "ask", "study/runs/solr.run", "study/runs/own.run", *files, "--model", "m", "--price", "1/1", "--estimate"
    )
    assert asked.stdout.startswith("m: 8 calls"), asked.stderr
    pool = {(q, d) for run in runs for q, d in run.frame.select("query", "doc").iter_rows()}
    (here / "labels.csv").write_text("query,doc,label\n" + "".join(f"{q},{d},{len(d) % 2}\n" for q, d in sorted(pool)))
    planned = karat(
        "plan",
        "gold",
        "labels.csv",
        "study/runs/solr.run",
        "study/runs/own.run",
        "-n",
        "4",
        "-m",
        "P@3",
        "--out",
        "g.csv",
    )
    assert planned.returncode == 0, planned.stderr
    assert karat("compare", "labels.csv", "study/runs/solr.run", "study/runs/own.run", "-m", "P@3").returncode == 0


def test_documents_are_added_and_those_that_are_there_stay(here: Path) -> None:
    (here / "docs.jsonl").write_text('{"doc": "horse-0", "title": "mine", "text": "A long text."}\n')
    with hostile.running(answering) as server:
        words = [f"{server.url}/solr?q={{{{query}}}}", "queries.csv", "--out", "a.run", "--documents", "docs.jsonl"]
        for said in ("Wrote 5 new documents to docs.jsonl, where 1 were.", "Wrote 0 new documents to docs.jsonl"):
            done = karat("fetch", *words)
            assert said in done.stdout
    found = kt.read_documents("docs.jsonl").frame
    assert found.height == 6
    assert found.row(0, named=True)["title"] == "mine"
    assert found.row(0, named=True)["text"] == "A long text."


def test_a_request_is_shown_and_nothing_is_sent(here: Path) -> None:
    with hostile.running(answering) as server:
        toml(here, server.url)
        done = karat("fetch", "engines.toml", "queries.csv", "--show-request", "--depth", "7")
        assert server.calls == []
    assert done.stdout == (
        f"# solr\nGET {server.url}/solr/select?q=horse&rows=7\nAccept: application/json\n\n"
        f"# own\nPOST {server.url}/find\nAccept: application/json\nContent-Type: application/json\n"
        'X-Api-Key: {{env:OWN_KEY}}\n\n{"q": "horse"}\n'
    )
    sql = "select id as doc from docs where words @@ plainto_tsquery(:query) limit :depth"
    done = karat("fetch", "postgresql://me:s3cret@db/shop", "queries.csv", "--sql", sql, "--show-request")
    assert done.stdout.startswith("postgresql://db:5432/shop\nselect id as doc")
    assert done.stdout.endswith("query = 'horse'\ndepth = 10\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a part [NAME] for each engine, found none"),
        ("url = 'http://x'", 'expected a part [NAME] for each engine, found "url" outside of one'),
        ("[a", "engines.toml: expected TOML, found"),
        ("[a]\nhits = 'x'", "engines.toml, [a]: expected url, found none"),
        (
            "[a]\nurl = 'http://x'\nquery = 'y'",
            "expected url, template, sql, headers, request, hits, columns, found query",
        ),
        ("[a]\nurl = 5", "engines.toml, [a], url: expected a text, found 5"),
        ("[a]\nurl = 'http://x'\nheaders = {A = 5}", "engines.toml, [a], headers: expected texts by name"),
        ("[a]\nurl = 'http://x'\nrequest = 'PUT'", "[a], request: expected GET or POST, found PUT"),
        ("[a]\nurl = 'http://x'\ntemplate = 'gone.json'", "gone.json: no such file"),
        ("[a]\nurl = 'http://x?q={{query}}'\ncolumns = {colour = 'c'}", "the columns: expected doc, score, title"),
    ],
)
def test_a_file_of_engines_that_is_wrong_says_where(here: Path, text: str, said: str) -> None:
    (here / "engines.toml").write_text(text)
    done = karat("fetch", "engines.toml", "queries.csv", "--out", "a.run")
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["engines.toml", "--system", "a"], "--system would do nothing: engines.toml says it of each engine"),
        (["http://x?q={{query}}", "--template", "own.json", "--template", "own.json"], "a name of its own, found two"),
        (["http://x?q={{query}}", "--system", "a", "--system", "b"], "--system: expected one for each of 1, found 2"),
        (["http://x?q={{query}}", "--header", "Accept"], "--header: expected NAME: VALUE"),
        (["http://x?q={{query}}", "--columns", "doc"], "--columns: expected NAME=PATH"),
        (["postgresql://x/y"], "for PostgreSQL, say what to ask it by --sql"),
        (
            ["postgresql://x/y", "--sql", "select :query", "--hits", "a"],
            "--hits would do nothing: --sql asks PostgreSQL",
        ),
        (
            ["http://x?q={{query}}", "--out", "queries.csv"],
            "--out: expected a file that is not read, found queries.csv",
        ),
        (["http://x?q={{query}}", "--out", "no/a.run"], "--out: expected a folder that is there, found no"),
        (["http://x?q={{query}}", "--out", "a.xlsx"], "expected a format that karat writes"),
        (["http://x?q={{query}}", "--documents", "docs.txt"], "--documents: expected a table, as docs.jsonl"),
        (["http://x?q={{query}}", "--out", "."], "no connection can be made"),
        (
            ["http://x?q={{query}}", "--system", "a/b", "--out", "runs/"],
            "--system: expected a name that a file can have",
        ),
        (["http://x?q={{query}}", "--rate", "nan"], "--rate: expected a number, found nan"),
    ],
)
def test_what_cannot_be_meant_is_refused(here: Path, words: list[str], said: str) -> None:
    (here / "engines.toml").write_text("[a]\nurl = 'http://127.0.0.1:9?q={{query}}'")
    words = [word.replace("http://x", "http://127.0.0.1:9") for word in words]
    out = [] if "--out" in words else ["--out", "a.run"]
    done = karat("fetch", words[0], "queries.csv", *words[1:], *out)
    assert done.returncode == 2
    assert said in done.stderr
    assert not [*here.glob("*answers*"), *here.parent.glob(f"{here.name}.answers*")]  # nothing came, nothing is left


def test_without_the_extra_it_says_what_to_install(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    done = karat("fetch", "http://127.0.0.1:9?q={{query}}", "queries.csv", "--out", "a.run")
    assert done.returncode == 2
    assert "fetching from an engine needs more libraries; install them with: pip install 'karat[http]'" in done.stderr


def test_a_notebook_has_a_loop_already(here: Path) -> None:
    async def cell() -> str:
        return kt.fetch(f"{server.url}/solr?q={{{{query}}}}", [{"query": "1", "text": "horse"}], system="a").finding

    with hostile.running(answering) as server:
        # In a thread of its own: a browser of other tests may have left a loop in this one.
        with ThreadPoolExecutor(1) as notebook:
            said = notebook.submit(lambda: asyncio.run(cell())).result()
        assert said == "a answered 1 of 1 query with 3 documents, 10 at most for each."
    with pytest.raises(kt.BadInput, match="expected numbers above zero, found depth 0"):
        kt.fetch("http://localhost?q={{query}}", [{"query": "1", "text": "horse"}], depth=0)


def test_queries_known_by_their_text_are_fetched_and_scored(here: Path) -> None:
    """Quepid's way: the text is the id. The runs failed to be written once all requests were made."""
    (here / "queries.csv").write_text("query\nwhite horse\nbrown cow\n")
    (here / "labels.csv").write_text("query,doc,label\nwhite horse,horse-2,1\nbrown cow,cow-1,1\n")
    with hostile.running(answering) as server:
        words = [f"{server.url}/solr/select?q={{{{query}}}}", "queries.csv", "--system", "solr", "--depth", "3"]
        done = karat("fetch", *words, "--out", "runs/", "--documents", "documents.jsonl")
    assert done.returncode == 0, done.stderr
    assert "written as CSV" in done.stderr
    scores = kt.score(kt.read_judgments("labels.csv"), kt.read_runs("runs/solr.run"), "RR")
    found = scores.queries.select("query", "RR").rows()
    assert dict(found) == pytest.approx({"white horse": 1 / 3, "brown cow": 1 / 2})
    started = karat("init", "study", "runs/solr.run", "queries.csv", "documents.jsonl")
    assert started.returncode == 0, started.stderr
    assert kt.read_runs("study/runs/solr.run").frame["query"].unique().sort().to_list() == ["brown cow", "white horse"]
