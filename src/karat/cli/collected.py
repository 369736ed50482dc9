"""What was collected in a served study's folder, for commands that read files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

#: What the database may hold, and how files of it begin, which stand before it.
KINDS = {"judgments": ("judgments", "labels", "qrels"), "preferences": ("preferences",)}


@contextmanager
def collected_files(
    folder: str | None, named: Sequence[str] = (), database: str | None = None
) -> Iterator[dict[str, str]]:
    """Files with what a study's database holds, until the end of the block; files of the folder stand before it.

    The database is the folder's karat.db unless it is named; without either there is nothing.
    Nothing is looked for of the kinds `named`. What is used, and what is left aside, is said on standard error.
    """
    from tempfile import TemporaryDirectory

    from karat.cli.study import opened_study
    from karat.errors import BadInput, MissingExtra
    from karat.formats import write
    from karat.records.base import count

    place = Path(folder or "")
    found: dict[str, str] = {}
    if folder is None and database is not None:
        raise BadInput.at("--database", expected="the study's folder beside it", found="none")
    there = database is not None or ((place / "karat.db").is_file() and (place / "study.toml").is_file())
    if folder is None or not there:
        yield found
        return
    held = "karat.db" if database is None else "the database"
    with TemporaryDirectory() as temporary:
        try:
            with opened_study(folder, database, made=False) as opened:
                from karat.store.exported import exported, with_gold

                wanted = [kind for kind in KINDS if kind not in named]
                store = opened.store
                made = {kind: with_gold(store) if kind == "judgments" else exported(store, kind) for kind in wanted}
        except MissingExtra:
            if database is not None:
                raise
            text = f"karat export {folder} {place / 'judgments.csv'}"
            click.echo(f"note: the judgments collected in {held} are not read: export them first, {text}", err=True)
            made = {}
        for kind, records in made.items():
            own = sorted(path.name for path in place.iterdir() if path.name.lower().startswith(KINDS[kind]))
            number = len(records.frame.drop_nulls("label")) if kind == "judgments" else len(records)
            what = f"{count(number, kind.removesuffix('s'))} collected in {held}"
            used = "is" if number == 1 else "are"
            if own and len(records):
                click.echo(f"note: {', '.join(own)} {'is' if len(own) == 1 else 'are'} used;", nl=False, err=True)
                click.echo(f" {what} {used} left aside (karat export writes them to a file)", err=True)
            elif len(records):
                click.echo(f"note: {what} {used} used", err=True)
                for note in records.notes:
                    click.echo(f"note: {note}", err=True)
                found[kind] = str(Path(temporary) / f"{kind}.parquet")
                write(records, found[kind])
            elif kind == "judgments" and not own:
                click.echo(f"note: {held} holds no judgments yet", err=True)
        yield found
