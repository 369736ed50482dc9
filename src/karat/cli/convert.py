"""`karat convert`: from one format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import app

EXAMPLE = """\b
Examples:
  karat convert qrels.txt labels.parquet
  karat convert book.json labels.csv            (a Quepid book)
  karat convert crowd.csv qrels.txt --majority  (one label per document)
  karat convert labels.jsonl - --to trec | head"""


@app.command(epilog=EXAMPLE)
def convert(
    source: Annotated[str, typer.Argument(help="The file to read; - is standard input.", metavar="FROM")],
    target: Annotated[str, typer.Argument(help="The file to write; its ending tells the format; - is standard output.", metavar="TO")],
    kind: Annotated[
        str | None, typer.Option(help="What it holds: judgments, runs, preferences, clicks, queries, documents.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="trec, csv, tsv, jsonl, parquet, quepid, quepid-csv, xml.")] = None,
    to_format: Annotated[str | None, typer.Option("--to", help="trec, csv, tsv, jsonl, parquet, quepid, quepid-csv.")] = None,
    majority: Annotated[bool, typer.Option("--majority", help="One label per document: the majority of the judges.")] = False,
    scale: Annotated[str | None, typer.Option(help="The scale of the labels: 0..3, or bad,fair,good.")] = None,
    drop_bad_labels: Annotated[
        bool, typer.Option("--drop-bad-labels", help="Drop labels outside the scale, and say how many.")
    ] = False,
) -> None:
    """Convert judgments, runs and other records between formats; what a format cannot hold is named."""
    from karat.errors import BadInput
    from karat.formats import read_judgments, write
    from karat.formats.kinds import READERS, kind_of
    from karat.labels import majority as by_majority
    from karat.records import Judgments, Records

    what = kind or kind_of(source, from_format)
    if what not in READERS:
        raise BadInput.at("the kind", expected=" or ".join(READERS), found=f'"{what}"')
    records: Records
    if what == "judgments":
        records = read_judgments(source, scale=scale, drop_bad_labels=drop_bad_labels, format=from_format)
    else:
        records = READERS[what](source, format=from_format)
    if majority:
        if not isinstance(records, Judgments):
            raise BadInput.at("--majority", expected="judgments", found=what)
        records = by_majority(records)
    lost = write(records, target, to_format)
    for note in [*records.notes, *lost]:
        typer.echo(f"note: {note}", err=True)
    if target != "-":
        typer.echo(f"Wrote {records!r} to {target}.", err=True)
