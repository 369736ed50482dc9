"""`karat import`: tasks, and labels or preferences collected elsewhere, into a study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.options import columns
from karat.cli.terminal import visible
from karat.errors import BadInput
from karat.formats import read_preferences
from karat.formats.content_type import kind_of
from karat.formats.karat_tables import read_tasks
from karat.formats.open_files import File
from karat.records import Judgments, Records, Source
from karat.records.table import count

if TYPE_CHECKING:
    from karat.cli.open_study import Opened

EXAMPLES = """\b
Examples:
  karat import my-study gold.csv --default-group experts  (what karat plan gold wrote, for one group to label)
  karat import my-study crowd.csv --kind judgments  (labels from elsewhere fill their slots)
  karat import my-study old.jsonl --kind preferences"""


@click.command("import", epilog=EXAMPLES)
@click.argument("folder")
@click.argument("source", metavar="FILE")
@options.kind(click.Choice(["tasks", "judgments", "preferences"]), show_default="as its columns tell")
@options.from_format
@click.option(
    "--default-group", "group", metavar="NAME", help="The group of rows that name none: who is asked, or who said this."
)
@options.database
@options.drop_bad_labels
@options.time_format
@columns
def import_(
    folder: str,
    source: str,
    kind: str | None,
    from_format: str | None,
    group: str | None,
    database: str | None,
    drop_bad_labels: bool,
    time_format: str | None,
) -> None:
    """Bring tasks, judgments or preferences into a study.

    The same rows again add nothing. Labels fill the slots of their tasks; tasks that are not there are made, and asked
    as planned once a plan has them. What is left out is counted: labels beyond those asked for, a judge's second label
    for a document, and answers to traps. The probability of planned tasks is kept, and set on tasks that were there
    before the plan. Of a plan of gold labels in rounds, what has no label yet is asked; its probabilities stand for
    those of the rounds before.
    """
    from karat.cli.open_study import opened_study

    with opened_study(folder, database) as opened:
        from karat.study.gold_plans import is_plan

        what = kind or _told(source, from_format)
        if what != "judgments":
            options.refuse("drop_bad_labels", why=f"{source} holds {what}, which have no labels")
        if what == "tasks":
            options.refuse("time_format", "from_format", why=f"{source} holds tasks, a table without times")
        if what == "tasks":
            said, notes = _add_tasks(opened, source, group)
        elif what == "judgments":
            reading = Reading(opened.folder.study.scale, drop_bad_labels, time_format, from_format=from_format)
            labels = reading.judgments(source)
            labels = replace(labels, frame=_with_group(labels.frame, group))
            plan = is_plan(labels)
            said, notes = _add_plan(opened, source, labels) if plan else _add_records(opened, source, labels, "label")
        elif what == "preferences":
            choices = read_preferences(source, time_format=time_format, format=from_format)
            choices = replace(choices, frame=_with_group(choices.frame, group))
            said, notes = _add_records(opened, source, choices, "preference")
        else:
            raise BadInput.at("the kind", expected="tasks, judgments or preferences", found=f'"{what}"')
    for note in notes:
        click.echo(visible(note), err=True)
    click.echo(f"{said[0]} in {folder}{''.join(f'; {more}' for more in said[1:])}.", err=True)


def _with_group(frame: pl.DataFrame, group: str | None) -> pl.DataFrame:
    """The rows, with the group in those that name none."""
    if group is None:
        return frame
    named = pl.col("group").cast(pl.String) if "group" in frame.columns else pl.lit(None, pl.String)
    return frame.with_columns(group=named.fill_null(group))


def _add_tasks(opened: Opened, source: str, group: str | None) -> tuple[list[str], list[str]]:
    """Tasks into the study: what came of it, and notes."""
    from karat.cli.open_study import notes_of_tasks
    from karat.study.tasks import add_tasks, unknown_columns

    table, repeated = read_tasks(source).without_repeats()
    table = replace(table, frame=_with_group(table.frame, group))
    notes = [f"note: {count(repeated, 'repeated row')} of tasks left out."] if repeated else []
    notes += _of_columns(unknown_columns(table.frame))
    added = add_tasks(opened.store, table.frame, source=table.source)
    notes += notes_of_tasks(added.chances, len(added.probabilities), len(added.other_labels))
    said = [count(added.new, "new task")]
    return said + ([f"{len(added.known):,} were there already"] if added.known else []), notes


def _add_plan(opened: Opened, source: str, plan: Judgments) -> tuple[list[str], list[str]]:
    """A plan with some of its labels into the study: what came of it, and notes."""
    from karat.cli.open_study import notes_of_tasks
    from karat.study.gold_plans import take_plan
    from karat.study.imports import not_kept

    taken = take_plan(opened.store, plan, name=File(source).stem)
    notes = _of_file(plan, source) + _of_columns(not_kept(plan))
    notes += notes_of_tasks(taken.chances, taken.probabilities)
    said = (
        (True, count(taken.tasks.new, "new task")),
        (True, count(taken.labels.new, "new label")),
        (taken.unlike, f"{count(taken.unlike, 'label')} unlike those that the study has, which stand: left out"),
        (taken.labels.surplus, f"{taken.labels.surplus:,} beyond what was asked for: left out"),
        (taken.labels.changed, f"{taken.labels.changed:,} unlike what the same judge said before: left out"),
    )
    return [text for many, text in said if many], notes


def _add_records(opened: Opened, source: str, records: Records, thing: str) -> tuple[list[str], list[str]]:
    """Labels or preferences into the study: what came of it, and notes."""
    from karat.cli.open_study import notes_of_tasks
    from karat.study.imports import import_records, not_kept
    from karat.web.unknown_references import not_in_the_files

    files = opened.folder
    notes = _of_file(records, source)
    notes += not_in_the_files(records, queries=files.queries, documents=files.documents, runs=files.runs)
    notes += _of_columns(not_kept(records))
    name = File(source).stem
    nameless = records.frame["judge"].null_count() if records.has("judge") else len(records)
    if nameless:
        notes.append(f"note: {count(nameless, thing)} without a judge's name taken for those of one judge, {name}.")
    done = import_records(opened.store, records, name=name)
    notes += notes_of_tasks(done.chances, done.probabilities)
    said = (
        (True, count(done.new, f"new {thing}")),
        (done.known, f"{done.known:,} were there already"),
        (done.changed, f"{done.changed:,} unlike what the same judge said before, which stands: left out"),
        (done.twice, f"{done.twice:,} by a judge who says another further down, which stands: left out"),
        (done.traps, f"{count(done.traps, 'answer')} to traps: left out"),
        (done.surplus, f"{done.surplus:,} beyond what was asked for: left out"),
    )
    return [text for many, text in said if many], notes


def _of_file(records: Records, source: str) -> list[str]:
    """What reading found; of columns that mean nothing it is said below that the study does not keep them."""
    strange = records.schema.not_understood(records.frame.columns, Source(File(source).name))
    return [f"note: {note}" for note in records.notes if note not in strange]


def _of_columns(names: list[str]) -> list[str]:
    """The columns that are lost, in a line."""
    what = "a column" if len(names) == 1 else "columns"
    return [f"note: {what} that the study does not keep: {', '.join(names)}."] if names else []


def _told(source: str, from_format: str | None) -> str:
    """What a file holds: judgments have labels, preferences choices, tasks neither."""
    try:
        found = kind_of(source, from_format)
    except BadInput:
        found = "tasks"
    if found == "judgments" and from_format is None and not source.endswith((".txt", ".qrels")):
        # karat plan gold writes a column label that is still empty.
        try:
            frame = read_tasks(source).frame
        except BadInput:
            return found
        return "tasks" if "label" in frame.columns and frame["label"].null_count() == frame.height else found
    return found if found in ("judgments", "preferences") else "tasks"
