"""A comparison by labels in context that are predicted: how far off they may be is part of its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from karat.comparison.matrix import Matrix
from karat.estimate.estimate import Estimate
from karat.records import Runs
from karat.scoring import Scorer
from karat.scoring.prediction_error import DRAWN, in_context, moved, prediction_covariance
from karat.stats.arrays import Floats


def with_prediction(estimate: Estimate, scorer: Scorer, lists: Sequence[Runs], matrix: Matrix) -> Estimate:
    """The estimate with the error of predicted labels, where they were drawn anew, in its covariance.

    What drawing anew does to both systems alike cancels in their difference, as the queries' chance does.
    """
    measures = in_context(scorer.measures)
    if scorer.redrawn is None or not measures:
        return estimate
    name = str(measures[0])
    scores = scorer.redrawn.scores(list(lists), measures, scorer.profile, scorer.complete)
    queries = pl.DataFrame({"query": matrix.queries}).with_columns(
        pl.Series(system, matrix.values[:, place]) for place, system in enumerate(matrix.systems)
    )
    long = queries.unpivot(index="query", variable_name="system", value_name=name)
    off = moved(scores, long, name, matrix.systems)
    more = prediction_covariance(off, scorer.redrawn.taught)
    notes = (*estimate.notes, DRAWN.format(len(off)))
    df = both_df(estimate.covariance, estimate.df, more, scorer.redrawn.df)
    return replace(estimate, covariance=estimate.covariance + more, df=df, values=None, notes=notes)


def both_df(one: Floats, df: Floats, other: Floats, other_df: float) -> Floats:
    """The degrees of freedom of two errors together, for each pair of systems (Satterthwaite)."""
    first, second = _variances(one), _variances(other)
    below = first**2 / df + second**2 / other_df
    return np.divide((first + second) ** 2, below, out=df.astype(np.float64), where=below > 0)


def _variances(covariance: Floats) -> Floats:
    """The variance of each difference of two systems; on the diagonal, of each system's own score."""
    own = np.diag(covariance)
    found: Floats = own[:, None] + own - 2 * covariance
    np.fill_diagonal(found, own)
    return found
