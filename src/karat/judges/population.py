"""Whom a figure about a group of judges is about: these judges, or judges like these."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.errors import BadInput
from karat.labels import GOLD, Panel
from karat.records.base import count

#: Judges are a sample of judges like them, or the only ones that matter.
Judges = Literal["sample", "fixed"]
#: So few judges cannot tell how much others like them would differ.
FEWEST_JUDGES = 5


def sampled_groups(panel: Panel, judges: Judges = "sample") -> tuple[frozenset[str], list[str]]:
    """The groups whose judges stand for others like them, and notes that say whom figures are about.

    >>> rows = [{"query": "q", "doc": f"d{n}", "label": 1, "judge": f"w{n}", "group": "crowd"} for n in range(6)]
    >>> sampled_groups(Panel.of(rows))[0], sampled_groups(Panel.of(rows[:4]))[1]
    (frozenset({'crowd'}), ['crowd has 4 judges: intervals are for these judges, not for others like them'])

    Judges who have names and are five or more are a sample, unless `fixed` is asked for. Gold is nobody's habit.
    """
    if judges not in ("sample", "fixed"):
        raise BadInput.at("judges", expected="sample or fixed", found=str(judges))
    people = panel.judges[np.unique(panel.judge)]
    people = people.filter(people["group"] != GOLD)
    groups = [name for name in panel.groups if name in people["group"]]
    if judges == "fixed":
        return frozenset(), ["intervals are for these judges, not for others like them"] if groups else []
    sampled, notes = set[str](), list[str]()
    for name in groups:
        mine = people.filter(people["group"] == name)
        who = name if panel.has_groups else "the study"
        if mine["judge"].null_count():
            if mine["judge"].null_count() < mine.height or mine.height > 1:
                notes.append(
                    f"{who} has judges without names: intervals are for these judges, not for others like them"
                )
        elif mine.height < FEWEST_JUDGES:
            judged = count(mine.height, "judge")
            notes.append(f"{who} has {judged}: intervals are for these judges, not for others like them")
        else:
            sampled.add(name)
    if sampled:
        whose = f" ({', '.join(sorted(sampled))})" if len(sampled) < len(groups) else ""
        notes.insert(0, f"intervals are for judges like these{whose}: errors are clustered by query and judge")
    return frozenset(sampled), notes
