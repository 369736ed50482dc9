"""Where users disagree more: p(T|i) by kind of query, quality of the list, rank, group of judges, or any column."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.disagreement import FEW_LABELS, Disagreement
from karat.judges.votes import levels_of, used, votes
from karat.records import Judgments, Result
from karat.records.base import count


def disagreement_by(
    judgments: Judgments,
    by: str,
    top: float | None = None,
    *,
    min_labels: int = 2,
    most_labels: int | None = None,
    all_labels: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """p(T|i) for every value of a column (the paper's Table 3).

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j), "kind": kind}
    ...         for d, kind, given in [("a", "faceted", [2, 2]), ("b", "ambiguous", [2, 1])]
    ...         for j, n in enumerate(given)]
    >>> disagreement_by(Judgments.of(rows), "kind").frame.select("kind", "level", "p").rows()
    [('ambiguous', 1.0, 1.0), ('ambiguous', 2.0, 0.0), ('faceted', 1.0, nan), ('faceted', 2.0, 1.0)]

    Two conditions need no column of their own: `list_quality` (does the query have any document that someone called
    top?) and `top5`, `top10`, ... (the column rank is at most that). Which labels are used is as in `disagreement`.
    """
    levels = votes(judgments, top, min_labels).levels
    kept, notes = used(judgments, min_labels, most_labels, all_labels)
    frame, rows = _with_condition(kept, by, levels[-1]), []
    for value in frame[by].unique().sort().to_list():
        part = Judgments(frame.filter(pl.col(by).eq_missing(pl.lit(value))), (), judgments.scale)
        name = "none" if value is None else str(value)
        try:
            model = Disagreement(votes(part, None, min_labels, levels, most_labels), level, draws, seed)
        except Undefined as error:
            notes.append(f"{by} {name}: {error}")
            continue
        low, high = model.intervals
        for place, grade in enumerate(levels):
            n = int(model.n[place])
            figures = (float(model.p[place]), float(low[place]), float(high[place]))
            rows.append((name, grade, *figures, n, n < FEW_LABELS, model.votes.n_queries))
    names = [by, "level", "p", "p_low", "p_high", "n", "few", "n_queries"]
    types = [pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Float64, pl.Int64, pl.Boolean, pl.Int64]
    table = pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")
    return Result(table, _finding(table, by, levels[-1]), tuple(notes))


def for_judge(judgments: Judgments, judge: str, top: float | None = None, at_least: int = 1) -> Result:
    """Of this judge's documents of each level, the share that at least M of all their judges call top.

    The shares are what the levels would be worth if everybody's opinion were known; summed over the judge's documents
    they are the effective number of top results. It counts the labels there are, also those that were asked only where
    others differed.

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n} for d, j, n in
    ...         [("a", "x", 1), ("a", "y", 2), ("b", "x", 1), ("b", "y", 0), ("c", "x", 2), ("c", "y", 0)]]
    >>> for_judge(Judgments.of(rows), "x").finding
    "x's 3 documents hold 2 that at least 1 of their judges would call 2."
    """
    judgments.need("judge", "one judge's view")
    frame = judgments.frame.drop_nulls("label")
    top = judgments.top if top is None else top
    mine = frame.filter(pl.col("judge") == judge)
    if not mine.height or top is None:
        raise BadInput.at("the judge", expected="one of the judgments'", found=judge)
    tops = frame.group_by("query", "doc").agg(tops=(pl.col("label") >= top).sum())
    held = mine.join(tops, on=["query", "doc"]).with_columns(wanted=pl.col("tops") >= at_least)
    table = (
        held.group_by("label").agg(n=pl.len(), share=pl.col("wanted").mean()).sort("label").rename({"label": "level"})
    )
    finding = (
        f"{judge}'s {count(mine.height, 'document')} hold {int(held['wanted'].sum())} that at least {at_least} of "
        f"their judges would call {top:g}."
    )
    return Result(table, finding)


def resampled_p(
    judgments: Judgments,
    top: float | None = None,
    *,
    min_labels: int = 6,
    all_labels: bool = False,
    repeats: int = 50,
    seed: int = 0,
) -> Result:
    """p(T|i) from one label and n others drawn at random, repeated: mean and sd (the paper's Fig. 1).

    It shows that two labels per document suffice: the means hardly depend on n, only their scatter does. Which labels
    are used is as in `disagreement`.
    """
    kept, notes = used(judgments, min_labels, all_labels=all_labels)
    v = votes(kept, top, min_labels, () if kept is judgments else levels_of(judgments, top))
    rng = np.random.default_rng(seed)
    share = np.cumsum(v.counts / v.size[:, None], axis=1)
    rows = []
    for n in range(1, min_labels):
        found = np.full((repeats, len(v.levels)), np.nan)
        for repeat in range(repeats):
            drawn = (rng.random((len(share), 1)) > share).sum(axis=1).clip(max=len(v.levels) - 1)
            good = v.counts[:, -1] - (drawn == len(v.levels) - 1)
            tops = rng.hypergeometric(good, v.size - 1 - good, n) / n
            for level in range(len(v.levels)):
                if (drawn == level).any():
                    found[repeat, level] = tops[drawn == level].mean()
        for level, grade in enumerate(v.levels):
            rows.append((n, grade, float(found[:, level].mean()), float(found[:, level].std(ddof=1))))
    table = pl.DataFrame(rows, schema=["others", "level", "mean", "sd"], orient="row")
    last = table.filter((pl.col("others") == min_labels - 1) & (pl.col("level") == v.levels[-2])).row(0, named=True)
    first = table.filter((pl.col("others") == 1) & (pl.col("level") == v.levels[-2])).row(0, named=True)
    finding = (
        f"p({v.levels[-1]:g}|{v.levels[-2]:g}) is {first['mean']:.3f} (sd {first['sd']:.3f}) from one other label and "
        f"{last['mean']:.3f} (sd {last['sd']:.3f}) from {min_labels - 1}."
    )
    return Result(table, finding, (*notes, f"{count(len(v.counts), 'document')}, {repeats} repeats, seed {seed}"))


def _with_condition(judgments: Judgments, by: str, top: float) -> pl.DataFrame:
    frame = judgments.frame
    if by in frame.columns:
        return frame
    if by == "list_quality":
        good = (pl.col("label") >= top).any().over("query")
        return frame.with_columns(pl.when(good).then(pl.lit("with top")).otherwise(pl.lit("without top")).alias(by))
    cutoff = re.fullmatch(r"top(\d+)", by)
    if cutoff:
        judgments.need("rank", f"the condition {by}")
        inside = pl.col("rank").cast(pl.Float64) <= int(cutoff[1])
        return frame.with_columns(pl.when(inside).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(by))
    raise BadInput.at(
        "the condition",
        expected=f"a column ({', '.join(frame.columns)}), list_quality, or top5",
        found=f'"{by}"',
    )


def _finding(table: pl.DataFrame, by: str, top: float) -> str:
    below = table.filter((pl.col("level") < top) & pl.col("p").is_not_nan())
    if not below.height:
        return f"Nothing can be said of {by}: too few documents have two labels."
    level = max(below["level"].to_list())
    row = below.filter(pl.col("level") == level).sort("p")
    low, high = row.row(0, named=True), row.row(-1, named=True)
    return (
        f"p({top:g}|{level:g}) goes from {low['p']:.3f} ({by} {low[by]}) to {high['p']:.3f} ({by} {high[by]})."
        if row.height > 1
        else f"p({top:g}|{level:g}) is {low['p']:.3f} ({by} {low[by]})."
    )
