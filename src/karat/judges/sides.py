"""The two sides that a bias lies between: a group and gold, or two groups, on the pairs that both labelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.gold import GOLD, gold_errors
from karat.judges.slices import plain_labels, sliced
from karat.records import Judgments
from karat.stats import totals

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: More gold grades than this are put together into so many.
MOST_GRADES = 10


@dataclass(frozen=True, eq=False)
class Side:
    """The differences of one group from gold, or from another group: a row each, laid out by number."""

    group: str
    against: str
    query: Ints
    difference: Floats
    #: What a row counts as a query-document pair: 1 / its pair's rows.
    pair: Floats
    #: The slice of each row by feature, -1 where it is unknown.
    codes: dict[str, Ints]
    names: dict[str, list[str]]
    #: The gold grade of each row by number, from 0.
    grade: Ints
    #: The variance of rows within queries, and of queries.
    noise: tuple[float, float]

    @cached_property
    def beyond_grade(self) -> Floats:
        """The differences less the mean of their grade."""
        sums = totals(self.grade, self.difference, int(self.grade.max()) + 1)
        return self.difference - (sums / np.bincount(self.grade))[self.grade]

    def inside(self, where: tuple[tuple[str, int], ...]) -> npt.NDArray[np.bool_]:
        """Which rows are in a slice."""
        mask = np.ones(len(self.query), np.bool_)
        for feature, value in where:
            mask &= self.codes[feature] == value
        return mask

    def crossed(self, where: tuple[tuple[str, int], ...]) -> tuple[Ints, Floats]:
        """Numbers and sums by query (rows) in the four cells of two parts: neither, the second, the first, both."""
        (one, value), (other, other_value) = where
        known = (self.codes[one] >= 0) & (self.codes[other] >= 0)
        cell = self.query * 4 + 2 * (self.codes[one] == value) + (self.codes[other] == other_value)
        cell, cells = cell[known], 4 * (int(self.query.max()) + 1)
        n, s = np.bincount(cell, minlength=cells), totals(cell, self.beyond_grade[known], cells)
        return n.reshape(-1, 4), s.reshape(-1, 4)

    def patterns(self, wheres: list[tuple[tuple[str, int], ...]]) -> tuple[Ints, Floats, Floats]:
        """Numbers and sums by query and by which slices a row is in, at which grade; and what each pattern is."""
        grades = int(self.grade.max()) + 1
        code = self.grade
        for where in wheres:
            code = code * 2 + self.inside(where)
        # Only the patterns that occur are counted: few of all that could.
        seen, pattern = np.unique(code, return_inverse=True)
        queries = int(self.query.max()) + 1
        cell, cells = self.query * len(seen) + pattern, queries * len(seen)
        bits = (seen[:, None] >> np.arange(len(wheres) - 1, -1, -1)) & 1
        is_grade = (seen >> len(wheres))[:, None] == np.arange(1, grades)
        n, s = np.bincount(cell, minlength=cells), totals(cell, self.difference, cells)
        return n.reshape(queries, -1), s.reshape(queries, -1), np.column_stack([is_grade, bits]).astype(np.float64)


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
    df: float
    p: float
    p_bh: float = np.nan


def own_columns(judgments: Judgments) -> list[str]:
    """The columns that are no part of a judgment: features, by karat or by the user."""
    known = set(Judgments.schema.names)
    names = [name for name in judgments.frame.columns if name not in known and judgments.has(name)]
    if not names:
        raise BadInput.at(
            "the judgments",
            expected="columns with features of query or document",
            found=", ".join(judgments.frame.columns),
            remedy="make them with add_features(judgments, documents=..., queries=...)",
        )
    return names


def both_sides(
    judgments: Judgments, features: list[str], gold: Judgments | None, slices: int, same_grade: bool
) -> tuple[list[Side], list[str]]:
    """Each group against gold; without gold, each two groups against each other."""
    has_gold = gold is not None or (judgments.has("group") and GOLD in judgments.frame["group"])
    frame, notes = gold_errors(judgments, gold) if has_gold else plain_labels(judgments)
    cut = [sliced(frame[name], slices).alias(name) for name in features]
    names = {s.name: s.dtype.categories.to_list() for s in cut if isinstance(s.dtype, pl.Enum)}
    codes = [s.to_physical().cast(pl.Int64).fill_null(-1) for s in cut]
    own = {"_difference": "_error", "_grade": "_gold"} if has_gold else {}
    frame = frame.select("_number", "_item", _group="group", _label="label", **own).hstack(codes)
    groups = frame["_group"].unique().sort().to_list()
    if has_gold:
        parts = {(g, GOLD): frame.filter(pl.col("_group") == g) for g in groups}
    elif len(groups) > 1:
        mixed = [f for f in features if frame.group_by("_item").agg(pl.col(f).n_unique())[f].max() != 1]
        if mixed:
            notes.append(f"not a feature of the pair, so left out without gold: {', '.join(mixed)}")
        features = [f for f in features if f not in mixed]
        of = {
            g: frame.filter(pl.col("_group") == g)
            .group_by("_item")
            .agg(pl.mean("_label"), pl.first("_number", *features))
            for g in groups
        }
        parts = {}
        for a, b in combinations(groups, 2):
            both = of[a].join(of[b].select("_item", _other="_label"), on="_item")
            middle = ((pl.col("_label") + pl.col("_other")) / 2).round()
            parts[a, b] = both.with_columns(_difference=pl.col("_label") - pl.col("_other"), _grade=middle)
    else:
        raise Undefined("one group without gold: there is nothing to compare its labels with")
    names = {name: names[name] for name in features}
    sides = [
        _side(*key, part.sort("_number", "_item"), names, same_grade) for key, part in parts.items() if part.height
    ]
    if not sides:
        raise Undefined("no two groups labelled the same documents, and there is no gold")
    return sides, notes


def _side(group: str, against: str, part: pl.DataFrame, names: dict[str, list[str]], same_grade: bool) -> Side:
    part = part.with_columns(
        pl.col("_number").rank("dense").cast(pl.Int64) - 1,
        _pair=1.0 / pl.len().over("_item"),
        _grade=sliced(part["_grade"], MOST_GRADES).rank("dense").cast(pl.Int64) - 1
        if same_grade
        else pl.lit(0, pl.Int64),
    )
    beyond = pl.col("_difference") - pl.col("_difference").mean().over("_grade")
    by_item = part.select("_item", "_number", beyond).group_by("_item", maintain_order=True)
    items = by_item.agg(pl.first("_number"), pl.mean("_difference"))
    pair, query = _noise(items)
    return Side(
        group,
        against,
        part["_number"].to_numpy(),
        part["_difference"].to_numpy(),
        part["_pair"].to_numpy(),
        {name: part[name].to_numpy() for name in names},
        names,
        part["_grade"].to_numpy(),
        # Several labels of a pair are not as many pairs.
        (pair * part.height / items.height, query),
    )


def _noise(items: pl.DataFrame) -> tuple[float, float]:
    """The variance of pairs within queries, and of queries, by the analysis of variance."""
    queries = items.group_by("_number", maintain_order=True).agg(
        n=pl.len(), within=pl.col("_difference").var(ddof=0) * pl.len(), mean=pl.mean("_difference")
    )
    n, within, mean = (queries[name].to_numpy().astype(np.float64) for name in ("n", "within", "mean"))
    whole = float(np.var(items["_difference"].to_numpy(), ddof=1)) if items.height > 1 else 0.0
    left = n.sum() - len(n)
    if left < 30:  # hardly a query with two pairs: the two cannot be told apart, nor need they be
        return whole, 0.0
    pair = within.sum() / left
    between = (n * (mean - (n * mean).sum() / n.sum()) ** 2).sum()
    query = (between - (len(n) - 1) * pair) / (n.sum() - (n**2).sum() / n.sum())
    return float(pair), float(max(query, 0.0))
