"""Kinds of pairs: small and large differences, one side worth nothing, kinds of queries."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Queries
from karat.stats.arrays import Bools
from karat.validity.pair_scores import ROUNDING, PairScores

#: The splits that a measure's own scores make.
OWN = ("difference", "zero")


def split_pairs(compared: PairScores, split: str, measure: int, queries: Queries | None = None) -> dict[str, Bools]:
    """Which pairs belong to which part of a split, by the part's name.

    >>> pairs = pl.DataFrame({"query": ["q1", "q2"], "a": ["x", "x"], "b": ["y", "y"], "sign": [1, 1]})
    >>> both = PairScores(pairs, ("P@10",), np.array([[0.5], [0.3]]), np.array([[0.0], [0.2]]))
    >>> {name: which.tolist() for name, which in split_pairs(both, "zero", 0).items()}
    {'one scores 0': [True, False], 'both score above 0': [False, True]}

    "difference" splits at the mean absolute difference of the pairs that the measure does not tie, "zero" by whether
    one side scores 0 (pairs in which both do are tied, and in neither part); anything else is a column that queries
    or their subtopics have, such as kind: by subtopic, the subtopics' own column is meant where it is there.
    """
    if split == "difference":
        gap = np.abs(compared.difference[:, measure])
        untied = gap > 0
        border = float(gap[untied].mean()) if untied.any() else np.nan
        return {"small difference": gap <= border, "large difference": gap > border}
    if split == "zero":
        zero_a = np.abs(compared.score_a[:, measure]) <= ROUNDING
        zero_b = np.abs(compared.score_b[:, measure]) <= ROUNDING
        return {"one scores 0": zero_a ^ zero_b, "both score above 0": ~zero_a & ~zero_b}
    values = _column(compared, split, queries)
    return {f"{split} {value}": (values == value).to_numpy() for value in values.drop_nulls().unique().sort()}


def _column(compared: PairScores, name: str, queries: Queries | None) -> pl.Series:
    """A column of the pairs, of their subtopics or of their queries, one value for each pair."""
    pairs = compared.pairs
    if name in pairs.columns and name not in ("query", "a", "b", "sign", "value"):
        return pairs[name].cast(pl.String)
    sources = [] if queries is None else [(queries.subtopics, ["query", "subtopic"]), (queries.frame, ["query"])]
    sources = [(source, key) for source, key in sources if {*key} <= {*pairs.columns}]
    for source, key in sources:
        if name in source.columns and source[name].null_count() < source.height:
            found = pairs.select(key).join(source.select(*key, name), on=key, how="left", maintain_order="left")[name]
            if found.null_count() < len(found):
                return found.cast(pl.String)
    have = sorted({column for source, _ in sources for column in source.columns} - {"query", "subtopic"})
    raise BadInput.at(
        "the split",
        expected=" or ".join([*OWN, "a column that tells these queries apart"]),
        found=f'"{name}"',
        remedy=f"the queries have {', '.join(have)}" if have else "give the queries, with a column of this name",
    )
