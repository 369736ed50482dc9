"""Many things to do, so many at a time; when one has to stop, the others finish what is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def each(things: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int) -> None:
    """Do the work for each thing, `at_once` of them at a time; the first error is raised when all have stopped.

    Nothing is taken from `things` before there is a worker for it, so that there may be any number.

    >>> done = []
    >>> async def work(number): done.append(number)
    >>> asyncio.run(each(range(3), work, at_once=2)); done
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

    done = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    failed = [one for one in done if isinstance(one, BaseException)]
    if failed:
        raise failed[0]


def _until(stop: asyncio.Event, todo: Iterator[T]) -> Iterator[T]:
    while not stop.is_set():
        try:
            thing = next(todo)
        except StopIteration:
            return
        yield thing
