"""Tables in the terminal: the finding in a sentence, the figures, then what to know about them."""

from __future__ import annotations

import math
import sys
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from karat.estimate import Scores
from karat.estimate.scores import decimals

#: Tables fit a terminal of this width; a wider one is used where there is one.
WIDTH = 100


def console() -> Console:
    """The standard output as a console; a file or pipe is as wide as a table may be."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, soft_wrap=False)


def print_scores(scores: Scores, by_query: bool = False) -> None:
    """The scores, best system first."""
    out = console()
    out.print(scores.sentence(), markup=False)
    cells = {(row["system"], row["measure"]): row for row in scores.means.iter_rows(named=True)}
    systems = scores.best_first()
    if len(systems) == 1:
        out.print(_one_system([cells[systems[0], measure] for measure in scores.measures]))
    else:
        widest = max(6, *(min(len(name), 30) for name in systems))
        for some in _groups(scores.measures, (out.width - widest - 2) // 24):
            out.print(_many_systems(systems, some, cells))
    if by_query:
        for system in systems:
            mine = scores.queries.filter(pl.col("system") == system)
            for some in _groups(scores.measures, (out.width - 22) // 13):
                out.print(_queries(mine, system if len(systems) > 1 else "", some))
    for note in scores.notes:
        out.print(f"- {note}", markup=False)


def _groups(measures: tuple[str, ...], at_once: int) -> list[tuple[str, ...]]:
    """Measures in groups that fit side by side."""
    at_once = max(1, at_once)
    return [measures[start : start + at_once] for start in range(0, len(measures), at_once)]


def _plain(**options: Any) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", **options)


def _one_system(rows: list[dict[str, Any]]) -> Table:
    table = _plain()
    table.add_column("measure")
    for name in ("value", "low", "high", "queries"):
        table.add_column(name, justify="right")
    for row in rows:
        places = decimals(row["low"], row["high"])
        ends = [_figure(row[end], places) for end in ("value", "low", "high")]
        table.add_row(row["measure"], *ends, f"{row['n']:,}")
    return table


def _many_systems(systems: list[str], measures: tuple[str, ...], cells: dict[tuple[str, str], dict[str, Any]]) -> Table:
    table = _plain()
    table.add_column("system", overflow="fold")
    for measure in measures:
        table.add_column(measure, justify="right", overflow="fold")
    for system in systems:
        table.add_row(system, *(_with_interval(cells[system, measure]) for measure in measures))
    return table


def _queries(frame: pl.DataFrame, title: str, measures: tuple[str, ...]) -> Table:
    table = _plain(title=title or None, title_justify="left")
    table.add_column("query", overflow="fold")
    for measure in measures:
        table.add_column(measure, justify="right", overflow="fold")
    for row in frame.iter_rows(named=True):
        table.add_row(row["query"], *(_figure(row[measure], 4) for measure in measures))
    return table


def _with_interval(row: dict[str, Any]) -> str:
    places = decimals(row["low"], row["high"])
    value = _figure(row["value"], places)
    if math.isnan(row["low"]):
        return value
    return f"{value} \\[{_figure(row['low'], places)}, {_figure(row['high'], places)}]"


def _figure(value: float, places: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{places}f}"
