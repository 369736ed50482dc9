"""What is known of an LLM as a judge: a sheet for each, the sentence first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.estimate.confusion import Confusion
from karat.plan.llm_words import main_figures
from karat.records import Scale
from karat.records.result import ResultBase, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class LLMSheet(ResultBase):
    """One judge: `answer` in a few words, `finding` in a sentence, and a row of `frame` for each figure.

    - `frame`: part, figure, of (which slice), value, low, high, n, n_queries, unit;
    - `confusion`: how often each gold grade gets each label (None without gold labels);
    - `mistakes`: the grades furthest from gold, with their documents;
    - `gold_needed`: how many gold labels the plan needs (None where nobody can say), `n_gold` how many there are;
    - `pairs`: whether to use its choices between two rankings ("use them", "do not use them", "cannot say"; None where
      no pair was judged in both orders);
    - `favoured`: systems whose documents it overrates at equal gold grade.
    """

    judge: str
    answer: str
    finding: str
    frame: pl.DataFrame
    confusion: Confusion | None
    mistakes: pl.DataFrame
    n_gold: int
    gold_needed: int | None
    notes: tuple[str, ...] = ()
    scale: Scale | None = None
    pairs: str | None = None
    favoured: tuple[str, ...] = ()

    columns = ("figure", "value", "n")

    def to_frame(self) -> pl.DataFrame:
        """A row for each figure."""
        return self.frame

    def shown(self) -> pl.DataFrame:
        """The figures about the judge as a whole, in words."""
        return main_figures(self.frame).drop("part")

    def to_dict(self) -> dict[str, Any]:
        """The sheet as one document."""
        return {
            "judge": self.judge,
            "answer": self.answer,
            "pairs": self.pairs,
            "favoured": list(self.favoured),
            "finding": self.finding,
            "n_gold": self.n_gold,
            "gold_needed": self.gold_needed,
            "rows": rows_of(self.frame),
            "confusion": None if self.confusion is None else rows_of(self.confusion.frame),
            "mistakes": rows_of(self.mistakes),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class LLMAudit(ResultBase):
    """A sheet for each judge of a table, and what they have in common."""

    sheets: tuple[LLMSheet, ...]
    notes: tuple[str, ...] = ()

    columns = ("judge", *LLMSheet.columns)

    @property
    def finding(self) -> str:
        """What to do with each judge."""
        return " ".join(sheet.finding for sheet in self.sheets)

    def to_frame(self) -> pl.DataFrame:
        """A row for each judge and figure."""
        parts = [sheet.frame.select(pl.lit(sheet.judge).alias("judge"), pl.all()) for sheet in self.sheets]
        return pl.concat(parts)

    def shown(self) -> pl.DataFrame:
        """The figures about each judge as a whole, in words."""
        return pl.concat(sheet.shown().select(pl.lit(sheet.judge).alias("judge"), pl.all()) for sheet in self.sheets)

    def to_dict(self) -> dict[str, Any]:
        """All sheets as one document."""
        return {
            "finding": self.finding,
            "judges": [sheet.to_dict() for sheet in self.sheets],
            "notes": list(self.notes),
        }
