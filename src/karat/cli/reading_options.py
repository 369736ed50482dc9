"""Options that hold for all that a command reads: which column is which, and how labels are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from karat.cli.inputs import Reading
from karat.cli.option_values import as_one


def columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """--columns, which holds for every table that the command reads."""

    @wraps(command)
    def with_columns(*, columns: str | None, **typed: Any) -> Any:
        if columns is None:
            return command(**typed)
        from karat.formats.said_columns import Columns, said_of_all

        with said_of_all(Columns.of_files(columns, files_among(typed))):
            return command(**typed)

    option = click.option(
        "--columns",
        metavar="COLUMN=HEADER,...",
        help="Which column is which, e.g. doc=docno,label=rel or gold.label=grade.",
    )
    made: Callable[..., Any] = option(with_columns)
    return made


def files_among(typed: Mapping[str, Any]) -> dict[str, str]:
    """The files among what was typed, and those in the folders among it, with what each is read for where it is known.

    Labels may be typed without an option in many places, so that only other options tell for sure.
    """
    from karat.formats.said_columns import ROLES, tables_in

    words = [
        (name, word) for name, given in typed.items() for word in (given if isinstance(given, tuple) else (given,))
    ]
    found = dict[str, str]()
    for name, word in words:
        if not isinstance(word, str) or not word:
            continue
        if word == "-" or Path(word).is_file():
            found.setdefault(word, name if name in ROLES else "")
        elif Path(word).is_dir():
            found |= tables_in(Path(word))
    return found


def reads(*wanted: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that say how labels are read, which the command gets as one: `reading`, of type `Reading`."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_reading(**typed: Any) -> Any:
            how = {field.name: typed.pop(field.name) for field in fields(Reading) if field.name in typed}
            return command(reading=Reading(**how), **typed)

        made: Callable[..., Any] = as_one(*wanted, columns)(with_reading)
        return made

    return decorated
