"""What the kinds of simulated studies share: the command of one, how it is told and written, options for numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.option_values import as_one
from karat.cli.results import print_result, tell_as
from karat.cli.tables import console, say, side_by_side
from karat.formats.write_folder import write_folder
from karat.records import Records, Result
from karat.records.number_format import figure

#: What a study's folder gets, by the names of files.
Files = Mapping[str, Records | pl.DataFrame | str]
#: What was simulated in a sentence, or as a table; the planted truth; and the files.
Made = tuple[str | Result, Mapping[str, Any], Files]


def study(*planted: Callable[[Any], Any], examples: str) -> Callable[[Callable[..., Made]], click.Command]:
    """The command of a kind of study, from the function that makes it and what can be planted in it."""

    def made_of(make: Callable[..., Made]) -> click.Command:
        @wraps(make)
        def told(seed: int, out: str | None, form: options.Form, **asked: Any) -> None:
            said, truth, files = make(seed=seed, **asked)
            truth = {
                name: None if isinstance(value, float) and value != value else value for name, value in truth.items()
            }
            known = json.dumps({"simulated": "All of this study is simulated.", "seed": seed, **truth}, indent=2)
            written = [] if out is None else write_folder(out, {**files, "truth.json": known + "\n"})
            _tell(said, truth, seed, out, written, form)

        asked = as_one(*planted, options.seed, options.out_folder, options.form)(told)
        return click.command(epilog=f"\b\nExamples:\n  {examples}")(asked)

    return made_of


def _tell(
    said: str | Result, truth: Mapping[str, Any], seed: int, out: str | None, written: list[str], form: options.Form
) -> None:
    """What was made: its table, or else the planted truth as one."""
    rows = {"planted": [*truth], "truth": [None if isinstance(x, Mapping) else str(x) for x in truth.values()]}
    table = Result(pl.DataFrame(rows).drop_nulls(), said) if isinstance(said, str) else said
    found = {"finding": said} if isinstance(said, str) else said.to_dict()

    def show() -> None:
        if isinstance(said, Result):
            print_result(said)
            return
        printed = console()
        say(printed, said)
        cells = [
            [name.replace("_", " "), figure(float(value), 3) if isinstance(value, int | float) else str(value or "-")]
            for name, value in truth.items()
            if not isinstance(value, Mapping)
        ]
        for part in side_by_side(["planted", "truth"], cells, printed.width):
            printed.print(part)

    tell_as(form, {**found, "truth": truth, "seed": seed, "files": written}, table, show)
    if form.printed != "json":
        where = "Nothing written: name a folder with --out." if out is None else f"Wrote {', '.join(written)} in {out}."
        click.echo(where, err=form.printed != "table")


def number(name: str, default: float, meaning: str, *words: str, least: int | None = None) -> Callable[[Any], Any]:
    """An option for a number: a whole one, from `least` on, where that is given."""
    kind = None if least is None else click.IntRange(least)
    return click.option(name, *words, default=default, type=kind, help=meaning)


def n_queries(default: int, least: int = 1) -> Callable[[Any], Any]:
    """The option for how many queries there are."""
    return number("--n-queries", default, "How many queries.", "queries", least=least)
