"""`karat init`: a folder with a study that can be served at once and changed by hand."""

from __future__ import annotations

import click

from karat.formats.example import write_example

EXAMPLES = """\b
Examples:
  karat init my-study                     (a small example, to be changed)
  karat init my-study --title "Shoes" --empty
  karat serve my-study"""


@click.command(epilog=EXAMPLES, short_help="Start a study: its scale, guidelines, groups and rules.")
@click.argument("folder")
@click.option("--title", default="An example study", help="The study's title, as judges and readers see it.")
@click.option("--empty", is_flag=True, help="Only study.toml, without the example's queries and documents.")
def init(folder: str, title: str, empty: bool) -> None:
    """Write a study: study.toml with the scale, guidelines, groups and rules; queries, documents, runs and tasks.

    Nothing that is there already is overwritten.
    """
    written = write_example(folder, title=title, empty=empty)
    click.echo(f"Wrote {', '.join(written)} in {folder}.")
    if empty:
        click.echo(
            "Add queries.csv (query, text, description), documents.jsonl (doc, title, snippet, url, text), and what to"
        )
        click.echo("ask: runs/ (the first ten documents of each run are judged) or tasks.csv (query, doc).")
    click.echo(f"Change study.toml as you like, then: karat serve {folder}")
