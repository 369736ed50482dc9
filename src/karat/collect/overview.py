"""How far the study is, how it came there, and when it should be done."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from karat.collect.forecast import Forecast, forecast
from karat.stats.arrays import Floats
from karat.store import Store
from karat.store.leftovers import what_is_left
from karat.store.progress import answer_times, further_labels, progress

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
