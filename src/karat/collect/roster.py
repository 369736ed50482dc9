"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import polars as pl

from karat.collect.quality import apart, judges_now, panel_now
from karat.collect.speed import NO_TIMES, speed
from karat.errors import KaratError
from karat.records import Preferences, Records
from karat.records.result import rows_of
from karat.store import Store
from karat.store.database import Database
from karat.store.exported import exported
from karat.store.kinds import JUDGE, PAIR
from karat.store.people import all_judges, excluded_kinds
from karat.store.progress import iso, judge_counts
from karat.store.read_tables import document_seconds, judgments, last_rejections

#: What is not known of a judge without labels.
UNKNOWN: tuple[str, ...] = (
    "seconds",
    "agreement",
    "accuracy",
    "accuracy_high",
    "leniency",
    "leniency_low",
    "leniency_high",
)
UNKNOWN += ("drift", "drift_p", "cant_tell", "likely_spammer", "one_grade")


#: Figures of rejected judges, by the study and the event of their rejection: the log only grows, so these never change.
_REJECTED: WeakKeyDictionary[Database, dict[tuple[int, int, str], dict[str, dict[str, Any]]]] = WeakKeyDictionary()


def roster(store: Store) -> dict[str, Any]:
    """Everybody who was invited or came, with what is known of them, and the finding in a sentence.

    A judge whose labels were all taken back by rejection has the figures of the moment before, whose time is `as_of`.
    """
    finding, known = _labels_known(store, judgments(store))
    paces = speed(document_seconds(store), store.rules)
    counts, excluded, rejections = judge_counts(store), excluded_kinds(store), last_rejections(store)
    rows = []
    for judge in all_judges(store):
        mine, as_of = known.get(judge["name"], {}), None
        pace = paces.get(judge["name"], NO_TIMES)
        if not mine.get("n") and (judge["id"], JUDGE.name) in rejections:
            event, at = rejections[judge["id"], JUDGE.name]
            mine, as_of = _labels_before(store, event).get(judge["name"], {}), iso(at)
            pace = _speed_before(store, event).get(judge["name"], NO_TIMES)
        row: dict[str, Any] = dict.fromkeys(UNKNOWN)
        row |= {"n": 0, "n_compared": 0, "n_gold": 0} | mine | pace | {"as_of": as_of}
        row |= {name: judge[name] for name in ("id", "name", "state", "why", "source")}
        row |= {"group": judge["grp"]} | {name: counted[judge["id"]] for name, counted in counts.items()}
        row |= {"excluded": excluded.get(judge["id"], [])}
        rows.append(row)
    return {"finding": finding if rows else "Nobody has been invited yet.", "rows": rows}


def _labels_known(store: Store, said: pl.DataFrame) -> tuple[str, dict[str, dict[str, Any]]]:
    """What labels tell of each judge, by name, and the finding in a sentence."""
    people, models = apart(said)
    # People are held against people; a model against all, for it may be the only one.
    finding, known = judges_now(panel_now(store, people, known=True))
    if models.height:
        told, every = judges_now(panel_now(store, said, known=True))
        finding, known = finding if people.height else told, every | known
    return finding, known


def _labels_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """What labels told of each judge just before an event."""
    return _kept(store, event, JUDGE.name, lambda: _labels_known(store, judgments(store, before=event))[1])


def _speed_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """How fast each judge was just before an event."""
    return _kept(store, event, "speed", lambda: speed(document_seconds(store, before=event), store.rules))


def _kept(
    store: Store, event: int, kind: str, work: Callable[[], dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Figures of the moment before an event, worked out once."""
    mine = _REJECTED.setdefault(store.database, {})
    if (found := mine.get((store.study_id, event, kind))) is None:
        found = mine[store.study_id, event, kind] = work()
    return found


def pair_judges(store: Store) -> dict[str, Any]:
    """Everybody who chose between lists: sides, speed, traps, agreement with the others; and how far all agree.

    A judge whose choices were all taken back, as after a failed trap, has the figures of the moment before, whose time
    is `as_of`.
    """
    found = _pairs_known(store, exported(store, PAIR.table.name))
    rows = [row | {"as_of": None} for row in found["rows"]]
    there = {row["judge"] for row in rows}
    names = {judge["id"]: judge["name"] for judge in all_judges(store)}
    for (number, kind), (event, at) in last_rejections(store).items():
        if kind != PAIR.name or names[number] in there:
            continue
        before = _pairs_before(store, event).get(names[number])
        rows += [] if before is None else [before | {"as_of": iso(at)}]
    return found | {"rows": rows}


def _pairs_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """What choices told of each judge just before an event."""

    def work() -> dict[str, dict[str, Any]]:
        rows = _pairs_known(store, exported(store, PAIR.table.name, before=event))["rows"]
        return {row["judge"]: row for row in rows}

    return _kept(store, event, PAIR.name, work)


def _pairs_known(store: Store, said: Records) -> dict[str, Any]:
    """What choices tell of each judge, how far all agree, and the finding in a sentence."""
    from karat.validity import preference_judges

    try:
        if not isinstance(said, Preferences) or not len(said):
            return {"finding": "", "agreement": "", "rows": []}
        people, models = (replace(said, frame=frame) for frame in apart(said.frame))
        found = preference_judges(people if len(people) else said)
        rows = found.frame
        if len(people) and len(models):  # as for grades: people against people, models against all
            every = preference_judges(said).frame
            rows = pl.concat([rows, every.filter(~pl.col("judge").is_in(rows["judge"].implode()))])
    except KaratError as reason:
        return {"finding": str(reason), "agreement": "", "rows": []}
    told = found.frame.filter(pl.col("compared") > 0)
    same, number = float((told["agreement"] * told["compared"]).sum()), int(told["compared"].sum())
    agreement = (
        f"{100 * same / number:.0f} % of {number:,} answers for a side go with the majority of the others who saw the "
        "same two lists; one half is chance."
        if number
        else "No two lists have two answers yet."
    )
    return {"finding": found.finding, "agreement": agreement, "rows": rows_of(rows)}
