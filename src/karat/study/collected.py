"""What was collected in a served study, as records: from the folder's karat.db, or a database that is named."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from karat.advice import advise
from karat.errors import BadInput, MissingExtra
from karat.formats.study_folder import within
from karat.labels import GOLD
from karat.labels.selection import LLM
from karat.records import Judgments, Records
from karat.records.table import count
from karat.study.folders import elsewhere, files_of

if TYPE_CHECKING:
    from karat.formats.study_folder import StudyFolder
    from karat.study.store import Store

#: What a database may hold, and what one of it is called.
THINGS = {"labels": "judgment", "gold": "gold label", "preferences": "preference"}


@dataclass(frozen=True)
class Collected:
    """The records of a database that a study uses, by kind, and what is to be said of it."""

    records: dict[str, Records] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def collected(folder: StudyFolder, database: str | None, named: Collection[str] = ()) -> Collected:
    """What the database of a study holds; files of the folder stand before it, and so do the kinds that are `named`.

    Where labels come from files, those of documents that a plan drew are gold labels beside them.
    """
    held = "karat.db" if database is None else "the database"
    own = {kind: [Path(path).name for path in files_of(folder.path, kind)] for kind in THINGS}
    in_files = "labels" in named or bool(own["labels"])
    try:
        check_there(folder.path, database)
        from karat.study.database import in_plain_words
        from karat.study.store import Store

        with in_plain_words():
            store = Store.open(database or str(folder.path / "karat.db"), folder.study, made=False)
            try:
                made = _made(store, folder, in_files)
            finally:
                store.close()
    except MissingExtra:
        if database is not None:
            raise
        text = f"karat export {folder.path} {folder.path / 'judgments.csv'}"
        return Collected({}, (f"the judgments collected in {held} are not read: export them first, {text}",))
    made = {kind: records for kind, records in made.items() if kind not in named}
    notes = [] if "labels" in made or in_files else [f"{held} holds no judgments yet"]
    notes += elsewhere(folder.path, database)
    used = {kind: records for kind, records in made.items() if not own[kind]}
    notes += [note for records in used.values() for note in records.notes]
    notes += _said(made, own, held)
    return Collected({kind: replace(records, notes=()) for kind, records in used.items()}, tuple(notes))


def check_there(folder: Path, database: str | None) -> None:
    """Say that nothing was collected where there is no database; an empty one would hide that it is elsewhere."""
    try:
        from karat.study.database import file_of
    except ImportError:
        raise MissingExtra.named("collect", "the database of a study") from None

    file = file_of(database or str(within(folder, folder / "karat.db")))
    if file is not None and not str(file).startswith("file:") and not file.exists():
        raise BadInput.at(
            str(folder) if database is None else "the database",
            expected="a file with what karat serve or karat import collected",
            found=f"no {file.name}: nothing was collected here",
            remedy=f"name it with {advise('--database', 'database=')}, if the study is kept elsewhere"
            if database is None
            else "name another",
        )


def _made(store: Store, folder: StudyFolder, labels_elsewhere: bool) -> dict[str, Records]:
    """What a study can use of its database, by kind, where there is some; scale and rules with the labels."""
    from karat.study.exports import drawn_labels, exported, with_gold

    design = folder.study
    said = with_gold(store, design.scale)
    made: dict[str, Records] = {"labels": said, "preferences": exported(store, "preferences")}
    asked = said.frame.filter(pl.col("group") == LLM) if said.has("group") else said.frame.clear()
    if labels_elsewhere or asked.height:
        gold = drawn_labels(store, design.scale, group=GOLD if GOLD in store.groups else None)
        # Two groups have two draws, and a plan of documents in context draws others by themselves, too.
        if GOLD in store.groups or (gold.frame["group"].n_unique() == 1 and not said.has("context")):
            made["gold"] = gold
        if "gold" in made and _number(gold) and asked.height and not labels_elsewhere:
            # What a model says of all documents is put right by what people say of those that were drawn.
            made["labels"] = replace(said, frame=asked)
        elif not labels_elsewhere and (people := _graded(said.frame) - _graded(asked)):
            text = f"{count(people, 'label')} of people and {_graded(asked):,} of language models count alike"
            remedy = "karat plan gold draws documents whose labels by people put the models' right"
            made["labels"] = replace(said, notes=(*said.notes, f"{text}: {remedy}"))
    made = {kind: records for kind, records in made.items() if _number(records)}
    return {
        kind: replace(records, rules=design.rules) if isinstance(records, Judgments) else records
        for kind, records in made.items()
    }


def _graded(labels: pl.DataFrame) -> int:
    """How many labels there are, without rows of documents that wait for one."""
    return int(labels["label"].count())


def _number(records: Records) -> int:
    """How many judgments or preferences there are, without rows of documents that wait for one."""
    return _graded(records.frame) if isinstance(records, Judgments) else len(records)


def _said(made: dict[str, Records], own: dict[str, list[str]], held: str) -> list[str]:
    """What is used of a database, and what is left aside for files."""
    numbers = {kind: _number(records) for kind, records in made.items()}
    if {"gold", "labels"} <= made.keys() and not own["gold"] and made["labels"].has("probability"):
        numbers["labels"] -= numbers["gold"]  # used as such
    said = []
    for kind, number in numbers.items():
        what, are = f"{count(number, THINGS[kind])} collected in {held}", "is" if number == 1 else "are"
        if not own[kind]:
            said.append(f"{what} {are} used")
        elif number:
            used = f"{', '.join(own[kind])} {'is' if len(own[kind]) == 1 else 'are'} used"
            said.append(f"{used}; {what} {are} left aside (karat export writes them to a file)")
    return said
