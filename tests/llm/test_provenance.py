"""What stands beside every judgment, what is shown while asking, and the way through a proxy."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_errors as errors
import vendor_replies as replies
from commands import karat
from karat.llm.answer_store import AnswerStore

DOCUMENTS = 24


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Twenty-four documents of four queries, and two runs that show them in opposite orders."""
    queries = [{"query": f"q{n}", "text": f"hooves {n}"} for n in range(4)]
    documents = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(DOCUMENTS)]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    for name, sign in (("a", -1), ("b", 1)):
        rows = [f"q{n % 4} Q0 d{n} {n // 4 + 1} {sign * n} {name}\n" for n in range(DOCUMENTS)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return tmp_path


def words(folder: Path, url: str, *more: str) -> list[str]:
    said = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl"), "--documents", str(folder / "d.jsonl")]
    said += ["--scale", "0..3", "--model", "m", "--url", url, "--out", str(folder / "llm.csv"), *more]
    return said


def by_number(prompt: str) -> int:
    return int(re.findall(r"Text number (\d+)", prompt)[0]) % 4


def test_how_it_was_made_stands_beside_every_judgment(files: Path) -> None:
    behaviour = hostile.in_turn(errors.unsupported("temperature"), replies.graded(by_number, model="m-2024-07-18"))
    with hostile.running(behaviour) as server:
        assert karat(*words(files, server.url, "--price", "1/2", "--concurrency", "1")).returncode == 0
    rows = pl.read_csv(files / "llm.csv").to_dicts()
    assert len(rows) == DOCUMENTS
    shown = karat(*words(files, server.url, "--show-prompt"))
    mark = re.findall(r"the prompt grade, (\w{12})", shown.stderr)[0]
    with closing(AnswerStore(files / "llm.answers.db")) as store:
        keys = {answer.key[:16]: asked for asked, answer in store.asked()}
    for row in rows:
        assert (row["model"], row["returned_model"], row["prompt"]) == ("m", "m-2024-07-18", mark)
        assert row["fingerprint"]
        assert row["without"] == "temperature"
        assert row["parser"] == 2
        assert row["attempts"] >= 1
        assert row["seconds"] >= 0
        assert row["cost"] == pytest.approx((row["tokens_in"] + 2 * row["tokens_out"]) / 1e6)
        # The question as it was asked, word for word, with what can change its answer.
        asked = keys[row["answer"]]
        assert f"Text number {row['doc'][1:]}.\n" in asked["user"]
        assert asked["model"] == {
            "name": "m", "dialect": "openai", "url": server.url, "temperature": 0.0, "seed": 0, "logprobs": False,
        }  # fmt: skip
        assert asked["schema"]["properties"]["grade"]["enum"] == ["0", "1", "2", "3", "can't tell"]


def test_expected_grades_calibrate_a_verdict(files: Path) -> None:
    def behave(call: hostile.Call) -> hostile.Reply:
        grade = by_number(call.prompt)
        return replies.graded(grade, odds={grade: 0.7, 3 - grade: 0.2})(call)

    with hostile.running(behave) as server:
        assert karat(*words(files, server.url, "--logprobs")).returncode == 0
    truth = "".join(f"q{n % 4},d{n},{n % 4},1\n" for n in range(DOCUMENTS))
    (files / "gold.csv").write_text(f"query,doc,label,probability\n{truth}")
    runs = [str(files / f"{name}.run") for name in "ab"]
    done = karat("compare", str(files / "llm.csv"), *runs, "--gold", str(files / "gold.csv"), "-m", "P@2",
                 "--calibrate", "expected_grade", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {row["method"] for row in json.loads(done.stdout)["methods"]} >= {"plain", "ppi"}


def test_a_proxy_of_the_environment_is_gone_through(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile.running(replies.graded(2)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        done = karat(*words(files, "http://models.example/v1", "--timeout", "5"))
        assert done.returncode == 0, done.stderr
        assert {call.path for call in proxy.calls} == {"http://models.example/v1/chat/completions"}


def test_on_a_terminal_rate_cost_and_time_left_are_shown(files: Path) -> None:
    lead, follow = pty.openpty()
    with hostile.running(hostile.slow(0.1, replies.graded(1))) as server:
        said = words(files, server.url, "--price", "1000/1000", "--concurrency", "1")
        process = subprocess.Popen([sys.executable, "-m", "karat", *said], stdout=subprocess.DEVNULL, stderr=follow)
        os.close(follow)
        shown = b""
        with suppress(OSError):  # the terminal is gone with the process
            while part := os.read(lead, 4096):
                shown += part
        assert process.wait(60) == 0
    os.close(lead)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"Asking .*\d+/24 \d+\.\d a second, \$\d+\.\d+ .*\d:\d\d:\d\d", plain), plain[-500:]


def test_a_model_that_says_the_same_of_everything_is_told_on(files: Path) -> None:
    with hostile.running(replies.graded(3)) as server:
        said = karat(*words(files, server.url)).stderr
    assert "note: m gave all 24 documents the grade 3: such labels tell no ranking from another" in said
