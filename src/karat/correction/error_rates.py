"""How often judges err, to correct scores by: from documents with both labels, or from a confusion matrix of one's own.

Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeGuard

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.confusion_matrix import ConfusionMatrix
from karat.errors import BadInput, Undefined
from karat.records.number_format import percent
from karat.stats.arrays import Floats, Ints
from karat.stats.rogan_gladen import CLEAR, share_variance

#: Shares of one grade add up to 1, but for rounding.
ROUNDING = 0.02
TABLE = "a confusion matrix: grade, label, share (and n), a row for each true grade and label"


@dataclass(frozen=True, eq=False)
class Rates:
    """A confusion matrix, the labels that its columns are for, and the gold documents that it rests on.

    `values` are the columns' grades or, where grades of one worth are taken together (`by_gain`), their gains. `query`,
    `truth`, `label` and `weight` are those of the gold documents; none for a matrix that was given.
    """

    matrix: ConfusionMatrix
    values: Floats
    by_gain: bool
    query: pl.Series
    truth: Ints
    label: Ints
    weight: Floats

    @classmethod
    def of_gold(cls, rows: pl.DataFrame, seen: Floats) -> Rates:
        """From documents with both labels: query, gain by the label, gain by gold, weight; `seen` are gains shown."""
        if not rows.height:
            raise Undefined("no document has both a label and a gold label")
        gain, gold = rows["gain"].to_numpy(), rows["gold_gain"].to_numpy()
        values = np.unique(np.concatenate([seen, gain, gold]))
        truth, label = np.searchsorted(values, gold), np.searchsorted(values, gain)
        weight = rows["weight"].to_numpy()
        matrix = ConfusionMatrix.of(values, truth, label, weight)
        return cls(matrix, values, True, rows["query"], truth, label, weight)

    @classmethod
    def of_table(cls, table: pl.DataFrame, worth: Callable[[Floats], Floats], seen: Floats) -> Rates:
        """From a table of grade, label, share and n; of two grades, it is about relevant documents and the others."""
        table = checked_table(table)
        values = table["grade"].unique().sort().to_numpy()
        shares = table.sort("grade", "label")["share"].to_numpy().reshape(len(values), len(values))
        n = table.group_by("grade").agg(pl.col("n").min()).sort("grade")["n"].fill_null(np.inf).to_numpy()
        gains = worth(values)
        by_gain = len(values) == 2 and len(np.union1d(seen, [0.0])) == 2
        if by_gain:
            values = gains = np.union1d(seen, [0.0])
        matrix = ConfusionMatrix(gains, shares / shares.sum(axis=1, keepdims=True), n, n, n)
        nobody = np.empty(0, np.int64)
        return cls(matrix, values, by_gain, pl.Series("query", [], pl.String), nobody, nobody, np.empty(0))

    def places(self, label: Floats, gain: Floats) -> Ints:
        """The column of each label; `BadInput` where the matrix has none."""
        wanted = gain if self.by_gain else label
        places = np.clip(np.searchsorted(self.values, wanted), 0, len(self.values) - 1)
        strange = np.unique(wanted[self.values[places] != wanted])
        if len(strange):
            raise BadInput.at(
                "the confusion matrix",
                expected=f"a row and a column for every grade of the labels shown ({_listed(np.unique(wanted))})",
                found=_listed(self.values),
                remedy="a matrix of two grades is for measures of relevant or not, such as P@10",
            )
        return places

    @cached_property
    def worth(self) -> Floats:
        """What each label is worth on average."""
        return self.matrix.worth()

    @cached_property
    def spread(self) -> Floats:
        """The variance of what a label is worth among documents of each true grade."""
        shares, worth = self.matrix.shares, self.worth
        return np.asarray(shares @ worth**2 - (shares @ worth) ** 2, dtype=np.float64)

    def by_query(self, number: dict[str, int]) -> Floats:
        """How far each query's gold documents move the mean worth of each true grade: queries x grades."""
        size = len(self.matrix.gains)
        moved = np.zeros((len(number), size))
        if not len(self.truth):
            return moved
        query = np.array([number[name] for name in self.query])
        off = self.weight * (self.worth[self.label] - self.matrix.gains[self.truth]) / self.matrix.sizes[self.truth]
        np.add.at(moved, (query, self.truth), off)
        there = np.zeros_like(moved)
        there[query, self.truth] = 1.0
        clusters = there.sum(axis=0)
        # Few queries with several documents each show too little of how alike they are misjudged.
        several = clusters < self.matrix.counts
        return moved * np.where(several, np.sqrt(clusters / np.maximum(clusters - 1, 1.0)), 1.0)

    @cached_property
    def independent(self) -> Floats:
        """The variance of that mean if documents of one query were misjudged no more alike than others."""
        worth = self.worth
        return np.array([worth @ self.matrix.row_covariance(k) @ worth for k in range(len(worth))])


