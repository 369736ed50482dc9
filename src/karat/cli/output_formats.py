"""In which form results are wanted: printed for people, as JSON, TSV or LaTeX; tables and charts in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import click
import polars as pl

from karat.errors import BadInput, Undefined
from karat.formats import csv
from karat.formats.format_registry import format_ending
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


#: What is printed: a table to read, one JSON document, tab-separated lines, or LaTeX.
Printed = Literal["table", "json", "tsv", "latex"]
#: The endings of tables, and those of them that are for people, which no command that makes records writes.
TABLES = (".tex", ".md", ".html", ".csv", ".tsv", ".json", ".parquet")
FOR_PEOPLE = (".tex", ".md", ".html")
PLOTS = (".svg", ".png", ".pdf", ".html")

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document with full precision.")
as_tsv = click.option("--tsv", "as_tsv", is_flag=True, help="Print tab-separated lines with full precision.")
as_latex = click.option("--latex", "as_latex", is_flag=True, help="Print LaTeX tables for a paper, with booktabs.")
plot = click.option("--plot", metavar="FILE", help="Draw the chart: .svg, .png, .pdf or .html.")
out = click.option("-o", "--out", metavar="FILE", help="Where to write what is made.")


@dataclass(frozen=True)
class Form:
    """What is printed, and where tables and charts are written besides."""

    printed: Printed = "table"
    out: str | None = None
    plot: str | None = None


def form(command: Callable[..., Any], *, drawn: bool = True) -> Callable[..., Any]:
    """--json, --tsv, --latex, --out and --plot, which the command gets as one: `form`.

    A command with an `out` of its own makes something else, as labels: it gets all files but .tex, .md and .html,
    which are tables everywhere.
    """
    own_out = _makes_files(command)

    @wraps(command)
    def with_form(
        *, as_json: bool, as_tsv: bool, as_latex: bool, plot: str | None = None, out: str | None = None, **others: Any
    ) -> Any:
        asked = {"--json": as_json, "--tsv": as_tsv, "--latex": as_latex, "--out -": out == "-"}
        both = [name for name, wanted in asked.items() if wanted]
        if len(both) > 1:
            raise BadInput(f"{' and '.join(both)} both want the standard output: choose one")
        if own_out:
            table = out if out is not None and _ending(out) in FOR_PEOPLE else None
            others["out"] = None if table is not None else out
        else:
            table = out
        _check("--out", table, TABLES)
        _check("--plot", plot, PLOTS)
        printed: Printed = "json" if as_json else "tsv" if as_tsv else "latex" if as_latex else "table"
        return command(form=Form(printed, table, plot), **others)

    for option in ([plot] if drawn else []) + ([] if own_out else [out]) + [as_latex, as_tsv, as_json]:
        with_form = option(with_form)
    return with_form


def undrawn(command: Callable[..., Any]) -> Callable[..., Any]:
    """As `form`, for commands whose results have no chart."""
    return form(command, drawn=False)


def _makes_files(command: Callable[..., Any]) -> bool:
    """Whether the command, or the function it is made of, has an `out` of its own."""
    made_of = [command]
    while hasattr(made_of[-1], "__wrapped__"):
        made_of.append(made_of[-1].__wrapped__)
    return any("out" in signature(one, follow_wrapped=False).parameters for one in made_of)


def _ending(path: str) -> str:
    return Path(path).suffix.lower()


def _check(option: str, path: str | None, endings: tuple[str, ...]) -> None:
    """Refuse, before any work is done, a file whose ending tells no form, or which the command reads."""
    if path is None:
        return
    keep_inputs(option, path, _words_typed())
    if _ending(path) not in endings:
        expected = f"a name that ends in {', '.join(endings[:-1])} or {endings[-1]}"
        raise BadInput.at(option, expected=expected, found=f'"{path}"')
    if not Path(path).absolute().parent.is_dir():
        raise BadInput.at(option, expected="a file in a folder that is there", found=path)


def _words_typed() -> list[str]:
    """All texts that were typed but --out and --plot: some of them are files."""
    typed = {name: value for name, value in click.get_current_context().params.items() if name not in ("out", "plot")}
    values = [one for value in typed.values() for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in values if isinstance(one, str)]
