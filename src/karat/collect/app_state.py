"""The state of the app: a running study with its store and its material, which every route is given."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from karat.collect.beside import Beside
from karat.collect.limits import Limiter
from karat.collect.live_figure import LiveFigure
from karat.collect.lookup_panel import LookupPanels
from karat.collect.webhooks import Webhooks
from karat.records.design import StudyDesign
from karat.store import Store
from karat.study.material import Material

if TYPE_CHECKING:
    from fastapi import Request

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
