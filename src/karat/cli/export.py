"""`karat export`: what was collected, as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click
import polars as pl

from karat.cli import options
from karat.cli.messages import tell_notes
from karat.cli.one_label import one_label_each
from karat.cli.option_values import OneOf
from karat.cli.study import Opened, opened_study
from karat.errors import BadInput
from karat.formats import write
from karat.formats.put_in_place import put_in_place
from karat.formats.write import fitted, format_for
from karat.labels.selection import LLM
from karat.records import Judgments, Records
from karat.records.base import count

EXAMPLES = """\b
Examples:
  karat export my-study labels.csv
  karat export my-study qrels.txt --consensus        (one label per document)
  karat export my-study gold.csv --kind gold         (what karat plan gold drew, for karat compare --gold)
  karat export my-study preferences.csv --kind preferences
  karat export my-study people.csv --kind people     (who to pay: ids, codes, time, checks)
  karat export my-study everything.zip               (all tables and the log)
  karat export my-study log.jsonl --kind log         (every event, undone ones too)"""

#: Formats that have a grade of the whole document in every row, and nothing else.
RATINGS = ("trec", "quepid", "quepid-csv")


@click.command(epilog=EXAMPLES, short_help="Write a study's judgments, preferences or tasks to a file.")
@click.argument("folder")
@click.argument("target", metavar="FILE")
@options.kind(OneOf("karat.store.exported:exportable"), default="judgments")
@options.to_format
@options.consensus
@options.group
@options.database
def export(
    folder: str,
    target: str,
    kind: str,
    to_format: str | None,
    consensus: str | None,
    group: str | None,
    database: str | None,
) -> None:
    """Write the judgments, preferences, tasks, codes of reasons, people or the log of a study to a file.

    The format follows the file's ending. Only what stands is written (the log has everything), with the probability of
    planned tasks. Gold labels are those of documents that a plan drew, with a row for each that has none yet. In CSV
    and TSV, cells that a spreadsheet would run as formulas get a quote before them, ids as well, which karat takes away
    on reading; for programs that do not, write .jsonl or .parquet.
    """
    for option, asked in (("--consensus", consensus), ("--group", group)):
        if asked is not None and kind not in ("judgments", "gold"):
            raise BadInput.at(option, expected="judgments or gold labels", found=kind)
    with opened_study(folder, database, made=False) as opened:
        from karat.store.exported import exported

        scale, groups = opened.folder.study.scale, (*opened.folder.study.groups, LLM)
        if group is not None and group not in groups:
            raise BadInput.at("--group", expected=f"one of the study's: {', '.join(groups)}", found=f'"{group}"')
        if target.endswith(".zip"):
            named = None if kind == "judgments" else kind
            given = {"--kind": named, "--to": to_format, "--consensus": consensus, "--group": group}
            _everything(opened, target, given)
            return
        records: Records
        if kind == "people":
            from karat.collect.pay import people_file

            records = people_file(opened.store, opened.folder.study.platform.tasks)
        else:
            records = exported(opened.store, kind, scale, group)
    form, notes = format_for(records, target, to_format)
    if consensus is not None and isinstance(records, Judgments):
        records = _one_each(records, consensus, waiting=form not in RATINGS)
    written, lost = fitted(records, form)
    write(written, target, form)
    tell_notes([*records.notes, *notes, *lost])
    if target != "-":
        click.echo(f"Wrote {count(len(written), 'row')} of {kind} to {target}.", err=True)


def _everything(opened: Opened, target: str, given: Mapping[str, str | None]) -> None:
    """All tables, the log and the ids to pay, in one zip."""
    from karat.collect.pay import everything

    for option, said in given.items():
        if said is not None:
            raise BadInput.at(option, expected="none for a zip, which has everything", found=said)
    study = opened.folder.study
    put_in_place(Path(target), everything(opened.store, study.scale, study.platform.tasks))
    click.echo(f"Wrote everything to {target}.", err=True)


def _one_each(judgments: Judgments, how: str, *, waiting: bool) -> Judgments:
    """One label per document with its probability, and a row for drawn documents that wait for one if asked."""
    notes: list[str] = []
    frame, reduced = judgments.frame, one_label_each(judgments, how)
    labels = reduced.frame
    if "probability" in frame.columns:
        key = [name for name in ("query", "doc", "subtopic", "context") if name in labels.columns]
        more = [pl.col(name).first() for name in ("round", "drawn_for") if name in frame.columns]
        known = frame.drop_nulls("probability").group_by(key, maintain_order=True)
        drawn = known.agg(pl.col("probability").unique(), *more)
        differ = drawn.filter(pl.col("probability").list.len() > 1).height
        one = pl.when(pl.col("probability").list.len() == 1).then(pl.col("probability").list.first())
        drawn = drawn.with_columns(one)
        labels = labels.join(drawn, on=key, how="left", nulls_equal=True, maintain_order="left")
        if waiting:
            # What was drawn and has no label belongs to the sample, which a comparison has to know.
            without = drawn.drop_nulls("probability").join(labels, on=key, how="anti", nulls_equal=True)
            labels = pl.concat([labels, without], how="diagonal")
        if differ:
            notes.append(f"{count(differ, 'document')} drawn with different probabilities: none is written")
    return replace(reduced, frame=labels, notes=(*reduced.notes, *notes))
