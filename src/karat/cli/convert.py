"""`karat convert`: from one format to another."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat convert qrels.txt labels.parquet
  karat convert book.json labels.csv            (a Quepid book)
  karat convert crowd.csv qrels.txt --majority  (one label per document)
  karat convert labels.jsonl - --to trec | head"""


@click.command(epilog=EXAMPLES)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--kind",
    metavar="KIND",
    help="What it holds: judgments, runs, preferences, clicks, queries or documents.",
)
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    help="trec, csv, tsv, jsonl, parquet, quepid, quepid-csv or xml.",
)
@click.option("--to", "to_format", metavar="FORMAT", help="trec, csv, tsv, jsonl, parquet, quepid or quepid-csv.")
@click.option("--majority", is_flag=True, help="Reduce to one label per document: what most judges said.")
@options.scale
@options.drop_bad_labels
def convert(
    source: str,
    target: str,
    kind: str | None,
    from_format: str | None,
    to_format: str | None,
    majority: bool,
    scale: str | None,
    drop_bad_labels: bool,
) -> None:
    """Convert judgments, runs and other records between formats.

    The formats are told from the files' endings and first lines, or named. What a format cannot hold is named, not
    dropped in silence. Files may be packed (.gz, .zst); - is standard input or output.
    """
    from karat.errors import BadInput
    from karat.formats import read_judgments, write
    from karat.formats.kinds import READERS, kind_of
    from karat.labels import consensus
    from karat.records import Judgments, Records
    from karat.records.base import count

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
        records = consensus(records)
    lost = write(records, target, to_format)
    for note in [*records.notes, *lost]:
        click.echo(f"note: {note}", err=True)
    if target != "-":
        click.echo(f"Wrote {count(len(records), 'row')} of {what} to {target}.", err=True)
