"""Ask many questions: each once, answers kept as they come, so many at a time as the server takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from karat.ask.answer_store import AnswerStore, RawAnswer
from karat.ask.budget import Budget
from karat.ask.client import Client
from karat.ask.outcome import Outcome, outcome, stored_answer
from karat.ask.prices import Price, likely_tokens
from karat.ask.request import Request
from karat.http.calling import Stopped
from karat.http.workers import each

#: No answer at all: the next time, these are asked again unbidden.
ASKED_AGAIN = ("transport",)
#: So many questions in a row without any answer, each tried as often as it may be, or all answered by another model:
#: asking on is no use.
NOBODY = 16


@dataclass
class Tally:
    """How the questions fared."""

    asked: int = 0
    known: int = 0


async def ask_all(
    requests: Iterable[Request],
    client: Client,
    store: AnswerStore,
    *,
    budget: Budget,
    price: Price | None = None,
    retry: Collection[str] = (),
    tally: Tally,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Ask what has no answer yet; every answer is stored before the next question of its worker.

    `retry` are the outcomes whose questions are asked again. When one worker has to stop, the others finish what is on
    its way. What happens is put down in `tally`, and `told` is called after each answer.
    """
    again = {*ASKED_AGAIN, *retry}
    silent, nobody = 0, max(NOBODY, 2 * client.at_once)
    on_their_way, settled, failed = set[str](), asyncio.Event(), list[BaseException]()

    async def set_aside(request: Request) -> float:
        """The most that a call can cost; where the budget has no room, what others on their way leave is waited for."""
        while not failed:
            try:
                return budget.set_aside(request, price)
            except Stopped:
                if not on_their_way:
                    raise
            settled.clear()
            await settled.wait()
        raise failed[0]

    async def work(request: Request) -> None:
        nonlocal silent
        found = answered(store, request)
        # Two documents with the same text are the same question: one answer is for both.
        if (found is not None and found.kind not in again) or request.key in on_their_way:
            tally.known += 1
            if tally.known % 500 == 0:
                await asyncio.sleep(0)
            return
        aside, refused = [await set_aside(request)], list[Stopped]()

        def once_more() -> bool:
            """Set another attempt's cost aside; where the budget has no room, the attempts so far are stored first."""
            try:
                aside.append(budget.set_aside(request, price))
            except Stopped as error:
                refused.append(error)
            return not refused

        on_their_way.add(request.key)
        answer: RawAnswer | None = None
        try:
            tokens = likely_tokens(request)[1] + request.model.max_tokens
            answer = await client.ask(request, tokens, once_more)
            store.add(request, answer)
            if refused:
                raise refused[0]
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            budget.settle(request, price, sum(aside), answer)
            on_their_way.discard(request.key)
            settled.set()
        tally.asked += 1
        told()
        # An answer is looked into when all are there; here only whether one came, and at first by which model.
        made = None if answer.status == 200 and tally.asked > nobody else outcome(request, answer)
        silent = silent + 1 if made is not None and made.kind in ("transport", "other model") else 0
        if made is not None and silent >= nobody:
            raise Stopped(f"{nobody} questions in a row came to no answer: {made.why}")

    await each(requests, work, client.at_once)


def answered(store: AnswerStore, request: Request) -> Outcome | None:
    """What the stored answer to a question comes to; None where there is none."""
    found = stored_answer(store, request)
    return None if found is None else found[1]
