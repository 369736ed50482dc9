"""Studies that are being served."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient

from karat.records import Aspect, Platform
from served import Served, serve


@pytest.fixture(scope="session", autouse=True)
def one_event_loop() -> Iterator[None]:
    """Requests of all tests run in one event loop, as on a server: a thread and a loop for each take longer than it."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        yield


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The study on SQLite."""
    here = serve(str(tmp_path / "karat.db"))
    yield here
    here.store.close()


@pytest.fixture
def served_with_platform(tmp_path: Path) -> Iterator[Served]:
    """The study with aspects, open to Prolific and MTurk."""
    platform = Platform(prolific=True, mturk=True, completion_code="C1DONE", tasks=1)
    here = serve(str(tmp_path / "karat.db"), platform=platform, aspects=(Aspect("novelty"),))
    yield here
    here.store.close()


@pytest.fixture
def served_anywhere(database: str) -> Iterator[Served]:
    """The study on each kind of database in turn."""
    here = serve(database)
    yield here
    here.store.close()


@pytest.fixture
def serving(database: str) -> Iterator[Callable[..., Served]]:
    """Serves the study on each kind of database in turn, as the test wants it."""
    made: list[Served] = []

    def new(**more: Any) -> Served:
        made.append(serve(database, **more))
        return made[-1]

    yield new
    for here in made:
        here.store.close()
