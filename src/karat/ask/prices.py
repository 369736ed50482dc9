"""What calls cost: prices by a million tokens, from the study's own table, the command line, or a price package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.ask.request import Request
from karat.errors import BadInput

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
