"""One label of several: the median of ordered grades, or the majority, or the mean.

With two labels, and a third where they differ, three different labels are common: the majority then has nothing to
choose by, and the lowest of the three would pull a whole group down. The median is the grade in the middle.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels.cache import made_once
from karat.labels.gold import GOLD, split_gold
from karat.labels.order import first_of_each, in_order
from karat.labels.selection import refuse_unknown, select
from karat.records import Judgments, LabelsLike
from karat.records.table import count, may_repeat

#: How several labels become one.
How = Literal["median", "majority", "mean"]
#: Which of the two middle grades stands where labels split evenly (of a majority: of the grades given equally often).
Ties = Literal["lower", "upper", "mean"]
HOWS: tuple[str, ...] = get_args(How)
#: Means of the same labels in another order are the same to so many decimals.
PLACES = 9


@dataclass(frozen=True, eq=False)
class Reduced:
    """One label for each key (`label`), of how many (`n`), and whether they split evenly (`tied`)."""

    frame: pl.DataFrame
    how: How
    ties: Ties

    def note(self) -> str:
        """What became of the labels in words; nothing where each was alone."""
        several = self.frame.filter(pl.col("n") > 1)
        if not several.height:
            return ""
        labels, documents = count(int(self.frame["n"].sum()), "label"), count(self.frame.height, "document")
        said = f"{labels} of {documents}: the {self.how} counts"
        tied = int(several["tied"].sum())
        if not tied or self.how == "mean":
            return said
        which = "their mean" if self.ties == "mean" else f"the {self.ties} grade"
        return f"{said}, and {which} where labels split evenly ({count(tied, 'document')})"


def reduced(frame: pl.DataFrame, key: Collection[str], how: How = "median", ties: Ties = "lower") -> Reduced:
    """One label for each key from rows with a label each.

    >>> said = pl.DataFrame({"doc": ["a", "a", "a", "b", "b"], "label": [0.0, 2.0, 3.0, 1.0, 2.0]})
    >>> reduced(said, ["doc"]).frame.sort("doc").rows()
    [('a', 2.0, 3, False), ('b', 1.0, 2, True)]
    """
    if how not in HOWS or ties not in get_args(Ties):
        expected = f"{', '.join(HOWS)}; of even splits {', '.join(get_args(Ties))}"
        remedy = "an error model gives labels of its own: kt.judges.dawid_skene(labels).labels()"
        raise BadInput.at("one label of several", expected=expected, found=f"{how}, {ties}", remedy=remedy)
    label, key = pl.col("label"), list(key)
    if how == "mean":
        made = frame.group_by(key).agg(label.mean().round(PLACES), n=pl.len(), tied=pl.lit(False))
        return Reduced(made, how, ties)
    if how == "majority":
        votes = frame.group_by(*key, "label").len("votes")
        n = frame.group_by(key).agg(n=pl.len())
        most = votes.filter(pl.col("votes") == pl.col("votes").max().over(key))
        ends = most.group_by(key).agg(lower=label.min(), upper=label.max()).join(n, on=key, nulls_equal=True)
    else:
        ends = _middle(frame, key)
    chosen = (pl.col("lower") + pl.col("upper")) / 2 if ties == "mean" else pl.col(ties)
    return Reduced(ends.select(*key, chosen.alias("label"), "n", tied=pl.col("lower") != pl.col("upper")), how, ties)


def _middle(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The two labels in the middle of each key's, and how many there are; sorted all at once, not key by key."""
    groups = frame.group_by(key).agg("label")
    n = groups["label"].list.len().to_numpy().astype(np.int64)
    values, start = groups["label"].explode().to_numpy(), np.cumsum(n) - n
    values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    lower, upper = values[start + (n - 1) // 2], values[start + n // 2]
    return groups.select(*key, lower=lower, upper=upper, n=pl.Series(n, dtype=pl.get_index_type()))


def consensus(
    labels: LabelsLike,
    how: How = "median",
    *,
    ties: Ties = "lower",
    apart: Collection[str] = ("context", "subtopic"),
) -> Judgments:
    """One label for each document from all that its judges said: by default the median.

    >>> said = [{"query": "q", "doc": "d", "label": label, "judge": judge}
    ...         for judge, label in (("ann", 0), ("bob", 2), ("eve", 3))]
    >>> consensus(said).frame.row(0), consensus(said, "majority").frame.row(0)
    (('q', 'd', 2.0), ('q', 'd', 0.0))

    Labels of single aspects, of snippets and of a group gold beside others are left aside; a document has a label of
    its own for each context and subtopic (`apart`). A judge has one label for an item, the first. Of the two middle
    grades of an even number the lower stands (a document has to earn its grade), or the `upper`, or their `mean`. All
    judges count alike: an error model weighs them (`karat.judges.dawid_skene(labels).labels()`).
    """
    judgments = Judgments.of(labels)
    key = ("consensus", how, ties, tuple(apart))
    return made_once(judgments, key, lambda: _consensus(judgments, how, ties, apart))


def _consensus(judgments: Judgments, how: How, ties: Ties, apart: Collection[str]) -> Judgments:
    judged, trusted = split_gold(judgments, any_scale=True)
    refuse_unknown(apart, judgments)
    selected = select(judged, apart, strict=True)
    frame, key, notes = selected.frame, selected.key, list(selected.notes)
    if trusted is not None:
        aside = count(trusted.frame.drop_nulls("label").height, "label")
        notes.insert(0, f"{aside} of the group {GOLD} left aside")
    given = frame.drop_nulls("label")
    # Who could not tell has a name; what has none waits for a label.
    silent = (frame.drop_nulls("judge") if "judge" in frame.columns else frame)["label"].null_count()
    if not may_repeat(given, key):
        found = given.select(*key, "label")
    else:
        once = first_of_each(in_order(given), key)
        if once.height < given.height:
            notes.append(given_again(given.height - once.height))
        made = reduced(once, key, how, ties)
        found = made.frame.select(*key, "label").sort(key)
        notes += [note for note in [made.note()] if note]
    if silent:
        notes.append(silence(silent))
    return replace(judgments, frame=found, notes=(*judgments.notes, *notes))


def given_again(number: int) -> str:
    """What is said of labels that a judge gave to an item a second time."""
    return f"{count(number, 'label')} repeated by the same judge: the first counts"


def silence(number: int) -> str:
    """What is said of answers without a label."""
    return f"{count(number, 'answer')} without a label (can't tell) left aside"
