"""How servers are asked, by `karat ask` and `karat fetch`: how many calls at a time, how often, how long."""

from __future__ import annotations

from collections.abc import Callable

import click

from karat.cli.option_values import Command, named


def concurrency(default: int) -> Callable[[Command], Command]:
    """How many calls are on their way."""
    return click.option(
        "--concurrency", default=default, type=click.IntRange(1, 256), help="Calls on their way at one time."
    )


def attempts(default: int) -> Callable[[Command], Command]:
    """How often what fails is tried."""
    return click.option(
        "--attempts", default=default, type=click.IntRange(1, 20), help="How often a call is tried that fails."
    )


def timeout(default: float) -> Callable[[Command], Command]:
    """How long an answer is waited for."""
    return click.option("--timeout", default=default, type=click.FloatRange(0.1), help="Seconds to wait for an answer.")


def _paths(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Paths by the names of columns; `id` is what others call `doc`."""
    said = [part for text in texts for part in text.split(",")]
    found = named("--columns", said, str, expected="NAME=PATH, as doc=_source.sku,title=_source.name")
    return {"doc" if name == "id" else name: path for name, path in found.items()}


paths = click.option(
    "--columns",
    metavar="NAME=PATH,...",
    multiple=True,
    callback=_paths,
    help="Which column is which, e.g. doc=docno,label=rel or gold.label=grade.",
)
answers = click.option("--answers", metavar="FILE", help="Where answers are kept; else beside what is written.")
