"""`karat init`: a folder with a study that can be served at once and changed by hand."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli import options
from karat.cli.options import columns
from karat.cli.terminal import tell_notes
from karat.formats.study_folder import write_example

EXAMPLES = """\b
Examples:
  karat init my-study                     (a small example, to be changed)
  karat init my-study --title "Shoes" --empty
  karat init shoes old.run new.run queries.csv documents.jsonl --depth 5 --n-results 60
  karat init shoes a.csv queries.csv products.csv --columns query=term_id,doc=sku,title=name
  karat serve my-study"""


@click.command(epilog=EXAMPLES, short_help="Start a study: its scale, guidelines, groups and rules.")
@click.argument("folder")
@click.argument("files", metavar="[RUN... QUERIES DOCUMENTS]", nargs=-1)
@click.option(
    "--title", show_default="the folder's name, or An example study",
    help="The study's title, as judges and readers see it.",
)  # fmt: skip
@click.option("--empty", is_flag=True, help="Only study.toml, without the example's queries and documents.")
@click.option(
    "--n-results", "results", type=click.IntRange(1), metavar="N", show_default="all",
    help="About how many results to have judged: those of queries drawn at random.",
)  # fmt: skip
@options.depth(10)
@options.seed
@columns
def init(
    folder: str, files: tuple[str, ...], title: str | None, empty: bool, results: int | None, depth: int, seed: int
) -> None:
    """Write a study: study.toml with the scale, guidelines, groups and rules; queries, documents, runs and tasks.

    From files of your own (runs, one of queries, one of documents; each tells what it holds) the study asks about the
    runs' first results; without files it is a small example. Nothing that is there already is overwritten.
    """
    if files:
        _from_files(folder, files, title, results, depth, seed)
        return
    options.refuse("results", "depth", "seed", why="there are no runs to judge the results of")
    written = write_example(folder, title=title or (_name(folder) if empty else "An example study"), empty=empty)
    click.echo(f"Wrote {', '.join(written)} in {folder}.")
    if empty:
        click.echo(
            "Add queries.csv (query, text, description), documents.jsonl (doc, title, snippet, url, text), and what to"
        )
        click.echo("ask: runs/ (the first ten documents of each run are judged) or tasks.csv (query, doc).")
    click.echo(f"Change study.toml as you like, then: karat serve {folder}")


def _from_files(
    folder: str, files: tuple[str, ...], title: str | None, results: int | None, depth: int, seed: int
) -> None:
    """A study of files that are there, and what to type next."""
    from karat.study.folders import start_study

    options.refuse("empty", why="the files are what the study holds")
    started = start_study(folder, files, title=title or _name(folder), depth=depth, results=results, seed=seed)
    tell_notes(started.notes)
    click.echo(started.finding)
    click.echo(f"Change {folder}/study.toml as you like, then:")
    click.echo(f"  karat serve {folder} --host 0.0.0.0 --invite NAME --invite NAME")
    verdict = "compare" if len(started.systems) > 1 else "score"
    click.echo(f"  karat {verdict} {folder} -m nDCG@{depth}")


def _name(folder: str) -> str:
    """What a study is called that has no other title."""
    return Path(folder).resolve().name
