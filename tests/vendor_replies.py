"""What OpenAI's and Anthropic's servers answer, in order and out of it: behaviours for `hostile_server`.

Each function returns a behaviour that answers in the dialect of the path that was asked; `vendor_errors` has those that
refuse to.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from hostile_server import Behaviour, Call, Reply, whole


def of_openai(call: Call) -> bool:
    """Whether the dialect is OpenAI's; Anthropic's otherwise."""
    return not call.path.endswith("/messages")


def as_json(content: Any, **settings: Any) -> Reply:
    """A reply with a body of JSON."""
    return Reply(json.dumps(content).encode(), **settings)


def says(
    text: str | Callable[[Call], str],
    *,
    finish: str = "",
    model: str = "",
    odds: Mapping[int, float] | None = None,
) -> Behaviour:
    """Answer a text; `odds` are the probabilities of grades, told at the grade's place where they are asked for."""

    def behave(call: Call) -> Reply:
        said = text(call) if callable(text) else text
        dialect = _completion if of_openai(call) else _message
        return as_json(dialect(call, said, finish, model or call.body.get("model", ""), odds))

    return behave


def graded(
    by: int | Callable[[str], int] = 1, *, model: str = "", odds: Mapping[int, float] | None = None
) -> Behaviour:
    """A grade at once, the same for all or decided by the prompt."""

    def text(call: Call) -> str:
        return json.dumps({"grade": by(call.prompt) if callable(by) else by})

    return says(text, model=model, odds=odds)


def refuses(text: str = "I'm sorry, I can't help with that.") -> Behaviour:
    """The model refuses: a field of its own at OpenAI, a reason for stopping at Anthropic."""

    def behave(call: Call) -> Reply:
        if of_openai(call):
            reply = _completion(call, "", "stop", call.body["model"], None)
            reply["choices"][0]["message"] |= {"content": None, "refusal": text}
            return as_json(reply)
        reply = _message(call, "", "refusal", call.body["model"], None)
        details = {"type": "refusal", "category": None, "explanation": text}
        return as_json(reply | {"content": [], "stop_details": details})

    return behave


def filtered() -> Behaviour:
    """A filter took the answer away: OpenAI's reason for stopping; Anthropic has no other than a refusal."""

    def behave(call: Call) -> Reply:
        if not of_openai(call):
            return refuses()(call)
        reply = _completion(call, "", "content_filter", call.body["model"], None)
        reply["choices"][0]["message"]["content"] = None
        return as_json(reply)

    return behave


def cut_off(text: str = '{"grade":') -> Behaviour:
    """The answer had no more room."""
    return lambda call: says(text, finish="length" if of_openai(call) else "max_tokens")(call)


def nothing() -> Behaviour:
    """A reply in order without any answer in it."""

    def behave(call: Call) -> Reply:
        reply = json.loads(whole(graded()(call)))
        return as_json(reply | ({"choices": []} if of_openai(call) else {"content": []}))

    return behave


def huge(megabytes: int = 100, *, announced: bool = True) -> Behaviour:
    """An answer of so many megabytes, in order but for its size; its length may be kept from the client."""

    def behave(call: Call) -> Reply:
        mark = "@" * 8
        before, _, after = whole(says(mark)(call)).decode().partition(mark)
        pieces = [before.encode(), *[b" " * 2**20] * megabytes, after.encode()]
        return Reply(pieces, length=sum(map(len, pieces)) if announced else None)

    return behave


def packed(megabytes: int = 100) -> Behaviour:
    """An answer of so many megabytes that travels as some hundred kilobytes."""

    def behave(call: Call) -> Reply:
        packer = zlib.compressobj(wbits=31)  # gzip; piece by piece, so that nobody here holds it all
        body = b"".join(packer.compress(piece) for piece in huge(megabytes)(call).body) + packer.flush()
        return Reply(body, headers={"content-encoding": "gzip"})

    return behave


def half_json() -> Behaviour:
    """A whole reply by its length, half an object by its content."""

    def behave(call: Call) -> Reply:
        body = whole(graded()(call))
        return Reply(body[: len(body) // 2])

    return behave


def _words(text: str) -> int:
    """Tokens, as everybody can count them: words."""
    return len(text.split())


def _completion(call: Call, text: str, finish: str, model: str, odds: Mapping[int, float] | None) -> dict[str, Any]:
    """OpenAI's answer."""
    asked, answered = _words(call.prompt), _words(text)
    logprobs = {"content": _tokens(text, odds or {}), "refusal": None} if call.body.get("logprobs") else None
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None, "annotations": []},
                "logprobs": logprobs,
                "finish_reason": finish or "stop",
            }
        ],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def _tokens(text: str, odds: Mapping[int, float]) -> list[dict[str, Any]]:
    """A token for each word, number and sign; the odds stand at the first number."""

    def one(token: str, share: float) -> dict[str, Any]:
        return {"token": token, "logprob": math.log(share) if share else -9999.0, "bytes": [*token.encode()]}

    tokens = [one(token, 1) | {"top_logprobs": [one(token, 1)]} for token in re.findall(r"\w+|\W", text)]
    place = next((token for token in tokens if token["token"].isdigit()), None)
    if place is not None and odds:
        best = sorted(odds.items(), key=lambda pair: -pair[1])
        place |= one(place["token"], odds.get(int(place["token"]), 0))
        place["top_logprobs"] = [one(str(grade), share) for grade, share in best]
    return tokens


def _message(call: Call, text: str, finish: str, model: str, odds: Mapping[int, float] | None) -> dict[str, Any]:
    """Anthropic's answer: in the tool that it was made to use, otherwise as text. It has no probabilities."""
    choice = call.body.get("tool_choice") or {}
    block: dict[str, Any] = {"type": "text", "text": text}
    if choice.get("type") == "tool" and not finish:
        with suppress(json.JSONDecodeError):
            used = {"type": "tool_use", "id": f"toolu_{call.number}", "name": choice["name"]}
            block = used | {"input": json.loads(text)}
    return {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": finish or ("tool_use" if block["type"] == "tool_use" else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": _words(call.prompt),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": _words(text),
            "service_tier": "standard",
        },
    }
