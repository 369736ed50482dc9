"""The server: one process, or several that share a port and a database."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from karat.formats.study_folder import read_study
from karat.study.store import Store
from karat.study.task_material import Material
from karat.web.addresses import own_hosts
from karat.web.app import create_app
from karat.web.background import Beside, end_with_parent, live_figure

if TYPE_CHECKING:
    from fastapi import FastAPI

    from karat.formats.study_folder import StudyFolder
    from karat.web.webhooks import Webhooks


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


#: Where a worker finds what it serves.
SETTINGS = "KARAT_SERVING"


@dataclass(frozen=True)
class Serving:
    """What is served, where, and under which names."""

    folder: str
    database: str
    host: str
    port: int
    #: Reached through https, by a proxy in front.
    secure: bool
    #: What invite links begin with.
    public_url: str
    #: Whether the names are known under which others reach it; behind a proxy whose address was not named they are not.
    hosts_known: bool = True

    def app(self, folder: StudyFolder, store: Store, webhooks: Webhooks | None = None) -> FastAPI:
        """The app of the study, as it was read and opened."""
        study = folder.study
        beside = Beside.in_process(self.database, store)
        material = Material(queries=folder.queries, documents=folder.documents, runs=folder.runs, depth=study.depth)
        return create_app(
            study,
            store,
            material,
            secure=self.secure,
            public_url=self.public_url,
            live=live_figure(folder, self.database, beside),
            webhooks=webhooks,
            beside=beside,
            hosts=own_hosts(self.host, self.public_url) if self.hosts_known else None,
        )


def run(
    serving: Serving, folder: StudyFolder, store: Store, webhooks: Webhooks | None = None, *, workers: int = 1
) -> None:
    """Serve until somebody stops it: in this process, or in so many that are started anew when they fail."""
    limit_logs()
    Patient.most = raise_descriptors()
    several = workers > 1
    if several:
        os.environ[SETTINGS] = json.dumps(asdict(serving))
        if webhooks is not None:
            webhooks.start()  # once, not by each of them
    try:
        with _ends_in_order():
            uvicorn.run(
                "karat.web.server:worker" if several else serving.app(folder, store, webhooks),
                factory=several,
                workers=workers,
                host=serving.host,
                port=serving.port,
                http=Patient,
                backlog=BACKLOG,
                timeout_keep_alive=int(SENDING),
                log_level="warning",
                proxy_headers=serving.secure,
                server_header=False,
            )
    finally:
        if several and webhooks is not None:
            webhooks.stop()
        store.database.settle()  # whoever copies karat.db by hand now has all of it


@contextmanager
def _ends_in_order() -> Iterator[None]:
    """A process that is told to end closes what it has open: uvicorn stops, then raises the signal again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def worker() -> FastAPI:
    """The app of one of several processes."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    limit_logs()
    Patient.most = raise_descriptors()
    serving = Serving(**json.loads(os.environ[SETTINGS]))
    folder = read_study(serving.folder)
    return serving.app(folder, Store.open(serving.database, folder.study, made=False))
