"""Engines on bad days: no list is invented, none is lost in silence, and what is wrong is said in words."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import karat as kt
from commands import karat
from hostile_server import Behaviour, Call, Reply
from karat.engines import rate_limit as pace


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def found(*hits: dict[str, Any]) -> Behaviour:
    """An engine with these hits for every query."""
    body = json.dumps({"took": 1, "timed_out": False, "hits": {"hits": list(hits)}}).encode()
    return lambda call: Reply(body)


FAIR = found({"_id": "b", "_score": 2.0}, {"_id": "a", "_score": 1.0})


def failing(status: int, body: str = "", times: int = 99, **headers: str) -> Behaviour:
    """An engine that answers so the first times that it is asked for query 2, and is fair to all others."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def behave(call: Call) -> Reply:
        if call.body["q"] == "text 2" and call.again < times:
            return Reply(body.encode(), status=status, headers=headers)
        return FAIR(call)

    return behave


class Folder:
    """Four queries and a template in a folder, and what `karat fetch` leaves there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "q.csv").write_text("query,text\n" + "".join(f"{n},text {n}\n" for n in range(1, 5)))
        (path / "body.json").write_text('{"q": "{{query}}", "size": {{depth}}}')

    def fetch(self, url: str, *more: str) -> CompletedProcess[str]:
        words = ["fetch", url, f"{self.path}/q.csv", "--template", f"{self.path}/body.json", "--system", "new"]
        done = karat(*words, "--out", f"{self.path}/new.run", *more)
        done.stdout = " ".join(done.stdout.split())
        return done

    @property
    def run(self) -> list[tuple[str, str]]:
        if not (self.path / "new.run").exists():
            return []
        rows: list[tuple[str, str]] = kt.read_runs(self.path / "new.run").frame.select("query", "doc").rows()
        return rows


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


WHOLE = [(str(n), doc) for n in range(1, 5) for doc in ("b", "a")]


@pytest.mark.parametrize("headers", [{"retry_after": "0"}, {}], ids=["told when", "not told"])
def test_a_busy_engine_is_asked_again_and_all_wait(folder: Folder, headers: dict[str, str]) -> None:
    with hostile.running(failing(429, "slow down", 2, **headers)) as server:
        done = folder.fetch(server.url)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(server.calls) == 4 + 2
    assert folder.run == WHOLE


def test_an_engine_that_says_how_long_is_waited_for(folder: Folder) -> None:
    with hostile.running(failing(429, "slow down", 1, retry_after="0.4")) as server:
        assert folder.fetch(server.url, "--concurrency", "1").returncode == 0
        first, second = [call.at for call in server.calls if call.body["q"] == "text 2"]
    assert 0.4 <= second - first < 5


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (failing(429, "quota"), "status 429: quota"),
        (failing(500, '{"error": {"reason": "all shards failed"}}'), "status 500: all shards failed"),
        (failing(502, "<html><title>502 Bad Gateway</title></html>"), "status 502: a web page: 502 Bad Gateway"),
        (
            failing(400, '{"error": {"root_cause": [{"reason": "Failed to parse query [a/]"}]}}'),
            "Failed to parse query",
        ),
        (failing(403, "blocked by the firewall"), "status 403: blocked by the firewall"),
        (failing(200, "<html><title>Sign in</title>"), "expected JSON, found a web page: Sign in"),
        (failing(200, '{"took": 1, "timed_out": true, "hits": {"hits": []}}'), "time was up: only part of the hits"),
        (failing(200, '{"hits": {"hits": [{"_score": 1}]}}'), "expected an id in hit 1 at _id, found none"),
        (lambda call: hostile.cut("half body", FAIR)(call) if b"text 2" in call.raw else FAIR(call), "breaks off"),
        (lambda call: hostile.slow(3, FAIR)(call) if b"text 2" in call.raw else FAIR(call), "no answer in time"),
    ],
    ids=["429", "500", "502", "400", "403", "page", "partial", "no id", "cut", "slow"],
)
def test_a_query_that_fails_is_named_and_the_others_are_kept(folder: Folder, behaviour: Behaviour, said: str) -> None:
    with hostile.running(behaviour) as server:
        more = ("--attempts", "2", "--timeout", "0.2", "--json")
        done = folder.fetch(server.url, *more)
        assert done.returncode == 1, done.stderr
        assert done.stderr.endswith("karat: 1 of 4 queries without an answer; the same command asks for these again\n")
        failed = json.loads(done.stdout)["failed"]
        assert [(row["system"], row["query"]) for row in failed] == [("new", "2")]
        assert said in failed[0]["why"]
        assert folder.run == [row for row in WHOLE if row[0] != "2"]
        # The same command asks for that one only, and all is well.
        server.behaviour = FAIR
        before = len(server.calls)
        assert folder.fetch(server.url, *more).returncode == 0
        assert [call.body["q"] for call in server.calls[before:]] == ["text 2"]
    assert folder.run == WHOLE
    assert not list(folder.path.glob("*answers*"))


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (
            lambda call: Reply(b"no", status=401),
            "found status 401: no; the key was refused, or none was sent: name its",
        ),
        (lambda call: Reply(b"{}", status=404), "there is nothing at this address: see the name of the index"),
        (lambda call: Reply(b"", status=405), "it is asked in another way: see --request"),
        (hostile.web_page(), "the answer of new: expected JSON, found a web page: 502 Bad Gateway"),
        (lambda call: Reply(b'{"answers": []}'), "found none (the answer has answers); name their path by --hits"),
        (found({"_source": {}}), "name its path by --columns doc=PATH"),
    ],
    ids=["401", "404", "405", "page", "form", "no ids"],
)
def test_what_is_wrong_for_every_query_ends_it_after_one_call(folder: Folder, behaviour: Behaviour, said: str) -> None:
    with hostile.running(behaviour) as server:
        done = folder.fetch(server.url)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(server.calls) == 1
    assert folder.run == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nobody_is_sent_elsewhere(folder: Folder, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A POST would become a GET at 301 and 302, and the key would go to another server."""
    monkeypatch.setenv("TOKEN", "s3cret-token")
    with hostile.running(FAIR) as other:
        away = {"location": f"{other.url}/search?for=s3cret-token"}
        with hostile.running(lambda call: Reply(b"", status=status, headers=away)) as server:
            done = folder.fetch(server.url, "--header", "Authorization: Bearer env:TOKEN")
            assert server.calls[0].headers["authorization"] == "Bearer s3cret-token"
            assert len(server.calls) == 1
        assert other.calls == []
    assert done.returncode == 2
    assert (
        f"found {status}, which sends elsewhere: {other.url}/search?for=...; name that address if it is" in done.stderr
    )
    assert "s3cret" not in done.stderr + done.stdout


