"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

from typing import Any

from karat.collect.quality import judges_now, panel_now
from karat.store import Store
from karat.store.people import all_judges
from karat.store.progress import judge_counts

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
    finding, known = judges_now(panel_now(store, known=True))
    counts = judge_counts(store)
    rows = []
    for judge in all_judges(store):
        row: dict[str, Any] = dict.fromkeys(UNKNOWN)
        row |= {"n_compared": 0, "n_gold": 0} | known.get(judge["name"], {})
        row |= {name: judge[name] for name in ("id", "name", "state", "why", "source")}
        row |= {"group": judge["grp"]} | {name: counted[judge["id"]] for name, counted in counts.items()}
        rows.append(row)
    return {"finding": finding if rows else "Nobody has been invited yet.", "rows": rows}
