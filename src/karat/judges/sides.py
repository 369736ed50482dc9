"""The two sides that a bias lies between: a group and gold, or two groups, on the pairs that both labelled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.slices import errors_of, labels_of, sliced
from karat.labels import GOLD, Panel
from karat.records import Judgments
from karat.records.column_names import OF_ANSWERS_OF_LLMS
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints, variance_components
from karat.stats.cluster_robust import clustered_ols

#: What differs on a slice: how far labels are off and in which direction, or how often they are right.
Kind = Literal["bias", "noise"]

#: More gold grades than this are put together into so many.
MOST_GRADES = 10


@dataclass(frozen=True, eq=False)
class Side:
    """The differences of one group from gold, or from another group: a row for each label, laid out by number."""

    group: str
    against: str
    kind: Kind
    query: Ints
    #: Who gave the label; nothing where judges are taken as they are.
    judge: Ints | None
    difference: Floats
    #: What a row counts, and what it counts as a query-document pair: 1 / its pair's rows.
    weight: Floats
    pair: Floats
    #: The slice of each row by feature, -1 where it is unknown.
    codes: dict[str, Ints]
    names: dict[str, list[str]]
    #: The gold grade of each row by number, from 0.
    grade: Ints
    #: The variance of rows within queries, and of queries.
    noise: tuple[float, float]
    #: The same differences seen from the other group's labels, where its judges are a sample, too.
    other: Side | None = None

    def inside(self, where: tuple[tuple[str, int], ...]) -> Bools:
        """Which rows are in a slice."""
        mask = np.ones(len(self.query), np.bool_)
        for feature, value in where:
            mask &= self.codes[feature] == value
        return mask

    def p_of_last(self, columns: list[Bools], known: Bools | None = None) -> float:
        """The p value of the last of some yes-or-no columns beside the grades and the others; 1 where they tell it."""
        rows = np.ones(len(self.query), np.bool_) if known is None else known
        grades, judges = int(self.grade.max()) + 1, 1 if self.judge is None else int(self.judge.max()) + 1
        # Labels of one judge and query that are alike in all columns are counted together: the fit is the same.
        code = (self.query * judges + (0 if self.judge is None else self.judge)) * grades + self.grade
        for column in columns:
            code = code * 2 + column
        seen, place = np.unique(code[rows], return_inverse=True)
        weight = totals(place, self.weight[rows], len(seen))
        difference = totals(place, (self.weight * self.difference)[rows], len(seen)) / weight
        who, design = seen >> len(columns), np.empty((len(seen), grades - 1 + len(columns)))
        design[:, : grades - 1] = (who % grades)[:, None] == np.arange(1, grades)
        for bit in range(len(columns)):
            design[:, -1 - bit] = seen >> bit & 1
        query, judge = np.divmod(who // grades, judges)
        fit = clustered_ols(difference, design, query, judge=None if self.judge is None else judge, weight=weight)
        return float(fit.p[-1]) if np.isfinite(fit.p[-1]) else 1.0


@dataclass(frozen=True, eq=False)
class Slice:
    """A slice of one side, and how the difference inside compares with that outside."""

    side: Side = field(repr=False)
    where: tuple[tuple[str, int], ...]
    n: int
    n_pairs: int
    n_queries: int
    inside: float
    outside: float
    effect: float
    #: How far the interval goes to each side.
    reach: float
    p: float
    p_bh: float = np.nan

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.effect - self.reach

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.effect + self.reach


def own_columns(panel: Panel) -> list[str]:
    """The columns that are no part of a judgment: features, by karat or by the user; `_trust` is a tool's, and none."""
    known = {*Judgments.schema.names, *OF_ANSWERS_OF_LLMS}
    frame = panel.frame
    names = [name for name in frame.columns if name not in known and not name.startswith("_")]
    names = [name for name in names if frame[name].null_count() < frame.height]
    if not names:
        raise BadInput.at(
            "the judgments",
            expected="columns with features of query or document",
            found=", ".join(frame.columns),
            remedy="make them with add_features(judgments, documents=..., queries=...)",
        )
    return names


