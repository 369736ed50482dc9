"""The lead's dashboard: how far, how good, who; figures that are made anew when something was said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from karat.collect import people
from karat.collect.app_state import AppState, running_study
from karat.collect.quality import agreement_now, disagreements_now, distribution_now, panel_now, split_finding
from karat.collect.rendering import keyed_levels, render
from karat.collect.roster import roster
from karat.store.kinds import KINDS
from karat.store.people import all_judges
from karat.store.progress import last_event
from karat.store.read_tables import drawn_any

router = APIRouter(tags=["lead"])


class Figures:
    """Figures kept until something new is in the log; costly ones are not made anew at every look."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, float, float, Any]] = {}
        self._lock = threading.Lock()

    def get(self, name: str, stamp: int, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `make` gives, or gave for the same stamp, or gave not long ago measured by what it costs."""
        with self._lock:
            known = self._kept.get(name)
            if known is not None and (known[0] == stamp or time.monotonic() < known[1]):
                return dict(known[3])
            start = time.monotonic()
            value = make()
            cost = time.monotonic() - start
            self._kept[name] = (stamp, time.monotonic() + 10 * cost, cost, value)
            return dict(value)


@router.get("/signin", include_in_schema=False)
def sign_in_page(request: Request, wrong: str = "", wait: str = "") -> Response:
    """The form in which a lead signs in."""
    said = "Name or password is wrong." if wrong else ""
    if wait.isdigit():
        said = f"Too many wrong tries. Wait {int(wait[:6])} seconds."
    return render(running_study(request), "signin.html", wrong=said)


@router.get("/lead", include_in_schema=False)
def dashboard(request: Request) -> Response:
    """The dashboard; its script asks for the figures every few seconds."""
    running = people.lead_at(request)
    setup: dict[str, Any] = {
        "scale": keyed_levels(running.study.scale),
        "groups": list(running.study.groups),
        "title": running.study.title,
    }
    setup["kinds"] = {kind.name: kind.title for kind in KINDS.values()}
    exports = {f"{kind.table.name}.csv": f"{kind.table.title} (CSV)" for kind in KINDS.values()}
    exports |= {"gold.csv": "Gold labels of a plan (CSV)"} if drawn_any(running.store) else {}
    exports |= {"people.csv": "Judges and completion codes (CSV)", "log.jsonl": "The whole log (JSON lines)"}
    session = people.session_token(running, request, people.LEAD)
    return render(running, "lead.html", session=session, setup=setup, exports=exports)


@router.get("/api/agreement")
def get_agreement(request: Request) -> dict[str, Any]:
    """Agreement so far on first labels, with intervals; grades given; documents on which judges differ."""
    running = people.lead_at(request)
    return _figures(request, running, "agreement", lambda: _quality(running))


@router.get("/api/judges")
def get_judges(request: Request) -> dict[str, Any]:
    """Everybody, with platform id and completion code, pace, agreement, gold and traps, leniency and drift."""
    running = people.lead_at(request)
    found = _figures(request, running, "judges", lambda: roster(running.store))
    # A code is given out without an event in the log, so it is not among the figures that are kept.
    known = {
        judge["id"]: {name: judge[name] for name in ("external", "completion")} for judge in all_judges(running.store)
    }
    return found | {"rows": [row | known[row["id"]] for row in found["rows"]]}


def _quality(running: AppState) -> dict[str, Any]:
    panel = panel_now(running.store)
    found = agreement_now(panel)
    differ = disagreements_now(panel)
    for row in differ:
        row["query_text"] = running.material.query(row["query"])["text"]
        row["title"] = running.material.front(row["doc"])["title"]
        context = row.get("context")
        row["context_title"] = running.material.front(context)["title"] or context if context else ""
    more = {"distribution": distribution_now(panel, running.study.scale), "disagreements": differ}
    return found | more | {"split": split_finding(panel)}


def _figures(request: Request, running: AppState, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    state = request.app.state
    if not hasattr(state, "figures"):
        state.figures = Figures()
    kept: Figures = state.figures
    return kept.get(name, last_event(running.store), make)
