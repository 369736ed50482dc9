"""Are gold labels and the judges' on one scale? What is sure is refused, what may be so is said."""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from karat.advice import advise
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


#: So many gold labels above the highest label show that labels between whole grades are on another scale.
MIN_BEYOND = 5


class ScaleDifference(NamedTuple):
    """Labels and gold labels on different scales, such as 0 and 1 beside 0 to 3."""

    labels: str
    gold: str
    #: The highest label, and the highest gold grade: by the scale where one is given.
    labels_top: float
    gold_top: float

    @property
    def note(self) -> str:
        """A warning that says on which scale each figure is."""
        return (
            f"labels ({self.labels}) and gold labels ({self.gold}) are on different scales: corrected figures are on "
            "the gold scale; uncorrected figures are on the labels' own scale and cannot be compared with them"
        )


def is_out_of_reach(measure: object, scales: ScaleDifference) -> bool:
    """Whether no label is high enough to count as relevant for the measure, as 0 and 1 for P(rel=2)."""
    return float(getattr(measure, "rel", 0) or 0) > scales.labels_top


def out_of_reach_note(measure: object, scales: ScaleDifference) -> str:
    """Why an uncorrected figure is undefined."""
    return f"uncorrected {measure} is undefined: no label ({scales.labels}) reaches its relevance threshold"


def scale_difference(labels: Judgments, gold: Judgments) -> ScaleDifference | None:
    """How the scales of labels and gold labels differ, or None where they do not, or nothing shows it.

    >>> grades = Judgments.of({"q": {f"d{n}": n % 4 for n in range(60)}})
    >>> yes_or_no = Judgments.of({"q": {f"d{n}": n % 4 // 2 for n in range(60)}})
    >>> scale_difference(yes_or_no, grades)
    ScaleDifference(labels='0 to 1', gold='0 to 3', labels_top=1.0, gold_top=3.0)
    >>> scale_difference(grades, grades) is None
    True

    Scales that both sides state decide. Otherwise the scales differ where one side says yes or no beside grades, goes
    more than twice as far up, or has labels between whole grades that do not end where the gold labels do. A gold
    sample that merely lacks the highest grade shows nothing: a judge may be too lenient, and a grade rare.
    """
    if labels.scale is not None and gold.scale is not None:
        ends = [[of.scale.levels[0].grade, of.scale.top.grade] for of in (labels, gold) if of.scale is not None]
        grades = [[level.grade for level in of.scale] for of in (labels, gold) if of.scale is not None]
        return None if grades[0] == grades[1] else _difference(*ends)
    sides = [of.frame.drop_nulls("label").select("query", "doc", "label") for of in (labels, gold)]
    values = [side["label"].unique().sort().to_list() for side in sides]
    if not all(values):
        return None
    for side, of in enumerate((labels, gold)):
        if of.scale is not None:
            values[side] = sorted({*values[side], *(level.grade for level in of.scale)})
    between = [any(value != round(value) for value in side) for side in values]
    if between[0] and not between[1]:
        below = _beyond(sides[1], sides[0], pl.col("label") > values[0][-1])
        if math.ceil(values[0][-1]) > values[1][-1] + 1 or (2 * values[0][-1] <= values[1][-1] and below >= MIN_BEYOND):
            return _difference(*values)
    for low, high in ((0, 1), (1, 0)):
        above = _beyond(sides[high], sides[low], pl.col("label") > values[low][-1])
        if above < SURE:
            continue
        yes_or_no = len(values[low]) == 2 < len(values[high]) and values[low][1] - values[low][0] == 1
        top, several = values[low][-1], len(values[low]) > 1  # who gives one grade to everything shows no scale
        ends_elsewhere = several and top > 0 and _beyond(sides[high], sides[low], pl.col("label") > FAR * top) >= SURE
        if yes_or_no or ends_elsewhere:
            return _difference(*values)
    return None


