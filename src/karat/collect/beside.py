"""Work for the lead beside the judges' requests: figures and exports are made by a process of their own.

What takes long in the process that serves judges takes the time from them, whatever thread it is in: one lock of Python
is for all. The other process reads the database by a connection of its own, which writers do not wait for.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from karat.records import Scale
from karat.records.design import Rules
from karat.store import Store
from karat.store.database import Database

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
    >>> from karat.http.workers import done
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
