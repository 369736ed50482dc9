"""The live verdict for the dashboard: worked out beside the requests, and kept until something new was said."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from karat.collect.beside import Beside
from karat.comparison.live_verdict import Memo, live_verdict
from karat.errors import KaratError
from karat.formats.study_folder import StudyFolder, read_study
from karat.store import Store
from karat.study.live_inputs import live_inputs

#: A figure is made anew not before so many times as long as it took have gone by: judging comes first.
REST = 10
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
            self._kept, self._rests_until = (stamp, made), end + REST * (end - start)


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
