"""How far a score may be off because the weights of its grades are estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from karat.measures import Gains, Measure
from karat.measures.lists import Lists
from karat.measures.topics import UserWeights
from karat.stats.arrays import Floats

#: How far a mean moves with the weights: system, measure, error (a standard error).
SCHEMA = {"system": pl.String, "measure": pl.String, "error": pl.Float64}


def weight_errors(
    weights: UserWeights | None, measures: Sequence[Measure], lists: Lists, queries: pl.DataFrame, counted: pl.Series
) -> pl.DataFrame:
    """The standard error that each system's mean has from the weights of its measure's udm gains.

    By the delta method: every weight is moved by its own standard error up and down, the mean moves with it, and the
    weights' covariance says how these moves add up.
    """
    rows = []
    for measure in measures:
        found = weight_covariance(weights, measure, lists, queries, counted)
        if found is None:
            continue
        systems, covariance = found
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist()
        rows += [(system, str(measure), one) for system, one in zip(systems, error, strict=True)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def asks_users(weights: UserWeights | None, measure: Measure) -> bool:
    """Whether a measure has gains of users whose weights are estimates with an error."""
    gains = getattr(measure, "gains", None)
    return isinstance(gains, Gains) and gains.name == "udm" and hasattr(weights, "errors")


def weight_covariance(
    weights: UserWeights | None, measure: Measure, lists: Lists, queries: pl.DataFrame, counted: pl.Series
) -> tuple[list[str], Floats] | None:
    """The covariance that systems' means have from the weights, which are the same for all; None where none are used.

    What moves two systems alike cancels between them.
    """
    if not asks_users(weights, measure):
        return None
    gains: Gains = measure.gains  # type: ignore[attr-defined]
    levels, covariance = weights.errors(gains.at_least, gains.of_users)  # type: ignore[union-attr]
    known = dict(lists.topics.known(gains).table)
    spread = np.sqrt(np.diag(covariance))
    moving = [place for place, level in enumerate(levels) if spread[place] > 0 and known.get(level, 0.0) > 0]
    moved = {place: _moved(measure, lists, known, levels[place], spread[place]) for place in moving}
    systems = queries["system"].unique(maintain_order=True).to_list()
    steps = np.zeros((len(systems), len(moving)))
    for row, system in enumerate(systems):
        mine = ((queries["system"] == system) & counted).to_numpy()
        steps[row] = [np.nanmean(moved[place][mine]) / spread[place] for place in moving]
    return systems, steps @ covariance[np.ix_(moving, moving)] @ steps.T


def widened(means: pl.DataFrame, errors: pl.DataFrame, level: float) -> pl.DataFrame:
    """The means with intervals that hold the weights' error, too: both errors add up as squares do."""
    if not errors.height:
        return means
    z = NormalDist().inv_cdf(0.5 + level / 2)
    # Of several errors of one mean, each adds its square.
    errors = errors.group_by("system", "measure").agg((pl.col("error") ** 2).sum().sqrt())
    both = means.join(errors, on=["system", "measure"], how="left", maintain_order="left")
    more = (pl.col("error").fill_null(0.0) * z) ** 2
    return both.with_columns(
        low=pl.col("value") - ((pl.col("value") - pl.col("low")) ** 2 + more).sqrt(),
        high=pl.col("value") + ((pl.col("high") - pl.col("value")) ** 2 + more).sqrt(),
    ).select(means.columns)


def _moved(measure: Any, lists: Lists, known: dict[float, float], level: float, by: float) -> Floats:
    """Half of what each list's score gains when a level's weight goes from one error below to one above."""
    ends = []
    for sign in (1, -1):
        table = known | {level: max(known[level] + sign * by, 0.0)}
        ends.append(replace(measure, gains=Gains.of(table)).score(lists))
    return np.asarray((ends[0] - ends[1]) / 2, dtype=np.float64)
