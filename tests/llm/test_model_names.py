"""Which model answered: a dated version of the one that was asked is it, any other name is a failure."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_replies as replies
from commands import karat
from karat.engines import rate_limit as pace
from karat.llm.answer_form import Field, Form
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.model_names import is_same_model
from karat.llm.outcomes import outcome, stored_answer
from karat.llm.requests import Model, Request
from vendor_batches import Batches

ASKED = Request(Model("m"), "Judge.", "Hooves?", Form((Field("grade", ("0", "1", "2")),)))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.001)


@pytest.mark.parametrize(
    ("asked", "replied"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4", "gpt-4-0613"),
        ("mistral-large", "mistral-large-2411"),
        ("gemini-1.5-flash", "gemini-1.5-flash-002"),
        ("gemini-2.5-flash-preview", "gemini-2.5-flash-preview-05-20"),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("claude-3-5-sonnet", "claude-3-5-sonnet@20241022"),
        ("llama3", "llama3:latest"),
        ("llama3:latest", "llama3"),
        ("openai/gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4o", "openai/gpt-4o-2024-08-06"),
        ("openrouter/openai/gpt-4o", "openai/gpt-4o"),
        ("gemini-2.0-flash", "models/gemini-2.0-flash"),
        ("smollm2", "/srv/models/smollm2.gguf"),
        ("/srv/models/smollm2.gguf", "smollm2.gguf"),
        ("smollm2", r"C:\models\smollm2.gguf"),
        ("m", None),
        ("m", " "),
    ],
)
def test_a_dated_version_or_a_prefix_is_the_same_model(asked: str, replied: str | None) -> None:
    assert is_same_model(asked, replied)


@pytest.mark.parametrize(
    ("asked", "replied"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("gpt-4o-mini", "gpt-4o"),
        ("gpt-4", "gpt-4o"),
        ("gpt-4", "gpt-4.1"),
        ("gpt-4", "gpt-4-32k"),
        ("gpt-4", "gpt-4-1106-preview"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("llama-3", "llama-3-70b"),
        ("llama-3", "llama-3-405"),
        ("llama3:8b", "llama3:70b"),
        ("meta/llama-3-8b", "other/llama-3-8b"),
        ("smollm2", "/srv/models/smollm2-360m.gguf"),
        ("gpt-3.5-turbo", "/srv/models/llama-3-8b.Q4_K_M.gguf"),
        ("gpt-4o", "gpt-4o-2024-99-99"),
        ("gpt-4o", "not-gpt-4o"),
    ],
)
def test_another_name_is_another_model(asked: str, replied: str) -> None:
    assert not is_same_model(asked, replied)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Six documents of a query."""
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "q", "text": "hooves"}))
    rows = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(6)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "a.run").write_text("".join(f"q Q0 d{n} {n + 1} {99 - n} a\n" for n in range(6)))
    return tmp_path


def words(folder: Path, url: str, *more: str) -> list[str]:
    said = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl"), "--documents", str(folder / "d.jsonl")]
    return [*said, "--scale", "0..3", "--model", "m", "--url", url, "--out", str(folder / "llm.csv"), *more]


@pytest.mark.parametrize("batch", [(), ("--batch",)])
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_an_answer_of_another_model_is_no_label(files: Path, dialect: str, batch: tuple[str, ...]) -> None:
    behaviour = replies.graded(1, model="cheaper")
    with hostile.running(Batches(behaviour) if batch else behaviour) as server:
        done = karat(*words(files, server.url, "--dialect", dialect, *batch))
        assert done.returncode == 1
        assert "m answered 0 of 6 questions; no answer: 6 other model." in done.stdout
        said = " ".join(done.stderr.split())
        assert "asked for m, answered by cheaper: to accept that model, add --allow-model cheaper" in said
        calls = len(server.calls)
        found = pl.read_csv(files / "llm.csv")
        assert found["returned_model"].to_list() == ["cheaper"] * 6
        # Whoever accepts it then pays nothing again.
        done = karat(*words(files, server.url, "--dialect", dialect, *batch, "--allow-model", "cheaper"))
        assert len(server.calls) == calls
    assert done.returncode == 0, done.stderr
    found = pl.read_csv(files / "llm.csv")
    assert found.select("label", "model", "returned_model").unique().rows() == [(1, "m", "cheaper")]
    assert "asked for m, answered by cheaper (--allow-model)" in " ".join(done.stderr.split())


