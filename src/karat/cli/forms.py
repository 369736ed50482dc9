"""In which form results are wanted: printed for people, as JSON, TSV or LaTeX; tables and charts in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import click

from karat.cli.outputs import keep_inputs
from karat.errors import BadInput

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
