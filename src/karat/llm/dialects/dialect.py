"""What a dialect is: how a request is written, and how a reply is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from karat.llm.answer_form import clean
from karat.llm.requests import Request


class Unreadable(ValueError):
    """A reply that is not as the dialect has it."""


@dataclass(frozen=True)
class TokenChances:
    """A token of an answer, and the log-probabilities of what might have stood there."""

    token: str
    top: Mapping[str, float]


@dataclass(frozen=True)
class Said:
    """What a reply says: the text and why it ended, whoever answered, and what it took."""

    text: str
    #: stop, length or refusal.
    finish: str
    model: str | None = None
    fingerprint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    chances: tuple[TokenChances, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """How a kind of server is spoken to.

    `body` is given a request and the names of what the server was found not to take: parameters, or `json_schema`.
    """

    name: str
    default_url: str
    path: str
    #: The variable of the environment that holds the key.
    key_variable: str
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[Request, Collection[str]], dict[str, Any]]
    said: Callable[[Mapping[str, Any]], Said]
    #: Parameters that a server may not take, in the order in which a complaint is searched for them.
    optional: tuple[str, ...]
    #: Whether its servers tell log-probabilities.
    logprobs: bool = False


def part(reply: Any, *path: str | int) -> Any:
    """A part of a reply by its path; None where it is not there.

    >>> part({"choices": [{"text": "a"}]}, "choices", 0, "text"), part({"choices": []}, "choices", 0)
    ('a', None)
    """
    for step in path:
        if isinstance(step, int):
            reply = reply[step] if isinstance(reply, list) and len(reply) > step else None
        else:
            reply = reply.get(step) if isinstance(reply, dict) else None
    return reply


def whole(value: Any) -> int | None:
    """A count of tokens; None where a server says none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: Any) -> str | None:
    """A name in a reply, in a length that can be kept."""
    return clean(value[:200]) if isinstance(value, str) and value else None
