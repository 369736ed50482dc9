"""A comparison by labels in context that are predicted: how far off they may be is part of its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from karat.comparison.matrix import Matrix
from karat.estimate.estimate import Estimate
from karat.records import Runs
from karat.scoring import Scorer
from karat.scoring.prediction_error import DRAWN, in_context, moved


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
    notes = (*estimate.notes, DRAWN.format(len(off)))
    return replace(estimate, covariance=estimate.covariance + off.T @ off / len(off), values=None, notes=notes)
