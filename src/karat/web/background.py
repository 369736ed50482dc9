"""Work for the lead beside the judges' requests: figures and exports are made by a process of their own.

What takes long in the process that serves judges takes the time from them, whatever thread it is in: one lock of Python
is for all. The other process reads the database by a connection of its own, which writers do not wait for.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from karat.comparison.live_verdict import Memo, live_verdict
from karat.errors import KaratError
from karat.formats.study_folder import StudyFolder, read_study
from karat.records import Scale
from karat.records.study_design import Rules
from karat.study.database import Database
from karat.study.live_inputs import live_inputs
from karat.study.store import Store

P = ParamSpec("P")
T = TypeVar("T")

#: A figure that took longer than a moment is made anew not before so many times as long have gone by: judging comes
#: first.
REST, MOMENT = 10, 0.1
#: For so many seconds after a change by a lead, who wants to see it.
FRESH = 5.0

_STORE: Store | None = None  # of a process that does nothing else


class Beside:
    """Makes figures of a study, one at a time, and keeps them until something new is in the log.

    >>> beside = Beside(None)
    >>> from karat.engines.http_calls import done
    >>> done(beside.run(lambda store, n: n + 1, 1))
    2
    >>> beside.close()
    """

    def __init__(self, store: Store | None, start: Callable[[], Executor] | None = None) -> None:
        """Work in a thread with this store, or by an executor whose process has one of its own."""
        self._store = store
        self._start = start or partial(ThreadPoolExecutor, 1)
        self._executor = self._start()
        self._threads = start is None
        self._kept: dict[str, tuple[int | None, float, Any]] = {}
        self._making: dict[str, asyncio.Task[Any]] = {}
        self._fresh_until = 0.0

    @classmethod
    def in_process(cls, url: str, store: Store) -> Beside:
        """A process of its own for the store at a URL, which starts when it is first needed."""
        fresh = multiprocessing.get_context("spawn")  # what was forked amid threads may wait for ever
        opened = (url, store.study_id, store.rules, store.groups, store.scale)
        return cls(None, partial(ProcessPoolExecutor, 1, fresh, initializer=_open, initargs=opened))

    async def run(self, work: Callable[Concatenate[Store, P], T], *args: P.args, **named: P.kwargs) -> T:
        """What some work gives, which is done as soon as what came before it is."""
        try:
            return await asyncio.wrap_future(self._submit(work, args, named))
        except BrokenExecutor:  # somebody ended the process, or it took too much memory
            self._executor = self._start()
            return await asyncio.wrap_future(self._submit(work, args, named))

    def wait(self, work: Callable[Concatenate[Store, P], T], *args: P.args, **named: P.kwargs) -> T:
        """The same for a thread that may wait."""
        return self._submit(work, args, named).result()

    async def figure(self, name: str, stamp: int | None, work: Callable[[Store], T]) -> T:
        """What some work gives, or gave for the same stamp, or gave not long ago measured by what it costs.

        Whoever asks while it is being made waits for the same.
        """
        known = self._kept.get(name)
        if known is not None and ((stamp is not None and known[0] == stamp) or time.monotonic() < known[1]):
            found: T = known[2]
            return found
        if name not in self._making:
            self._making[name] = asyncio.create_task(self._make(name, stamp, work))
        made: T = await asyncio.shield(self._making[name])
        return made

    def renew(self) -> None:
        """A lead changes something: what is kept is made anew."""
        self._kept.clear()
        self._making.clear()
        self._fresh_until = time.monotonic() + FRESH

    async def _make(self, name: str, stamp: int | None, work: Callable[[Store], Any]) -> Any:
        start = time.monotonic()
        try:
            value = await self.run(work)
        finally:
            self._making.pop(name, None)
        end = time.monotonic()
        rest = 0.0 if end - start < MOMENT or end < self._fresh_until else REST * (end - start)
        self._kept[name] = (stamp, end + rest, value)
        return value

    def _submit(self, work: Callable[..., T], args: tuple[Any, ...], named: dict[str, Any]) -> Future[T]:
        if self._threads:
            return self._executor.submit(work, self._store, *args, **named)
        return self._executor.submit(_with_store, work, args, named)

    def close(self) -> None:
        """End the other process, or the thread; what it is at is not waited for."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _open(url: str, study_id: int, rules: Rules, groups: tuple[str, ...], scale: Scale | None) -> None:
    global _STORE
    threading.Thread(target=end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10)  # judges come first
    _STORE = Store(Database.again(url), study_id, rules, groups, scale=scale)


def end_with_parent() -> None:
    """Wait for the end of the process that started this one, and end with it: who is killed leaves nobody behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _with_store(work: Callable[..., T], args: tuple[Any, ...], named: dict[str, Any]) -> T:
    assert _STORE is not None
    return work(_STORE, *args, **named)


#: A figure is made anew not before so many times as long as it took have gone by: judging comes first.
REFRESH_SECONDS = 10
#: What stands there until the first figure is made.
AT_WORK: dict[str, Any] = {"finding": "The verdict is being worked out.", "state": "at work", "looks": []}


class LiveFigure:
    """A figure that nobody waits for: who asks gets what is there, and a newer one is made meanwhile.

    >>> figure = LiveFigure(lambda: {"finding": "clear"})
    >>> figure.get(1)["state"], figure.wait(), figure.get(1)["finding"]
    ('at work', None, 'clear')
    """

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._kept: tuple[int, dict[str, Any]] | None = None
        self._rests_until = 0.0
        self._work: threading.Thread | None = None

    def get(self, stamp: int) -> dict[str, Any]:
        """The latest figure; where the stamp says that it is old, a new one is begun."""
        with self._lock:
            old = self._kept is None or self._kept[0] != stamp
            idle = self._work is None or not self._work.is_alive()
            if old and idle and time.monotonic() >= self._rests_until:
                self._work = threading.Thread(target=self._renew, args=(stamp,), daemon=True)
                self._work.start()
            return dict(AT_WORK if self._kept is None else self._kept[1])

    def wait(self) -> None:
        """Wait for the figure that is being made."""
        if self._work is not None:
            self._work.join()

    def _renew(self, stamp: int) -> None:
        start = time.monotonic()
        try:
            made = self._make()
        except KaratError as why:
            made = AT_WORK | {"finding": f"No verdict yet: {why}.", "state": "cannot say"}
        except Exception:
            logging.getLogger("karat").exception("the live verdict failed")
            made = AT_WORK | {"finding": "The verdict could not be worked out.", "state": "cannot say"}
        end = time.monotonic()
        with self._lock:
            self._kept, self._rests_until = (stamp, made), end + REFRESH_SECONDS * (end - start)


def live_figure(folder: StudyFolder, database: str | None, beside: Beside) -> LiveFigure:
    """The live verdict of a study as its folder and database stand, by what study.toml says."""
    return LiveFigure(lambda: beside.wait(_verdict, str(folder.path), database))


@cache
def _known(path: str) -> tuple[StudyFolder, Memo]:
    """A folder, and what was worked out of it before: kept where the figure is made."""
    return read_study(path), {}


def _verdict(store: Store, path: str, database: str | None) -> dict[str, Any]:
    folder, memo = _known(path)
    asked = folder.live
    study, runs = live_inputs(folder, database)
    if study.gold is None:
        return AT_WORK | {"finding": "Too early: no gold label is there yet.", "state": "too early"}
    found = live_verdict(
        study.judged, runs, asked.measure, gold=study.gold, queries=asked.queries, margin=asked.margin, memo=memo
    )
    return found.to_dict()
