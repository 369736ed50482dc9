"""Batches: a vendor's slow and cheap way, in which questions are handed in together and answered within a day."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.engines.http_calls import Stopped
from karat.engines.rate_limit import PASSING, wait_for
from karat.errors import MissingExtra
from karat.llm.answer_form import clean
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.api_keys import complaint_in, without_key
from karat.llm.client import not_taken
from karat.llm.dialects import DIALECTS
from karat.llm.dialects.dialect import part, whole
from karat.llm.requests import Model, Request

if TYPE_CHECKING:
    import httpx2

#: Vendors take 50,000 questions and 200 megabytes in a batch; some room is left.
MOST_QUESTIONS, MOST_BYTES = 20_000, 100_000_000
#: Seconds between looks at a batch.
LOOK_EVERY = 20.0
#: How often a look is tried that fails: for some twenty minutes.
MOST_LOOKS = 60


@dataclass
class Batches:
    """The batches of a model: handed in, waited for, and their answers kept like any other.

    The name of a batch is stored when it is handed in: whoever is killed while waiting goes on waiting for it.
    """

    model: Model
    key: str | None
    store: AnswerStore
    timeout: float = 120.0

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, RawAnswer]]:
        """Hand the questions in and wait for all answers, those of batches handed in before, too; each is stored."""
        try:
            import httpx2
        except ImportError:
            raise MissingExtra.named("http", "asking a model") from None
        dialect = DIALECTS[self.model.dialect]
        base = (self.model.url or dialect.default_url).rstrip("/")
        by_key = {request.key: request for request in requests}
        with httpx2.Client(base_url=base, headers=dialect.headers(self.key), timeout=self.timeout) as http:
            service = (_OpenAI if dialect.name == "openai" else _Anthropic)(_Server(http, self.key))
            # Others may wait for batches with other questions: those are theirs.
            before = self.store.batches(base, self.model.name)
            waiting = {name: keys for name, keys in before.items() if not by_key.keys().isdisjoint(keys)}
            asked = {key for keys in waiting.values() for key in keys}
            without = tuple(sorted(self.store.learned(self.model.url, self.model.name)))
            for lot in _lots(request for key, request in by_key.items() if key not in asked):
                name = service.hand_in([(r.key, dialect.body(r, without)) for r in lot])
                waiting[name] = [request.key for request in lot]
                self.store.add_batch(base, self.model.name, name, waiting[name])
            while waiting:
                for name in [*waiting]:
                    if (answers := self._answers(service, name)) is not None:
                        yield from self._kept(answers, by_key, without)
                        if all(key in by_key or self.store.find(key) is not None for key in waiting.pop(name)):
                            self.store.end_batch(name)
                if waiting:
                    time.sleep(LOOK_EVERY)

    def _answers(self, service: _OpenAI | _Anthropic, name: str) -> Iterator[tuple[str, int, str]] | None:
        """The answers of a batch; None while it is not done."""
        try:
            return service.answers(name)
        except NoSuchBatch:
            self.store.end_batch(name)  # or every further call would look for it
            raise

    def _kept(
        self, answers: Iterable[tuple[str, int, str]], by_key: Mapping[str, Request], without: tuple[str, ...]
    ) -> Iterator[tuple[Request, RawAnswer]]:
        """The answers to these questions, once they are stored."""
        sent = [name for name in DIALECTS[self.model.dialect].optional if name not in without]
        for key, status, body in answers:
            # What one row complains about is left out when the questions are handed in again.
            if status in (400, 403, 422) and (name := not_taken(body, sent)) is not None:
                self.store.learn(self.model.url, self.model.name, [name])
            if key in by_key:
                answer = RawAnswer(key, status, body, "", time.time(), without=without, batch=True)
                self.store.add(by_key[key], answer)
                yield by_key[key], answer


class NoSuchBatch(Stopped):
    """A batch that never comes to answers."""


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
class _Server:
    """Calls about batches: a server that is busy or away for a moment is asked again, as a batch takes hours anyway."""

    http: httpx2.Client
    key: str | None

    def post(self, path: str, **what: Any) -> dict[str, Any]:
        """Hand something in, once: an answer that was lost on its way may have been one."""
        import httpx2

        try:
            reply = self.http.post(path, **what)
        except httpx2.HTTPError as error:
            raise Stopped(f"no batch was handed in: {type(error).__name__}: {str(error)[:200]}") from None
        if reply.status_code in (404, 405, 501):
            raise Stopped(f"the server takes no batches (it says {reply.status_code}): ask without --batch")
        return self._content(self._fine(reply))

    def get(self, path: str) -> httpx2.Response:
        """Look something up."""
        import httpx2

        for attempt in range(1, MOST_LOOKS + 1):
            try:
                reply = self.http.get(path)
            except httpx2.HTTPError as error:
                why = f"{type(error).__name__}: {str(error)[:200]}"
            else:
                if reply.status_code not in PASSING:
                    return self._fine(reply)
                why = f"it says {reply.status_code}"
            if attempt < MOST_LOOKS:
                time.sleep(min(LOOK_EVERY, wait_for(attempt, {})))
        raise Stopped(f"the server does not say how the batch is ({why}); the same command goes on waiting for it")

    def look(self, path: str) -> dict[str, Any]:
        """What a server says of a batch."""
        return self._content(self.get(path))

    def rows(self, path: str) -> Iterator[dict[str, Any]]:
        """The lines of a file that are JSON objects with a question's key."""
        # Not splitlines(): some of what it takes for the end of a line may stand in the middle of a text.
        for line in without_key(self.get(path).text, self.key).split("\n"):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
                yield row

    def _fine(self, reply: httpx2.Response) -> httpx2.Response:
        if reply.status_code == 404:
            raise NoSuchBatch(
                "the server knows nothing of the batch any more; the same command hands its questions in anew"
            )
        if reply.status_code >= 300:
            raise Stopped(f"the server says {reply.status_code}: {complaint_in(reply.text, self.key)}")
        return reply

    def _content(self, reply: httpx2.Response) -> dict[str, Any]:
        """What the server says of a batch or a file; `Stopped` where that is something else."""
        try:
            found = json.loads(without_key(reply.text, self.key))
        except ValueError:
            found = None
        if not isinstance(found, dict) or "id" not in found:
            raise Stopped(f"the server takes no batches: it says {complaint_in(reply.text, self.key)}")
        return found


