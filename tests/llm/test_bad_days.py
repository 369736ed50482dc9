"""Servers on bad days: no grade is invented, none is lost, nothing hangs, and what was paid for is counted."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_errors as errors
import vendor_replies as replies
from commands import karat
from karat.engines import rate_limit as pace
from karat.llm.costs import price_of

DIALECTS = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Six documents of three queries."""
    queries = [{"query": f"q{n}", "text": f"hooves {n}"} for n in range(3)]
    documents = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(6)]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    rows = [f"q{n % 3} Q0 d{n} {n // 3 + 1} {10 - n} run" for n in range(6)]
    (tmp_path / "a.run").write_text("\n".join(rows) + "\n")
    return tmp_path


class Asked:
    """What `karat ask` left: exit code, words, the table of labels."""

    def __init__(self, folder: Path, url: str, *more: str, dialect: str = "openai", timeout: float = 20) -> None:
        words = ["ask", str(folder / "a.run"), "--queries", str(folder / "q.jsonl")]
        words += ["--documents", str(folder / "d.jsonl"), "--scale", "0..3", "--model", "m", "--dialect", dialect]
        words += ["--url", url, "--out", str(folder / "llm.csv"), "--timeout", str(timeout), *more]
        done = karat(*words)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.table = pl.read_csv(folder / "llm.csv") if (folder / "llm.csv").exists() else pl.DataFrame()

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(self.table["outcome"].to_list())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fair_server_grades_everything_once(files: Path, dialect: str) -> None:
    by = lambda prompt: int(prompt.split("Text number ")[1][0]) % 4  # noqa: E731
    with hostile.running(replies.graded(by)) as server:
        asked = Asked(files, server.url, "--price", "1/2", dialect=dialect)
        assert asked.code == 0, asked.err
        assert len(server.calls) == 6
        assert sorted(asked.table.select("doc", "label").rows()) == [(f"d{n}", n % 4) for n in range(6)]
        again = Asked(files, server.url, dialect=dialect)
        assert len(server.calls) == 6
    assert again.table.drop("cost", strict=False).equals(asked.table.drop("cost", strict=False))
    words = asked.table.select((pl.col("tokens_in") + 2 * pl.col("tokens_out")).sum() / 1e6).item()
    assert asked.table["cost"].sum() == pytest.approx(words)
    assert asked.table["returned_model"].unique().to_list() == ["m"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (replies.refuses(), "refused"),
        (replies.filtered(), "refused"),
        (replies.cut_off(), "cut off"),
        (replies.nothing(), "invalid"),
        (replies.half_json(), "transport"),
        (replies.graded(1, model="cheaper"), "other model"),
        (replies.graded(7), "invalid"),
        (replies.says("I would give it a 2."), "invalid"),
        (replies.huge(12, announced=False), "invalid"),
        (replies.packed(12), "invalid"),
        (hostile.web_page(), "invalid"),
        (errors.too_long(), "too long"),
        (errors.too_large(), "too long"),
        (errors.broken(500), "transport"),
        (errors.overloaded(), "transport"),
        (errors.rate_limited(), "transport"),
        (hostile.cut("half body", replies.graded(2)), "transport"),
        (hostile.cut("before headers", replies.graded(2)), "transport"),
    ],
)  # fmt: skip
def test_what_is_no_grade_is_counted_and_leaves_no_label(
    files: Path, behaviour: hostile.Behaviour, outcome: str, dialect: str
) -> None:
    with hostile.running(behaviour) as server:
        asked = Asked(files, server.url, "--attempts", "2", dialect=dialect)
    assert asked.outcomes == {outcome: 6}
    assert "label" not in asked.table.columns or asked.table["label"].null_count() == 6
    assert asked.code == 1
    assert f"m answered 0 of 6 questions; no answer: 6 {outcome}." in asked.out


@pytest.mark.parametrize(
    "trouble",
    [
        errors.broken(500),
        errors.broken(503),
        errors.overloaded(),
        errors.rate_limited("0"),
        errors.rate_limited(),
        errors.rate_limited(retry_after_ms="5"),
        hostile.cut("before headers", replies.graded(1)),
        hostile.cut("after headers", replies.graded(1)),
        hostile.cut("half body", replies.graded(1)),
        replies.half_json(),
    ],
)
def test_trouble_that_passes_costs_an_attempt_and_no_label(files: Path, trouble: hostile.Behaviour) -> None:
    with hostile.running(hostile.every_question(trouble, replies.graded(2))) as server:
        asked = Asked(files, server.url)
        assert len(server.calls) == 12
    assert asked.code == 0
    assert asked.table["label"].to_list() == [2] * 6
    assert asked.table["attempts"].to_list() == [2] * 6


