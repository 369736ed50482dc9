"""What the parts of `karat context` look at, the options that give it, and how their tables are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, runs_in
from karat.cli.option_values import as_one
from karat.cli.outputs import keep_inputs
from karat.cli.part import Given
from karat.cli.runs import read_several
from karat.judges.dimensions.change import BEFORE, check_by
from karat.records import Documents, Result, Runs, Scale
from karat.records.number_format import in_words
from karat.records.runs import together


@dataclass(frozen=True)
class Aspects(Given):
    """What the parts of the report look at."""

    by: tuple[str, ...]
    documents: Documents | None
    runs: Runs | None
    #: The level of intervals, their draws and seed.
    chance: dict[str, Any]

    def seen(self, result: Result, title: str) -> Result:
        """A table as people see it, distributions wide."""
        return super().seen(by_grade(result, self.judgments.scale) if title == "Distribution" else result, title)


def of_labels(
    *wanted: Callable[[Any], Any], runs: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """LABELS, these options and those of every part, with `runs` the runs after the labels: all given as `given`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_given(**typed: Any) -> None:
            read = {name: typed.pop(name) for name in READ if name in typed}
            keep_inputs("--out", typed.get("out"), [read["labels"], *read.get("runs", ()), read.get("documents")])
            command(given=_read(**read), **typed)

        words = [click.argument("labels")]
        words += [click.argument("runs", metavar="[RUN...]", nargs=-1)] if runs else []
        made: Callable[..., None] = as_one(*words, *wanted, options.resampling, options.study)(with_given)
        return made

    return decorated


#: What is read before a command begins; all else that is typed goes to the command.
READ = ("reading", "labels", "level", "draws", "seed", "by", "documents", "runs")


def _read(
    reading: Reading,
    labels: str,
    by: tuple[str, ...] = (),
    documents: str | None = None,
    runs: Sequence[str] | None = None,
    **chance: Any,
) -> Aspects:
    """The labels with what stands beside them; a study's folder stands for its runs where none are named."""
    for name in by:
        check_by(name)
    given = reading.study(labels, only=["documents"], documents=documents)
    for name in by:
        if name != BEFORE:
            given.judged.need(name, "--by")
    files = [] if runs is None else runs or runs_in(labels)
    return Aspects(given.judged, by, given.documents, together(read_several(files)) if files else None, chance)


def by_grade(result: Result, scale: Scale | None) -> Result:
    """The distribution with a column for each grade, which is short enough to be read."""
    result = replace(result, frame=in_words(result.frame, scale), columns=())
    parts = [
        result.frame.select("documents", "aspect", pl.lit(name).alias("setting"), "grade", share=column)
        for name, column in (("alone", "alone"), ("in context", "context"))
    ]
    long = pl.concat(parts)
    if long["grade"].dtype != pl.String:
        long = long.with_columns(pl.Series("grade", [f"grade {grade:g}" for grade in long["grade"]]))
    wide = long.pivot("grade", index=["documents", "aspect", "setting"], values="share")
    first = result.frame.select("documents", "aspect").unique(maintain_order=True).with_row_index("place")
    wide = first.join(wide, on=["documents", "aspect"], maintain_order="left_right").drop("place")
    return replace(result, frame=wide, notes=(*result.notes, "intervals with --json"))
