"""A plan of gold labels: the documents drawn, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.records.result import ResultBase
from karat.records.schema import SCORES
from karat.records.table import count


@dataclass(frozen=True, eq=False, repr=False)
class GoldPlan(ResultBase):
    """Documents drawn for gold labels: `query, doc, label` (to be filled in) and the `probability` of each draw.

    `documents` are shown by some system, `labelled` of them have a gold label from a pilot, and `counting` of the
    others count more for one system than for another; `as_many_uniform` is how many documents drawn uniformly would
    make the interval as narrow. `earlier` are the labels of the pilot, to be used together with the new ones.
    """

    frame: pl.DataFrame
    measure: str
    systems: tuple[str, ...]
    documents: int
    counting: int
    as_many_uniform: float
    seed: int
    notes: tuple[str, ...] = ()
    #: Of how many queries whole ones were drawn; 0 where documents were.
    whole_queries: int = 0
    labelled: int = 0
    earlier: pl.DataFrame | None = None
    #: What the labels will speak for: each system's own score too, or only differences between systems.
    drawn_for: str = SCORES

    columns = ("query", "doc", "label", "probability", "round")

    @property
    def finding(self) -> str:
        """What is to be labelled, and what it is worth, in a sentence."""
        n = self.frame.height
        if self.whole_queries:
            return (
                f"{count(n, 'document')} to label: all that the systems show of "
                f"{count(self.frame['query'].n_unique(), 'query', 'queries')}, drawn from {self.whole_queries:,}."
            )
        if len(self.systems) == 1:
            return (
                f"{count(n, 'document')} to label out of {self.documents:,} that {self.systems[0]} shows or, for nDCG, "
                f"its best list may hold, for its own {self.measure}."
            )
        said = (
            f"{count(n, 'document')} to label out of {self.documents:,} that the systems show; {self.counting:,} of "
            f"these count more for one system than for another by {self.measure}"
        )
        if self.labelled:
            said = (
                f"{count(n, 'document')} to label: of {self.documents:,} that the systems show, {self.labelled:,} have "
                f"a gold label; {self.counting:,} of the others count more for one system than for another by "
                f"{self.measure}"
            )
        if np.isnan(self.as_many_uniform) or round(self.as_many_uniform) <= n:
            return said + "."
        saved = 1 - n / self.as_many_uniform
        as_many = f"{self.as_many_uniform:,.0f}"
        return f"{said}. As narrow an interval takes {as_many} drawn uniformly: {saved * 100:.0f} % are spared."

    def to_frame(self) -> pl.DataFrame:
        """The file to fill in, with the probability of each document; with the labels of the pilot, if there was one.

        The column `round` tells the new documents from earlier ones, `drawn_for` what they can speak for together.
        """
        said = pl.lit(self.drawn_for).alias("drawn_for")
        if self.earlier is None:
            return self.frame.with_columns(said)
        number = max(self.earlier["round"].drop_nulls(), default=0) + 1
        both = [self.frame.with_columns(round=pl.lit(number)), self.earlier]
        return pl.concat(both, how="vertical_relaxed").with_columns(said)

    def to_dict(self) -> dict[str, Any]:
        """The plan as one document."""
        return {
            "finding": self.finding,
            "measure": self.measure,
            "systems": list(self.systems),
            "documents": self.documents,
            "labelled": self.labelled,
            "counting": self.counting,
            "as_many_uniform": None if np.isnan(self.as_many_uniform) else self.as_many_uniform,
            "seed": self.seed,
            "rows": self.frame.to_dicts(),
            "notes": list(self.notes),
        }
