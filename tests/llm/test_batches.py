"""Questions handed in together: the same labels at half the price, nothing handed in twice, no row lost or invented."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_errors as errors
import vendor_replies as replies
from commands import karat
from karat.engines import rate_limit as pace
from karat.llm import batches
from vendor_batches import Batches

DIALECTS = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Six documents of a query."""
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "q", "text": "hooves"}))
    documents = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(6)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (tmp_path / "a.run").write_text("".join(f"q Q0 d{n} {n + 1} {10 - n} run\n" for n in range(6)))
    return tmp_path


def words(folder: Path, url: str, dialect: str, out: str = "llm.csv") -> list[str]:
    made = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl"), "--documents", str(folder / "d.jsonl")]
    made += ["--scale", "0..3", "--model", "m", "--dialect", dialect, "--url", url, "--out", str(folder / out)]
    return [*made, "--price", "1000/1000"]


def by_number(prompt: str) -> int:
    return int(prompt.split("Text number ")[1][0]) % 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_batch_says_what_single_calls_say_at_half_the_price(files: Path, dialect: str) -> None:
    server_of_batches = Batches(replies.graded(by_number))
    with hostile.running(server_of_batches) as server:
        assert karat(*words(files, server.url, dialect, "one.csv")).returncode == 0
        done = karat(*words(files, server.url, dialect), "--batch")
        assert done.returncode == 0, done.stderr
        assert len(server_of_batches.handed_in) == 1
        calls = len(server.calls)
        assert karat(*words(files, server.url, dialect), "--batch").returncode == 0
        assert len(server.calls) == calls
    single, batch = (pl.read_csv(files / name) for name in ("one.csv", "llm.csv"))
    assert batch["label"].to_list() == [0, 1, 2, 3, 0, 1]
    differ = ("cost", "seconds", "time")
    assert batch.drop(differ).equals(single.drop(differ))
    assert batch["cost"].to_list() == [pytest.approx(cost / 2) for cost in single["cost"]]
    assert f"Spent now: ${single['cost'].sum() / 2:.4f}." in done.stdout


@pytest.mark.parametrize("dialect", DIALECTS)
def test_rows_that_expired_or_were_refused_are_outcomes_of_their_own(files: Path, dialect: str) -> None:
    def each(call: hostile.Call) -> hostile.Reply:
        return (errors.too_long() if "number 2" in call.prompt else replies.graded(1))(call)

    vendor = Batches(each, expires=lambda number: number == 4)
    with hostile.running(vendor) as server:
        done = karat(*words(files, server.url, dialect), "--batch")
        assert done.returncode == 1
        assert "m answered 4 of 6 questions; no answer: 1 too long, 1 transport." in done.stdout
        table = pl.read_csv(files / "llm.csv")
        assert dict(table.select("doc", "outcome").rows())["d4"] == "transport"
        assert table["label"].to_list() == [1, 1, None, 1, None, 1]
        vendor.expires = lambda number: False
        done = karat(*words(files, server.url, dialect), "--batch")
        # What expired is handed in again, and nothing else.
        assert [len(rows) for rows in vendor.handed_in.values()] == [6, 1]
    assert "m answered 5 of 6 questions; no answer: 1 too long." in done.stdout


@pytest.mark.parametrize("dialect", DIALECTS)
def test_whoever_is_killed_while_waiting_waits_for_the_same_batch(files: Path, dialect: str) -> None:
    vendor = Batches(replies.graded(by_number), looks=10**9)
    start = "import karat.llm.batches as b; b.LOOK_EVERY = 0.02; from karat.cli import main; main()"
    with hostile.running(vendor) as server:
        asking = subprocess.Popen([sys.executable, "-c", start, *words(files, server.url, dialect), "--batch"])
        until = time.monotonic() + 60
        while not vendor.looked and time.monotonic() < until:
            time.sleep(0.02)
        asking.kill()
        asking.wait()
        assert len(vendor.handed_in) == 1
        vendor.looks = 1
        done = karat(*words(files, server.url, dialect), "--batch")
        assert len(vendor.handed_in) == 1
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(files / "llm.csv")["label"].to_list() == [0, 1, 2, 3, 0, 1]


