"""OpenAI's and Anthropic's batches, for `hostile_server`: questions handed in together, answers in any order."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hostile_server import Behaviour, Call, Reply, whole
from vendor_replies import as_json


class Batches:
    """A behaviour with batches: each question fares as `each` says, and a batch is done at the look number `looks`.

    `expires` says of a question's number whether its time ran out; `refused` is why a whole batch is not taken.
    """

    def __init__(
        self,
        each: Behaviour,
        *,
        looks: int = 2,
        expires: Callable[[int], bool] = lambda number: False,
        refused: str = "",
    ) -> None:
        self.each, self.looks, self.expires, self.refused = each, looks, expires, refused
        self.files: dict[str, bytes] = {}
        #: The questions of every batch that was handed in: keys, and bodies as for a single call.
        self.handed_in: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.looked: dict[str, int] = {}

    def __call__(self, call: Call) -> Reply:
        """What a server with batches answers to a call."""
        steps = call.path.strip("/").split("/")
        match steps:
            case ["files"]:
                name = f"file-{len(self.files)}"
                self.files[name] = call.raw
                return as_json({"id": name, "object": "file", "purpose": "batch", "bytes": len(call.raw)})
            case ["batches"]:
                lines = self.files[call.body["input_file_id"]].replace(b"\r", b"").split(b"\n")
                rows = [json.loads(line) for line in lines if line.startswith(b'{"custom_id"')]
                return self._taken("batch", [(row["custom_id"], row["body"]) for row in rows])
            case ["messages", "batches"]:
                return self._taken("msgbatch", [(row["custom_id"], row["params"]) for row in call.body["requests"]])
            case ["batches", name]:
                return self._openai(name)
            case ["files", name, "content"]:
                return Reply(self.files[name], headers={"content-type": "application/octet-stream"})
            case ["messages", "batches", name]:
                ended = self._done(name)
                url = f"/messages/batches/{name}/results" if ended else None
                status = "ended" if ended else "in_progress"
                return as_json(_batch(name) | {"processing_status": status, "results_url": url})
            case ["messages", "batches", name, "results"]:
                return Reply(b"\n".join(self._anthropic_rows(call, name)))
        return self.each(call)

    def _taken(self, kind: str, questions: list[tuple[str, dict[str, Any]]]) -> Reply:
        name = f"{kind}_{len(self.handed_in)}"
        self.handed_in[name] = questions
        if kind == "batch":
            return as_json({"id": name, "object": "batch", "status": "validating", "output_file_id": None})
        return as_json(_batch(name) | {"processing_status": "in_progress", "results_url": None})

    def _done(self, name: str) -> bool:
        self.looked[name] = self.looked.get(name, 0) + 1
        return self.looked[name] >= self.looks

    def _openai(self, name: str) -> Reply:
        if name not in self.handed_in:
            return as_json({"error": {"message": f"No batch found with id '{name}'.", "code": None}}, status=404)
        found: dict[str, Any] = {"id": name, "object": "batch", "status": "in_progress"}
        if self.refused:
            error = {"code": "invalid_request", "line": None, "message": self.refused, "param": None}
            return as_json(found | {"status": "failed", "errors": {"object": "list", "data": [error]}})
        if not self._done(name):
            return as_json(found)
        rows: dict[str, list[bytes]] = {"output": [], "error": []}
        late = False
        for number, (key, body) in enumerate(self.handed_in[name]):
            row: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": key, "response": None, "error": None}
            if self.expires(number):
                late = True
                message = "This request could not be executed before the completion window expired."
                rows["error"].append(_line(row | {"error": {"code": "batch_expired", "message": message}}))
                continue
            reply = self.each(_single("/chat/completions", body, number))
            said = {"status_code": reply.status, "request_id": f"r{number}", "body": json.loads(whole(reply))}
            rows["output" if reply.status == 200 else "error"].append(_line(row | {"response": said}))
        for kind, lines in rows.items():
            self.files[f"{name}-{kind}"] = b"\n".join(reversed(lines)) + b"\n"
            found[f"{kind}_file_id"] = f"{name}-{kind}" if lines else None
        return as_json(found | {"status": "expired" if late else "completed"})

    def _anthropic_rows(self, call: Call, name: str) -> list[bytes]:
        lines = []
        for number, (key, body) in enumerate(self.handed_in[name]):
            if self.expires(number):
                result: dict[str, Any] = {"type": "expired"}
            else:
                reply = self.each(_single("/messages", body, number))
                said = json.loads(whole(reply))
                fine = reply.status == 200
                result = {"type": "succeeded", "message": said} if fine else {"type": "errored", "error": said}
            lines.append(_line({"custom_id": key, "result": result}))
        return [*reversed(lines)]


def _single(path: str, body: dict[str, Any], number: int) -> Call:
    """A row of a batch as a call of its own."""
    return replace(Call(number, 0, path, {}, b"", 0.0), raw=json.dumps(body).encode())


def _batch(name: str) -> dict[str, Any]:
    return {"id": name, "type": "message_batch", "expires_at": "2026-11-17T18:00:00Z"}


def _line(row: dict[str, Any]) -> bytes:
    """Letters as they are: some of those that stand in texts end a line elsewhere."""
    return json.dumps(row, ensure_ascii=False).encode()
