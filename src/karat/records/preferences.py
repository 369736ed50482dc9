"""Preferences: which of two result lists a judge found better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from karat.records import column_names
from karat.records.schema import OF_ANSWERS, Column, Schema
from karat.records.source import Source
from karat.records.table import Records, count

#: What a judge may answer to two lists shown side by side.
CHOICES = ("left", "equal", "right", "none")


@dataclass(frozen=True, eq=False, repr=False)
class Preferences(Records):
    """Side-by-side answers: `query, left, right, choice` with choice one of left, equal, right, none.

    >>> Preferences.of([{"query": "q1", "left": "bm25", "right": "neural", "choice": "Right"}])
    1 preference between 2 systems for 1 query
    """

    schema: ClassVar[Schema] = Schema(
        "preferences",
        (
            Column("query", pl.String, "the query's id", True, column_names.QUERY),
            Column("subtopic", pl.String, "the subtopic that was shown"),
            Column("left", pl.String, "the system shown on the left", True),
            Column("right", pl.String, "the system shown on the right", True),
            Column("choice", pl.String, "which list is better", True, ("preference", "answer"), among=CHOICES),
            Column("strength", pl.Float64, "how clear the preference is", least=0),
            Column("judge", pl.String, "who judged", aliases=column_names.JUDGE),
            Column("group", pl.String, "the kind of judge"),
            Column("reason", pl.String, "why, in the judge's words", aliases=("comment",)),
            Column("trap", pl.Boolean, "whether the pair was a trap with a known answer"),
            Column("expected", pl.String, "the right answer to a trap", among=CHOICES),
            *OF_ANSWERS,
            Column(
                "rejected", pl.Int64, "how many judges were rejected while answers were collected; theirs are not here"
            ),
            Column(
                "failed_allowed",
                pl.Int64,
                "how many traps a judge may fail by the study's rules; none where it is not said",
            ),
        ),
        beside=column_names.BESIDE_ANSWERS,
    )

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None, time_format: str | None = None) -> Preferences:
        """Preferences from a frame; `BadInput` names the first row that breaks a rule.

        `time_format` says how times are written that are not ISO 8601.
        """
        source = source or Source("the preferences")
        notes = [*source.notes]
        frame = cls.schema.conform(frame, source, notes=notes, time_format=time_format)
        source.refuse(
            frame["left"] == frame["right"],
            expected="two systems",
            found=lambda row: f"{frame['left'][row]} on both sides",
        )
        return cls(frame, tuple(notes))

    def __repr__(self) -> str:
        systems = pl.concat([self.frame["left"], self.frame["right"]]).n_unique()
        return (
            f"{count(len(self), 'preference')} between {count(systems, 'system')} for "
            f"{count(self.frame['query'].n_unique(), 'query', 'queries')}"
        )