def test_another_prompt_leaves_the_batch_of_the_first_alone(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = Batches(replies.graded(by_number), looks=10**9)

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    with hostile.running(vendor) as server:
        with monkeypatch.context() as patch:
            patch.setattr(batches.time, "sleep", interrupted)
            done = karat(*words(files, server.url, "openai"), "--batch")
        assert done.returncode == 1
        assert "stopped; the answers so far are kept" in done.stderr
        vendor.looks = 1
        done = karat(*words(files, server.url, "openai"), "--batch", "--prompt", "need")
        assert "answered 6 of 6" in done.stdout
        assert vendor.looked.keys() == {"batch_0", "batch_1"}
        assert vendor.looked["batch_0"] == 1
        done = karat(*words(files, server.url, "openai"), "--batch")
        assert "answered 6 of 6" in done.stdout
        assert len(vendor.handed_in) == 2


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("without", [hostile.web_page(404), hostile.web_page(), hostile.web_page(405)])
def test_a_server_without_batches_is_said(files: Path, without: hostile.Behaviour, dialect: str) -> None:
    with hostile.running(without) as server:
        done = karat(*words(files, server.url, dialect), "--batch")
    assert done.returncode == 1
    assert "the server takes no batches" in done.stderr
    assert "m answered 0 of 6 questions; no answer: 6 not asked." in done.stdout


def test_no_server_at_all_is_said(files: Path) -> None:
    done = karat(*words(files, "http://127.0.0.1:9", "openai"), "--batch")
    assert done.returncode == 1
    assert "no batch was handed in: ConnectError" in done.stderr


def test_a_batch_that_is_not_taken_is_handed_in_anew_next_time(files: Path) -> None:
    vendor = Batches(replies.graded(1), refused="This model is not available in batches.")
    with hostile.running(vendor) as server:
        done = karat(*words(files, server.url, "openai"), "--batch")
        assert done.returncode == 1
        assert "the batch batch_0 was not taken: This model is not available in batches." in done.stderr
        vendor.refused = ""
        assert karat(*words(files, server.url, "openai"), "--batch").returncode == 0
        assert len(vendor.handed_in) == 2


def test_a_batch_that_the_server_forgot_is_handed_in_anew_next_time(files: Path) -> None:
    vendor = Batches(replies.graded(1), looks=10**9)
    with hostile.running(vendor) as server:
        server.behaviour = lambda call: (vendor.handed_in.clear() if call.number == 2 else None) or vendor(call)
        done = karat(*words(files, server.url, "openai"), "--batch")
        assert done.returncode == 1
        assert "knows nothing of the batch any more" in done.stderr
        vendor.looks, server.behaviour = 1, vendor
        assert karat(*words(files, server.url, "openai"), "--batch").returncode == 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_that_is_away_for_a_moment_is_looked_at_again(files: Path, dialect: str) -> None:
    vendor = Batches(replies.graded(1))
    trouble = {3: errors.overloaded(), 4: hostile.cut("half body", vendor), 5: hostile.web_page(502)}
    with hostile.running(lambda call: trouble.get(call.number, vendor)(call)) as server:
        done = karat(*words(files, server.url, dialect), "--batch")
    assert done.returncode == 0, done.stderr
    assert Counter(pl.read_csv(files / "llm.csv")["label"]) == {1: 6}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_letters_that_end_a_line_elsewhere_do_not_break_a_row(files: Path, dialect: str) -> None:
    reason = "first\u2028second\u0085third"
    with hostile.running(
        Batches(replies.says(json.dumps({"grade": 2, "reason": reason}, ensure_ascii=False)))
    ) as server:
        done = karat(*words(files, server.url, dialect), "--batch", "--reasons")
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(files / "llm.csv")["comment"].to_list() == [reason] * 6


def test_what_rows_complain_about_is_left_out_when_they_are_handed_in_again(files: Path) -> None:
    vendor = Batches(errors.unsupported("temperature", then=replies.graded(1)))
    with hostile.running(vendor) as server:
        assert "6 transport" in karat(*words(files, server.url, "openai"), "--batch").stdout
        done = karat(*words(files, server.url, "openai"), "--batch")
    assert done.returncode == 0, done.stderr
    assert "temperature" in pl.read_csv(files / "llm.csv")["without"][0]


def test_an_estimate_of_a_batch_halves_the_price_and_says_a_day(files: Path) -> None:
    one, batch = (
        karat(*words(files, "http://127.0.0.1:9", "openai"), "--estimate", "--json", *more).stdout
        for more in ([], ["--batch"])
    )
    dollars = [json.loads(said)["m"]["dollars"] for said in (one, batch)]
    assert dollars[1] == [pytest.approx(most / 2) for most in dollars[0]]
    said = karat(*words(files, "http://127.0.0.1:9", "openai"), "--estimate", "--batch").stdout
    assert "a day at most" in said
