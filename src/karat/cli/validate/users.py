"""What the parts of `karat validate` read: what users said, labels and runs, from files or from a study's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading, measures_among, read_several, runs_in
from karat.cli.options import Command, as_one
from karat.errors import BadInput
from karat.formats import read_clicks, read_documents, read_preferences, read_queries
from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Runs
from karat.study import Study
from karat.users.pair_scores import shown_depth

unit = click.option(
    "--unit",
    "by",
    type=click.Choice(["query", "subtopic"]),
    show_default="a subtopic with its own labels where users were asked about one, else a query",
    help="What users compared two lists for.",
)
min_strength = click.option(
    "--min-strength", "at_least", type=float, metavar="STRENGTH", help="Weaker preferences count as equal."
)
depth = options.depth(None, otherwise="as in left_docs and right_docs, or 10")


def how(default: str) -> Callable[[Command], Command]:
    """How the answers of several judges become one."""
    return click.option(
        "--how",
        default=default,
        type=click.Choice(["votes", "mode"]),
        help="From several judges' answers to a preference: each counts, or the most frequent.",
    )


@dataclass(frozen=True, eq=False)
class Users:
    """What users said, with the labels and runs behind it; files are read when they are asked for."""

    path: str
    reading: Reading
    files: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    queries_path: str | None = None
    documents_path: str | None = None

    @classmethod
    def typed(
        cls, reading: Reading, path: str, files: Sequence[str], measures: tuple[str, ...], queries: str | None = None
    ) -> Users:
        """What was typed: measures that stand among the files, as in -m nDCG@10 AP, are told from them."""
        kept, names = measures_among(tuple(files), measures)
        return cls(path, reading, tuple(kept), tuple(names), queries)

    @cached_property
    def study(self) -> Study | None:
        """The study, where its folder was named in place of what users said."""
        if not Path(self.path).is_dir():
            return None
        return self.reading.study(self.path, only=["preferences", "queries", "clicks"], queries=self.queries_path)

    @cached_property
    def preferences(self) -> Preferences:
        """What users answered."""
        if self.study is None:
            return read_preferences(self.path, time_format=self.reading.time_format)
        if self.study.preferences is None:
            raise BadInput("; ".join(["there are no preferences", *self.study.notes]))
        return self.study.preferences

    @cached_property
    def clicks(self) -> Clicks | ClickLog:
        """What users clicked."""
        if self.study is None:
            return read_clicks(self.path)
        if self.study.clicks is None:
            raise BadInput("; ".join(["there are no clicks", *self.study.notes]))
        return self.study.clicks

    @cached_property
    def labels(self) -> Judgments:
        """The labels to score the runs with."""
        if self.files:
            return self.reading.study(self.files[0]).judged
        if self.study is None:
            raise BadInput.at(f"after {self.path}", expected="labels to score the runs with", found="nothing")
        return self.study.judged

    @cached_property
    def runs(self) -> list[Runs]:
        """The runs of the systems that users compared."""
        paths = self.files[1:] or runs_in(self.path) or (runs_in(self.files[0]) if self.files else [])
        if not paths:
            expected = "labels, then the runs of the systems that users compared"
            raise BadInput.at(f"after {self.path}", expected=expected, found=" ".join(self.files) or "nothing")
        return read_several(paths)

    @property
    def compared(self) -> tuple[Preferences, Judgments, list[Runs]]:
        """What users preferred, with the labels and runs to hold against it."""
        return self.preferences, self.labels, self.runs

    @cached_property
    def queries(self) -> Queries | None:
        """The queries with their kinds, where a file tells them."""
        if self.study is not None:
            return self.study.queries
        return None if self.queries_path is None else read_queries(self.queries_path)

    @cached_property
    def documents(self) -> Documents | None:
        """The documents as users saw them, where a file or the study has them."""
        if self.documents_path is not None:
            return read_documents(self.documents_path)
        # Read when they are asked for: of a large study they are many.
        return None if self.study is None else self.reading.study(self.path, only=["documents"]).documents

    def measures_or(self, names: Sequence[str], depth: int | None = None) -> list[str]:
        """The measures that were asked for, or these down to what users saw."""
        return list(self.measures) or [f"{name}@{shown_depth(self.preferences, depth)}" for name in names]


def scored(users: str) -> Callable[[Any], Any]:
    """The words of a part that scores runs: what users said, labels, runs."""
    return as_one(click.argument("users", metavar=users), click.argument("files", metavar="LABELS RUN...", nargs=-1))


preferences = click.argument("users", metavar="PREFERENCES")