def test_a_server_that_asks_for_patience_gets_it_from_all(files: Path) -> None:
    with hostile.running(hostile.in_turn(errors.rate_limited("1"), replies.graded(1))) as server:
        Asked(files, server.url, "--concurrency", "1")
        waited = server.calls[1].at - server.calls[0].at
    assert waited >= 1.0


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (errors.wrong_key(), "401"),
        (errors.not_allowed(), "403"),
        (errors.out_of_money(), "the quota of m is used up"),
        (errors.no_model(), "no model m"),
    ],
)
def test_asking_stops_at_once_where_it_is_no_use(
    files: Path, behaviour: hostile.Behaviour, words: str, dialect: str
) -> None:
    with hostile.running(behaviour) as server:
        asked = Asked(files, server.url, "--concurrency", "1", dialect=dialect)
        assert len(server.calls) == 1
    assert asked.code == 1
    assert words in asked.err
    assert "6 not asked" in asked.out


def test_answers_before_a_stop_are_kept(files: Path) -> None:
    with hostile.running(hostile.in_turn(replies.graded(3), replies.graded(3), errors.out_of_money())) as server:
        asked = Asked(files, server.url, "--concurrency", "1")
        assert asked.table["label"].to_list() == [3, 3]
        server.behaviour = replies.graded(3)
        after = Asked(files, server.url, "--concurrency", "1")
        assert len(server.calls) == 3 + 4
    assert after.code == 0
    assert after.table.height == 6


def test_what_a_server_does_not_take_is_learned_once_and_noted(files: Path) -> None:
    names = ("max_tokens", "temperature", "seed", "response_format")
    with hostile.running(errors.unsupported(*names, then=replies.graded(1))) as server:
        asked = Asked(files, server.url, "--concurrency", "1")
        first = len(server.calls)
        assert asked.code == 0, asked.err
        assert asked.table["label"].to_list() == [1] * 6
        body = server.bodies[-1]
        (files / "llm.answers.db").rename(files / "kept.db")
        Asked(files, server.url, "--concurrency", "1", "--answers", str(files / "kept.db"), "--temperature", "0.5")
        assert len(server.calls) == first + 6  # nothing is tried again that was refused before
    assert first <= 6 + len(names) + 1
    assert not {"max_tokens", "temperature", "seed", "response_format"} & body.keys()
    assert body["max_completion_tokens"] == 400
    assert "temperature" in asked.table["without"][0]


def test_a_slow_server_does_not_hang_the_command(files: Path) -> None:
    began = time.monotonic()
    with hostile.running(hostile.slow(30, replies.graded(1))) as server:
        asked = Asked(files, server.url, "--attempts", "1", timeout=0.3)
    assert asked.outcomes == {"transport": 6}
    assert time.monotonic() - began < 15


def test_a_server_that_drips_does_not_hang_the_command(files: Path) -> None:
    began = time.monotonic()
    with hostile.running(hostile.drips(30, replies.graded(1))) as server:
        asked = Asked(files, server.url, "--attempts", "1", timeout=0.5)
    assert asked.outcomes == {"transport": 6}
    assert time.monotonic() - began < 15


def test_transport_is_asked_again_unbidden_and_others_on_request(files: Path) -> None:
    with hostile.running(errors.broken(500)) as server:
        Asked(files, server.url, "--attempts", "1")
        server.behaviour = replies.cut_off()
        assert Asked(files, server.url).outcomes == {"cut off": 6}
        calls = len(server.calls)
        server.behaviour = replies.graded(2)
        assert Asked(files, server.url).outcomes == {"cut off": 6}
        assert len(server.calls) == calls
        asked = Asked(files, server.url, "--retry", "cut off")
    assert asked.table["label"].to_list() == [2] * 6


def test_two_documents_with_the_same_text_are_asked_about_once(files: Path) -> None:
    (files / "d.jsonl").write_text("\n".join(json.dumps({"doc": f"d{n}", "text": "The same."}) for n in range(6)))
    with hostile.running(hostile.slow(0.05, replies.graded(1))) as server:
        asked = Asked(files, server.url)
        assert len(server.calls) == 3  # a query each
    assert asked.table["label"].to_list() == [1] * 6


def test_two_models_never_share_an_answer(files: Path) -> None:
    by_model: Callable[[hostile.Call], str] = lambda call: json.dumps({"grade": len(call.body["model"])})  # noqa: E731
    with hostile.running(replies.says(by_model)) as server:
        asked = Asked(files, server.url, "--model", "mmm")
        assert len(server.calls) == 12
    labels = asked.table.group_by("judge").agg(pl.col("label").unique()).sort("judge").rows()
    assert labels == [("m", [1]), ("mmm", [3])]