def test_asking_stops_where_only_another_model_answers(files: Path) -> None:
    rows = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(200)]
    (files / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (files / "a.run").write_text("".join(f"q Q0 d{n} {n + 1} {999 - n} a\n" for n in range(200)))
    with hostile.running(replies.graded(1, model="cheaper")) as server:
        done = karat(*words(files, server.url, "--depth", "200", "--concurrency", "2"))
        assert len(server.calls) <= 16 + 2
    assert done.returncode == 1
    assert "16 questions in a row came to no answer: asked for m, answered by cheaper" in " ".join(done.stderr.split())


def test_two_versions_of_a_model_in_one_table_are_noted(files: Path) -> None:
    behaviour = hostile.in_turn(replies.graded(1, model="m-2024-05-13"), replies.graded(2, model="m-2024-08-06"))
    with hostile.running(behaviour) as server:
        done = karat(*words(files, server.url, "--concurrency", "1"))
    assert done.returncode == 0
    assert "m was answered by 2 versions of m: m-2024-05-13, m-2024-08-06" in " ".join(done.stderr.split())


def test_the_model_that_answered_is_recorded_in_the_study(files: Path) -> None:
    study = files / "study"
    study.mkdir()
    (study / "study.toml").write_text('id = "names"\ntitle = "t"\n')
    (study / "tasks.csv").write_text("query,doc\nq,d0\nq,d1\n")
    (study / "queries.csv").write_text("query,text\nq,hooves\n")
    (study / "documents.jsonl").write_bytes((files / "d.jsonl").read_bytes())
    with hostile.running(replies.graded(1, model="m-2024-05-13")) as server:
        assert karat("ask", str(study), "--model", "m", "--url", server.url).returncode == 0
    assert karat("export", str(study), str(files / "x.csv")).returncode == 0
    found = pl.read_csv(files / "x.csv").select("model", "returned_model").rows()
    assert found == [("m", "m-2024-05-13")] * 2


@pytest.mark.parametrize("body", ['{"choices": [{"mess', "", "  \n"])
def test_half_a_reply_is_asked_again_at_once(files: Path, body: str) -> None:
    cut = lambda call: hostile.Reply(body.encode())  # noqa: E731
    with hostile.running(hostile.every_question(cut, replies.graded(2))) as server:
        done = karat(*words(files, server.url))
        assert len(server.calls) == 12
    assert done.returncode == 0
    found = pl.read_csv(files / "llm.csv")
    assert found.select("label", "attempts").unique().rows() == [(2, 2)]


def test_half_a_reply_to_the_end_is_asked_again_by_the_next_command(files: Path) -> None:
    with hostile.running(replies.half_json()) as server:
        done = karat(*words(files, server.url, "--attempts", "2"))
        assert "no answer: 6 transport" in done.stdout
        assert "transport, the first of them: the reply ends in the middle of its JSON" in " ".join(done.stderr.split())
        server.behaviour = replies.graded(2)
        assert karat(*words(files, server.url)).returncode == 0
    assert pl.read_csv(files / "llm.csv")["label"].to_list() == [2] * 6


def replied(grade: str, finish: str = "stop", model: str = "m") -> RawAnswer:
    body = {
        "model": model,
        "choices": [{"message": {"content": json.dumps({"grade": grade})}, "finish_reason": finish}],
    }
    return RawAnswer(ASKED.key, 200, json.dumps(body))


@pytest.mark.parametrize(
    "bad",
    [
        replied("2", "content_filter"),
        replied("2", "length"),
        replied("9"),
        replied("2", model="cheaper"),
        RawAnswer(ASKED.key, 200, '{"choices": ['),
        RawAnswer(ASKED.key, 500, "broken"),
        RawAnswer(ASKED.key, 400, "maximum context length is 8192 tokens"),
        RawAnswer(ASKED.key, 0, "", "ReadError"),
    ],
)
def test_a_later_failure_never_replaces_a_valid_answer(bad: RawAnswer) -> None:
    with closing(AnswerStore(":memory:")) as store:
        for answer in (replied("0"), replied("1"), bad, bad):
            store.add(ASKED, answer)
        assert not outcome(ASKED, bad).answered
        found = stored_answer(store, ASKED)
        assert found is not None
        assert found[1].values == {"grade": "1"}
    with closing(AnswerStore(":memory:")) as store:
        assert stored_answer(store, ASKED) is None
        store.add(ASKED, bad)
        found = stored_answer(store, ASKED)
        assert found is not None
        assert not found[1].answered


def test_labels_stay_when_a_stored_refusal_comes_later(files: Path) -> None:
    """As an expired batch leaves it: the newest stored reply to a question is a failure, an older one is its answer."""
    with hostile.running(replies.graded(2)) as server:
        assert karat(*words(files, server.url)).returncode == 0
        with closing(AnswerStore(files / "llm.answers.db")) as store:
            for content, answer in [*store.asked()]:
                model = Model(**content["model"])
                request = Request(model, content["system"], content["user"], Form(()))
                store.add(request, RawAnswer(answer.key, 400, '{"error": {"message": "content policy"}}'))
        done = karat(*words(files, server.url))
        assert len(server.calls) == 6
        replay = karat(*words(files, server.url, "--replay", "--json"))
        again = karat(*words(files, server.url, "--retry", "refused"))
        assert len(server.calls) == 6
    for each in (done, replay, again):
        assert each.returncode == 0, each.stderr
    assert json.loads(replay.stdout)["outcomes"] == {"m": {"graded": 6}}
    assert pl.read_csv(files / "llm.csv")["label"].to_list() == [2] * 6


def test_slips_in_names_of_allowed_models_are_refused(files: Path) -> None:
    done = karat(*words(files, "http://127.0.0.1:9", "--allow-model", " "))
    assert done.returncode == 2
    assert "--allow-model: expected the name of a model" in done.stderr
