"""Killed in the middle, or asked by two at once: nothing is lost, and only calls in flight may be paid for twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_replies as replies
from commands import karat
from simulated import studies

DOCUMENTS, KILLS, AT_ONCE = 60, len(studies(6, 20)), 4


def by_number(prompt: str) -> int:
    return int(prompt.split("Text number ")[1].split(".")[0]) % 4


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "q", "text": "hooves"}))
    documents = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(DOCUMENTS)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (tmp_path / "a.run").write_text("".join(f"q Q0 d{n} {n + 1} {100 - n} run\n" for n in range(DOCUMENTS)))
    return tmp_path


def words(folder: Path, url: str, out: str = "llm.csv") -> list[str]:
    made = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl"), "--documents", str(folder / "d.jsonl")]
    made += ["--scale", "0..3", "--model", "m", "--url", url, "--out", str(folder / out), "--depth", "100"]
    return [*made, "--concurrency", str(AT_ONCE)]


def process(*typed: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "karat", *typed]
    environment = os.environ | {"POLARS_MAX_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.evidence
def test_kills_lose_nothing_and_ask_again_only_what_was_on_its_way(files: Path) -> None:
    """Children of one process that has loaded karat: a start of its own takes each of them a second."""
    rng = random.Random(5)
    child = (
        "import os, sys, signal\n"
        "import karat.cli.ask, karat.cli.ask_inputs, karat.cli.ask_outputs, karat.llm.panel, httpx2\n"
        "from karat.cli import main\n"
        "sys.argv = ['karat', *sys.argv[1:]]\n"
        "for line in sys.stdin:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        main()\n"
        "        os._exit(0)\n"
        "    print(child, flush=True)\n"
        "    os.waitpid(child, 0)\n"
    )
    store = files / "llm.answers.db"
    # Every call takes some 30 ms, so that sixty of them by four take half a second.
    with hostile.running(hostile.slow(0.03, replies.graded(by_number))) as server:
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        parent = subprocess.Popen(
            [sys.executable, "-c", child, *words(files, server.url)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        assert parent.stdin is not None
        assert parent.stdout is not None
        killed = 0
        for _ in range(KILLS):
            calls = len(server.calls)
            parent.stdin.write("\n")
            parent.stdin.flush()
            number = int(parent.stdout.readline())
            # At a moment of its own in each: before the first call, or after so many.
            after, until = calls + rng.randrange(8), time.monotonic() + 20
            while len(server.calls) < after and time.monotonic() < until:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.04))
            os.kill(number, signal.SIGKILL)
            killed += 1
            if store.exists():
                with closing(sqlite3.connect(store)) as connection:
                    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        parent.stdin.close()
        parent.wait()
        parent.stdout.close()
        done = karat(*words(files, server.url))
        assert done.returncode == 0, done.stderr
        asked = Counter(call.raw for call in server.calls)
        undisturbed = karat(*words(files, server.url, "other.csv"))
        assert undisturbed.returncode == 0
    assert killed == KILLS
    assert len(asked) == DOCUMENTS
    assert asked.total() <= DOCUMENTS + KILLS * AT_ONCE
    assert asked.total() > DOCUMENTS  # some were killed with calls on their way, or this shows nothing
    labels = pl.read_csv(files / "llm.csv").select("query", "doc", "label", "outcome")
    assert labels["label"].to_list() == [n % 4 for n in range(DOCUMENTS)]
    assert labels.equals(pl.read_csv(files / "other.csv").select("query", "doc", "label", "outcome"))


def test_a_killed_run_passes_its_budget_by_calls_in_flight_at_most(files: Path) -> None:
    """As the how-to says: what was in flight when it was killed may be paid for twice, and nothing else."""
    price, budget = 1000 / 1e6, 30.0
    with hostile.running(hostile.slow(0.1, replies.graded(by_number))) as server:
        typed = [*words(files, server.url), "--price", "1000/1000", "--budget", str(budget)]
        asking = process(*typed)
        until = time.monotonic() + 60
        while len(server.calls) < 6 and time.monotonic() < until:
            time.sleep(0.005)
        asking.kill()
        asking.communicate()
        done = karat(*typed)
        # What the server counts for a call, and what its question and its longest answer may cost at most.
        paid = sum(price * (len(call.prompt.split()) + 2) for call in server.calls)
        most = max(price * (len(json.dumps(call.body)) + 400) for call in server.calls)
        asked = Counter(call.raw for call in server.calls)
    assert done.returncode in (0, 1)
    assert asked.total() - len(asked) <= AT_ONCE
    assert paid <= budget + AT_ONCE * most


def test_a_second_process_on_the_same_answers_is_refused_and_the_first_is_undisturbed(files: Path) -> None:
    hold = threading.Event()

    def behave(call: hostile.Call) -> hostile.Reply:
        return hostile.slow(0.0 if hold.is_set() else 0.2, replies.graded(by_number))(call)

    with hostile.running(behave) as server:
        first = process(*words(files, server.url))
        until = time.monotonic() + 60
        while not server.calls and time.monotonic() < until:
            time.sleep(0.01)
        second = karat(*words(files, server.url))
        hold.set()
        # Looking on is allowed: an estimate and a replay send nothing.
        assert karat(*words(files, server.url), "--estimate").returncode == 0
        _, trouble = first.communicate(timeout=60)
        assert len(server.calls) == DOCUMENTS
    assert first.returncode == 0, trouble
    assert second.returncode == 2
    assert f"expected answers that no other karat ask is asking for, found that process {first.pid} is" in second.stderr
    assert pl.read_csv(files / "llm.csv")["label"].to_list() == [n % 4 for n in range(DOCUMENTS)]


def test_two_that_ask_for_themselves_at_once_share_nothing(files: Path) -> None:
    with hostile.running(hostile.slow(0.01, replies.graded(by_number))) as server:
        other = process(*words(files, server.url, "one.csv"))
        until = time.monotonic() + 60
        while not server.calls and time.monotonic() < until:
            time.sleep(0.01)
        here = karat(*words(files, server.url, "two.csv"))
        _, trouble = other.communicate(timeout=60)
        assert other.returncode == 0, trouble
        assert here.returncode == 0, here.stderr
    one, two = (pl.read_csv(files / name)["label"].to_list() for name in ("one.csv", "two.csv"))
    assert one == two == [n % 4 for n in range(DOCUMENTS)]


def test_an_interrupt_keeps_what_there_is_and_says_so(files: Path) -> None:
    with hostile.running(hostile.slow(0.1, replies.graded(by_number))) as server:
        asking = process(*words(files, server.url))
        until = time.monotonic() + 60
        while len(server.calls) < 10 and time.monotonic() < until:
            time.sleep(0.01)
        asking.send_signal(signal.SIGINT)
        said, trouble = asking.communicate(timeout=60)
        calls = len(server.calls)
        assert asking.returncode == 1, (said, trouble)
        assert " ".join(trouble.split()) == (
            "karat: stopped; the answers so far are kept, and the same command goes on from there. It sends the "
            "requests that were in flight again (at most 4), which may then be paid for twice."
        )
        assert "Traceback" not in trouble
        kept = pl.read_csv(files / "llm.csv").height
        assert calls - AT_ONCE <= kept <= calls
        assert f"m answered {kept} of {DOCUMENTS} questions; no answer: {DOCUMENTS - kept} not asked." in said
        done = karat(*words(files, server.url))
        assert done.returncode == 0
        assert len(server.calls) == calls + DOCUMENTS - kept