def test_expected_grades_come_from_log_probabilities(files: Path) -> None:
    odds = {0: 0.1, 1: 0.2, 2: 0.5}
    with hostile.running(replies.graded(2, odds=odds)) as server:
        asked = Asked(files, server.url, "--logprobs")
    assert asked.table["expected_grade"].to_list() == [pytest.approx((0.2 + 2 * 0.5) / 0.8)] * 6
    assert asked.table["mass"].to_list() == [pytest.approx(0.8)] * 6


def test_expected_grades_may_be_the_labels(files: Path) -> None:
    with hostile.running(replies.graded(2, odds={1: 0.25, 2: 0.5})) as server:
        asked = Asked(files, server.url, "--expected")
    assert asked.table["label"].to_list() == [pytest.approx((0.25 + 2 * 0.5) / 0.75)] * 6


def test_prices_come_from_the_package_for_a_vendors_models_only() -> None:
    pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    known = price_of("gpt-4o-mini")
    assert known is not None
    assert (known.question, known.answer) == (0.15, 0.6)  # OpenAI's published prices of 2024
    assert known.source.startswith("genai-prices ")
    assert price_of("gpt-4o-mini", vendor=False) is None
    assert price_of("nobody-knows-this") is None


def most_of_a_call(server: hostile.HostileServer) -> float:
    """What a call costs at most at a dollar for a thousand tokens: a token is a byte at least, an answer 400 tokens."""
    longest = max(server.bodies, key=lambda body: len(json.dumps(body)))
    return 0.4 + len(json.dumps(longest).encode()) / 1000


def test_a_budget_is_never_overdrawn_and_says_where_it_stopped(files: Path) -> None:
    with hostile.running(replies.graded(1)) as server:
        asked = Asked(files, server.url, "--price", "1000/1000", "--budget", "2", "--concurrency", "4")
        sent = len(server.calls)
    spent = asked.table["cost"].sum()
    assert 0 < sent < 6
    assert spent <= 2
    # Calls on their way were waited for: what they left of what was set aside for them was used.
    assert spent + most_of_a_call(server) > 2
    assert asked.code == 1
    assert "the budget of $2 does not allow another call" in asked.err


def test_a_budget_is_for_all_calls_of_these_answers(files: Path) -> None:
    """Whoever is stopped and calls again has not got the money once more."""
    words = ("--price", "1000/1000", "--budget", "2")
    with hostile.running(replies.graded(1)) as server:
        first = Asked(files, server.url, *words)
        sent = len(server.calls)
        again = Asked(files, server.url, *words)
        assert len(server.calls) == sent
        more = Asked(files, server.url, *words[:3], "10")
        assert len(server.calls) > sent
    spent = first.table["cost"].sum()
    assert f"${spent:.6g} spent, ${spent:.6g} of it before" in again.err
    assert spent < more.table["cost"].sum() <= 10


@pytest.mark.parametrize("lost", [hostile.cut("half body", replies.graded(1)), replies.half_json()])
def test_an_answer_that_got_lost_is_paid_for_all_the_same(files: Path, lost: hostile.Behaviour) -> None:
    """A vendor that answered wants its money, whatever arrived: a budget that did not count it would be overdrawn."""
    with hostile.running(lost) as server:
        asked = Asked(files, server.url, "--price", "1000/1000", "--budget", "4", "--concurrency", "1")
        calls = len(server.calls)
    likely = 0.4 + 0.4 * len(server.calls[0].prompt.encode()) / 1000  # 400 tokens, and 2.5 bytes a token
    assert 1 <= calls <= 4 / likely
    assert asked.code == 1
    assert "the budget of $4 does not allow another call" in asked.err


def test_an_attempt_that_the_budget_ends_is_counted_by_the_next_command(files: Path) -> None:
    """The budget has room for a call or two, whose answers get lost: the vendor may want its money all the same."""
    words = ("--price", "1000/1000", "--budget", "3", "--concurrency", "1")
    with hostile.running(hostile.cut("half body", replies.graded(1))) as server:
        first = Asked(files, server.url, *words)
        calls = len(server.calls)
        assert 0 < calls < 6
        assert "the budget of $3 does not allow another call" in first.err
        again = Asked(files, server.url, *words)
        assert len(server.calls) == calls
    spent = re.search(r"\$(\S+) spent, \$(\S+) of it before", " ".join(again.err.split()))
    assert spent is not None
    assert 0.4 * calls < float(spent[1]) == float(spent[2]) <= 3


def test_a_batch_is_not_handed_in_that_may_cost_more_than_the_budget(files: Path) -> None:
    with hostile.running(replies.graded(1)) as server:
        asked = Asked(files, server.url, "--price", "1000/1000", "--budget", "3", "--batch")
        assert server.calls == []
    assert "the budget of $3 does not allow another call" in asked.err


