"""The look-up panel: other results for a task's query, the same for traps, gold documents and all other tasks.

What the panel holds depends on the query alone: every document that a run retrieved for it or that any task of the
query shows. The list of a trap and a gold document from outside the runs are among them, at places drawn like all
others, under every task of the query. So the panel says nothing about the task it was opened from. Nor does its size
say that a query has a trap: where a study has traps or gold documents, shorter panels are filled with results of other
queries.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.study.store import Store, made_at
from karat.study.task_material import Material
from karat.study.tasks import all_displays, tasks_of_query

if TYPE_CHECKING:
    from karat.web.app_state import AppState

#: So many documents are shown.
MAX_DOCUMENTS = 20
#: For so long the study's tasks are taken to be what they were; the panels' size follows new tasks this late.
TTL_SECONDS = 60.0


@dataclass(frozen=True)
class PanelFill:
    """How many documents every panel is filled to, and the study's documents that fill it, in a fixed order."""

    size: int
    documents: list[str]
    #: When this was worked out.
    at: float

    @classmethod
    def of(cls, store: Store, material: Material) -> PanelFill:
        """As the study's tasks are now; size 0 where there is nothing to hide."""
        found, has_secrets = defaultdict[str, set[str]](set), False
        for asked in all_displays(store):
            found[asked["query"]] |= material.displayed(asked)
            has_secrets |= bool(asked["secret"])
        if not has_secrets:
            return cls(0, [], store.clock())
        for query, docs in found.items():
            docs |= material.retrieved(query)
        # One more than is shown, as the document that is judged is left out of its own panel.
        size = min(max(map(len, found.values())), MAX_DOCUMENTS + 1)
        return cls(size, sorted(set[str]().union(*found.values())), store.clock())


class LookupPanels:
    """The panels of a study, their order drawn with a key that judges do not know: when the study was made."""

    def __init__(self, store: Store) -> None:
        self._key = repr(made_at(store)).encode()
        self._fill: PanelFill | None = None

    def documents(self, running: AppState, task: dict[str, Any]) -> list[str]:
        """The ids of the documents of a task's panel, without the document that is judged."""
        material, query = running.material, task["query"]
        docs = material.retrieved(query) | material.displayed(task)
        for asked in tasks_of_query(running.store, query):
            docs |= material.displayed(asked)
        self._add_others(running, query, docs)
        drawn = sorted(docs - {task["doc"]}, key=lambda doc: self._draw(query, doc))
        return drawn[:MAX_DOCUMENTS]

    def _add_others(self, running: AppState, query: str, docs: set[str]) -> None:
        """Fill a panel with results of other queries, the same ones each time."""
        fill, now = self._fill, running.store.clock()
        if fill is None or not 0 <= now - fill.at < TTL_SECONDS:
            fill = self._fill = PanelFill.of(running.store, running.material)
        missing, others = fill.size - len(docs), fill.documents
        if missing > 0:
            start = int.from_bytes(self._draw(query, "")[:6]) % len(others)
            order = (others[(start + step) % len(others)] for step in range(len(others)))
            new = (doc for doc in order if doc not in docs)
            docs.update([doc for doc, _ in zip(new, range(missing), strict=False)])

    def _draw(self, query: str, doc: str) -> bytes:
        return hmac.digest(self._key, f"{query}\0{doc}".encode(), hashlib.sha256)
