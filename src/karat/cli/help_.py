"""`karat help WORD`: from a word of the papers or of the trade to the command and the page."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import click
import polars as pl

from karat.cli import options
from karat.cli.results import print_result, tell
from karat.errors import BadInput
from karat.records import Result

#: The words, what they mean and where they lead; docs/words.md is made of it.
WORDS = Path(__file__).parent / "words.toml"


@cache
def words() -> dict[str, dict[str, str]]:
    """Every word with what it `means`, its `command` and its `page`."""
    with WORDS.open("rb") as file:
        found = tomllib.load(file)
    return {word: {**entry, "also": ", ".join(entry.get("also", ()))} for word, entry in found.items()}


@click.command("help", epilog="\b\nExamples:\n  karat help isolation\n  karat help IA-PC\n  karat help")
@click.argument("word", nargs=-1)
@options.undrawn
def help_(word: tuple[str, ...], form: options.Form) -> None:
    """What a word means here, which command it leads to, and the page about it; without a word, all of them."""
    found = lookup(" ".join(word)) if word else [*words()]
    rows = [(name, words()[name]["means"], words()[name]["command"], words()[name]["page"]) for name in found]
    frame = pl.DataFrame(rows, schema=["word", "means", "command", "page"], orient="row")
    said = f"{len(rows)} words; karat help WORD tells one." if not word else ""
    tell({"Words": Result(frame, said)}, form, _show)


def lookup(asked: str) -> list[str]:
    """The words of this name, or else those whose meaning speaks of it.

    >>> lookup("fedweb"), lookup("test-retest"), lookup("ISOLATION")
    (['federated'], ['self-consistency'], ['isolation'])
    """
    names = {
        name.casefold(): word
        for word, entry in words().items()
        for name in (word, *(entry["also"].split(", ") if entry["also"] else ()))
    }
    wanted = asked.casefold().strip()
    if wanted in names:
        return [names[wanted]]
    inside = [word for name, word in names.items() if wanted in name] or [
        word for word, entry in words().items() if wanted in f"{entry['means']} {entry['command']}".casefold()
    ]
    if inside:
        return list(dict.fromkeys(inside))
    near = list(dict.fromkeys(names[name] for name in get_close_matches(wanted, names, 3, 0.5)))
    raise BadInput.at(
        "karat help",
        expected="a word that it knows",
        found=f'"{asked}"',
        remedy=f"did you mean {' or '.join(near)}?" if near else "karat help lists all",
    )


def _show(result: Result, title: str) -> None:
    if result.finding:
        print_result(Result(result.frame.select("word", "command", "page"), result.finding))
        return
    for row in result.frame.to_dicts():
        click.echo(f"{row['word']}: {row['means']}\n  {row['command']}\n  {row['page']}")
