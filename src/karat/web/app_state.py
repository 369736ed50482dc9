"""The state of the app: a running study with its store and its material, which every route is given."""

from __future__ import annotations

import hashlib
import ipaddress
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from karat.records.study_design import StudyDesign
from karat.study.store import Store
from karat.study.task_material import Material
from karat.web.background import Beside, LiveFigure
from karat.web.lookup_panel import LookupPanels
from karat.web.webhooks import Webhooks

if TYPE_CHECKING:
    from fastapi import Request


#: Names are made up by whoever tries: more of one is not kept.
LONGEST_NAME = 200


def place_of(address: str) -> str:
    """The place that an address belongs to: one of IPv4 alone, of IPv6 its network, in which addresses are free.

    >>> place_of("192.0.2.7"), place_of("2001:db8:0:1::7")
    ('192.0.2.7', '2001:db8:0:1::/64')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 64), strict=False))


class Limiter:
    """At most so many wrong tries in a stretch of time, counted for each name apart.

    >>> limiter = Limiter(tries=1, clock=lambda: 0.0)
    >>> limiter.wait("a"), limiter.failed("a"), limiter.wait("a"), limiter.wait("b")
    (0.0, None, 60.0, 0.0)
    """

    def __init__(self, tries: int = 5, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.tries, self.seconds, self._clock = tries, seconds, clock
        self._failed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def wait(self, name: str) -> float:
        """How many seconds to wait before the next try; 0 when it may be made now."""
        name = name[:LONGEST_NAME]
        with self._lock:
            times = self._recent(name)
            return times[0] + self.seconds - self._clock() if len(times) >= self.tries else 0.0

    def failed(self, name: str) -> None:
        """Note a wrong try."""
        name = name[:LONGEST_NAME]
        with self._lock:
            if len(self._failed) > 10_000:  # names are made up more quickly than they are forgotten
                for known in list(self._failed):
                    self._recent(known)
            self._recent(name)
            self._failed[name].append(self._clock())

    def _recent(self, name: str) -> deque[float]:
        times = self._failed.get(name, deque())
        while times and times[0] <= self._clock() - self.seconds:
            times.popleft()
        if not times:
            self._failed.pop(name, None)
        return times


VERSION = version("karat")


@dataclass(frozen=True)
class AppState:
    """A study in work; `secure` when it is reached through https only."""

    study: StudyDesign
    store: Store
    #: Makes figures and exports for the lead.
    beside: Beside
    material: Material = field(default_factory=Material)
    secure: bool = False
    #: What invite links begin with; the address that a request names is its sender's to forge.
    public_url: str = ""
    #: Wrong sign-ins, by place and by name. One place alone never reaches the limit of a name.
    wrong_places: Limiter = field(default_factory=lambda: Limiter(tries=5))
    wrong_names: Limiter = field(default_factory=lambda: Limiter(tries=100))
    #: People who came from a platform for the first time, by place.
    newcomers: Limiter = field(default_factory=lambda: Limiter(tries=100))
    #: The verdict while gold labels come in; none where the study has no folder.
    live: LiveFigure | None = None
    #: Who is told what happens, if anybody.
    webhooks: Webhooks | None = None

    @cached_property
    def mark(self) -> str:
        """A short name of the study in its database, the same after a restart.

        Browsers send a machine's cookies to all its ports: by this mark in their names, studies do not take each
        other's.
        """
        place = self.store.database.engine.url
        parts = [self.study.id, place.host, place.port, place.database]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:10]

    @cached_property
    def panels(self) -> LookupPanels:
        """What judges may look up beside a task."""
        return LookupPanels(self.store)


def running_study(request: Request) -> AppState:
    """The running that serves this request."""
    running: AppState = request.app.state.running
    return running
