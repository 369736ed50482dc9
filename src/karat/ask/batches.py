"""Batches: a vendor's slow and cheap way, in which questions are handed in together and answered within a day."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.ask.answer_store import AnswerStore, RawAnswer
from karat.ask.client import Stopped
from karat.ask.dialects import DIALECTS
from karat.ask.dialects.dialect import part
from karat.ask.request import Model, Request
from karat.errors import MissingExtra

if TYPE_CHECKING:
    import httpx2

#: Vendors take 50,000 questions and 200 megabytes in a batch; some room is left.
MOST_QUESTIONS, MOST_BYTES = 20_000, 100_000_000
#: Seconds between looks at a batch.
LOOK_EVERY = 20.0


@dataclass
class Batches:
    """The batches of a model: handed in, waited for, and their answers kept like any other.

    The name of a batch is stored when it is handed in: whoever is killed while waiting goes on waiting for it.
    """

    model: Model
    key: str | None
    store: AnswerStore
    timeout: float = 120.0
    look_every: float = LOOK_EVERY

    def ask(self, requests: Iterable[Request], told: Callable[[], None] = lambda: None) -> None:
        """Hand the questions in and wait for all answers; those of batches handed in before as well."""
        try:
            import httpx2
        except ImportError:
            raise MissingExtra.named("llm", "asking a model") from None
        dialect = DIALECTS[self.model.dialect]
        base = (self.model.url or dialect.default_url).rstrip("/")
        by_key = {request.key: request for request in requests}
        with httpx2.Client(base_url=base, headers=dialect.headers(self.key), timeout=self.timeout) as http:
            service = _OpenAI(http) if dialect.name == "openai" else _Anthropic(http)
            waiting = {**self.store.batches(base, self.model.name)}
            asked = {key for keys in waiting.values() for key in keys}
            without = tuple(sorted(self.store.learned(self.model.url, self.model.name)))
            for lot in _lots(by_key[key] for key in by_key if key not in asked):
                name = service.hand_in([(r.key, dialect.body(r, without)) for r in lot])
                waiting[name] = [request.key for request in lot]
                self.store.add_batch(base, self.model.name, name, waiting[name])
            while waiting:
                for name in [*waiting]:
                    answers = service.answers(name)
                    if answers is None:
                        continue
                    for key, status, body in answers:
                        if key in by_key:
                            answer = RawAnswer(
                                key, status, body, "" if body else "no answer", time.time(), without=without
                            )
                            self.store.add(by_key[key], answer)
                            told()
                    self.store.end_batch(name)
                    del waiting[name]
                if waiting:
                    time.sleep(self.look_every)


def _lots(requests: Iterable[Request]) -> Iterator[list[Request]]:
    """The questions in lots that a vendor takes."""
    lot: list[Request] = []
    size = 0
    for request in requests:
        bytes_of = len(request.system.encode()) + len(request.user.encode()) + 2_000
        if lot and (len(lot) == MOST_QUESTIONS or size + bytes_of > MOST_BYTES):
            yield lot
            lot, size = [], 0
        lot.append(request)
        size += bytes_of
    if lot:
        yield lot


@dataclass
class _OpenAI:
    http: httpx2.Client

    def hand_in(self, questions: list[tuple[str, Mapping[str, Any]]]) -> str:
        lines = (
            json.dumps({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body})
            for key, body in questions
        )
        file = {"file": ("questions.jsonl", "\n".join(lines).encode(), "application/jsonl")}
        sent = _taken(self.http.post("/files", data={"purpose": "batch"}, files=file))
        wanted = {"input_file_id": sent["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        return str(_taken(self.http.post("/batches", json=wanted))["id"])

    def answers(self, name: str) -> Iterator[tuple[str, int, str]] | None:
        found = _taken(self.http.get(f"/batches/{name}"))
        if found.get("status") in ("validating", "in_progress", "finalizing", "cancelling"):
            return None
        if found.get("status") == "failed":
            raise Stopped(f"the batch {name} was not taken: {str(part(found, 'errors', 'data', 0, 'message'))[:300]}")
        return self._rows(found)

    def _rows(self, found: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
        for file in ("output_file_id", "error_file_id"):
            if found.get(file):
                content = _fine(self.http.get(f"/files/{found[file]}/content")).text
                for row in (json.loads(line) for line in content.splitlines() if line.strip()):
                    reply, error = row.get("response"), part(row, "error", "message")
                    body = json.dumps(part(reply, "body")) if reply else json.dumps({"error": {"message": error}})
                    yield str(row["custom_id"]), int(part(reply, "status_code") or 0), body


@dataclass
class _Anthropic:
    http: httpx2.Client

    def hand_in(self, questions: list[tuple[str, Mapping[str, Any]]]) -> str:
        wanted = {"requests": [{"custom_id": key, "params": body} for key, body in questions]}
        return str(_taken(self.http.post("/messages/batches", json=wanted))["id"])

    def answers(self, name: str) -> Iterator[tuple[str, int, str]] | None:
        found = _taken(self.http.get(f"/messages/batches/{name}"))
        return self._rows(name) if found.get("processing_status") == "ended" else None

    def _rows(self, name: str) -> Iterator[tuple[str, int, str]]:
        content = _fine(self.http.get(f"/messages/batches/{name}/results")).text
        for row in (json.loads(line) for line in content.splitlines() if line.strip()):
            result = row["result"]
            done = result["type"] == "succeeded"
            refused = part(result, "error", "error", "type") == "invalid_request_error"
            body = result["message"] if done else part(result, "error") or {"error": {"message": result["type"]}}
            yield str(row["custom_id"]), 200 if done else 400 if refused else 0, json.dumps(body)


def _fine(reply: httpx2.Response) -> httpx2.Response:
    if reply.status_code >= 300:
        raise Stopped(f"the server says {reply.status_code}: {' '.join(reply.text.split())[:300]}")
    return reply


def _taken(reply: httpx2.Response) -> dict[str, Any]:
    """What the server says of a batch; `Stopped` where it takes none."""
    found = _fine(reply).json()
    if not isinstance(found, dict) or "id" not in found:
        raise Stopped(f"the server takes no batches: {str(found)[:300]}")
    return found
