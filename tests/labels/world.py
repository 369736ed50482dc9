"""A small study with everything in it, and what may be done to it without a figure's changing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import polars as pl

#: Names that the study uses, by what they name.
QUERIES = [f"q{n:02d}" for n in range(14)]
JUDGES = {"crowd": [f"c{n}" for n in range(7)], "staff": [f"s{n}" for n in range(6)], "gold": ["g0"]}
SYSTEMS = ["ant", "bee", "cow"]


@dataclass(frozen=True)
class World:
    """Judgments as rows, and lists, clicks and preferences beside them; `back` tells new names from old ones."""

    rows: pl.DataFrame
    runs: pl.DataFrame
    clicks: pl.DataFrame
    preferences: pl.DataFrame
    back: dict[str, str] = field(default_factory=dict)


@cache
def world(seed: int = 3) -> World:
    """14 queries with 6 documents each; two groups of judges label all of them, gold some."""
    rng = np.random.default_rng(seed)
    rows, runs, clicks, preferences = [], [], [], []
    lenient = {name: rng.normal(0, 0.4) for names in JUDGES.values() for name in names}
    clock = 0
    for place, query in enumerate(QUERIES):
        for number in range(6):
            doc = f"{query}d{number}"
            truth = rng.normal(1.2, 1.1)
            wiki = bool(number % 2)
            for group, names in JUDGES.items():
                if group == "gold" and (number + place) % 2:
                    continue
                many = 1 if group == "gold" else 3
                for name in rng.choice(names, many, replace=False):
                    clock += 1
                    noise = 0 if group == "gold" else lenient[name] + rng.normal(0, 0.6)
                    rows.append(
                        {
                            "query": query,
                            "doc": doc,
                            "label": float(np.clip(round(truth + noise), 0, 3)),
                            "judge": str(name),
                            "group": group,
                            "seconds": float(rng.integers(2, 60)),
                            "wiki": "WP" if wiki else "nWP",
                            "rank": float(number + 1),
                            "place": clock,
                        }
                    )
            clicks.append({"query": query, "doc": doc, "clicks": int(rng.integers(100, 1000))})
            runs += [
                {"system": system, "query": query, "doc": doc, "score": truth * weight + rng.normal(0, 1)}
                for system, weight in zip(SYSTEMS, (1.0, 0.5, 0.0), strict=True)
            ]
        for judge in ("p0", "p1", "p2"):
            choice = rng.choice(["left", "right", "equal"], p=[0.5, 0.3, 0.2])
            preferences.append({"query": query, "left": "ant", "right": "cow", "choice": str(choice), "judge": judge})
    return World(*(pl.DataFrame(part) for part in (rows, runs, clicks, preferences)))


def timed(frame: pl.DataFrame, written: Callable[[int], str]) -> pl.DataFrame:
    """The rows with a time for their place, written so, instead of the place."""
    return frame.with_columns(time=pl.Series([written(int(place)) for place in frame["place"]])).drop("place")


def iso(place: int) -> str:
    """A time from May 2024 on, a minute for each place."""
    return (datetime(2024, 5, 1, tzinfo=UTC) + timedelta(minutes=place)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _renamed(study: World, column: str, names: list[str]) -> World:
    # In another alphabetical order than before, so that nothing can lean on it; but of two groups one is the first.
    turned = {name: f"{column}-{len(names) - n:04d}" for n, name in enumerate(sorted(names))}
    new = {name: f"{name}-too" for name in names} if column == "group" else turned
    frames = {}
    for part in ("rows", "runs", "clicks", "preferences"):
        frame: pl.DataFrame = getattr(study, part)
        frames[part] = frame.with_columns(pl.col(column).replace(new)) if column in frame.columns else frame
    return replace(study, back={name: old for old, name in new.items()}, **frames)


def _more(study: World, seed: int, later: int = 0, **changed: Any) -> World:
    """The study with a second label for each one, of another kind, in a shuffled order of values."""
    rng = np.random.default_rng(seed)
    extra = study.rows.with_columns(pl.Series("label", rng.permutation(study.rows["label"].to_numpy())))
    new = extra.with_columns(*(pl.lit(v).alias(k) for k, v in changed.items()), place=pl.col("place") + later)
    rows = study.rows.with_columns(pl.lit(None, pl.String).alias(name) for name in changed)
    return replace(study, rows=pl.concat([new, rows.select(new.columns)]))


#: What must change no figure, by name.
CHANGES: dict[str, Callable[[World], World]] = {
    "judges renamed": lambda w: _renamed(w, "judge", w.rows["judge"].unique().to_list()),
    "documents renamed": lambda w: _renamed(w, "doc", w.rows["doc"].unique().to_list()),
    "queries renamed": lambda w: _renamed(w, "query", w.rows["query"].unique().to_list()),
    "groups renamed": lambda w: _renamed(w, "group", ["crowd", "staff"]),
    "rows shuffled": lambda w: replace(w, rows=w.rows.sample(fraction=1.0, shuffle=True, seed=9)),
    "labels of snippets added": lambda w: _more(w, 1, surface="snippet"),
    "labels of an aspect added": lambda w: _more(w, 2, aspect="novelty"),
    "labels in context added": lambda w: _more(w, 3, context="another"),
    "labels of a subtopic added": lambda w: _more(w, 4, subtopic="2"),
    "a judge's repeats added": lambda w: _more(w, 5, later=100_000),
    # Even where they keep the name of the document that they were made of.
    "labels of altered documents added": lambda w: _more(w, 6, altered="claim"),
}
#: Other ways to write the same times.
CLOCKS: dict[str, Callable[[int], str]] = {
    "places": str,
    "seconds since 1970": lambda place: str(1_700_000_000 + place),
    "milliseconds since 1970": lambda place: str(999_999_999_000 + 1000 * place),
    "another zone": lambda place: iso(place + 120).replace("Z", "+02:00"),
}
