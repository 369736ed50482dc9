"""Anthropic's messages; llama.cpp and others speak it as well. The form of the answer is that of a tool's input."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from karat.llm.answer_form import clean
from karat.llm.dialects.dialect import Dialect, Said, Unreadable, part, text_or_none, whole
from karat.llm.requests import Request

_FINISH = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})


def _body(request: Request, without: Collection[str]) -> dict[str, Any]:
    model = request.model
    body: dict[str, Any] = {
        "model": model.name,
        "max_tokens": model.max_tokens,
        "temperature": model.temperature,
        "system": request.system,
        "messages": [{"role": "user", "content": request.user}],
    }
    if "tools" not in without:
        tool = {"name": "answer", "description": "Give the answer.", "input_schema": request.form.schema}
        body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
    gone = {*without} | ({"tool_choice"} if "tools" in without else set())
    return {name: value for name, value in body.items() if name not in gone}


def _said(reply: Mapping[str, Any]) -> Said:
    parts = reply.get("content")
    if not isinstance(parts, list):
        raise Unreadable("expected content, found none")
    used = [part(piece, "input") for piece in parts if part(piece, "type") == "tool_use"]
    if len(used) > 1:
        raise Unreadable(f"expected one answer, found {len(used)} uses of the tool")
    texts = [str(part(piece, "text") or "") for piece in parts if part(piece, "type") == "text"]
    return Said(
        text=json.dumps(used[0]) if used else clean("".join(texts)),
        finish=_FINISH.get(str(reply.get("stop_reason")), "stop"),
        model=text_or_none(reply.get("model")),
        tokens_in=_sent(part(reply, "usage")),
        tokens_out=whole(part(reply, "usage", "output_tokens")),
    )


def _sent(usage: Any) -> int | None:
    """The tokens of the question; those that the server had kept from an earlier one are counted apart there."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [count for name in names if (count := whole(part(usage, name))) is not None]
    return sum(counts) if counts else None


ANTHROPIC = Dialect(
    "anthropic",
    "https://api.anthropic.com/v1",
    "/messages",
    "ANTHROPIC_API_KEY",
    _headers,
    _body,
    _said,
    optional=("temperature", "tool_choice", "tools"),
)