def test_a_secret_is_nowhere_but_on_the_line(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-token")
    said = failing(400, "the token s3cret-token may not ask this")
    with hostile.running(said) as server:
        done = folder.fetch(server.url, "--header", "X-Api-Key: env:TOKEN")
        assert {call.headers["x-api-key"] for call in server.calls} == {"s3cret-token"}
    assert "the token ... may not ask this" in done.stdout
    assert "s3cret" not in done.stderr + done.stdout
    for file in folder.path.iterdir():
        assert b"s3cret" not in file.read_bytes(), file
    monkeypatch.delenv("TOKEN")
    done = folder.fetch("http://localhost:9", "--header", "X-Api-Key: env:TOKEN")
    assert done.stderr == "karat: the variable TOKEN: expected a value in the environment, found nothing\n"


def test_nobody_there_is_said_at_once(folder: Folder) -> None:
    done = folder.fetch("http://127.0.0.1:9/search")
    assert done.returncode == 2
    assert "new at 127.0.0.1:9: expected a server that answers, found that no connection can be made" in done.stderr


def test_sixteen_failures_in_a_row_end_it(folder: Folder) -> None:
    (folder.path / "q.csv").write_text("query,text\n" + "".join(f"{n},text {n}\n" for n in range(50)))

    def behave(call: Call) -> Reply:
        return FAIR(call) if call.number < 10 else Reply(b"broken", status=500)

    with hostile.running(behave) as server:
        done = folder.fetch(server.url, "--attempts", "1", "--concurrency", "1", "--json")
        assert len(server.calls) == 10 + 16
    assert done.returncode == 1
    failed = pl.DataFrame(json.loads(done.stdout)["failed"])
    assert failed["why"].value_counts().sort("count").rows() == [
        ("status 500: broken", 16),
        ("not asked, as 16 queries in a row had no answer", 24),
    ]
    assert len(folder.run) == 20


@pytest.mark.parametrize(
    ("hits", "score"),
    [
        ([{"_id": "b"}, {"_id": "a"}], "2 hits without a score"),
        ([{"_id": "a", "_score": 1.0}, {"_id": "b", "_score": 1.0}], "1 tie in score"),
        ([{"_id": "b", "_score": 1.0}, {"_id": "a", "_score": 2.0}], "1 score higher than that before"),
        ([{"_id": "a", "_score": 1.0000000001}, {"_id": "b", "_score": 1.0}], "1 tie in score"),  # in single precision
    ],
)
def test_the_order_is_the_engines_whatever_its_scores(folder: Folder, hits: list[dict[str, Any]], score: str) -> None:
    (folder.path / "q.csv").write_text("query,text\n1,one\n")
    with hostile.running(found(*hits)) as server:
        done = folder.fetch(server.url)
    assert f"new: the scores are by rank, so that the order is the engine's ({score})" in done.stdout
    run = kt.read_runs(folder.path / "new.run").frame.sort("score", descending=True)
    assert run["doc"].to_list() == [hit["_id"] for hit in hits]
    assert run["score"].to_list() == [2.0, 1.0]


def test_scores_that_tell_the_order_are_the_engines_own(folder: Folder) -> None:
    with hostile.running(FAIR) as server:
        done = folder.fetch(server.url)
    assert "by rank" not in done.stdout
    assert {*kt.read_runs(folder.path / "new.run").frame["score"]} == {2.0, 1.0}


def test_short_empty_and_repeated_lists_are_said(folder: Folder) -> None:
    twice = found({"_id": "a", "_score": 3}, {"_id": "a", "_score": 2}, {"_id": "b", "_score": 1})
    with hostile.running(lambda call: found()(call) if call.body["q"] == "text 3" else twice(call)) as server:
        done = folder.fetch(server.url, "--depth", "5")
    assert done.returncode == 0  # an empty list is an answer
    assert "new: nothing found for 1 query (3): no rows, which count as 0 in comparisons" in done.stdout
    assert "new: 3 hits of a document that stood higher in the list left out" in done.stdout
    assert "3 lists of 3 shorter than 5, most of 2: does the request ask for {{depth}} documents?" in done.stdout
    assert "no title, snippet, url or text was found in the hits: name their paths by --columns" in done.stdout


def in_pages(call: Call) -> Reply:
    """An engine that has seven documents and gives three at a time, whatever is asked for."""
    start = call.body["from"] if "from" in call.body else 3 * (call.body["page"] - 1)
    return found(*({"_id": f"d{n}", "_score": 9.0 - n} for n in range(7)[start : start + 3]))(call)


@pytest.mark.parametrize("place", ["from", "page"])
def test_a_list_is_taken_page_by_page_down_to_the_depth(folder: Folder, place: str) -> None:
    (folder.path / "body.json").write_text('{"q": "{{query}}", "PLACE": {{PLACE}}}'.replace("PLACE", place))
    with hostile.running(in_pages) as server:
        folder.fetch(server.url, "--depth", "5")
        assert folder.run == [(str(q), f"d{n}") for q in range(1, 5) for n in range(5)]
        assert len(server.calls) == 2 * 4
        done = folder.fetch(server.url, "--depth", "50", "--fresh")
        assert folder.run == [(str(q), f"d{n}") for q in range(1, 5) for n in range(7)]
        assert len(server.calls) == 8 + 4 * 4  # the fourth page has nothing: the list ends
    assert done.returncode == 0


def test_pages_that_came_before_an_end_are_not_asked_for_again(folder: Folder) -> None:
    (folder.path / "body.json").write_text('{"q": "{{query}}", "from": {{from}}}')

    def once(call: Call) -> Reply:
        broken = call.body["q"] == "text 2" and call.body["from"] == 3 and len(server.calls) < 12
        return Reply(b"", status=500) if broken else in_pages(call)

    with hostile.running(once) as server:
        done = folder.fetch(server.url, "--depth", "7", "--attempts", "1")
        assert (done.returncode, "1 of 4 queries without an answer" in done.stderr) == (1, True)
        before = len(server.calls)
        assert folder.fetch(server.url, "--depth", "7").returncode == 0
        assert [call.body["from"] for call in server.calls[before:]] == [3, 6]  # of query 2 alone
    assert folder.run == [(str(q), f"d{n}") for q in range(1, 5) for n in range(7)]


def test_an_engine_that_gives_the_same_page_again_is_not_taken_for_a_list(folder: Folder) -> None:
    (folder.path / "body.json").write_text('{"q": "{{query}}", "start": {{from}}}')
    with hostile.running(FAIR) as server:
        done = folder.fetch(server.url, "--depth", "5")
    assert done.returncode == 1
    assert "page 2 has the documents of earlier pages again; does the engine read the place {{from}}?" in done.stderr


def test_the_rate_and_the_number_at_once_are_kept_to(folder: Folder) -> None:
    with hostile.running(hostile.slow(0.02, FAIR)) as server:
        assert folder.fetch(server.url, "--rate", "10", "--concurrency", "2").returncode == 0
        assert server.open_most <= 2
        assert server.calls[-1].at - server.calls[0].at >= 0.2  # four calls, a tenth of a second between two


@contextmanager
def secure(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A server whose certificate only we vouch for: its address, and the file with our word."""
    import trustme

    class Fair(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = b'{"hits": {"hits": [{"_id": "b", "_score": 2.0}, {"_id": "a", "_score": 1.0}]}}'
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            pass

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = HTTPServer(("127.0.0.1", 0), Fair)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/search", str(tmp_path / "ca.pem")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_certificate_that_nobody_vouches_for(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    with secure(folder.path) as (url, ca):
        done = folder.fetch(url)
        assert done.returncode == 2
        assert "expected a certificate that somebody known vouches for, found " in done.stderr
        assert "name those who vouch for it by --ca FILE, or take it as it is with --insecure" in done.stderr
        with monkeypatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", ca)  # whom to trust is read once, unless it is named anew
            assert folder.fetch(url, "--concurrency", "1").returncode == 0
        (folder.path / "new.run").unlink()
        assert folder.fetch(url).returncode == 2
        for how in (("--ca", ca), ("--insecure",)):
            done = folder.fetch(url, *how, "--concurrency", "1")
            assert done.returncode == 0, done.stderr
            assert folder.run == WHOLE
            (folder.path / "new.run").unlink()
    assert "expected certificates in a PEM file" in folder.fetch(url, "--ca", f"{folder.path}/q.csv").stderr
    assert "--ca would do nothing beside --insecure" in folder.fetch(url, "--ca", ca, "--insecure").stderr


def spoilt(name: str, text: str) -> Callable[[Path], None]:
    return lambda path: (path / name).write_text(text) and None


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoilt("q.csv", ""), "empty"),
        (spoilt("q.csv", "query,text\n"), "the queries: expected at least one, found none"),
        (
            spoilt("q.csv", "query,text\n1,\n2,\n"),
            "the queries: expected a text for each, found none for query 1 and 1 other",
        ),
        (spoilt("q.csv", "query,kind\n1,nav\n"), "expected the column text for asking an engine"),
        (spoilt("body.json", "find {{query}}"), "the template of new: expected JSON, or a form such as"),
        (spoilt("body.json", '{"q": "{{query}}", "a": ' + "[" * 5000), "the template of new: expected JSON, or a form"),
        (spoilt("body.json", '{"q": 1}'), "expected a place {{query}} in the URL or the template, found none"),
        (
            spoilt("body.json", '{"q": "{{query}}", "s": "{{shop}}"}'),
            "the place {{shop}}: expected {{query}}, {{depth}}",
        ),
    ],
)
def test_bad_input_is_said_before_anything_is_sent(folder: Folder, spoil: Callable[[Path], None], said: str) -> None:
    spoil(folder.path)
    with hostile.running(FAIR) as server:
        done = folder.fetch(server.url)
        assert server.calls == []
    assert done.returncode == 2
    assert said in done.stderr
    assert folder.run == []
