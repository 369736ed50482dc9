"""Clients that send or read slowly: each has its time, and when there are too many, who waits longest makes room."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

#: So many connections wait to be taken; they are taken all at once, and those that go are closed a few rounds later.
BACKLOG = 100
#: Descriptors beside those of connections that are known: for such rounds, the database, files and pipes.
OTHERS = 3 * BACKLOG + 150
#: More connections than any study has judges.
MOST = 20_000
#: A request is there whole after so many seconds, and so long a connection may wait for the next one.
SENDING = 30.0
#: A reader who takes nothing for so many seconds is gone.
READING = 60.0
#: Lines of one logger in a minute; what fails in a loop fills no disk.
LINES = 60


def raise_descriptors() -> int:
    """Let this process have as many open files as it may; returns how many connections it can take then."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + OTHERS
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return max(min(soft, wanted) - OTHERS, 10)


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol with times, for at most so many connections of a server.

    Who sends half a request and then nothing holds a connection for `sending` seconds. A newcomer beyond `most` is let
    in, and the connection goes that waits longest without a whole request: judges send theirs at once.
    """

    most, sending, reading = MOST, SENDING, READING
    #: Without a whole request, who waits longest first.
    waiting: ClassVar[dict[Patient, None]] = {}

    sends: asyncio.TimerHandle | None = None
    reads: asyncio.TimerHandle | None = None
    begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Somebody came: when there are too many, another goes."""
        super().connection_made(transport)
        if len(self.connections) > self.most and self.waiting:
            next(iter(self.waiting)).end()
        self.await_request()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or all of it."""
        if not self.begun and self in self.waiting:
            self.begun = True
            self.await_request()  # the time of the request, not of the pause before it
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body:
            self.forget()

    def on_response_complete(self) -> None:
        """The next request may come."""
        self.begun = False
        self.await_request()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody went."""
        self.forget()
        if self.reads is not None:
            self.reads.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The other side reads nothing for now."""
        self.reads = self.loop.call_later(self.reading, self.end)
        super().pause_writing()

    def resume_writing(self) -> None:
        """It reads again."""
        if self.reads is not None:
            self.reads.cancel()
        super().resume_writing()

    def await_request(self) -> None:
        """From now on there is time for a whole request."""
        self.forget()
        self.waiting[self] = None
        self.sends = self.loop.call_later(self.sending, self.end)

    def forget(self) -> None:
        """The request is there, or the connection gone."""
        self.waiting.pop(self, None)
        if self.sends is not None:
            self.sends.cancel()

    def end(self) -> None:
        """The time is over."""
        self.forget()
        self.transport.abort()


class FewLines(logging.Filter):
    """So many lines a minute; the next minute's first says how many were left out.

    >>> few = FewLines(1, clock=lambda: 0.0)
    >>> line = logging.makeLogRecord({"msg": "again"})
    >>> few.filter(line), few.filter(line)
    (True, False)
    """

    def __init__(self, lines: int = LINES, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.lines, self.clock = lines, clock
        self.minute, self.seen = -1, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        minute = int(self.clock() // 60)
        if minute != self.minute:
            left_out = self.seen - self.lines
            self.minute, self.seen = minute, 0
            if left_out > 0:
                record.msg = f"{record.getMessage()} ({left_out:,} lines were left out before this one)"
                record.args = ()
        self.seen += 1
        return self.seen <= self.lines


def limit_logs() -> None:
    """Few lines a minute from each that writes to the log of a server."""
    for name in ("uvicorn.error", "asyncio", "karat"):
        logger = logging.getLogger(name)
        if not any(isinstance(known, FewLines) for known in logger.filters):
            logger.addFilter(FewLines())
