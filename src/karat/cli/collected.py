"""What was collected in a served study's folder, for commands that read files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from karat.records import Records
    from karat.store import Store

#: What the database may hold, and how files of it begin, which stand before it.
KINDS = {"judgments": ("judgments", "labels", "qrels"), "gold": ("gold",), "preferences": ("preferences",)}


@contextmanager
def collected_files(
    folder: str | None, named: Sequence[str] = (), database: str | None = None
) -> Iterator[dict[str, str]]:
    """Files with what a study's database holds, until the end of the block; files of the folder stand before it.

    The database is the folder's karat.db unless it is named; without either there is nothing. Nothing is looked for of
    the kinds `named`. Where labels come from files, those of documents that a plan drew are gold labels beside them.
    What is used, and what is left aside, is said on standard error.
    """
    from tempfile import TemporaryDirectory

    from karat.cli.study import opened_study
    from karat.errors import BadInput, MissingExtra
    from karat.formats import write

    place = Path(folder or "")
    if folder is None and database is not None:
        raise BadInput.at("--database", expected="the study's folder beside it", found="none")
    there = database is not None or ((place / "karat.db").is_file() and (place / "study.toml").is_file())
    if folder is None or not there:
        yield {}
        return
    held = "karat.db" if database is None else "the database"
    own = {kind: _files(place, kind) for kind in KINDS}
    try:
        with opened_study(folder, database, made=False) as opened:
            made = _collected(opened.store, labels_elsewhere="judgments" in named or bool(own["judgments"]))
    except MissingExtra:
        if database is not None:
            raise
        text = f"karat export {folder} {place / 'judgments.csv'}"
        click.echo(f"note: the judgments collected in {held} are not read: export them first, {text}", err=True)
        yield {}
        return
    made = {kind: records for kind, records in made.items() if kind not in named}
    if "judgments" not in (*made, *named) and not own["judgments"]:
        click.echo(f"note: {held} holds no judgments yet", err=True)
    with TemporaryDirectory() as temporary:
        found: dict[str, str] = {}
        for kind, records in made.items():
            if own[kind]:
                continue
            for note in records.notes:
                click.echo(f"note: {note}", err=True)
            found[kind] = str(Path(temporary) / f"{kind}.parquet")
            write(records, found[kind])
        _say(made, own, held)
        yield found


def _files(folder: Path, kind: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.lower().startswith(KINDS[kind]))


def _collected(store: Store, *, labels_elsewhere: bool) -> dict[str, Records]:
    """What a report can use of a study, by kind, where there is some."""
    from karat.store.exported import GOLD, drawn_labels, exported, with_gold

    said = with_gold(store)
    made: dict[str, Records] = {"judgments": said, "preferences": exported(store, "preferences")}
    if labels_elsewhere:
        gold = drawn_labels(store, group=GOLD if GOLD in store.groups else None)
        # Two groups have two draws, and a plan of documents in context draws others by themselves, too.
        if GOLD in store.groups or (gold.frame["group"].n_unique() == 1 and not said.has("context")):
            made["gold"] = gold
    return {kind: records for kind, records in made.items() if _number(kind, records)}


def _number(kind: str, records: Records) -> int:
    """How many judgments or preferences there are, without rows of documents that wait for one."""
    return len(records) if kind == "preferences" else len(records.frame.drop_nulls("label"))


def _say(made: dict[str, Records], own: dict[str, list[str]], held: str) -> None:
    """What is used of a database, and what is left aside for files."""
    from karat.records.base import count

    things = {"judgments": "judgment", "gold": "gold label", "preferences": "preference"}
    numbers = {kind: _number(kind, records) for kind, records in made.items()}
    if {"gold", "judgments"} <= made.keys() and not own["gold"]:
        numbers["judgments"] -= numbers["gold"]  # used as such
    for kind, number in numbers.items():
        what, are = f"{count(number, things[kind])} collected in {held}", "is" if number == 1 else "are"
        if not own[kind]:
            click.echo(f"note: {what} {are} used", err=True)
        elif number:
            used = f"{', '.join(own[kind])} {'is' if len(own[kind]) == 1 else 'are'} used"
            click.echo(f"note: {used}; {what} {are} left aside (karat export writes them to a file)", err=True)
