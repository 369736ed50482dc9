"""Does a measure go along with what users say of a whole search? Measures against ratings of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.measures.scorer import Scorer
from karat.records import Judgments, LabelsLike, Ratings, Result, Runs, SessionLists
from karat.records.number_format import interval_said
from karat.records.table import count
from karat.stats.arrays import Floats
from karat.stats.bootstrap import Resampling
from karat.stats.rank_correlation import rank_correlations

#: How fast later lists of a session count less in `discounted`: one by 1 + the logarithm of the step to this base.
SESSION_BASE = 4.0

_step = pl.col("step")
#: A session's figure from the scores of its lists.
AGGREGATES: dict[str, pl.Expr] = {
    "mean": pl.col("score").mean(),
    "last": pl.col("score").sort_by(_step).last(),
    "max": pl.col("score").max(),
    "first": pl.col("score").sort_by(_step).first(),
    "min": pl.col("score").min(),
    "sum": pl.col("score").sum(),
    "discounted": (pl.col("score") / (1 + _step.rank("dense").log(SESSION_BASE))).sum(),
}
#: The name of the row that asks whether the mere number of lists does as well as any measure.
NUMBER = "number of lists"


def against_ratings(
    ratings: Any,
    labels: LabelsLike,
    lists: Any,
    measures: object = ("nDCG@10", "P@10", "ERR@10", "RBP"),
    *,
    rating: str = "rating",
    aggregates: Sequence[str] = ("mean", "last", "max"),
    by: str | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How well measures of the lists that users saw go along with how they rated the search.

    >>> lists = [{"session": s, "step": 1, "doc": d, "rank": r} for s in "abcdef" for r, d in enumerate("xy", 1)]
    >>> labels = [{"query": s, "doc": "x", "label": n} for n, s in enumerate("abcdef")]
    >>> found = against_ratings([{"session": s, "rating": n} for n, s in enumerate("abcdef")], labels, lists, "DCG@2")
    >>> found.frame["spearman"].round(3).to_list()[:2]
    [1.0, 1.0]

    Each list is scored with the labels of its session (or of its `query`, where the lists have that column), the
    scores of a session are put together (`aggregates`: mean, last, max, first, min, sum, or discounted, which divides
    the n-th list's score by 1 + log4 n), and Spearman's rho and Kendall's tau_b are taken over the sessions. The
    bootstrap draws sessions, or the values of a column of the ratings (`by="user"`: searches of one user are alike).
    `p_adjusted` allows for the number of rows. The row `number of lists` shows what the length of a search alone tells.
    Not for comparing systems: users differ, and each rates a search of their own.

    Reference: Jiang and Allan, Correlation Between System and User Metrics in a Session (CHIIR 2016).
    """
    Resampling(level, draws, seed)
    lists, told = SessionLists.of(lists), Ratings.of(ratings)
    unknown = [name for name in aggregates if name not in AGGREGATES]
    if unknown or not aggregates:
        strange = ", ".join(unknown) or "none"
        raise BadInput.at("the aggregates", expected=f"some of {', '.join(AGGREGATES)}", found=strange)
    rated = told.frame.select("session").with_columns(told.rating(rating).alias("rating"))
    if by is not None:
        if by not in told.frame.columns:
            raise BadInput.at("the ratings", expected=f"a column {by}", found=", ".join(told.frame.columns))
        rated = rated.with_columns(told.frame[by].cast(pl.String).alias("by"))
    scored, names, notes = _scored(lists, Judgments.of(labels), measures)
    sessions = _put_together(scored, names, aggregates)
    rated = rated.drop_nulls()
    joined = rated.join(sessions, on="session", maintain_order="left")
    lost = len(told) - joined["session"].n_unique()
    if lost:
        notes.append(
            f"{count(lost, 'session')} of {len(told):,} without {rating} or without lists that can be scored, left out"
        )
    if len(told) - lost < 3:
        raise Undefined(f"{count(len(told) - lost, 'session')} with lists and a rating: too few for a correlation")
    wide = joined.pivot(["measure", "lists"], index=list(rated.columns), values="value", maintain_order=True)
    values = wide.drop(rated.columns).to_numpy().astype(np.float64)
    cluster = None if by is None else wide["by"].rank("dense").to_numpy().astype(np.int64)
    stars = wide["rating"].to_numpy().astype(np.float64)
    found = rank_correlations(values, stars, cluster, level=level, draws=draws, seed=seed)
    rows = sessions.select("measure", "lists").unique(maintain_order=True)
    frame = rows.with_columns(pl.Series(name, column) for name, column in found.columns().items())
    frame = frame.with_columns(pl.lit(rating).alias("rating"))
    if by is None and "user" in told.frame.columns and told.frame["user"].n_unique() < told.frame.height:
        notes.append(
            "searches of one user count as independent here; "
            + advise("--resample user", 'by="user"')
            + " resamples users"
        )
    if frame["spearman"].is_nan().any():
        notes.append("no correlation where a measure or the rating has the same value in all sessions")
    shown = ("measure", "lists", "spearman", "kendall", "p", "p_adjusted", "n")
    return Result(frame, _finding(frame, rating, stars, level), tuple(notes), columns=shown)


