"""`karat export`: what was collected, as files."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  karat export my-study labels.csv
  karat export my-study qrels.txt --majority         (one label per document)
  karat export my-study preferences.csv --kind preferences
  karat export my-study log.jsonl --kind log         (every event, undone ones too)"""

KINDS = ("judgments", "preferences", "tasks", "codes", "log")


@click.command(epilog=EXAMPLES)
@click.argument("folder")
@click.argument("target", metavar="FILE")
@click.option("--kind", type=click.Choice(KINDS), default="judgments", show_default=True, help="What to write.")
@click.option("--to", "to_format", metavar="FORMAT", help="trec, csv, tsv, jsonl, parquet, quepid or quepid-csv.")
@click.option("--majority", is_flag=True, help="Reduce to one label per document: what most judges said.")
@click.option("--database", metavar="URL", help="postgresql://...; by default the file karat.db in the folder.")
def export(folder: str, target: str, kind: str, to_format: str | None, majority: bool, database: str | None) -> None:
    """Write the judgments, preferences, tasks, codes of reasons or the log of a study to a file.

    The format follows the file's ending. Only what stands is written (the log has everything), with the probability of
    planned tasks. Cells that a spreadsheet would run as formulas are guarded.
    """
    from karat.cli.study import open_study
    from karat.errors import BadInput
    from karat.formats import write
    from karat.labels import majority as by_majority
    from karat.records import Judgments
    from karat.records.base import count

    opened = open_study(folder, database)
    from karat.store.exported import exported

    records = exported(opened.store, kind, opened.folder.study.scale)
    if majority:
        if not isinstance(records, Judgments):
            raise BadInput.at("--majority", expected="judgments", found=kind)
        records = by_majority(records)
    lost = write(records, target, to_format)
    for note in [*records.notes, *lost]:
        click.echo(f"note: {note}", err=True)
    if target != "-":
        click.echo(f"Wrote {count(len(records), 'row')} of {kind} to {target}.", err=True)
