"""Preferences: which of two result lists a judge found better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records.base import Records, count, frame_of, source_or
from karat.records.schema import Column, Schema
from karat.records.source import Source
from karat.records.times import read_times

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
            Column("query", pl.String, "the query's id", True, ("query_id", "qid", "topic")),
            Column("subtopic", pl.String, "the subtopic that was shown"),
            Column("left", pl.String, "the system shown on the left", True),
            Column("right", pl.String, "the system shown on the right", True),
            Column("choice", pl.String, "left, equal, right or none (relevant)", True, ("preference", "answer")),
            Column("strength", pl.Float64, "how clear the preference is"),
            Column("judge", pl.String, "who judged", aliases=("worker", "worker_id")),
            Column("group", pl.String, "the kind of judge"),
            Column("reason", pl.String, "why, in the judge's words", aliases=("comment",)),
            Column("trap", pl.Boolean, "whether the pair was a trap with a known answer"),
            Column("expected", pl.String, "the right answer to a trap: left or right"),
            Column("time", pl.String, "when: ISO 8601, seconds since 1970 or a place in the sequence"),
            Column("seconds", pl.Float64, "how long the judge took"),
            Column("away", pl.Float64, "how many seconds the judge was away meanwhile"),
            Column("probability", pl.Float64, "the chance with which the pair was drawn for judging"),
            Column(
                "rejected", pl.Int64, "how many judges were rejected while answers were collected; theirs are not here"
            ),
        ),
    )

    @classmethod
    def of(cls, data: Any) -> Preferences:
        """Preferences from a frame or rows."""
        return data if isinstance(data, Preferences) else cls.check(frame_of(data, "the preferences"))

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None, time_format: str | None = None) -> Preferences:
        """Preferences from a frame; `BadInput` names the first row that breaks a rule.

        `time_format` says how times are written that are not ISO 8601.
        """
        source = source_or(source, "the preferences")
        spelled = cls.schema.spelled(frame.columns)
        frame = cls.schema.named(frame, source)
        if "time" in frame.columns and frame["time"].null_count() < frame.height:
            frame = frame.with_columns(read_times(frame["time"], source, time_format))
        frame = cls.schema.conform(frame, source, spelled=spelled)
        answers = [name for name in ("choice", "expected") if name in frame.columns]
        frame = frame.with_columns(pl.col(answers).str.strip_chars().str.to_lowercase())
        for name in answers:
            wrong = ~frame[name].is_in(list(CHOICES)).fill_null(True)
            if wrong.any():
                row = int(wrong.arg_max() or 0)
                raise BadInput.at(
                    source.at(row),
                    expected=f"{'a choice' if name == 'choice' else 'an answer'} of left, equal, right or none",
                    found=f'"{frame[name][row]}"',
                )
        if "strength" in frame.columns:
            wrong = ((frame["strength"] < 0) | ~frame["strength"].is_finite()).fill_null(False)
            if wrong.any():
                row = int(wrong.arg_max() or 0)
                raise BadInput.at(source.at(row), expected="a strength of 0 or more", found=str(frame["strength"][row]))
        itself = frame["left"] == frame["right"]
        if itself.any():
            row = int(itself.arg_max() or 0)
            raise BadInput.at(source.at(row), expected="two systems", found=f"{frame['left'][row]} on both sides")
        return cls(frame)

    def __repr__(self) -> str:
        systems = pl.concat([self.frame["left"], self.frame["right"]]).n_unique()
        return (
            f"{count(len(self), 'preference')} between {count(systems, 'system')} for "
            f"{count(self.frame['query'].n_unique(), 'query', 'queries')}"
        )
