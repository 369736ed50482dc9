"""Killed half-way, a fetch goes on where it was: nothing is asked twice, and the run is that of one that was not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import karat as kt
from commands import karat
from hostile_server import Call, Reply
from karat.cli.fetch import alone_fetching

QUERIES, AT_ONCE = 60, 3


def by_number(call: Call) -> Reply:
    """Three documents that only this query has."""
    number = call.body["q"].split()[1]
    hits = [{"_id": f"{number}-{rank}", "_score": 10.0 - rank} for rank in range(3)]
    return Reply(json.dumps({"hits": {"hits": hits}}).encode())


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "q.csv").write_text("query,text\n" + "".join(f"{n},text {n}\n" for n in range(QUERIES)))
    (tmp_path / "body.json").write_text('{"q": "{{query}}"}')
    more = ["--system", "new", "--concurrency", str(AT_ONCE), "--out", f"{tmp_path}/new.run"]
    return [f"{tmp_path}/q.csv", "--template", f"{tmp_path}/body.json", *more]


def test_killed_half_way_it_goes_on_without_asking_twice(words: list[str], tmp_path: Path) -> None:
    with hostile.running(hostile.slow(0.03, by_number)) as server:
        fetching = [sys.executable, "-m", "karat", "fetch", server.url, *words]
        process = subprocess.Popen(fetching, env=os.environ | {"POLARS_MAX_THREADS": "1"}, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while len(server.calls) < QUERIES // 2 and time.monotonic() < until:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "new.run").exists()
        before = len(server.calls)
        assert QUERIES // 2 <= before < QUERIES
        done = karat("fetch", server.url, *words)
        assert done.returncode == 0, done.stderr
        assert "from an earlier try, the first of" in " ".join(done.stdout.split())
        asked = Counter(call.raw for call in server.calls)
        assert len(asked) == QUERIES
        assert asked.total() <= QUERIES + AT_ONCE  # what was on its way when it was killed
    run = kt.read_runs(tmp_path / "new.run").frame.select("query", "doc").rows()
    assert run == [(str(n), f"{n}-{rank}") for n in range(QUERIES) for rank in range(3)]
    assert not list(tmp_path.glob("*answers*"))


def test_what_is_done_is_asked_anew_and_what_is_kept_by_name_is_not(words: list[str], tmp_path: Path) -> None:
    with hostile.running(by_number) as server:
        for _ in range(2):  # a live engine may answer otherwise by now
            assert karat("fetch", server.url, *words).returncode == 0
        assert len(server.calls) == 2 * QUERIES
        kept = ["--answers", f"{tmp_path}/kept.db"]
        for more in ([], ["--columns", "doc=_id"], ["--fresh"]):
            assert karat("fetch", server.url, *words, *kept, *more).returncode == 0
        assert len(server.calls) == 4 * QUERIES
        # Another template is another question.
        (tmp_path / "body.json").write_text('{"q": "{{query}}", "more": 1}')
        assert karat("fetch", server.url, *words, *kept).returncode == 0
        assert len(server.calls) == 5 * QUERIES


def test_a_second_one_on_the_same_answers_is_refused(words: list[str], tmp_path: Path) -> None:
    with hostile.running(by_number) as server:
        with alone_fetching(tmp_path / "new.answers.db"):
            second = karat("fetch", server.url, *words)
        assert server.calls == []
    assert second.returncode == 2
    assert (
        f"expected answers that no other karat fetch is asking for, found that process {os.getpid()}" in second.stderr
    )


def test_an_interrupt_keeps_what_there_is_and_says_so(words: list[str], tmp_path: Path) -> None:
    with hostile.running(hostile.slow(0.1, by_number)) as server:
        fetching = [sys.executable, "-m", "karat", "fetch", server.url, *words]
        process = subprocess.Popen(fetching, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while len(server.calls) < 10 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1
        assert said == "karat: stopped; what came is kept, and the same command goes on from there\n"
        server.behaviour = by_number
        before = len(server.calls)
        assert karat("fetch", server.url, *words).returncode == 0
        assert QUERIES <= len(server.calls) <= QUERIES + AT_ONCE
        assert len(server.calls) - before >= QUERIES - before
