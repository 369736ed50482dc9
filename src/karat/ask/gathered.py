"""What the stored answers of judges come to: counts, tables and what else is made of them, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.ask.panel import Panel
from karat.ask.rows import COLUMNS, Answered, answered_tasks, rows_of

#: Rows that are kept as dictionaries, which take ten times the room, before they become a frame.
LOT = 500


@dataclass
class Gathered:
    """What became of the questions of each judge, and a table for each kind of task."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    #: The first reason of each outcome that is no answer.
    why: dict[str, str] = field(default_factory=dict)
    _frames: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    _rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, one: Answered) -> None:
        """Count a task and keep its rows."""
        self.outcomes.setdefault(one.judge.name, Counter()).update(one.kinds)
        for found in one.outcomes:
            if not found.answered:
                self.why.setdefault(found.kind, found.why)
        rows = self._rows.setdefault(one.task["kind"], [])
        rows += rows_of(one)
        if len(rows) >= LOT:
            self._flush(one.task["kind"])

    def table(self, kind: str) -> pl.DataFrame:
        """The rows of a kind of task: a label or a choice each, or the outcome that is none."""
        self._flush(kind)
        frames = self._frames.setdefault(kind, [pl.DataFrame(schema=COLUMNS)])
        if len(frames) > 1:
            frames[:] = [pl.concat(frames, how="diagonal", rechunk=True)]
        # A column of nothing takes sixteen bytes a row unless it is written as one value.
        every = {
            name: pl.col(name) if name in frames[0].columns else pl.lit(None, dtype) for name, dtype in COLUMNS.items()
        }
        return frames[0].select(**every) if frames[0].height else pl.DataFrame(schema=COLUMNS)

    def _flush(self, kind: str) -> None:
        if rows := self._rows.pop(kind, []):
            frame = pl.DataFrame(rows, schema=COLUMNS)
            filled = [column for column in frame if column.null_count() < frame.height]
            self._frames.setdefault(kind, []).append(pl.DataFrame(filled))


def gather(panel: Panel, also: Callable[[Answered], None] = lambda one: None) -> Gathered:
    """Go through the tasks of all judges once, with the answers that are stored; `also` sees each."""
    found = Gathered()
    for judge in panel.judges:
        found.outcomes[judge.name] = Counter()
        for one in answered_tasks(judge, panel.store, panel.leave_out):
            found.add(one)
            also(one)
    return found