def refuse_other_start(labels: Judgments, gold: Judgments) -> None:
    """Refuse scales that begin at different grades: which gold grade is not relevant then has to be stated.

    >>> grades = Judgments.of({"q": {f"d{n}": n % 4 for n in range(100)}})
    >>> from_one = Judgments.of({"q": {f"d{n}": n % 4 + 1 for n in range(100)}})
    >>> refuse_other_start(grades, from_one)
    Traceback (most recent call last):
    karat.errors.BadInput: the gold labels: expected grades that begin where the labels do (0 to 3), found 1 to 4, ...
    """
    if labels.scale is not None or gold.scale is not None:
        return
    sides = [of.frame.drop_nulls("label").select("query", "doc", "label") for of in (labels, gold)]
    values = [side["label"].unique().sort().to_list() for side in sides]
    if not all(values):
        return
    for low, high in ((0, 1), (1, 0)):
        above = _beyond(sides[high], sides[low], pl.col("label") > values[low][-1])
        below = _beyond(sides[low], sides[high], pl.col("label") < values[high][0])
        if above >= SURE and below >= SURE:
            raise BadInput.at(
                "the gold labels",
                expected=f"grades that begin where the labels do ({_ends(values[0])})",
                found=f"{_ends(values[1])}, also for documents labelled {values[low][0]:g} there"
                if high == 1
                else f"{_ends(values[1])}",
                remedy=advise(
                    "recode one file with karat convert --map, or state both scales: --scale and --gold-scale",
                    "recode one of them, or state both scales: kt.Judgments.of(labels, scale=...) and "
                    "kt.Judgments.of(gold, scale=...)",
                ),
            )


def refuse_other_scale(labels: Judgments, gold: Judgments) -> None:
    """Refuse labels and gold labels on different scales, where grades are compared with grades.

    >>> grades = Judgments.of({"q": {f"d{n}": n % 4 for n in range(60)}})
    >>> yes_or_no = Judgments.of({"q": {f"d{n}": n % 4 // 2 for n in range(60)}})
    >>> refuse_other_scale(grades, yes_or_no)
    Traceback (most recent call last):
    karat.errors.BadInput: the gold labels: expected labels on the judges' scale (0 to 3), found only 0 and 1, also ...

    A scale ends elsewhere where it goes more than twice as far up: 0 to 3 beside 0 to 100. Gold labels that merely lack
    the highest grade are none of that: a judge may be too kind, and a grade rare. Nor is anything refused where the
    scale is known (study.toml, --scale): both were read by it.
    """
    if labels.scale is not None and gold.scale is not None and scale_difference(labels, gold) is not None:
        raise BadInput.at(
            "the gold labels",
            expected=f"labels on the judges' scale ({labels.scale})",
            found=f"the scale {gold.scale}",
            remedy="errors against gold need one scale; compare and score take labels and gold labels on two",
        )
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
            mapped = _map(values, low)
            scale = f"{min(values[0][0], values[1][0]):g}..{values[high][-1]:g}"
            raise BadInput.at(
                f"the {ours}",
                expected=f"labels on the {theirs} scale ({_ends(values[high])})",
                found=f"only {_some(values[low])}, also of {above:,} documents above {values[low][-1]:g} there",
                remedy=advise(
                    f"karat convert --map brings one file to the scale of the other, as --map {mapped}; if both are on "
                    f"one scale, name it: --scale {scale}",
                    f"recode one of them to the scale of the other ({mapped}); if both are on one scale, state it: "
                    f'kt.Judgments.of(..., scale=kt.Scale.parse("{scale}")) for both',
                )
                + ". Errors against gold need one scale; compare and score take labels and gold labels on two",
            )


def _difference(labels: list[float], gold: list[float]) -> ScaleDifference:
    return ScaleDifference(_ends(labels), _ends(gold), float(labels[-1]), float(gold[-1]))


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
