"""How often judges err, to correct scores by: from documents with both labels, or from a confusion matrix of one's own.

Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.estimate.confusion_matrix import ConfusionMatrix
from karat.stats.arrays import Floats, Ints

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
