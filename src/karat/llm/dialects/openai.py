"""OpenAI's chat completions, which vLLM, Ollama, llama.cpp and most hosts speak as well."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from karat.llm.answer_form import clean
from karat.llm.dialects.dialect import Dialect, Said, TokenChances, Unreadable, part, text_or_none, whole
from karat.llm.requests import Request

#: As many alternatives as servers give for a token.
TOP = 20
_FINISH = {"length": "length", "content_filter": "refusal", "refusal": "refusal"}


def _headers(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(request: Request, without: Collection[str]) -> dict[str, Any]:
    model = request.model
    # Newer models take the second name only.
    most = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    body: dict[str, Any] = {
        "model": model.name,
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
        most: model.max_tokens,
        "temperature": model.temperature,
    }
    if model.seed is not None:
        body["seed"] = model.seed + request.repeat
    if model.logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP}
    if "json_schema" not in without:
        schema = {"name": "answer", "strict": True, "schema": request.form.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif "json_object" not in without:
        body["response_format"] = {"type": "json_object"}
    gone = {*without} | ({"top_logprobs"} if "logprobs" in without else {"logprobs"} & {*without})
    return {name: value for name, value in body.items() if name not in gone}


def _said(reply: Mapping[str, Any]) -> Said:
    choice = part(reply, "choices", 0)
    message = part(choice, "message")
    if not isinstance(message, Mapping):
        raise Unreadable("expected a choice with a message, found none")
    refusal, content = message.get("refusal"), message.get("content")
    if isinstance(content, list):  # some servers give the content in parts
        content = "".join(str(part(piece, "text") or "") for piece in content)
    finish = "refusal" if refusal else _FINISH.get(str(part(choice, "finish_reason")), "stop")
    return Said(
        text=clean(str(refusal or content or "")),
        finish=finish,
        model=text_or_none(reply.get("model")),
        fingerprint=text_or_none(reply.get("system_fingerprint")),
        tokens_in=whole(part(reply, "usage", "prompt_tokens")),
        tokens_out=whole(part(reply, "usage", "completion_tokens")),
        chances=_chances(part(choice, "logprobs", "content")),
    )


def _chances(tokens: Any) -> tuple[TokenChances, ...]:
    """The tokens with their alternatives; some that differ are written alike, and their chances are added."""
    found = []
    for one in tokens if isinstance(tokens, list) else []:
        top: dict[str, float] = {}
        for other in part(one, "top_logprobs") or []:
            token, logprob = str(part(other, "token")), part(other, "logprob")
            if isinstance(logprob, int | float):
                top[token] = math.log(math.exp(top.get(token, -math.inf)) + math.exp(min(logprob, 0.0)) or 1e-300)
        found.append(TokenChances(str(part(one, "token")), top))
    return tuple(found)


OPENAI = Dialect(
    "openai",
    "https://api.openai.com/v1",
    "/chat/completions",
    "OPENAI_API_KEY",
    _headers,
    _body,
    _said,
    optional=("max_tokens", "temperature", "seed", "top_logprobs", "logprobs", "json_schema", "json_object"),
    logprobs=True,
)
