"""What people type by mistake, and data at the edge: said before anything is paid for, or done right."""

from __future__ import annotations

import json
import time
from contextlib import chdir, closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_errors as errors
import vendor_replies as replies
from commands import karat
from karat.engines import rate_limit as pace
from karat.engines.http_calls import done as finished
from karat.formats import read_judgments
from karat.llm.answer_form import CANT_TELL, Field, Form, NotAnswered

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.001)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Three documents of a query."""
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "q", "text": "hooves"}))
    write(tmp_path, [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(3)])
    return tmp_path


def write(folder: Path, documents: list[dict[str, Any]]) -> None:
    """Documents and a run that shows them."""
    (folder / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    rows = [f"q Q0 {row['doc']} {n + 1} {9999 - n} a\n" for n, row in enumerate(documents)]
    (folder / "a.run").write_text("".join(rows))


def ask(folder: Path, url: str, *more: str) -> CompletedProcess[str]:
    words = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl"), "--documents", str(folder / "d.jsonl")]
    words += ["--model", "m", *([] if "--url" in more else ["--url", url])]
    words += [] if "--scale" in more else ["--scale", "0..3"]
    words += [] if "--out" in more else ["--out", str(folder / "llm.csv")]
    return karat(*words, *more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--url", "http://127.0.0.1:99999"], "--url: expected an address"),
        (["--url", "127.0.0.1:8000"], "--url: expected an address"),
        (["--url", "http://exa mple/"], "--url: expected an address"),
        (["--url", "file:///etc/passwd"], "--url: expected an address"),
        (["--url", "http://"], "--url: expected an address"),
        (["--url", "http://me:secret@127.0.0.1:9"], "--url: expected an address alone"),
        (["--url", "http://127.0.0.1:9/v1?key=secret"], "--url: expected an address alone"),
        (["--model", "m\x1b[31m"], "--model: expected the name of a model"),
        (["--model", "m\udcff"], "--model: expected the name of a model"),
        (["--model", " "], "--model: expected the name of a model"),
        (["--as", "\n"], "--as: expected names of judges"),
        (["--model", "m"], "--as: expected 2 different names"),
        (["--scale", "1=relevant"], "expected at least two levels"),
        (["--temperature", "nan"], "--temperature: expected a number, found nan"),
        (["--rpm", "nan"], "--rpm: expected a number, found nan"),
        (["--timeout", "nan"], "--timeout: expected a number, found nan"),
        (["--concurrency", "257"], "257"),
        (["--price", "nan/1"], "expected dollars of 0 or more"),
        (["--guidelines", "nowhere.txt"], "nowhere.txt: expected a text in UTF-8, found No such file"),
        (["--prompt", "yes-no"], "expected a scale of two grades"),
        (["--prompt", "lists"], "expected the places {query} and {document}"),
        (["--out", "labels.xlsx"], "expected a format that karat writes"),
        (["--out", "-"], "--out: expected a file"),
        (["--audit"], "--audit: expected gold labels"),
        (["--replay", "--estimate"], "--estimate would do nothing"),
        (["--replay", "--retry", "invalid"], "--retry would do nothing"),
        (["--answers", "/"], "expected a store of answers"),
        (["--answers", "/dev/null/answers.db"], "expected a store of answers"),
    ],
)
def test_slips_are_refused_before_anything_is_sent(files: Path, more: list[str], said: str) -> None:
    with hostile.running(replies.graded(1)) as server:
        done = ask(files, server.url, *more)
        assert server.calls == []
    assert done.returncode == 2
    assert said in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize("name", ["q.jsonl", "d.jsonl", "a.run"])
def test_an_empty_file_is_said_and_an_input_is_never_written_over(files: Path, name: str) -> None:
    before = (files / name).read_bytes()
    done = ask(files, NOBODY, "--out", str(files / name))
    assert done.returncode == 2
    assert "--out: expected a file that is not read" in done.stderr
    assert (files / name).read_bytes() == before
    (files / name).write_text("")
    done = ask(files, NOBODY)
    assert done.returncode == 2
    assert "found an empty file" in done.stderr


def test_documents_without_a_text_are_left_out_and_named(files: Path) -> None:
    write(files, [{"doc": "d0", "title": "T"}, {"doc": "d1", "title": ""}, {"doc": "d2", "title": "  "}])
    with hostile.running(replies.graded(1)) as server:
        done = ask(files, server.url)
        assert len(server.calls) == 1
        assert done.returncode == 0
        assert "2 tasks not asked, as there is nothing to show: the document d1" in done.stderr
        write(files, [{"doc": "d0", "title": ""}])
        done = ask(files, server.url)
    assert done.returncode == 1
    assert "there was nothing to ask: no task has a text to show" in done.stderr


def test_letters_of_all_kinds_and_long_names_are_asked_and_come_back(files: Path) -> None:
    names = ["日本語", "ü" * 3000, "a/b?c=d&e", "🦙"]
    write(files, [{"doc": name, "text": f"{name} text \u202e"} for name in names])
    with hostile.running(replies.graded(lambda prompt: 2 if "🦙 text" in prompt else 1)) as server:
        done = ask(files, server.url, "--model", "模型 🦙")
        asked = {call.body["model"] for call in server.calls}
    assert done.returncode == 0, done.stderr
    assert asked == {"m", "模型 🦙"}
    found = read_judgments(str(files / "llm.csv")).frame
    assert found.filter(judge="模型 🦙").select("doc", "label").rows() == [*zip(names, [1, 1, 1, 2], strict=True)]


@pytest.mark.parametrize(
    ("scale", "grades"),
    [("-2..2", [-2, 0, 2]), ("0=bad, 0.5=fair, 1=good", [0, 0.5, 1]), ("0=no, 10=some, 100=all", [0, 10, 100])],
)
def test_grades_below_zero_between_and_far_apart(files: Path, scale: str, grades: list[float]) -> None:
    def answer(call: hostile.Call) -> str:
        # As a number, as models write it that were asked for one.
        return json.dumps({"grade": grades[int(call.prompt.split("number ")[1][0])]})

    with hostile.running(replies.says(answer)) as server:
        done = ask(files, server.url, "--scale", scale)
    assert done.returncode == 0, done.stderr
    assert read_judgments(str(files / "llm.csv")).frame["label"].to_list() == grades


@pytest.mark.parametrize(
    "text",
    [
        '{"grade": 1' + "0" * 400 + "}",
        '{"grade": 1' + "0" * 5000 + "}",
        '{"grade": NaN}',
        '{"grade": true}',
        '{"grade": [1]}',
        '{"grade": 1.4}',
        '{"grade": null}',
        '{"grade": "1", "grade": "2"}',
        '{"grade": "1"} {"grade": "2"}',
        '<think>{"grade": "3"}{"grade": "0"}',
        '{"example": {"grade": "3"}, "grade": ',
        '{{"grade": "3"}}',
        '{"Grade": "3"}',
        "3",
        '"3"',
        "[3]",
        "[" * 100_000,
        "{" * 100_000,
    ],
)
def test_what_is_no_one_answer_is_no_grade(text: str) -> None:
    with pytest.raises(NotAnswered):
        Form((Field("grade", ("0", "1", "2", "3", CANT_TELL)),)).read(text)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ('{"grade": -0.0}', "0"),
        ('{"grade": 1.0}', "1"),
        ('```json\n{"grade": " 2 "}\n```', "2"),
        ('<think>{"grade": 0}?</think> {"grade": 3}', "3"),
    ],
)
def test_an_answer_may_be_written_in_several_ways(text: str, grade: str) -> None:
    assert Form((Field("grade", ("0", "1", "2", "3")),)).read(text) == {"grade": grade}


def test_so_many_at_a_time_as_were_named_and_no_more(files: Path) -> None:
    write(files, [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(300)])
    with hostile.running(hostile.slow(0.3, replies.graded(1))) as server:
        done = ask(files, server.url, "--concurrency", "256", "--depth", "1000")
        assert 128 < server.open_most <= 256
    assert done.returncode == 0, done.stderr
    assert "m answered 300 of 300 questions." in done.stdout


def test_one_call_a_minute_is_one_call_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of our own, on which nobody has to wait."""
    now = [100.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(pace.asyncio, "sleep", sleep)
    turns = []

    async def two(limits: pace.Pace) -> None:
        for _ in range(3):
            await limits.turn(500)
            turns.append(now[0])

    finished(two(pace.Pace(calls_a_minute=1)))
    assert turns == [100, 160, 220]
    turns.clear()
    finished(two(pace.Pace(calls_a_minute=60, tokens_a_minute=1000)))
    assert turns == [220, 250, 280]


@pytest.mark.parametrize("behaviour", [errors.broken(500), hostile.cut("before headers", replies.graded(1))])
def test_a_server_that_never_answers_is_given_up(files: Path, behaviour: hostile.Behaviour) -> None:
    """Or ten thousand questions, tried six times each, would take days."""
    write(files, [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(200)])
    with hostile.running(behaviour) as server:
        done = ask(files, server.url, "--attempts", "2", "--concurrency", "4", "--depth", "1000")
        assert len(server.calls) <= 2 * (16 + 4)
        assert done.returncode == 1
        assert "16 questions in a row came to no answer" in done.stderr
        server.behaviour = replies.graded(1)
        assert "m answered 200 of 200 questions." in ask(files, server.url, "--depth", "1000").stdout


def test_nobody_at_the_address_is_said_with_the_reason(files: Path) -> None:
    began = time.monotonic()
    done = ask(files, NOBODY, "--attempts", "2")
    assert done.returncode == 1
    assert "m answered 0 of 3 questions; no answer: 3 transport." in done.stdout
    assert "note: transport, the first of them: ConnectError" in done.stderr
    assert f"at {NOBODY}/chat/completions" in " ".join(done.stderr.split())
    assert time.monotonic() - began < 30


def test_a_study_without_tasks_says_what_it_lacks(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.toml").write_text('id = "none"\ntitle = "None"\n')
    done = karat("ask", str(study), "--model", "m", "--url", NOBODY)
    assert done.returncode == 2
    assert "expected tasks, or runs to make them of, found none" in done.stderr
    for option in (["--scale", "0..3"], ["--depth", "3"]):
        done = karat("ask", str(study), "--model", "m", "--url", NOBODY, *option)
        assert f"{option[0]} would do nothing: the study has its own" in done.stderr


def test_a_study_in_postgresql_is_asked_like_any_other(files: Path, postgres: str) -> None:
    study = files / "study"
    (study / "runs").mkdir(parents=True)
    (study / "study.toml").write_text(f'id = "{files.name}"\ntitle = "Elsewhere"\n')
    for name in ("d.jsonl", "a.run"):
        target = {"d.jsonl": "documents.jsonl", "a.run": "runs/a.run"}[name]
        (study / target).write_bytes((files / name).read_bytes())
    (study / "queries.csv").write_text("query,text\nq,hooves\n")
    with hostile.running(replies.graded(1)) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url, "--database", postgres]
        assert "3 new answers of m in the study, group llm." in karat(*words).stdout
        assert "3 were there already" in karat(*words).stdout
        assert len(server.calls) == 3
    assert karat("export", str(study), str(files / "x.csv"), "--database", postgres).returncode == 0
    assert pl.read_csv(files / "x.csv").select("doc", "label", "group").rows() == [
        (f"d{n}", 1, "llm") for n in range(3)
    ]
    assert not (study / "karat.db").exists()


def test_a_store_that_takes_no_more_stops_the_asking_in_plain_words(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    from karat.llm import answer_store

    opened = answer_store.AnswerStore.__init__

    def full(self: answer_store.AnswerStore, *words: Any, **more: Any) -> None:
        opened(self, *words, **more)
        self._connection.execute("pragma max_page_count = 1")  # as on a disk without room

    monkeypatch.setattr(answer_store.AnswerStore, "__init__", full)
    (files / "d.jsonl").write_text(json.dumps({"doc": "d0", "text": "Text."}))
    with hostile.running(replies.says(json.dumps({"grade": 1, "reason": "x" * 100_000}))) as server:
        done = ask(files, server.url)
    assert done.returncode == 2
    assert "expected a store that takes an answer, found database or disk is full" in done.stderr
    with closing(sqlite3.connect(files / "llm.answers.db")) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)


def test_queries_without_a_text_are_counted_before_anything_is_paid(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,text\nq0,capital of France\nq1,\n")
    (tmp_path / "d.jsonl").write_text('{"doc": "d0", "text": "Paris."}\n{"doc": "d1", "text": ""}\n')
    (tmp_path / "a.run").write_text("".join(f"q{q} Q0 d{d} {d + 1} {2 - d} a\n" for q in range(3) for d in range(2)))
    words = (
        "ask",
        "a.run",
        "--queries",
        "q.csv",
        "--documents",
        "d.jsonl",
        "--model",
        "m",
        "--url",
        "http://localhost:9",
    )
    with chdir(tmp_path):
        done = karat(*words, "--estimate")
    assert "note: 2 queries of 3 without a text, asked by their ids alone: the first, q1" in done.stderr
    # The document without a text is one, the tasks about it are three.
    assert "note: 3 tasks not asked, as there is nothing to show: the document d1" in done.stderr
    assert done.stdout.startswith("m: 3 calls")
