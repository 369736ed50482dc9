"""In which order labels were given: by parsed times, one label a judge and item, and a rule that stops at two.

Where a third label is asked only when the first two differ, documents with three are there for being contested: all
labels together tell wrongly how judges agree, while the first two were asked of every document alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.records.study_design import Rules
from karat.records.table import repeats
from karat.records.times import moments
from karat.stats.agreement_coefficients import label_counts, pair_sums
from karat.stats.arrays import Bools, Floats, Ints, distinct

#: How far apart the first two have to be, in grades, for a third: what is looked for in labels without a known rule.
APART = (1.0, 2.0)
#: So few documents with a third label show no rule, and so large a share may break it: answers get lost, hands slip.
FEWEST_MORE, SLIPS = 5, 0.05
#: How improbable it must be that labels look like the rule by chance.
BY_CHANCE = 0.001


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order in which they were given: by time where it is known, else as they came.

    >>> in_order(pl.DataFrame({"time": ["10", "9"], "label": [2.0, 1.0]}))["label"].to_list()
    [1.0, 2.0]
    """
    if "time" not in frame.columns or frame["time"].null_count() == frame.height:
        return frame
    timed = frame.with_columns(_moment=moments(frame["time"]))
    return timed.sort("_moment", nulls_last=True, maintain_order=True).drop("_moment")


def first_of_each(frame: pl.DataFrame, key: Sequence[str], who: str = "judge") -> pl.DataFrame:
    """The first label of each judge about an item; rows are in order, and those without a name are different people.

    >>> said = pl.DataFrame({"query": "q", "doc": "d", "judge": ["ann", "ann", None, None], "label": [1.0, 2, 0, 0]})
    >>> first_of_each(said, ["query", "doc"])["label"].to_list()
    [1.0, 0.0, 0.0]
    """
    if who not in frame.columns:
        return frame
    names = [name for name in ("group", who) if name in frame.columns]
    return frame.filter(pl.col(who).is_null() | ~repeats(frame, [*key, *names]))


@dataclass(frozen=True)
class ThirdRule:
    """How many labels every document of a group was to have, before more were asked where two were so far apart."""

    group: str
    labels: int = 2
    apart: float = 1.0
    #: Whether the study says so; else it shows in the labels.
    known: bool = False

    @property
    def differed(self) -> str:
        """What the first two had to do for a further label, in words."""
        if self.apart == 1:
            return "differed"
        return f"were {self.apart:g} grades apart or more"


def known_rules(rules: Rules, groups: Sequence[str]) -> list[ThirdRule]:
    """The rule of a study for each of its groups, none where no further label is ever asked."""
    if not rules.apart or rules.labels < 2:
        return []
    return [ThirdRule(group, rules.labels, rules.apart, True) for group in groups]


def inferred_rules(item: Ints, group: Ints, grade: Ints, groups: Sequence[str], grades: Floats) -> list[ThirdRule]:
    """The groups whose labels look as if a third had been asked only where the first two were apart.

    >>> item = np.repeat(np.arange(24), [2] * 18 + [3] * 6)
    >>> grade = np.array([0, 0] * 18 + [0, 1, 1] * 6)
    >>> [rule.apart for rule in inferred_rules(item, np.zeros_like(item), grade, ["all"], np.array([0.0, 1.0]))]
    [1.0]

    It shows: of items with two labels hardly any are apart, of items with more nearly all, and so many of the former
    cannot be chance if the labels of the latter are anything to go by.
    """
    found = []
    for number, name in enumerate(groups):
        mine = group == number
        items, place, _ = distinct(item[mine])
        counts = label_counts(place, grade[mine], len(items), len(grades))
        given = np.where(counts > 0, grades, np.nan)
        with np.errstate(invalid="ignore"):
            reach = np.nanmax(given, axis=1) - np.nanmin(given, axis=1) if len(items) else np.zeros(0)
        size = counts.sum(axis=1)
        two, more = size == 2, size > 2
        if more.sum() < FEWEST_MORE or not two.any():
            continue
        pairs = pair_sums(counts[more], np.zeros(int(more.sum()), np.int64), 1).by_item[0]
        for apart in APART:
            near = float(pairs[np.abs(grades[:, None] - grades) < apart].sum() / pairs.sum())
            follows = (reach[two] < apart).mean() >= 1 - SLIPS and (reach[more] < apart).mean() <= SLIPS
            if follows and near ** int(two.sum()) < BY_CHANCE:
                found.append(ThirdRule(name, 2, apart))
                break
    return found


def asked_of_all(item: Ints, group: Ints, value: Floats, moment: Floats, ruled: dict[int, ThirdRule]) -> Bools:
    """Which labels, in the order in which they were given, stood before more were asked, group by group.

    Labels of one moment (a day, or all of them where no time is known) may have lost their order on the way. But a
    third was asked only where two were apart: so of the labels that could be the second, it is the next one that is
    apart from the first, and where none is, the next one.
    """
    frame = pl.DataFrame({"item": item, "group": group, "value": value, "moment": moment}).with_row_index("row")
    frame = frame.with_columns(
        apart=_by_group({n: rule.apart for n, rule in ruled.items()}, np.inf),
        wanted=_by_group({n: float(rule.labels) for n, rule in ruled.items()}, 0.0),
    )
    pair = ["item", "group"]
    is_first = pl.col("row") == pl.col("row").first().over(pair)
    differs = (pl.col("value") - pl.col("value").first().over(pair)).abs() >= pl.col("apart")
    frame = frame.with_columns(is_first=is_first, other=differs)
    soonest = pl.col("moment").filter(~pl.col("is_first")).min().over(pair)
    second = pl.col("row").filter(pl.col("other") & (pl.col("moment") == soonest)).first().over(pair)
    frame = frame.with_columns(
        place=pl.when("is_first").then(0).when(pl.col("row") == second).then(1).otherwise(2).cast(pl.Int64)
    )
    nth = pl.struct("place", "row").rank("ordinal").over(pair)
    keep: Bools = frame.select((pl.col("wanted") == 0) | (nth <= pl.col("wanted"))).to_series().to_numpy()
    return keep


def _by_group(values: dict[int, float], default: float) -> pl.Expr:
    return pl.col("group").replace_strict(values, default=default, return_dtype=pl.Float64)
