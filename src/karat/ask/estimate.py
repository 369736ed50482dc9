"""What asking would take, before anything is sent: calls, tokens, dollars and minutes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from karat.ask.answer_store import AnswerStore
from karat.ask.asking import ASKED_AGAIN, answered
from karat.ask.prices import Price, likely_tokens
from karat.ask.request import Request

#: Tokens of the shortest answer in a form, and of one with a sentence in it.
SHORT_ANSWER, LONG_ANSWER = 8, 120
#: Seconds of a call, from a small model near by to a large one far away.
SECONDS_A_CALL = (0.5, 5.0)


@dataclass(frozen=True)
class Estimate:
    """Calls, and the least and the most that is likely of everything else."""

    calls: int
    known: int
    tokens_in: tuple[float, float]
    tokens_out: tuple[float, float]
    dollars: tuple[float, float] | None
    minutes: tuple[float, float]


def estimate(
    requests: Iterable[Request],
    store: AnswerStore | None,
    price: Price | None,
    *,
    at_once: int,
    calls_a_minute: float | None = None,
    tokens_a_minute: float | None = None,
    retry: Iterable[str] = (),
) -> Estimate:
    """What the questions without an answer would take.

    >>> from karat.ask.form import Form
    >>> from karat.ask.request import Model
    >>> found = estimate([Request(Model("m"), "", "x" * 5000, Form(()))], None, Price(1.0, 2.0), at_once=1)
    >>> found.calls, found.tokens_in
    (1, (1040.0, 2040.0))
    """
    calls, known, few, many, longest, again = 0, 0, 0.0, 0.0, 0.0, {*ASKED_AGAIN, *retry}
    for request in requests:
        found = None if store is None else answered(store, request)
        if found is not None and found.kind not in again:
            known += 1
            continue
        calls += 1
        least, most = likely_tokens(request)
        few, many = few + least, many + most
        texts = any(not field.choices for field in request.form.fields)
        likely = LONG_ANSWER if texts else 3 * SHORT_ANSWER * len(request.form.fields)
        longest += min(likely, request.model.max_tokens)
    out = (float(calls * SHORT_ANSWER), longest)
    dollars = None if price is None else (price.of(few, out[0]), price.of(many, out[1]))
    limits = [calls / calls_a_minute if calls_a_minute else 0.0]
    limits.append((many + out[1]) / tokens_a_minute if tokens_a_minute else 0.0)
    fast, slow = (max(*limits, calls * seconds / 60 / at_once) for seconds in SECONDS_A_CALL)
    return Estimate(calls, known, (few, many), out, dollars, (fast, slow))
