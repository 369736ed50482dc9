"""Studies that tests of the queue opened are closed again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from queues import OPEN


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
