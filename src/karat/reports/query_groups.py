"""Where is a system better? The two systems of the headline on each group of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from karat.comparison import Comparison, GroupComparison, by_group, groups_of
from karat.comparison import compare as compared
from karat.errors import Undefined
from karat.records import Judgments, Queries, Runs
from karat.records.table import count
from karat.reports.figure import Figure
from karat.reports.section import Section, Table, Told, headline
from karat.reports.verdict_figures import dots_figure
from karat.study import Study


def query_groups(study: Study, column: str) -> pl.DataFrame:
    """The group of each query of the study, by a column of its queries or a rule about their text."""
    known = study.queries
    if known is None:
        known = Queries.of({"query": [] if study.labels is None else study.labels.frame["query"].unique().to_list()})
    return groups_of(known, column)


def groups_section(
    found: Comparison,
    told: Told,
    pair: list[Runs],
    labels: Judgments,
    study: Study,
    column: str,
    how: Mapping[str, Any],
) -> Section:
    """The difference of the two systems on each group of queries; of more than two, they are compared by themselves.

    `how` is passed to `compare`.
    """
    if found.verdict == "cannot say":
        raise Undefined("there is no verdict over all queries")
    if len(found.systems) > 2:
        found = compared(
            labels,
            pair,
            found.measure,
            gold=study.gold,
            level=found.level,
            draws=100,
            **how,
        )
    groups = by_group(found, query_groups(study, column), column)
    a, b = found.systems
    table = Table(f"{b} less {a} by {column} of the queries; holm allows for all groups", groups.frame, True)
    try:
        figure = groups_figure(groups)
    except Undefined:
        return Section((groups.finding,), (), (table,), groups.notes)
    return Section((groups.finding,), (figure,), (table,), groups.notes)


def groups_figure(groups: GroupComparison) -> Figure:
    """The difference of the two systems on each group of queries as dots on intervals."""
    found, column = groups.found, groups.column
    a, b = found.systems
    shown = groups.frame.filter(pl.col("low").is_not_nan())
    if not shown.height:
        raise Undefined(groups.finding.rstrip("."))
    frame = shown.select(
        "group",
        row=pl.col("group"),
        difference="difference",
        low="low",
        high="high",
        p="p",
        holm="holm",
        queries="queries",
        look_at=pl.col("verdict").is_in(["better", "worse"]),
    )
    how = f"{b} less {a} in {found.measure} on queries of each {column}, {found.level * 100:g} % intervals; gold: shown"
    how += f" allowing for {count(groups.frame.height, 'group')}."
    name = "".join(letter if letter.isalnum() else "-" for letter in column.lower())
    return dots_figure(f"by-{name}", headline(groups.finding), how, frame, found.measure, less=f"{b} less {a}")