def _put_together(scored: pl.DataFrame, names: list[str], aggregates: Sequence[str]) -> pl.DataFrame:
    """A figure for each session, measure and way to put lists together: session, measure, lists, value."""
    ways = list(dict.fromkeys(aggregates))
    lists = scored.unpivot(names, index=["session", "step"], variable_name="measure", value_name="score")
    lists = lists.with_columns(pl.col("score").fill_nan(None))
    figures = lists.group_by("session", "measure", maintain_order=True).agg(AGGREGATES[how].alias(how) for how in ways)
    long = figures.unpivot(ways, index=["session", "measure"], variable_name="lists")
    order = pl.DataFrame({"measure": names}).join(pl.DataFrame({"lists": ways}), how="cross")
    long = order.join(long, on=["measure", "lists"], maintain_order="left")
    number = scored.group_by("session", maintain_order=True).agg(
        measure=pl.lit(NUMBER), lists=pl.lit("-"), value=pl.len().cast(pl.Float64)
    )
    columns = ["session", "measure", "lists", "value"]
    return pl.concat([long.select(columns), number.select(columns)])


def _scored(lists: SessionLists, labels: Judgments, measures: object) -> tuple[pl.DataFrame, list[str], list[str]]:
    """The score of every list, session by session; a list without results scores what an empty list does."""
    frame = lists.frame if "query" in lists.frame.columns else lists.frame.with_columns(query="session")
    # Every list is a query of its own with the labels of the session's query: any number of lists may share them.
    number = frame.select("session", "step", "query").unique(maintain_order=True).with_row_index("number")
    number = number.with_columns(pl.col("number").cast(pl.String))
    several = number.filter(pl.struct("session", "step").is_duplicated()).sort("session", "step")
    for session, step in several.select("session", "step").head(1).iter_rows():
        found = f"several in list {step} of {session}"
        raise BadInput.at("the session lists", expected="one query for a list", found=found)
    known = number.join(labels.frame, on="query", maintain_order="left")
    if not known.height:
        raise BadInput.at(
            "the session lists and the labels",
            expected="queries in common (the label's query is the session, unless the lists have a column query)",
            found=f"none (lists of {number['query'][0] if number.height else 'nobody'}, labels of "
            f"{labels.frame['query'][0] if len(labels) else 'nothing'})",
        )
    mine = replace(labels, frame=known.drop("query", "session", "step").rename({"number": "query"}))
    shown = frame.drop_nulls("doc").join(number, on=["session", "step"], maintain_order="left")
    score = -pl.col("rank").cast(pl.Float64)
    run = shown.select(system=pl.lit("lists"), query="number", doc="doc", rank="rank", score=score)
    scores = Scorer(mine, measures, complete=True, draws=0).score(Runs.check(run))
    unlabelled = number.height - known["number"].n_unique()
    notes = [f"{count(unlabelled, 'list')} without labels left out"] if unlabelled else []
    scored = number.join(scores.queries, left_on="number", right_on="query")
    return scored, list(scores.measures), notes


def strongest(known: pl.DataFrame, level: float) -> tuple[int, dict[str, Any], str]:
    """How many correlations are shown, the largest of them (of all, if none is), and that one in words."""
    told = known.filter(pl.col("p_adjusted") < 1 - level)
    among = told if told.height else known
    best = among.sort(pl.col("spearman").abs(), descending=True, maintain_order=True).row(0, named=True)
    said = f"Spearman {best['spearman']:.2f}{interval_said(best['spearman_low'], best['spearman_high'], level)}"
    return told.height, best, said


def _finding(frame: pl.DataFrame, rating: str, stars: Floats, level: float) -> str:
    known = frame.filter(pl.col("spearman").is_not_nan() & (pl.col("measure") != NUMBER))
    if not np.ptp(stars):
        same = f"All {count(len(stars), 'session')} have the same {rating}, {stars[0]:g}"
        return f"{same}: whether a measure goes along with it cannot be told."
    if not known.height:
        return f"No measure varies over the sessions: whether one goes along with {rating} cannot be told."
    shown, best, said = strongest(known, level)
    which = f"{best['measure']}, {best['lists']} of a session's lists,"
    if known["p_adjusted"].is_nan().all():
        return f"{which} is nearest to {rating}: {said} over {count(best['n'], 'session')}, not tested."
    if not shown:
        return (
            f"No measure goes along with {rating} beyond chance over {count(best['n'], 'session')}; the nearest is "
            f"{which} with {said}."
        )
    way = "goes along with" if best["spearman"] > 0 else "goes against"
    return (
        f"{shown:,} of {known.height:,} ways to score a session are shown to vary with {rating}; {which} {way} "
        f"it most: {said} over {count(best['n'], 'session')}."
    )