def checked_table(table: pl.DataFrame) -> pl.DataFrame:
    """A confusion matrix as a table whose shares add up, with a row for every grade and label; else `BadInput`.

    >>> rows = [(0, 0, 0.8), (0, 1, 0.2), (1, 1, 1.0)]
    >>> checked_table(pl.DataFrame(rows, schema=["grade", "label", "share"], orient="row"))["share"].to_list()
    [0.8, 0.2, 0.0, 1.0]
    """
    missing = [name for name in ("grade", "label", "share") if name not in table.columns]
    if missing:
        raise BadInput.at("the confusion matrix", expected=TABLE, found=", ".join(table.columns) or "nothing")
    n = next((name for name in ("effective", "n") if name in table.columns), None)
    size = pl.lit(None, pl.Float64) if n is None else pl.col(n).cast(pl.Float64)
    table = table.select(pl.col("grade", "label", "share").cast(pl.Float64), n=size).drop_nulls("share")
    bad = table.filter(~pl.col("share").is_between(0, 1) | (pl.col("n") <= 0))
    if bad.height or table.select("grade", "label").is_duplicated().any():
        found = f"{bad.row(0, named=True)}" if bad.height else "two rows for one grade and label"
        raise BadInput.at(
            "the confusion matrix", expected="shares from 0 to 1, one for each grade and label", found=found
        )
    grades, labels = table["grade"].unique().sort(), table.filter(pl.col("share") > 0)["label"].unique().sort()
    strange = [f"{label:g}" for label in labels if label not in grades]
    if strange or len(grades) < 2:
        raise BadInput.at(
            "the confusion matrix",
            expected="a row for every label, two grades or more",
            found=f"true grades {_listed(grades.to_numpy())}"
            + (f" and labels {', '.join(strange)}" if strange else ""),
            remedy="get gold labels of every grade, or map grades together" + advise(" (karat convert --map)", ""),
        )
    off = table.group_by("grade").agg(pl.col("share").sum()).filter((pl.col("share") - 1).abs() > ROUNDING)
    if off.height:
        grade, total = off.sort("grade").row(0)
        found = f"{total:.3g} for grade {grade:g}"
        raise BadInput.at("the confusion matrix", expected="shares of each true grade that add up to 1", found=found)
    rows = table.group_by("grade").agg(n=_of_row(pl.col("share"), pl.col("n")))
    every = grades.to_frame().join(grades.to_frame().select(label="grade"), how="cross")
    whole = every.join(table.drop("n"), on=["grade", "label"], how="left").join(rows, on="grade", how="left")
    return whole.with_columns(pl.col("share").fill_null(0.0)).sort("grade", "label")


def _of_row(share: pl.Expr, n: pl.Expr) -> pl.Expr:
    """As how many labels those of a true grade count, where each of its shares counts as another number."""
    spread = share * (1 - share)
    return pl.when(spread.sum() > 1e-12).then(spread.sum() / (spread / n).sum()).otherwise(n.min())


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:g}" for value in values[:8]) + (", ..." if len(values) > 8 else "")


#: Fewer gold labels than this in a cell say nothing of how far a rate might be off.
FEWEST_GOLD = 2
#: What is to be given for each kind of document.
COUNTS = "how many of how many gold labels the judges agree with, such as 43/59"
#: With fewer standard errors than this, intervals hold and plans come true only roughly.
ROUGH = 5.0


