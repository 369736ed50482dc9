"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from karat.collect.quality import apart, judges_now, panel_now
from karat.errors import KaratError
from karat.records import Preferences
from karat.records.result import rows_of
from karat.store import Store
from karat.store.exported import exported
from karat.store.people import all_judges, excluded_kinds
from karat.store.progress import judge_counts
from karat.store.read_tables import judgments

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


def roster(store: Store) -> dict[str, Any]:
    """Everybody who was invited or came, with what is known of them, and the finding in a sentence."""
    said = judgments(store)
    people, models = apart(said)
    # People are held against people; a model against all, for it may be the only one.
    finding, known = judges_now(panel_now(store, people, known=True))
    if models.height:
        told, every = judges_now(panel_now(store, said, known=True))
        finding, known = finding if people.height else told, every | known
    counts, excluded = judge_counts(store), excluded_kinds(store)
    rows = []
    for judge in all_judges(store):
        row: dict[str, Any] = dict.fromkeys(UNKNOWN)
        row |= {"n_compared": 0, "n_gold": 0} | known.get(judge["name"], {})
        row |= {name: judge[name] for name in ("id", "name", "state", "why", "source")}
        row |= {"group": judge["grp"]} | {name: counted[judge["id"]] for name, counted in counts.items()}
        row |= {"excluded": excluded.get(judge["id"], [])}
        rows.append(row)
    return {"finding": finding if rows else "Nobody has been invited yet.", "rows": rows}


def pair_judges(store: Store) -> dict[str, Any]:
    """Everybody who chose between lists: sides, speed, traps, agreement with the others; and how far all agree."""
    from karat.validity import preference_judges

    said = exported(store, "preferences")
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