def test_a_budget_without_a_price_is_refused(files: Path) -> None:
    asked = Asked(files, "http://127.0.0.1:9", "--budget", "5")
    assert asked.code == 2
    assert "expected a price of m, found none" in asked.err


def test_an_estimate_and_a_shown_prompt_send_nothing(files: Path) -> None:
    with hostile.running(replies.graded(1)) as server:
        asked = Asked(files, server.url, "--estimate", "--price", "1/1")
        shown = Asked(files, server.url, "--show-prompt")
        assert server.calls == []
    assert asked.out.startswith("m: 6 calls, ")
    assert "Somebody searches for: hooves" in shown.out
    assert not (files / "llm.answers.db").exists()


def test_replay_needs_no_server_and_gives_the_same_file(files: Path) -> None:
    with hostile.running(hostile.every_question(replies.graded(1))) as server:
        Asked(files, server.url)
        url = server.url
    before = (files / "llm.csv").read_bytes()
    (files / "llm.csv").unlink()
    asked = Asked(files, url, "--replay")
    assert asked.code == 0
    assert (files / "llm.csv").read_bytes() == before
    asked = Asked(files, f"{url}/other", "--replay")
    assert asked.code == 1
    assert "without --replay they are asked" in asked.err


def test_a_changed_prompt_asks_anew(files: Path) -> None:
    (files / "mine.txt").write_text("You judge.\n---\n{query}\n{document}")
    with hostile.running(replies.graded(1)) as server:
        Asked(files, server.url)
        Asked(files, server.url, "--prompt", str(files / "mine.txt"))
        assert len(server.calls) == 12


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-vendor")
    monkeypatch.setenv("MINE", "sk-mine")
    with hostile.running(replies.graded(1)) as server:
        Asked(files, server.url)
        assert "authorization" not in server.calls[-1].headers  # the vendor's key is for the vendor
        asked = Asked(files, server.url, "--key-env", "MINE", "--prompt", "need")
        assert server.calls[-1].headers["authorization"] == "Bearer sk-mine"
    everything = asked.out + asked.err + (files / "llm.csv").read_text()
    stored = b"".join(path.read_bytes() for path in files.glob("llm.answers.db*"))
    assert "sk-" not in everything
    assert b"sk-" not in stored


@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_a_key_that_the_server_sends_back_is_neither_kept_nor_shown(
    files: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("MINE", "sk-abcdefgh12345678")

    def echo(call: hostile.Call) -> hostile.Reply:
        said = {"error": {"message": f"you sent {call.headers['authorization']}"}}
        if status == 200:
            return replies.says(json.dumps({"grade": 1, "reason": said["error"]["message"]}))(call)
        return hostile.Reply(json.dumps(said).encode(), status=status)

    with hostile.running(echo) as server:
        asked = Asked(files, server.url, "--key-env", "MINE", "--reasons", "--attempts", "2")
    stored = b"".join(path.read_bytes() for path in files.glob("llm*"))
    assert "you sent Bearer ..." in asked.err + (files / "llm.csv").read_text()
    assert b"abcdefgh" not in stored
    assert "abcdefgh" not in asked.out + asked.err


def test_a_key_that_is_no_secret_may_stand_in_an_answer(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "none")
    with hostile.running(replies.says('{"grade": 1, "reason": "none"}')) as server:
        asked = Asked(files, server.url, "--key-env", "MINE", "--reasons")
    assert asked.table["comment"].unique().to_list() == ["none"]


@pytest.mark.parametrize("more", [[], ["--batch"]])
def test_no_part_of_a_key_is_repeated_that_the_server_complains_about(
    files: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    monkeypatch.setenv("MINE", "sk-abcdefgh12345678")
    with hostile.running(errors.wrong_key()) as server:
        asked = Asked(files, server.url, "--key-env", "MINE", *more)
    assert asked.code == 1
    assert "Incorrect API key provided: ... You can find" in asked.err
    assert "sk-" not in asked.err
    assert "5678" not in asked.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", ""], "the name of a model"),
        (["--dialect", "latin"], "latin"),
        (["--url", "nonsense"], "--url"),
        (["--prompt", "no-such"], "which is no file"),
        (["--price", "cheap"], "--price"),
        (["--key-env", "NOBODY_SET_THIS"], "NOBODY_SET_THIS"),
        (["--as", "a", "--as", "b"], "--as"),
    ],
)
def test_slips_are_refused_before_anything_is_sent(files: Path, words: list[str], said: str) -> None:
    base = ["ask", str(files / "a.run"), "--queries", str(files / "q.jsonl"), "--documents", str(files / "d.jsonl")]
    base += ["--out", str(files / "llm.csv")]
    given = {"--model": "m", "--url": "http://127.0.0.1:9"}
    for option, value in given.items():
        if option not in words:
            base += [option, value]
    done = karat(*base, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
