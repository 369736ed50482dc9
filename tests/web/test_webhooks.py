"""Webhooks: a server is told what happens, signed, again and again until it has heard it, and no judge waits for it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.records import Rules
from karat.records.study_design import Webhook
from karat.study.answers import answer, reject_judge
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.web.webhooks import Webhooks, secret_of
from served import Served, serve

KEY = bytes(range(24))


class Receiver:
    """A server that fails so often, then hears; what it heard is checked as the specification says."""

    def __init__(self, fails: int = 0) -> None:
        self.fails, self.tries, self.heard = fails, 0, []  # type: ignore[var-annotated]
        self.came, self.open = threading.Condition(), threading.Event()
        self.open.set()

    def take(self, headers: Any, body: bytes) -> int:
        self.open.wait(10)
        with self.came:
            self.tries += 1
            if self.tries <= self.fails:
                return 503
            text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            expected = "v1," + base64.b64encode(hmac.digest(KEY, text, hashlib.sha256)).decode()
            assert hmac.compare_digest(expected, headers["webhook-signature"])
            self.heard.append(json.loads(body))
            self.came.notify_all()
            return 204

    def until(self, *kinds: str) -> list[dict[str, Any]]:
        """What was heard, once there is one of each of these kinds."""
        with self.came:
            there = self.came.wait_for(lambda: {*kinds} <= {said["type"] for said in self.heard}, timeout=20)
            assert there, self.heard
            return [*self.heard]


@contextmanager
def receiving(receiver: Receiver) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = receiver.take(self.headers, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("retry-after", "0.01")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()


@contextmanager
def telling(store: Store, study: Any, url: str, *events: str) -> Iterator[Webhooks]:
    hooks = Webhooks(Webhook(url, events), study, store, KEY, every=0.01)
    hooks.start()
    yield hooks
    hooks.stop()


def answer_all(store: Store, judge: int, label: int = 1) -> None:
    while (task := next_task(store, judge).task) is not None:
        answer(store, judge, task["id"], Answer(label=label, seconds=20))


@pytest.fixture
def one_label(tmp_path: Path) -> Iterator[Served]:
    here = serve(str(tmp_path / "karat.db"), rules=Rules(labels=1, hours_apart=0))
    yield here
    here.store.close()


def test_a_receiver_that_fails_twice_hears_all_of_it_signed(
    one_label: Served, caplog: pytest.LogCaptureFixture
) -> None:
    store, study = one_label.store, one_label.app.state.running.study
    receiver = Receiver(fails=2)
    judge, other = (add_judge(store, name=name)[0]["id"] for name in ("ana", "ben"))
    with receiving(receiver) as url, telling(store, study, url, "answered", "flagged", "done"):
        reject_judge(store, other, "made up")
        answer_all(store, judge)
        heard = receiver.until("answered", "flagged", "done")
    assert receiver.tries == len(heard) + 2
    flagged, *_, done = heard
    assert flagged["text"] == "Served: ben was rejected: made up"
    assert done["text"] == "Served: all 3 answers are there"
    told = [event for said in heard for event in said["data"]["events"] if said["type"] == "answered"]
    assert sorted(event["doc"] for event in told) == ["a", "b", "c"], "each answer once"
    assert all("label" not in event for event in told), "what was answered is nobody's outside"
    assert "not heard (it answered 503); trying again" in caplog.text
    assert "heard at attempt 3" in caplog.text


def test_what_was_not_heard_is_told_after_a_restart_and_nothing_twice(one_label: Served) -> None:
    store, study = one_label.store, one_label.app.state.running.study
    deaf = Receiver(fails=1_000_000)
    judge = add_judge(store)[0]["id"]
    answer(store, judge, next_task(store, judge).task["id"], Answer(label=1))  # type: ignore[index]
    with receiving(deaf) as url, telling(store, study, url, "answered", "done"):
        answer_all(store, judge)
    receiver = Receiver()
    with receiving(receiver) as url:
        for _ in range(2):
            with telling(store, study, url, "answered", "done"):
                heard = receiver.until("done")
    docs = [event["doc"] for said in heard for event in said["data"]["events"] if "doc" in event]
    assert len(docs) == 2, "the answer from before there was a webhook is not told"
    assert [said["type"] for said in heard].count("done") == 1


def test_no_judge_waits_for_a_receiver_that_does_not_answer(one_label: Served) -> None:
    store, study = one_label.store, one_label.app.state.running.study
    receiver = Receiver()
    receiver.open.clear()
    judge = one_label.judge()
    with receiving(receiver) as url, telling(store, study, url, "answered"):
        for _ in range(3):
            task = judge.get("/api/task/next").json()["task"]
            assert judge.post(f"/api/task/{task['id']}/answer", json={"label": 1}).status_code == 200
        assert receiver.heard == []
        receiver.open.set()
        receiver.until("answered")


@pytest.mark.parametrize("secret", [None, "short", "whsec_c2hvcnQ=", "whsec_???"])
def test_a_secret_that_is_none_is_said_and_not_repeated(secret: str | None) -> None:
    with pytest.raises(BadInput, match="openssl rand") as said:
        secret_of(secret)
    assert secret is None or secret.removeprefix("whsec_") not in str(said.value)


@pytest.mark.parametrize(
    ("toml", "found"),
    [
        ('url = "ftp://x"', r"\[webhook\] url"),
        ('url = "https://x/"\nevents = ["all"]', "some of answered, flagged, done"),
        ('url = "https://x/"\nsecret = "x"', r"\[webhook\] secret"),
    ],
)
def test_what_is_wrong_with_a_webhook_is_said(toml: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(f"[webhook]\n{toml}\n")
    with pytest.raises(BadInput, match=found):
        read_study(tmp_path)


def test_flags_of_the_figures_are_told_once(one_label: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    store, study = one_label.store, one_label.app.state.running.study
    add_judge(store, name="eve")
    said: Callable[[Store], dict[str, list[str]]] = lambda store: {"eve": ["likely a spammer"]}  # noqa: E731
    monkeypatch.setattr("karat.web.webhooks.flags", said)
    receiver = Receiver()
    with receiving(receiver) as url, telling(store, study, url, "flagged"):
        receiver.until("flagged")
        add_judge(store, name="tom")
    assert [one["text"] for one in receiver.heard] == ["Served: eve is to be looked at: likely a spammer"]