def both_sides(panel: Panel, features: list[str], sampled: Collection[str]) -> tuple[list[Side], list[str]]:
    """Each group against gold, for bias and for noise; without gold, each two groups against each other."""
    frame, notes = errors_of(panel, features) if panel.has_gold else (labels_of(panel, features), [])
    cut = [sliced(frame[name]).alias(name) for name in features]
    names = {s.name: s.dtype.categories.to_list() for s in cut if isinstance(s.dtype, pl.Enum)}
    frame = frame.select(pl.col("^_.*$")).hstack([s.to_physical().cast(pl.Int64).fill_null(-1) for s in cut])
    groups = frame["_group"].unique().sort().to_list()
    sides = list[Side]()
    if panel.has_gold:
        for group in groups:
            part = frame.filter(pl.col("_group") == group).with_columns(_difference="_error", _grade="_gold")
            bias = _side(group, GOLD, part, names, group in sampled)
            right = (bias.difference == 0).astype(np.float64)
            sides += [bias, replace(bias, kind="noise", difference=right, noise=_noise(part, bias.grade, right))]
        return sides, notes
    if len(groups) < 2:
        raise Undefined("one group without gold: there is nothing to compare its labels with")
    mixed = [f for f in features if frame.group_by("_item").agg(pl.col(f).n_unique())[f].max() != 1]
    if mixed:
        notes.append(f"not a feature of the pair, so left out without gold: {', '.join(mixed)}")
        names = {name: values for name, values in names.items() if name not in mixed}
    means = frame.group_by("_group", "_item").agg(_mean=pl.mean("_label"))
    for one, other in combinations(groups, 2):
        seen = [
            _against(frame, means, mine, theirs, sign) for mine, theirs, sign in ((one, other, 1.0), (other, one, -1.0))
        ]
        if seen[0].height:
            there, back = (
                _side(one, other, part, names, mine in sampled) for part, mine in zip(seen, (one, other), strict=True)
            )
            sides.append(replace(there, other=back if other in sampled else None))
    if not sides:
        raise Undefined("no two groups labelled the same documents, and there is no gold")
    return sides, notes


def _against(frame: pl.DataFrame, means: pl.DataFrame, mine: str, theirs: str, sign: float) -> pl.DataFrame:
    """One group's labels of the pairs that both labelled, less the mean of the other's; a pair counts once."""
    own, other = (means.filter(pl.col("_group") == group).drop("_group") for group in (mine, theirs))
    rows = frame.filter(pl.col("_group") == mine).join(own, on="_item", maintain_order="left")
    rows = rows.join(other, on="_item", suffix="_other", maintain_order="left")
    return rows.with_columns(
        _difference=sign * (pl.col("_label") - pl.col("_mean_other")),
        _grade=((pl.col("_mean") + pl.col("_mean_other")) / 2).round(),
        _weight=1.0 / pl.len().over("_item"),
    )


def _side(group: str, against: str, part: pl.DataFrame, names: dict[str, list[str]], sampled: bool) -> Side:
    grade = sliced(part["_grade"], MOST_GRADES).rank("dense").cast(pl.Int64) - 1
    part = part.with_columns(
        pl.col("_query", "_judge").rank("dense").cast(pl.Int64) - 1,
        _pair=1.0 / pl.len().over("_item"),
        _grade=grade,
    )
    difference, grades = part["_difference"].to_numpy(), part["_grade"].to_numpy()
    return Side(
        group,
        against,
        "bias",
        part["_query"].to_numpy(),
        part["_judge"].to_numpy() if sampled else None,
        difference,
        part["_weight"].to_numpy(),
        part["_pair"].to_numpy(),
        {name: part[name].to_numpy() for name in names},
        names,
        grades,
        _noise(part, grades, difference),
    )


def _noise(part: pl.DataFrame, grade: Ints, difference: Floats) -> tuple[float, float]:
    """The variance of rows within queries, and of queries, by the analysis of variance of pairs."""
    beyond = pl.col("_difference") - pl.col("_difference").mean().over("_grade")
    rows = part.select("_item", "_query", _difference=pl.Series(difference), _grade=pl.Series(grade))
    by_item = rows.with_columns(beyond).group_by("_item", maintain_order=True)
    items = by_item.agg(pl.first("_query"), pl.mean("_difference"))
    # Several labels of a pair are not as many pairs, unless each counts as its share of one.
    more = float(part["_weight"].sum()) / items.height
    query, left = items["_query"].to_numpy(), items["_difference"].to_numpy()
    if items.height - len(np.unique(query)) < 30:
        # Hardly a query with two pairs: the two cannot be told apart, nor need they be.
        return (float(np.var(left, ddof=1)) if items.height > 1 else 0.0) * more, 0.0
    pair, of_query = variance_components(query, left)
    return pair * more, of_query
