"""Parts of an analysis as commands: each finds its tables, which are told to people, as JSON or as TSV alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from karat.cli import options
from karat.cli.options import as_one
from karat.cli.results import Show, Tables, console, document, print_result, print_titled, say, tell
from karat.cli.terminal import progress, waiting
from karat.errors import KaratError
from karat.records import Judgments, Result


@dataclass(frozen=True)
class Given:
    """What the parts of an analysis of labels look at."""

    judgments: Judgments

    def seen(self, result: Result, title: str) -> Result:
        """A table as people see it: grades by their names."""
        return replace(result, scale=self.judgments.scale)

    def show(self, result: Result, title: str) -> None:
        """Print a table under its title."""
        print_titled(self.seen(result, title), title)


class Part(click.Command):
    """A command that is one part of an analysis: `found` has its tables."""

    found: Callable[..., Tables]


def part(
    *wanted: Callable[[Any], Any],
    examples: str,
    show: Show = print_result,
    seen: Callable[[Result, str], Result] = lambda result, title: result,
) -> Callable[[Callable[..., Tables]], Part]:
    """The command of a part, from the function that finds its tables and these options; what all have is last.

    `seen` is how a table stands in a paper.
    """

    def made(found: Callable[..., Tables]) -> Part:
        @wraps(found)
        def told(form: options.Form, **typed: Any) -> None:
            with waiting("Looking"):
                tables = found(**typed)
            if typed.get("out") != "-":  # where the standard output is what is made
                given = typed.get("given")
                if given is None:
                    tell(tables, form, show, seen=seen)
                else:
                    tell(tables, form, given.show, seen=given.seen)

        lines = "".join(f"\n  {line}" for line in examples.splitlines())
        of_part = click.command(cls=Part, epilog=f"\b\nExamples:{lines}")
        command = of_part(as_one(*wanted)(options.form(told)))
        command.found = found
        return command

    return made


def every_part(given: Given, parts: Sequence[Part], form: options.Form) -> None:
    """Every part that the data allows; why others are left out is said."""
    found, left_out = dict[str, Tables](), dict[str, KaratError]()
    by_name = {str(one.name): one for one in parts}
    for name in progress([*by_name], "Looking"):
        try:
            found[name] = by_name[name].found(given)
        except KaratError as error:
            left_out[name] = error
    if not found:
        raise next(iter(left_out.values()))
    reasons = [f"{name}: {error}" for name, error in left_out.items()]
    said = {name: document(tables) for name, tables in found.items()} | {"left_out": reasons}
    tell(
        {title: table for tables in found.values() for title, table in tables.items()},
        form,
        given.show,
        said,
        given.seen,
    )
    for reason in reasons if form.printed == "table" else ():
        say(console(), f"- left out: {reason}")
