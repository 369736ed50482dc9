"""What the parts of `karat judges` look at, the options that give it, and how their tables are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from inspect import signature
from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading, runs_in, with_kinds
from karat.cli.option_values import Command, as_one
from karat.cli.part import Given
from karat.cli.runs import read_several
from karat.judges import FEATURES, add_features
from karat.judges.population import Judges as Population
from karat.labels import Panel
from karat.records import ClickLog, Clicks, Documents, Judgments, Queries, Result, Runs
from karat.records.runs import together


def features(command: Command) -> Command:
    """The options that give features of query and document."""
    return options.documents(options.queries(options.runs(command)))


def of_labels(*wanted: Callable[[Any], Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """LABELS and these options, and those that say how labels are read: the command gets what they give as `given`.

    What the command names as parameters of its own it gets as typed.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = {"as_json", "as_tsv", "as_latex", "plot", "out", *signature(command).parameters}

        @wraps(command)
        def with_given(**typed: Any) -> None:
            asked = {name: typed.pop(name) for name in [*typed] if name in own}
            command(given=_read(featured="documents" in typed, **typed), **asked)

        labels = click.argument("labels", metavar="LABELS...", nargs=-1, required=True)
        made: Callable[..., None] = as_one(labels, *wanted, options.study)(with_given)
        return made

    return decorated


@dataclass(frozen=True)
class Judged(Given):
    """What the parts of the report look at."""

    gold: Judgments | None
    clicks: Clicks | ClickLog | None
    by: tuple[str, ...]
    judges_are: Population
    #: The level of intervals, and for those drawn at random their draws and seed.
    chance: dict[str, Any]
    lists: tuple[Runs, ...] = ()
    #: The files that were read, not to be written over.
    files: tuple[str, ...] = ()

    @cached_property
    def panel(self) -> Panel:
        """All labels that count, gold among them."""
        return Panel.of(self.judgments, self.gold, apart=self.by)

    @property
    def level(self) -> float:
        """The level of the intervals."""
        return float(self.chance["level"])

    def each(self, name: str, made: Callable[[str | None], Result]) -> dict[str, Result]:
        """A result for each column to report by, or one over all."""
        return {f"{name} by {by}": made(by) for by in self.by} or {name: made(None)}

    def seen(self, result: Result, title: str) -> Result:
        """A table as people see it: without what was looked at and is no finding of its own, which --json has."""
        if "found" in result.frame.columns:
            result = replace(result, frame=result.frame.filter(result.frame["found"]))
        return super().seen(result, title)


def _read(
    reading: Reading,
    labels: Sequence[str],
    *,
    featured: bool,
    gold: str | None = None,
    clicks: str | None = None,
    documents: str | None = None,
    queries: str | None = None,
    runs: Sequence[str] = (),
    by: Sequence[str] = (),
    judges_are: Population = "sample",
    **chance: Any,
) -> Judged:
    """The labels with what stands beside them, and the features that it allows."""
    given = reading.study(
        labels,
        only=("clicks", "documents", "queries"),
        gold=gold,
        clicks=clicks,
        documents=documents,
        queries=queries,
    )
    runs = runs or runs_in(labels[0])
    lists = tuple(read_several(runs)) if runs else ()
    judgments = given.judged
    if featured:
        judgments = _with_features(judgments, given.documents, given.queries, lists, by)
    files = [*labels, *runs, *(file for file in (gold, clicks, documents, queries) if file is not None)]
    return Judged(judgments, given.known, given.clicks, tuple(by), judges_are, chance, lists, tuple(files))


def _with_features(
    judgments: Judgments, documents: Documents | None, queries: Queries | None, lists: Sequence[Runs], by: Sequence[str]
) -> Judgments:
    """The judgments with the features that documents, queries and runs allow; those asked for must be among them."""
    judgments = with_kinds(judgments, queries)
    wanted = [name for name in by if name in FEATURES and not judgments.has(name)] or None
    if wanted is not None or documents is not None or queries is not None or lists:
        judgments = add_features(
            judgments,
            wanted,
            queries=queries,
            documents=documents,
            runs=together(lists) if lists else None,
        )
    for name in by:
        judgments.need(name, "--by")
    return judgments