@dataclass
class _OpenAI:
    server: _Server

    def hand_in(self, questions: list[tuple[str, Mapping[str, Any]]]) -> str:
        lines = (
            json.dumps({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body})
            for key, body in questions
        )
        file = {"file": ("questions.jsonl", "\n".join(lines).encode(), "application/jsonl")}
        sent = self.server.post("/files", data={"purpose": "batch"}, files=file)
        wanted = {"input_file_id": sent["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        return str(self.server.post("/batches", json=wanted)["id"])

    def answers(self, name: str) -> Iterator[tuple[str, int, str]] | None:
        found = self.server.look(f"/batches/{name}")
        if found.get("status") == "failed":
            why = clean(str(part(found, "errors", "data", 0, "message"))[:300])
            raise NoSuchBatch(f"the batch {name} was not taken: {why}")
        if found.get("status") not in ("completed", "expired", "cancelled"):
            return None
        return self._rows(found)

    def _rows(self, found: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
        for file in ("output_file_id", "error_file_id"):
            for row in self.server.rows(f"/files/{found[file]}/content") if found.get(file) else ():
                reply, error = row.get("response"), part(row, "error", "message")
                body = part(reply, "body") if reply else {"error": {"message": error}}
                yield row["custom_id"], whole(part(reply, "status_code")) or 0, json.dumps(body)


@dataclass
class _Anthropic:
    server: _Server

    def hand_in(self, questions: list[tuple[str, Mapping[str, Any]]]) -> str:
        wanted = {"requests": [{"custom_id": key, "params": body} for key, body in questions]}
        return str(self.server.post("/messages/batches", json=wanted)["id"])

    def answers(self, name: str) -> Iterator[tuple[str, int, str]] | None:
        found = self.server.look(f"/messages/batches/{name}")
        return self._rows(name) if found.get("processing_status") == "ended" else None

    def _rows(self, name: str) -> Iterator[tuple[str, int, str]]:
        for row in self.server.rows(f"/messages/batches/{name}/results"):
            result = row.get("result")
            kind = part(result, "type")
            if kind == "succeeded":
                yield row["custom_id"], 200, json.dumps(part(result, "message"))
            else:
                refused = part(result, "error", "error", "type") == "invalid_request_error"
                body = part(result, "error") or {"error": {"message": f"the batch's row is {kind}"}}
                yield row["custom_id"], 400 if refused else 0, json.dumps(body)
