"""`karat convert`: from one format to another."""

from __future__ import annotations

import math
from dataclasses import replace

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.messages import tell_notes
from karat.cli.one_label import one_label_each
from karat.cli.option_values import named
from karat.errors import BadInput
from karat.formats import write
from karat.formats.kinds import READERS, kind_of
from karat.formats.write import fitted, format_for
from karat.records import Judgments, Records
from karat.records.base import count

EXAMPLES = """\b
Examples:
  karat convert qrels.txt labels.parquet
  karat convert book.json labels.csv            (a Quepid book)
  karat convert crowd.csv qrels.txt --consensus (one label per document)
  karat convert crowd.csv qrels.txt --consensus dawid-skene (by an error model of the judges)
  karat convert graded.csv yes-or-no.csv --map 2=1,3=1
  karat convert labels.jsonl - --to trec | head"""


@click.command(epilog=EXAMPLES)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@options.kind(click.Choice(list(READERS)), show_default="as its columns tell")
@options.from_format
@options.to_format
@options.consensus
@click.option("--map", "mapped", metavar="OLD=NEW,...", help="Other grades for some, as 2=1,3=1; the rest stay.")
@options.labels
def convert(
    source: str,
    target: str,
    kind: str | None,
    to_format: str | None,
    consensus: str | None,
    mapped: str | None,
    reading: Reading,
) -> None:
    """Convert judgments, runs and other records between formats.

    The formats are told from the files' endings and first lines, or named. What a format cannot hold is named, not
    dropped in silence. Files may be packed (.gz, .zst); - is standard input or output.
    """
    from_format = reading.from_format
    what = kind or kind_of(source, from_format)
    records: Records
    if what == "judgments":
        records = reading.judgments(source)
    else:
        judging = ("scale", "drop_bad_labels", "time_format", "consensus", "mapped")
        options.refuse(*judging, why=f"{source} holds {what}, not judgments")
        records = READERS[what](source, format=from_format)
    if isinstance(records, Judgments):
        records = records if mapped is None else _with_other_grades(records, mapped)
        records = records if consensus is None else one_label_each(records, consensus)
    to_format, notes = format_for(records, target, to_format)
    written, lost = fitted(records, to_format)
    write(written, target, to_format)
    tell_notes([*records.notes, *notes, *lost])
    if target != "-":
        click.echo(f"Wrote {count(len(written), 'row')} of {what} to {target}.", err=True)


def _with_other_grades(labels: Judgments, mapped: str) -> Judgments:
    """The labels on another scale: grades that are named have new ones, the rest stay."""
    try:
        pairs = named("--map", mapped.split(","), float, expected="")
        new = {float(old): grade for old, grade in pairs.items()}
        if not all(math.isfinite(grade) for grade in new.values()):
            raise ValueError(mapped)
    except ValueError:
        raise BadInput.at("--map", expected="grades as OLD=NEW,..., as 2=1,3=1", found=f'"{mapped}"') from None
    there = labels.frame["label"].drop_nulls().unique()
    strange = [f"{grade:g}" for grade in new if grade not in there]
    if strange:
        known = ", ".join(f"{grade:g}" for grade in there.sort().to_list()[:10])
        raise BadInput.at("--map", expected=f"grades of the file ({known})", found=", ".join(strange))
    changed = pl.col("label").replace_strict(list(new), list(new.values()), default=pl.col("label"))
    return replace(labels, frame=labels.frame.with_columns(changed), scale=None)
