"""The lead's dashboard: how far, how good, who; figures that are made anew when something was said."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from karat.collect import people
from karat.collect.app_state import AppState, running_study
from karat.collect.quality import quality
from karat.collect.rendering import keyed_levels, render
from karat.collect.roster import pair_judges, roster
from karat.store.kinds import KINDS
from karat.store.people import all_judges
from karat.store.progress import kinds_asked, last_event
from karat.store.read_tables import drawn_any
from karat.study.material import Material

router = APIRouter(tags=["lead"])


@router.get("/signin", include_in_schema=False)
def sign_in_page(request: Request, wrong: str = "", wait: str = "") -> Response:
    """The form in which a lead signs in."""
    said = "Name or password is wrong." if wrong else ""
    if wait.isascii() and wait.isdigit():
        said = f"Too many wrong tries. Wait {int(wait[:6])} seconds."
    return render(running_study(request), "signin.html", wrong=said)


@router.get("/lead", include_in_schema=False)
def dashboard(request: Request) -> Response:
    """The dashboard; its script asks for the figures every few seconds."""
    running = people.lead_at(request)
    asked = kinds_asked(running.store)
    setup = {
        "scale": keyed_levels(running.study.scale),
        "groups": list(running.study.groups),
        "title": running.study.title,
        "own_codes": not running.study.platform.completion_code,
        "kinds": {kind.name: kind.title for kind in KINDS.values()},
        "sides": any(KINDS[kind].sides for kind in asked),
        "grades": not asked or any(KINDS[kind].grades for kind in asked),
    }
    exports = {f"{kind.table.name}.csv": f"{kind.table.title} (CSV)" for kind in KINDS.values() if kind.name in asked}
    exports |= {"gold.csv": "Gold labels of a plan (CSV)"} if drawn_any(running.store) else {}
    exports |= {"people.csv": "Who to pay: people, time, checks (CSV)", "log.jsonl": "The whole log (JSON lines)"}
    exports |= {"everything.zip": "Everything (zip)"}
    exports |= (
        {"pay.txt": "Platform ids to pay", "pay-review.csv": "Flagged: look at before paying (CSV)"}
        if running.study.platform.prolific or running.study.platform.mturk
        else {}
    )
    session = people.session_token(running, request, people.LEAD)
    live = running.live is not None and drawn_any(running.store)
    shown: dict[str, Any] = {"setup": setup | {"live": live}, "exports": exports, "lead": running.store.by}
    return render(running, "lead.html", session=session, **shown)


@router.get("/api/agreement")
async def get_agreement(request: Request) -> dict[str, Any]:
    """Agreement so far on first labels, with intervals; grades given; documents on which judges differ."""
    running, stamp = await run_in_threadpool(_asked, request)
    found = await running.beside.figure("agreement", stamp, quality)
    return found | {"disagreements": [_with_titles(running.material, row) for row in found["disagreements"]]}


@router.get("/api/judges")
async def get_judges(request: Request) -> dict[str, Any]:
    """Everybody, with platform id and completion code, pace, agreement, gold and traps, leniency and drift."""
    running, stamp = await run_in_threadpool(_asked, request)
    found = await running.beside.figure("judges", stamp, roster)
    pairs = await running.beside.figure("pairs", stamp, pair_judges)
    # A code is given out without an event in the log, so it is not among the figures that are kept.
    everybody = await run_in_threadpool(all_judges, running.store)
    known = {judge["id"]: {name: judge[name] for name in ("external", "completion")} for judge in everybody}
    return found | {"rows": [row | known[row["id"]] for row in found["rows"]], "pairs": pairs}


@router.get("/api/live")
def get_live(request: Request) -> dict[str, Any]:
    """Which of two systems is better by the gold labels so far, an interval that holds at every look, when to stop."""
    running, stamp = _asked(request)
    if running.live is None or not drawn_any(running.store):
        return {"state": "none", "finding": "No plan drew documents for gold labels."}
    return running.live.get(stamp)


def _asked(request: Request) -> tuple[AppState, int]:
    """The running that a lead asks, and where its log ends."""
    running = people.lead_at(request)
    return running, last_event(running.store)


def _with_titles(material: Material, row: dict[str, Any]) -> dict[str, Any]:
    """A document on which judges differ, in words that a lead knows."""
    return row | {
        "query_text": material.query(row["query"])["text"],
        "title": material.front(row["doc"])["title"],
        "context_title": material.titles(row.get("context")),
    }
