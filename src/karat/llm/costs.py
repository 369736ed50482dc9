"""What calls cost: prices by a million tokens, from the study's own table, the command line, or a price package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.engines.http_calls import Stopped
from karat.errors import BadInput
from karat.llm.answer_form import Form
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.outcomes import Outcome, outcome
from karat.llm.requests import Model, Request

#: Bytes of a token of running text, from languages with long words to English.
BYTES_A_TOKEN = (2.5, 5.0)
#: Tokens that a chat puts around the messages.
AROUND = 40
MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens in the question and in the answer; where that was read, and when.

    >>> Price.parse("0.15/0.60").of(1_000_000, 500_000)
    0.45
    """

    question: float
    answer: float
    source: str = ""

    def __post_init__(self) -> None:
        if not (0 <= self.question < float("inf") and 0 <= self.answer < float("inf")):
            raise BadInput.at("the price", expected="dollars of 0 or more", found=f"{self.question}/{self.answer}")

    @classmethod
    def parse(cls, text: str) -> Price:
        """A price written as 0.15/0.60: dollars for a million tokens of questions and of answers."""
        try:
            question, answer = (float(part) for part in text.split("/"))
        except ValueError:
            raise BadInput.at(
                "--price",
                expected="dollars for a million tokens as QUESTION/ANSWER, such as 0.15/0.60",
                found=f'"{text}"',
            ) from None
        return cls(question, answer, "--price")

    @property
    def halved(self) -> Price:
        """The price in a vendor's batches."""
        return Price(self.question / 2, self.answer / 2, f"half of {self.source}")

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """What so many tokens cost, in dollars."""
        return (tokens_in * self.question + tokens_out * self.answer) / MILLION


def price_of(
    model: str, named: str | None = None, table: Mapping[str, Mapping[str, Any]] | None = None, *, vendor: bool = True
) -> Price | None:
    """The price of a model: as named, as study.toml has it, or as the package genai-prices knows it, if at all.

    The package knows what a `vendor` asks; a model of the same name on another server has another price.
    """
    if named is not None:
        return Price.parse(named)
    if table and model in table:
        row = table[model]
        date = row.get("date")
        return Price(float(row["question"]), float(row["answer"]), "study.toml" + (f", {date}" if date else ""))
    return _of_package(model) if vendor else None


def _of_package(model: str) -> Price | None:
    """The price as the package genai-prices has it, where it is installed; it asks no network."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    try:
        # Some prices rise with the length of a question: those of an ordinary one are asked for.
        question = 1000 * calc_price(Usage(input_tokens=1000, output_tokens=0), model_ref=model).total_price
        answer = 1000 * calc_price(Usage(input_tokens=0, output_tokens=1000), model_ref=model).total_price
    except LookupError:
        return None
    from importlib.metadata import version

    return Price(float(question), float(answer), f"genai-prices {version('genai-prices')}")


def most_tokens(request: Request) -> int:
    """More tokens than a question can have: a token is a byte at least."""
    return len(request.system.encode()) + len(request.user.encode()) + 2 * len(str(request.form.schema)) + AROUND


def likely_tokens(request: Request) -> tuple[float, float]:
    """The fewest and the most tokens that a question is likely to have."""
    size = len(request.system.encode()) + len(request.user.encode())
    few, many = (size / each + AROUND for each in reversed(BYTES_A_TOKEN))
    return few, many


@dataclass
class Budget:
    """What was spent, and what may be; calls without a price count nothing, and without a limit all are allowed.

    >>> from karat.llm.answer_form import Form
    >>> from karat.llm.requests import Model
    >>> dear, question = Price(1000.0, 1000.0), Request(Model("m", max_tokens=5), "", "Hooves?", Form(()))
    >>> Budget(limit=0.1).set_aside(question, dear)
    Traceback (most recent call last):
    karat.engines.http_calls.Stopped: the budget of $0.1 does not allow another call: $0 spent
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
