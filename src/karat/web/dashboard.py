"""The lead's dashboard: how far, how good, who; figures that are made anew when something was said."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from karat.stats.arrays import Floats
from karat.study.answer_tables import drawn_any
from karat.study.kinds import KINDS
from karat.study.people import all_judges
from karat.study.progress import answer_times, further_labels, kinds_asked, last_event, progress, what_is_left
from karat.study.store import Store
from karat.study.task_material import Material
from karat.web import sign_in as people
from karat.web.app_state import AppState, running_study
from karat.web.pages import keyed_levels, render
from karat.web.quality import quality
from karat.web.roster import pair_judges, roster

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


#: The time so far is cut into so many equal slots; how the counts differ between them says how uneven the pace is.
SLOTS = 12
#: Fewer answers say nothing about the pace.
FEWEST_ANSWERS = 24
#: Only the last week counts: pace changes.
LONGEST = 7 * 24 * 3600.0


@dataclass(frozen=True)
class Forecast:
    """How long the rest will take, in seconds from now; none where it cannot be told (or has no upper end yet)."""

    seconds: float | None
    low: float | None
    high: float | None
    per_hour: float | None


def forecast(times: Floats, now: float, left: float, *, level: float = 0.95) -> Forecast:
    """How long it takes until `left` more answers have come in, if the pace of the last week goes on.

    >>> steady = np.arange(0.0, 3600.0, 10.0)
    >>> found = forecast(steady, 3600.0, 360)
    >>> round(found.per_hour), round(found.seconds / 60)
    (359, 60)

    The time since the first answer is cut into 12 slots. With mean m and standard deviation s of their counts, t slots
    more bring t m answers, give or take s sqrt(t + t^2 / 12): the slots to come vary as those seen, and the mean is
    known from 12 of them. The interval holds the t for which `left` lies within that, by Student's t. It is honest
    for a pace that goes on as it was, with pauses that are short against a slot; where judges work in long sessions it
    is too narrow while few answers are in (benchmarks/forecast.py).
    """
    from karat.stats.student_t import t_quantile

    times = times[times > now - LONGEST]
    if len(times) < FEWEST_ANSWERS:
        return Forecast(None, None, None, None)
    start = float(times.min())
    span = now - start
    if span <= 0:
        return Forecast(None, None, None, None)
    # The first answer marks the start; it is no part of the pace.
    counts, _ = np.histogram(np.sort(times)[1:], bins=SLOTS, range=(start, now))
    mean, spread, slot = float(counts.mean()), float(counts.std(ddof=1)), span / SLOTS
    per_hour = mean / slot * 3600
    if left <= 0:
        return Forecast(0.0, 0.0, 0.0, per_hour)
    if mean == 0:
        return Forecast(None, None, None, per_hour)
    # Perfectly even counts say that the pace is even, not that it is known without error: at least as single arrivals.
    spread = max(spread, math.sqrt(mean) / 4)
    half = t_quantile((1 + level) / 2, SLOTS - 1) * spread
    low = _slots(mean, half, left, +1)
    high = _slots(mean, half, left, -1)
    return Forecast(
        left / mean * slot, None if low is None else low * slot, None if high is None else high * slot, per_hour
    )


def _slots(mean: float, half: float, left: float, side: int) -> float | None:
    """The number of slots t with t x mean + side x half x sqrt(t + t^2 / SLOTS) = left; none if there is none."""
    # (left - t mean)^2 = half^2 (t + t^2 / SLOTS), a quadratic in t.
    a = mean**2 - half**2 / SLOTS
    b = -(2 * left * mean + half**2)
    c = left**2
    if abs(a) < 1e-12:
        return -c / b if side > 0 else None
    roots = sorted((-b + way * math.sqrt(b**2 - 4 * a * c)) / (2 * a) for way in (-1, 1))
    right = [t for t in roots if t > 0 and side * (left - t * mean) >= -1e-9 * left]
    return right[0] if right else None


#: The course of answers is drawn through so many points at most.
POINTS = 120


def overview(store: Store) -> dict[str, Any]:
    """The state of the study in a sentence and figures."""
    every = progress(store)
    # Nobody waits for a model that was asked beside the study's groups.
    rows = [row for row in every if row["group"] in store.groups]
    done, wanted = sum(row["filled"] for row in rows), sum(row["wanted"] for row in rows)
    number, finished = sum(row["tasks"] for row in rows), sum(row["finished"] for row in rows)
    now = store.clock()
    times = np.array(answer_times(store), dtype=np.float64)
    left = max(wanted - done, 0) + further_labels(store)
    ahead = forecast(times, now, left)
    share = f"{100 * done / wanted:.0f} %" if wanted else "none"
    finding = (
        f"{done:,} of {wanted:,} answers are there ({share}); {finished:,} of {number:,} tasks have all of theirs."
    )
    kinds: dict[str, dict[str, Any]] = {}
    for row in rows:
        counted = kinds.setdefault(row["kind"], {"kind": row["kind"], "answers": 0, "wanted": 0})
        counted["answers"] += row["filled"]
        counted["wanted"] += row["wanted"]
    return {
        "finding": finding if number else "There are no tasks yet.",
        "answers": done,
        "wanted": wanted,
        "expected": round(done + left, 1),
        "tasks": number,
        "finished": finished,
        "kinds": list(kinds.values()),
        "rows": every,
        "now": now,
        "history": _course(times),
        "left": [
            {name: value for name, value in asdict(part).items() if name != "ids"} for part in what_is_left(store)
        ],
        "forecast": asdict(ahead) | {"text": _when(ahead, now, left)},
    }


def _course(times: Floats) -> list[list[float]]:
    """How many answers there were by when."""
    if not len(times):
        return []
    places = np.unique(np.linspace(0, len(times) - 1, min(len(times), POINTS)).astype(int))
    return [[float(times[place]), int(place) + 1] for place in places]


def _when(ahead: Forecast, now: float, left: float) -> str:
    if left <= 0:
        return "All answers are there."
    if ahead.seconds is None:
        return "Too few answers to say when it will be done."
    ends = (ahead.seconds, ahead.low or 0.0, ahead.high)
    done, early, late = ("no end in sight" if end is None else _day(now + min(end, 3e9)) for end in ends)
    pace = f"At {ahead.per_hour:,.0f} answers an hour" if ahead.per_hour else "At this pace"
    return f"{pace} it is done by {done} (95 % interval {early} to {late}), if the pace goes on."


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%d %B %H:%M UTC")
