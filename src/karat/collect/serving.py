"""The server: one process, or several that share a port and a database."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import uvicorn

from karat.collect.app import create_app
from karat.collect.beside import Beside, end_with_parent
from karat.collect.hosts import own_hosts
from karat.collect.live_figure import live_figure
from karat.collect.slow_clients import BACKLOG, SENDING, Patient, limit_logs, raise_descriptors
from karat.formats.study_folder import read_study
from karat.store import Store
from karat.study.material import Material

if TYPE_CHECKING:
    from fastapi import FastAPI

    from karat.collect.webhooks import Webhooks
    from karat.formats.study_folder import StudyFolder

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
                "karat.collect.serving:worker" if several else serving.app(folder, store, webhooks),
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
