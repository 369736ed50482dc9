"""`karat convert`: from one format to another."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.messages import tell_notes
from karat.formats import write
from karat.formats.kinds import READERS, kind_of
from karat.formats.write import fitted, format_of
from karat.labels import consensus as one_each
from karat.labels.consensus import How
from karat.records import Judgments, Records
from karat.records.base import count

EXAMPLES = """\b
Examples:
  karat convert qrels.txt labels.parquet
  karat convert book.json labels.csv            (a Quepid book)
  karat convert crowd.csv qrels.txt --consensus (one label per document)
  karat convert labels.jsonl - --to trec | head"""


@click.command(epilog=EXAMPLES)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@options.kind(click.Choice(list(READERS)), show_default="as its columns tell")
@options.from_format
@options.to_format
@options.consensus
@options.labels
def convert(
    source: str,
    target: str,
    kind: str | None,
    from_format: str | None,
    to_format: str | None,
    consensus: How | None,
    reading: Reading,
) -> None:
    """Convert judgments, runs and other records between formats.

    The formats are told from the files' endings and first lines, or named. What a format cannot hold is named, not
    dropped in silence. Files may be packed (.gz, .zst); - is standard input or output.
    """
    what = kind or kind_of(source, from_format)
    records: Records
    if what == "judgments":
        records = reading.judgments(source, from_format)
    else:
        judging = ("scale", "drop_bad_labels", "time_format", "consensus")
        options.refuse(*judging, why=f"{source} holds {what}, not judgments")
        records = READERS[what](source, format=from_format)
    if consensus is not None and isinstance(records, Judgments):
        records = one_each(records, consensus)
    written, lost = fitted(records, to_format or format_of(target))
    write(written, target, to_format)
    tell_notes([*records.notes, *lost])
    if target != "-":
        click.echo(f"Wrote {count(len(written), 'row')} of {what} to {target}.", err=True)
