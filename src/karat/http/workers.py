"""Many things to do, so many at a time; when one has to stop, the others finish what is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def done(work: Coroutine[Any, Any, T]) -> T:
    """What some work gives, waited for; where a loop runs already, as in a notebook, in a thread of its own.

    >>> async def work(): return 7
    >>> done(work())
    7
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


async def each(things: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int) -> None:
    """Do the work for each thing, `at_once` of them at a time; the first error is raised when all have stopped.

    Nothing is taken from `things` before there is a worker for it, so that there may be any number.

    >>> seen = []
    >>> async def work(number): seen.append(number)
    >>> done(each(range(3), work, at_once=2)); seen
    [0, 1, 2]
    """
    todo, stop = iter(things), asyncio.Event()

    async def worker() -> None:
        try:
            for thing in _until(stop, todo):
                await work(thing)
        except BaseException:
            stop.set()
            raise

    ended = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    failed = [one for one in ended if isinstance(one, BaseException)]
    if failed:
        raise failed[0]


def _until(stop: asyncio.Event, todo: Iterator[T]) -> Iterator[T]:
    while not stop.is_set():
        try:
            thing = next(todo)
        except StopIteration:
            return
        yield thing
