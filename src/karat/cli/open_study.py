"""A study's folder and database together, as several commands open them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import BadInput

if TYPE_CHECKING:
    from karat.formats.karat_tables import TaskTable
    from karat.formats.study_folder import StudyFolder
    from karat.study.sampling_probabilities import Chances
    from karat.study.store import Store
    from karat.study.task_material import Material


@dataclass(frozen=True)
class Opened:
    """A folder with its store, and what was noticed on opening."""

    folder: StudyFolder
    store: Store
    notes: tuple[str, ...] = ()

    def material(self) -> Material:
        """What the tasks show."""
        from karat.study.task_material import Material

        folder = self.folder
        depth = folder.study.depth
        return Material(queries=folder.queries, documents=folder.documents, runs=folder.runs, depth=depth)


@contextmanager
def opened_study(path: str, database: str | None, *, load: bool = False, made: bool = True) -> Iterator[Opened]:
    """The study in a folder until the end of the block, in which a database that fails is said in plain words.

    With `made` False the database has to be there already, and the study in it.
    """
    if not made:
        from karat.formats.study_folder import read_study
        from karat.study.collected import check_there

        check_there(read_study(path).path, database)
    opened = open_study(path, database, load=load, made=made)
    from karat.study.database import in_plain_words

    try:
        with in_plain_words():
            yield opened
    finally:
        opened.store.close()


def open_study(path: str, database: str | None, *, load: bool = False, made: bool = True) -> Opened:
    """The study in a folder, its store in the folder or elsewhere; with `load`, the folder's tasks in it."""
    from karat.cli.terminal import tell_notes
    from karat.errors import MissingExtra
    from karat.formats.study_folder import read_study, within
    from karat.records.table import count
    from karat.study.folders import elsewhere

    try:
        from karat.study.database import in_plain_words
        from karat.study.store import Store
        from karat.study.tasks import add_tasks, not_pooled, task_rows
    except ImportError:
        raise MissingExtra.named("collect", "the database of a study") from None

    folder = read_study(path)
    tell_notes(elsewhere(folder.path, database))
    wanted: list[tuple[str, TaskTable | None]] = []
    pool = None
    if load:
        # All files are read before anything is stored: a broken one leaves no trace.
        pool = folder.pooled() if folder.pool or folder.file("tasks") is None else None
        wanted = [("task", folder.tasks()), ("task", pool), ("practice item", folder.practice())]
        _ = folder.queries, folder.documents, folder.runs
    notes = []
    for what, table in wanted:
        if table is not None:
            study, practice = folder.study, what != "task"
            task_rows(table.frame, study.scale, study.groups, practice=practice, source=table.source)
    with in_plain_words(), ExitStack() as on_failure:
        store = Store.open(database or str(within(folder.path, folder.path / "karat.db")), folder.study, made=made)
        on_failure.callback(store.close)
        for what, table in wanted:
            if table is None:
                continue
            left = not_pooled(store, table.frame) if table is pool and folder.pool is None else 0
            if left:
                notes.append(
                    f"note: tasks were imported, so {count(left, 'document')} of the runs' first {folder.study.depth} "
                    f"{'is' if left == 1 else 'are'} not asked about; pool = true in study.toml asks for them, too."
                )
            else:
                once, repeated = table.without_repeats()
                if repeated:
                    notes.append(f"note: {count(repeated, 'repeated row')} of {what}s left out.")
                added = add_tasks(store, once.frame, practice=what != "task", pooled=table is pool, source=once.source)
                if added.new:
                    traps = f" and {count(added.traps, 'trap')}" if added.traps else ""
                    notes.append(f"{count(added.new - added.traps, f'new {what}')}{traps} loaded.")
                notes += notes_of_tasks(added.chances, len(added.probabilities), len(added.other_labels))
        on_failure.pop_all()
    return Opened(folder, store, tuple(notes))


def notes_of_tasks(chances: Chances, set_now: int = 0, other_labels: int = 0) -> list[str]:
    """What became of the chances of a draw, and of rows that ask for another number of labels than their tasks have.

    >>> from karat.study.sampling_probabilities import Chances
    >>> notes_of_tasks(Chances(), set_now=1)
    ['note: 1 task was there already: its probability is set now.']
    """
    from karat.records.table import count

    said: list[tuple[int, str, str]] = [
        (set_now, "was there already: its probability is set now", "were there already: their probability is set now"),
        (len(chances.other), "has another probability, which stands", "have another probability, which stands"),
        (
            len(chances.later),
            "has the probability of a later round, which stands",
            "have the probability of a later round, which stands",
        ),
        (
            len(chances.gone),
            "of an earlier round is not in this one: no part of the sample, though still asked",
            "of earlier rounds are not in this one: no part of the sample, though still asked",
        ),
        (
            len(chances.beside),
            "was drawn beside others: right only if all are of one draw",
            "were drawn beside others: right only if all are of one draw",
        ),
        (
            other_labels,
            "was there already and asks for another number of labels, which stands",
            "were there already and ask for another number of labels, which stands",
        ),
    ]
    return [f"note: {count(many, 'task')} {one if many == 1 else more}." for many, one, more in said if many]


def alone_serving(database: Path, address: str) -> AbstractContextManager[None]:
    """Hold the database of a study that is served until the end of the block, or say where it is served."""
    return _held(
        Path(f"{database}-serving"),
        address,
        lambda other: BadInput.at(
            str(database),
            expected="a study that nobody serves, for one process serves one study",
            found=f"that it is being served at {other or 'another port'}",
            remedy="stop that one first, or use PostgreSQL (--database) to share the study",
        ),
    )


def alone_asking(answers: Path, process: str, command: str = "karat ask") -> AbstractContextManager[None]:
    """Hold a file of answers until the end of the block, or say who asks: two would pay twice for the same."""
    return _held(
        Path(f"{answers}-asking"),
        process,
        lambda other: BadInput.at(
            str(answers),
            expected=f"answers that no other {command} is asking for",
            found=f"that {other or 'another process'} is",
            remedy="let it end, or keep other answers elsewhere (--answers)",
        ),
    )


@contextmanager
def _held(lock: Path, told: str, refusal: Callable[[str], BadInput]) -> Iterator[None]:
    """Hold a file, in which stands what others are `told`; the hold ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such holds on this system
        yield
        return
    if lock.is_symlink():
        # A folder of somebody else may have a link of that name, to a file that is not ours to empty.
        raise BadInput.at(str(lock), expected="a file of karat's own", found="a link", remedy="remove it")
    with ExitStack() as held:
        try:
            opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            file = held.enter_context(os.fdopen(opened, "r+", encoding="utf-8"))
        except OSError:  # a folder that cannot be written is said in better words when the database is opened
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise refusal(file.read().strip()) from None
        file.truncate(0)
        file.write(told)
        file.flush()
        yield
