"""A budget that one run never exceeds: requests in flight count with the most that they can cost.

A run that is killed forgets its requests in flight, which may have to be paid: together with the next run, the budget
can be exceeded by at most what so many requests cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat.ask.answer_store import AnswerStore, RawAnswer
from karat.ask.form import Form
from karat.ask.outcome import Outcome, outcome
from karat.ask.prices import Price, likely_tokens, most_tokens
from karat.ask.request import Model, Request
from karat.http.calling import Stopped


@dataclass
class Budget:
    """What was spent, and what may be; calls without a price count nothing, and without a limit all are allowed.

    >>> from karat.ask.form import Form
    >>> from karat.ask.request import Model
    >>> dear, question = Price(1000.0, 1000.0), Request(Model("m", max_tokens=5), "", "Hooves?", Form(()))
    >>> Budget(limit=0.1).set_aside(question, dear)
    Traceback (most recent call last):
    karat.http.calling.Stopped: the budget of $0.1 does not allow another call: $0 spent
    """

    limit: float | None = None
    spent: float = 0.0
    #: What the answers that were there already have cost: the limit is for all of them.
    before: float = 0.0
    #: Calls whose server did not say how many tokens they took: their cost is estimated.
    guessed: int = 0
    _on_their_way: float = 0.0

    def set_aside(self, request: Request, price: Price | None) -> float:
        """The most that a call can cost, set aside; `Stopped` where the budget does not allow it."""
        if price is None:
            return 0.0
        most = _most(price, request)
        if self.limit is not None and self.before + self.spent + self._on_their_way + most > self.limit:
            spent = f"${self.before + self.spent:.6g} spent" + (
                f", ${self.before:.6g} of it before" * (self.before > 0)
            )
            raise Stopped(f"the budget of ${self.limit:g} does not allow another call: {spent}")
        self._on_their_way += most
        return most

    def settle(self, request: Request, price: Price | None, aside: float, answer: RawAnswer | None) -> None:
        """What a call did cost, once it is answered; where `answer` is None it was given up."""
        self._on_their_way -= aside
        if price is not None and answer is not None:
            cost, guessed = cost_of(price, request, answer, outcome(request, answer))
            self.guessed += guessed
            self.spent += cost


def cost_of(price: Price, request: Request, answer: RawAnswer, found: Outcome) -> tuple[float, bool]:
    """What an answer cost, and whether that is guessed, as where a server answers and counts no tokens.

    An attempt to which nothing came back may have been answered all the same: it counts with the most it can cost.
    """
    price = price.halved if answer.batch else price
    said, lost = found.said, answer.lost * _most(price, request)
    if said is not None and said.tokens_in is not None and said.tokens_out is not None:
        return lost + price.of(said.tokens_in, said.tokens_out), lost > 0
    if answer.status != 200:
        return lost, lost > 0
    answered = request.model.max_tokens if said is None else len(said.text.encode()) / 2
    return lost + price.of(likely_tokens(request)[1], answered), True


def spent_before(store: AnswerStore, prices: Mapping[tuple[str, str, str], Price | None]) -> float:
    """What all stored answers of models have cost, at the prices by dialect, address and name."""
    spent = 0.0
    for asked, answer in store.asked():
        model = Model(**asked["model"], max_tokens=asked.get("max_tokens", Model.max_tokens))
        price = prices.get((model.dialect, model.url, model.name))
        if price is not None:
            request = Request(model, asked["system"], asked["user"], Form(()))
            spent += cost_of(price, request, answer, outcome(request, answer))[0]
    return spent


def _most(price: Price, request: Request) -> float:
    return price.of(most_tokens(request), request.model.max_tokens)
