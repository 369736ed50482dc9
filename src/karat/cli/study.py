"""A study's folder and database together, as several commands open them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.collect.material import Material
    from karat.formats.study import StudyFolder
    from karat.formats.tasks import TaskTable
    from karat.store import Store


@dataclass(frozen=True)
class Opened:
    """A folder with its store, and what was noticed on opening."""

    folder: StudyFolder
    store: Store
    notes: tuple[str, ...] = ()

    def material(self) -> Material:
        """What the tasks show."""
        from karat.collect.material import Material

        folder = self.folder
        depth = folder.study.depth
        return Material(queries=folder.queries, documents=folder.documents, runs=folder.runs, depth=depth)


@contextmanager
def opened_study(path: str, database: str | None, *, load: bool = False) -> Iterator[Opened]:
    """The study in a folder until the end of the block, in which a database that fails is said in plain words."""
    opened = open_study(path, database, load=load)
    from karat.store.trouble import in_plain_words

    try:
        with in_plain_words():
            yield opened
    finally:
        opened.store.close()


def open_study(path: str, database: str | None, *, load: bool = False) -> Opened:
    """The study in a folder, its store in the folder or elsewhere; with `load`, the folder's tasks in it."""
    from karat.errors import MissingExtra
    from karat.formats.study import read_study
    from karat.records.base import count

    try:
        from karat.store import Store, add_tasks
        from karat.store.task_rows import task_rows
        from karat.store.trouble import in_plain_words
    except ImportError:
        raise MissingExtra.named("collect", "the database of a study") from None

    folder = read_study(path)
    wanted: list[tuple[str, TaskTable | None]] = []
    if load:
        # All files are read before anything is stored: a broken one leaves no trace.
        wanted = [("task", folder.tasks()), ("practice item", folder.practice())]
        _ = folder.queries, folder.documents, folder.runs
    notes = []
    for what, table in wanted:
        if table is not None:
            study, practice = folder.study, what != "task"
            task_rows(table.frame, study.scale, study.groups, practice=practice, source=table.source)
    with in_plain_words():
        store = Store.open(database or str(folder.path / "karat.db"), folder.study)
        for what, table in wanted:
            if table is not None:
                once, repeated = table.without_repeats()
                if repeated:
                    notes.append(f"note: {count(repeated, 'repeated row')} of {what}s left out.")
                new = add_tasks(store, once.frame, practice=what != "task", source=once.source)
                if new:
                    notes.append(f"{count(new, f'new {what}')} loaded.")
    return Opened(folder, store, tuple(notes))
