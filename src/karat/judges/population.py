"""Whom a figure about a group of judges is about: these judges, or judges like these."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import GOLD, Panel
from karat.records.base import count

#: Judges are a sample of judges like them, or the only ones that matter.
Judges = Literal["sample", "fixed"]
#: So few judges cannot tell how much others like them would differ.
FEWEST_JUDGES = 5
THESE = "intervals are for these judges, not for others like them"


def check_judges(judges: str) -> None:
    """Refuse what is no way to take judges."""
    if judges not in get_args(Judges):
        raise BadInput.at("judges", expected=" or ".join(get_args(Judges)), found=str(judges))


def sampled_groups(panel: Panel, judges: Judges = "sample") -> tuple[frozenset[str], list[str]]:
    """The groups whose judges stand for others like them, and notes that say whom figures are about.

    >>> rows = [{"query": "q", "doc": f"d{n}", "label": 1, "judge": f"w{n}", "group": "crowd"} for n in range(6)]
    >>> sampled_groups(Panel.of(rows))[0], sampled_groups(Panel.of(rows[:4]))[1]
    (frozenset({'crowd'}), ['crowd has 4 judges: intervals are for these judges, not for others like them'])

    Judges who have names and are five or more are a sample, unless `fixed` is asked for. Gold is nobody's habit.
    """
    check_judges(judges)
    people = panel.judges[np.unique(panel.judge)].filter(pl.col("group") != GOLD)
    groups = people.group_by("group").agg(n=pl.len(), nameless=pl.col("judge").null_count()).sort("group")
    if judges == "fixed":
        return frozenset(), [THESE] if groups.height else []
    sampled, notes = set[str](), list[str]()
    for name, number, nameless in groups.iter_rows():
        who = name if panel.has_groups else "the study"
        if nameless and number > 1:
            notes.append(f"{who} has judges without names: {THESE}")
        elif not nameless and number < FEWEST_JUDGES:
            notes.append(f"{who} has {count(number, 'judge')}: {THESE}")
        elif not nameless:
            sampled.add(name)
    if sampled:
        whose = f" ({', '.join(sorted(sampled))})" if len(sampled) < groups.height else ""
        notes.insert(0, f"intervals are for judges like these{whose}: errors are clustered by query and judge")
    return frozenset(sampled), notes
