"""`karat convert`: from one format to another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.open_study import Opened, opened_study
from karat.cli.options import OneOf, named
from karat.cli.terminal import tell_notes
from karat.errors import BadInput
from karat.formats import write
from karat.formats.atomic_write import put_in_place
from karat.formats.content_type import READERS, kind_of
from karat.formats.write import fitted, format_for
from karat.labels import consensus
from karat.labels.consensus import How
from karat.labels.selection import LLM
from karat.records import Judgments, Records
from karat.records.table import count


def one_label_each(labels: Judgments, how: str) -> Judgments:
    """The labels of several judges as one for each document.

    >>> said = {"ann": [0, 1, 0, 1, 0, 1], "bob": [0, 1, 0, 1, 0, 1], "eve": [1, 0, 1, 0, 1, 1]}
    >>> labels = Judgments.of([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...                        for judge, given in said.items() for i, label in enumerate(given)])
    >>> one_label_each(labels, "dawid-skene").frame["label"].to_list()
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    """
    from karat.comparison.prepared import error_model  # most conversions need no fit

    model = error_model(labels, how)
    return consensus(labels, cast(How, how)) if model is None else model.labels()


CONVERT_EXAMPLES = """\b
Examples:
  karat convert qrels.txt labels.parquet
  karat convert book.json labels.csv            (a Quepid book)
  karat convert crowd.csv qrels.txt --consensus (one label per document)
  karat convert crowd.csv qrels.txt --consensus dawid-skene (by an error model of the judges)
  karat convert graded.csv yes-or-no.csv --map 2=1,3=1
  karat convert labels.jsonl - --to trec | head"""


@click.command(epilog=CONVERT_EXAMPLES)
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


EXPORT_EXAMPLES = """\b
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


@click.command(epilog=EXPORT_EXAMPLES, short_help="Write a study's judgments, preferences or tasks to a file.")
@click.argument("folder")
@click.argument("target", metavar="FILE")
@options.kind(OneOf("karat.study.exports:exportable"), default="judgments")
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
        from karat.study.exports import exported

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
            from karat.web.roster import people_file

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
    from karat.web.roster import everything

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
