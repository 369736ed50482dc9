"""Files to write, tables and charts in the form that a name's ending tells: never one that the same command reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import BadInput, Undefined
from karat.formats import csv
from karat.formats.format import format_ending
from karat.formats.open_files import write_bytes
from karat.records.result import ResultBase


def keep_inputs(option: str, out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse to write over a file that the command reads, by whatever path it is named.

    >>> keep_inputs("--out", "plan.csv", ["labels.csv", None, "-"])
    >>> keep_inputs("--out", "./labels.csv", ["labels.csv"])
    Traceback (most recent call last):
    karat.errors.BadInput: --out: expected a file that is not read, found ./labels.csv; write to another file
    """
    if out is None or out == "-":
        return
    for path in inputs:
        if path is not None and path != "-" and _same(out, path):
            raise BadInput.at(option, expected="a file that is not read", found=out, remedy="write to another file")


def _same(one: str, two: str) -> bool:
    try:
        return Path(one).samefile(two)
    except OSError:  # one of them is not there
        return Path(one).resolve() == Path(two).resolve()


def write_csv(table: pl.DataFrame, path: str) -> None:
    """Write a table as CSV; - is standard output."""
    write_bytes(path, csv.write_csv(table))


def write_tables(tables: Mapping[str, ResultBase], path: str, document: Mapping[str, Any]) -> list[str]:
    """Write tables in the form that the name's ending tells, and tell where: text and JSON hold all of them.

    Of a form that holds one table the first has the name, the others stand beside it.
    """
    from karat.reports import tables as made

    ending = Path(path).suffix.lower()
    if ending == ".tex":
        text = made.latex_of_all(tables)
    elif ending == ".md":
        text = "\n".join(made.to_markdown(result, title) for title, result in tables.items())
    elif ending == ".html":
        text = made.to_html(tables)
    elif ending == ".json":
        text = json.dumps(document, ensure_ascii=False, default=str) + "\n"
    else:
        form = format_ending(ending)
        assert form is not None
        assert form.write is not None
        paths = [path if not place else beside(path, title) for place, title in enumerate(tables)]
        for name, result in zip(paths, tables.values(), strict=True):
            write_bytes(name, form.write(_flat(result.to_frame()) if ending != ".parquet" else result.to_frame()))
        return paths
    write_bytes(path, text.encode())
    return [path]


def write_plots(tables: Mapping[str, ResultBase], path: str) -> list[str]:
    """Draw the tables that have a chart, the first under this name, others beside it, and tell where."""
    from karat.reports.plots import figure_of

    written, reasons = list[str](), list[Undefined]()
    # A table may be drawn as several figures.
    drawn = [each for title, result in tables.items() for each in getattr(result, "charts", {title: result}).items()]
    for title, result in drawn:
        try:
            figure = figure_of(result)
        except Undefined as error:
            reasons.append(error)
            continue
        name = beside(path, title) if written else path
        write_bytes(name, figure.drawn(Path(path).suffix.lower()))
        written.append(name)
    if not written:
        raise reasons[0]
    return written


def beside(path: str, title: str) -> str:
    """The file of a further table or chart.

    >>> beside("figures/judges.svg", "Label distribution")
    'figures/judges-label-distribution.svg'
    """
    from karat.reports.tables import slug_of

    return str(Path(path).with_stem(f"{Path(path).stem}-{slug_of(title)}"))


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with a text in place of each list, for forms whose cells hold no lists."""
    lists = [name for name, kind in table.schema.items() if kind == pl.List]
    return table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
