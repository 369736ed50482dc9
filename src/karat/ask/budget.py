"""A budget that is never overdrawn: what is on its way counts with the most that it can cost."""

from __future__ import annotations

from dataclasses import dataclass

from karat.ask.outcome import Outcome
from karat.ask.prices import Price, likely_tokens, most_tokens
from karat.ask.request import Request
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
    #: Calls whose server did not say how many tokens they took: their cost is estimated.
    guessed: int = 0
    _on_their_way: float = 0.0

    def set_aside(self, request: Request, price: Price | None) -> float:
        """The most that a call can cost, set aside; `Stopped` where the budget does not allow it."""
        if price is None:
            return 0.0
        most = price.of(most_tokens(request), request.model.max_tokens)
        if self.limit is not None and self.spent + self._on_their_way + most > self.limit:
            raise Stopped(f"the budget of ${self.limit:g} does not allow another call: ${self.spent:.6g} spent")
        self._on_their_way += most
        return most

    def settle(self, request: Request, price: Price | None, aside: float, found: Outcome | None) -> None:
        """What a call did cost, once its outcome is known; nothing came back where it is None."""
        self._on_their_way -= aside
        if price is not None and found is not None:
            cost, guessed = cost_of(price, request, found)
            self.guessed += guessed
            self.spent += cost


def cost_of(price: Price, request: Request, found: Outcome) -> tuple[float, bool]:
    """What a call cost, and whether that is guessed: a server that answers and counts no tokens."""
    said = found.said
    if said is None:
        return 0.0, False
    if said.tokens_in is None or said.tokens_out is None:
        return price.of(likely_tokens(request)[1], len(said.text.encode()) / 2), True
    return price.of(said.tokens_in, said.tokens_out), False
