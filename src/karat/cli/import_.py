"""`karat import`: tasks, and labels or preferences collected elsewhere, into a study."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat import my-study gold-tasks.csv              (what karat plan wrote)
  karat import my-study crowd.csv --kind judgments  (labels from elsewhere fill their slots)
  karat import my-study old.jsonl --kind preferences"""


@click.command("import", epilog=EXAMPLES)
@click.argument("folder")
@click.argument("source", metavar="FILE")
@click.option("--kind", metavar="KIND", help="What it holds: tasks, judgments or preferences; told from its columns.")
@click.option("--from", "from_format", metavar="FORMAT", help="trec, csv, tsv, jsonl, parquet, quepid or quepid-csv.")
@click.option("--database", metavar="URL", help="postgresql://...; by default the file karat.db in the folder.")
@options.drop_bad_labels
def import_(
    folder: str, source: str, kind: str | None, from_format: str | None, database: str | None, drop_bad_labels: bool
) -> None:
    """Bring tasks, judgments or preferences into a study.

    The same rows again add nothing. Labels fill the slots of their tasks; tasks that are not there are made, and asked
    as planned once a plan has them. What is left out is counted: labels beyond those asked for, a judge's second label
    for a document, and answers to traps. The probability of planned tasks is kept, and set on tasks that were there
    before the plan.
    """
    from karat.cli.study import notes_of_tasks, opened_study
    from karat.errors import BadInput
    from karat.formats import read_judgments, read_preferences
    from karat.formats.files import File
    from karat.formats.tasks import read_tasks
    from karat.records import Judgments, Records
    from karat.records.base import count

    with opened_study(folder, database) as opened:
        what = kind or _told(source, from_format)
        if what == "tasks":
            from karat.store import add_tasks

            table, repeated = read_tasks(source).without_repeats()
            if repeated:
                click.echo(f"note: {count(repeated, 'repeated row')} of tasks left out.", err=True)
            added = add_tasks(opened.store, table.frame, source=table.source)
            there = f"; {len(added.known):,} were there already" if added.known else ""
            click.echo(f"{count(added.new, 'new task')} in {folder}{there}.", err=True)
            changed = len(added.probabilities), len(added.other_probability), len(added.other_labels)
            for note in notes_of_tasks(*changed):
                click.echo(note, err=True)
            return
        from karat.store.imported import import_records

        records: Records
        if what == "judgments":
            scale = opened.folder.study.scale
            records = read_judgments(source, scale=scale, drop_bad_labels=drop_bad_labels, format=from_format)
        elif what == "preferences":
            records = read_preferences(source, format=from_format)
        else:
            raise BadInput.at("the kind", expected="tasks, judgments or preferences", found=f'"{what}"')
        done = import_records(opened.store, records, name=File(source).stem)
    for note in [
        *(f"note: {note}" for note in records.notes),
        *notes_of_tasks(done.probabilities, done.other_probability),
    ]:
        click.echo(note, err=True)
    thing = "label" if isinstance(records, Judgments) else "preference"
    said = f"{count(done.new, f'new {thing}')} in {folder}"
    said += f"; {done.known:,} were there already" if done.known else ""
    if done.changed:
        said += f"; {done.changed:,} unlike what the same judge said before, which stands: left out"
    said += f"; {done.twice:,} by a judge who says another further down, which stands: left out" if done.twice else ""
    said += f"; {count(done.traps, 'answer')} to traps: left out" if done.traps else ""
    said += f"; {done.surplus:,} beyond what was asked for: left out" if done.surplus else ""
    click.echo(f"{said}.", err=True)


def _told(source: str, from_format: str | None) -> str:
    """What a file holds: judgments have labels, preferences choices, tasks neither."""
    from karat.errors import BadInput
    from karat.formats.kinds import kind_of
    from karat.formats.tasks import read_tasks

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
