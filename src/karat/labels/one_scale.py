"""Are gold labels and the judges' on one scale? What is sure is refused, what may be so is said."""

from __future__ import annotations

import polars as pl

from karat.errors import BadInput
from karat.records import Judgments

#: So many gold labels should reach as high as the others' if both are on one scale.
ENOUGH = 10
#: On so many documents one side gives grades that the other never gives, and it is no chance: a judge of whose high
#: grades one in seven is right would be borne out at least once in 95 of 100 such files.
SURE = 20
#: A grade so many times the highest of the other side is on another scale.
FAR = 2
#: Grades in an example.
MOST_SHOWN = 4


def refuse_other_scale(labels: Judgments, gold: Judgments) -> None:
    """Refuse gold labels of yes or no beside judges' grades, the reverse, and scales that begin or end elsewhere.

    >>> grades = Judgments.of({"q": {f"d{n}": n % 4 for n in range(60)}})
    >>> yes_or_no = Judgments.of({"q": {f"d{n}": n % 4 // 2 for n in range(60)}})
    >>> refuse_other_scale(grades, yes_or_no)
    Traceback (most recent call last):
    karat.errors.BadInput: the gold labels: expected labels on the judges' scale (0 to 3), found only 0 and 1, also ...

    A scale ends elsewhere where it goes more than twice as far up: 0 to 3 beside 0 to 100. Gold labels that merely lack
    the highest grade are none of that: a judge may be too kind, and a grade rare. Nor is anything refused where the
    scale is known (study.toml, --scale): both were read by it.
    """
    if labels.scale is not None or gold.scale is not None:
        return
    sides = [of.frame.drop_nulls("label").select("query", "doc", "label") for of in (labels, gold)]
    values = [side["label"].unique().sort().to_list() for side in sides]
    if not all(values):
        return
    for low, high in ((0, 1), (1, 0)):
        above = _beyond(sides[high], sides[low], pl.col("label") > values[low][-1])
        if above < SURE:
            continue
        yes_or_no = len(values[low]) == 2 < len(values[high]) and values[low][1] - values[low][0] == 1
        begins = _beyond(sides[low], sides[high], pl.col("label") < values[high][0]) >= SURE
        top, several = values[low][-1], len(values[low]) > 1  # who gives one grade to everything shows no scale
        ends = several and top > 0 and _beyond(sides[high], sides[low], pl.col("label") > FAR * top) >= SURE
        if yes_or_no or begins or ends:
            ours, theirs = ("judges' labels", "gold") if low == 0 else ("gold labels", "judges'")
            raise BadInput.at(
                f"the {ours}",
                expected=f"labels on the {theirs} scale ({_ends(values[high])})",
                found=f"only {_some(values[low])}, also of {above:,} documents above {values[low][-1]:g} there",
                remedy=f"karat convert --map brings one file to the scale of the other, as --map {_map(values, low)}; "
                f"if both are on one scale, name it: --scale {min(values[0][0], values[1][0]):g}..{values[high][-1]:g}",
            )


def other_scale(labels: pl.Series, gold: pl.Series) -> str:
    """A warning where gold labels and the judges' may be on different scales, else nothing.

    >>> other_scale(pl.Series([0.0, 3.0, 2.0]), pl.Series([0.0, 1.0] * 10))
    'gold labels go from 0 to 1, those of the judges from 0 to 3: are both on one scale?'
    >>> other_scale(pl.Series([1.0] * 10), pl.Series([0.0, 3.0]))
    'gold labels go from 0 to 3, those of the judges are all 1: they tell no document from another'
    """
    labels, gold = labels.drop_nulls(), gold.drop_nulls()
    if not len(gold) or not len(labels):
        return ""
    ends = [sorted(values.unique().to_list()) for values in (gold, labels)]
    # That few gold labels do not reach as high says nothing; that one reaches higher than all labels does.
    if ends[0][-1] == ends[1][-1] or (len(gold) < ENOUGH and ends[0][-1] < ends[1][-1]):
        return ""
    gold_ends = f"gold labels go from {_ends(ends[0])}"
    if len(ends[1]) == 1 and len(labels) > 1:
        return f"{gold_ends}, those of the judges are all {ends[1][0]:g}: they tell no document from another"
    return f"{gold_ends}, those of the judges from {_ends(ends[1])}: are both on one scale?"


def _beyond(side: pl.DataFrame, other: pl.DataFrame, which: pl.Expr) -> int:
    """The documents with labels of both sides to which this side, by the median of its judges, gives such a label."""
    docs = ["query", "doc"]
    both = side.join(other, on=docs, how="semi")
    return both.group_by(docs).agg(pl.col("label").median()).filter(which).height


def _map(values: list[list[float]], low: int) -> str:
    """The grades of one side as those of the other, or its higher ones as the highest, as an example."""
    top, both = values[low][-1], (values[1 - low], values[low])
    if len(both[0]) == len(both[1]):
        return ",".join([f"{grade:g}={other:g}" for grade, other in zip(*both, strict=True) if grade != other])
    return ",".join([f"{grade:g}={top:g}" for grade in values[1 - low] if grade > top][:MOST_SHOWN])


def _ends(values: list[float]) -> str:
    return f"{values[0]:g} to {values[-1]:g}"


def _some(values: list[float]) -> str:
    return " and ".join(f"{value:g}" for value in values) if len(values) <= 2 else _ends(values)