@dataclass(frozen=True, repr=False)
class Accuracy:
    """How often judges agree with gold on relevant documents, and on the others.

    >>> accuracy = Accuracy.of("43/59", "67/84")
    >>> accuracy
    The judges are right on 73 % of relevant documents (43 of 59) and 80 % of the others (67 of 84).
    >>> round(accuracy.d, 3)
    0.526

    `d` is 1 for judges who never err and 0 for judges who guess: it is what is left of a difference between two
    systems in these judges' labels. The gold documents must be a fair sample of those that the judges labelled.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), section 3.
    """

    agreed_relevant: int
    n_relevant: int
    agreed_nonrelevant: int
    n_nonrelevant: int

    def __post_init__(self) -> None:
        for kind, agreed, n in self.counts:
            if not (_whole(agreed) and _whole(n) and n >= 1 and 0 <= agreed <= n):
                raise BadInput.at(kind, expected=COUNTS, found=f"{agreed}/{n}")

    @classmethod
    def of(cls, relevant: str | tuple[int, int], nonrelevant: str | tuple[int, int]) -> Self:
        """From counts, (43, 59) or "43/59": right on 43 of the 59 documents that gold calls relevant; and the others.

        >>> Accuracy.of((43, 59), (67, 84)).relevant == 43 / 59
        True
        """
        return cls(*_fraction("relevant", relevant), *_fraction("nonrelevant", nonrelevant))

    @property
    def counts(self) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
        """The two kinds of documents: on how many of how many gold labels the judges agree."""
        return (
            ("relevant", self.agreed_relevant, self.n_relevant),
            ("nonrelevant", self.agreed_nonrelevant, self.n_nonrelevant),
        )

    @property
    def relevant(self) -> float:
        """The share of relevant documents that judges call relevant."""
        return self.agreed_relevant / self.n_relevant

    @property
    def nonrelevant(self) -> float:
        """The share of other documents that judges call not relevant."""
        return self.agreed_nonrelevant / self.n_nonrelevant

    @property
    def d(self) -> float:
        """What is left of a true difference in the judges' labels: 1 without errors, 0 for guessing."""
        return self.relevant + self.nonrelevant - 1

    @property
    def variances(self) -> tuple[float, float]:
        """The variances of the two shares.

        Where the judges were always right, or never, the share is moved as if one answer of each kind had been added:
        20 right of 20 does not mean that they never err.
        """
        relevant, nonrelevant = (float(share_variance(agreed, n)) for _, agreed, n in self.counts)
        return relevant, nonrelevant

    @property
    def d_error(self) -> float:
        """The standard error of d."""
        return math.sqrt(sum(self.variances))

    def checked(self, whose: str = "the judges") -> Self:
        """These accuracies, if scores can be corrected with them; otherwise `Undefined` says why not."""
        for kind, _, n in self.counts:
            if n < FEWEST_GOLD:
                raise Undefined(
                    f"{whose}: {n} gold label of {kind} documents; how often judges err on them cannot be "
                    f"told from fewer than {FEWEST_GOLD}"
                )
        if self.d < -CLEAR * self.d_error:
            raise Undefined(
                f"{whose} answer the wrong way round: they call {percent(self.relevant)} of relevant documents "
                f"relevant, and {percent(1 - self.nonrelevant)} of the others; look whether the labels are swapped"
            )
        if self.d < CLEAR * self.d_error or self.d == 0:
            raise Undefined(
                f"{whose} cannot be told from guessing: they call {percent(self.relevant)} of relevant documents "
                f"relevant, but {percent(1 - self.nonrelevant)} of the others too (a distance of {self.d:.3f} with a "
                f"standard error of {self.d_error:.3f}); get more gold labels or better judges"
            )
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of scores corrected with these accuracies should know."""
        notes = []
        if self.d < ROUGH * self.d_error:
            notes.append(
                f"the judges are only {self.d / self.d_error:.1f} standard errors better than guessing: intervals are "
                "rough; more gold labels help most"
            )
        for kind, agreed, n in self.counts:
            if agreed in (0, n):
                notes.append(f"{kind} {agreed}/{n}: the error allows for a rate that {n} gold labels could have missed")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """The counts, the shares and d with its error."""
        return {
            **{kind: {"agreed": agreed, "of": n, "share": agreed / n} for kind, agreed, n in self.counts},
            "d": self.d,
            "d_standard_error": self.d_error,
        }

    def __repr__(self) -> str:
        return (
            f"The judges are right on {percent(self.relevant)} of relevant documents ({self.agreed_relevant} of "
            f"{self.n_relevant}) and {percent(self.nonrelevant)} of the others ({self.agreed_nonrelevant} of "
            f"{self.n_nonrelevant})."
        )


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _fraction(place: str, value: str | tuple[int, int]) -> tuple[int, int]:
    try:
        agreed, n = (int(part) for part in value.split("/")) if isinstance(value, str) else value
    except ValueError:
        raise BadInput.at(
            place,
            expected=COUNTS,
            found=f'"{value}"',
            remedy="give counts, not a share: how sure a rate is depends on how many labels it comes from",
        ) from None
    return agreed, n
