"""The true grades at each rank of a run, from the labels seen there and the judge's confusion."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.estimate.confusion_matrix import ConfusionMatrix
from karat.estimate.rates import checked_table
from karat.records import Runs
from karat.records.base import count
from karat.records.runs import ranked
from karat.stats.correction import half_width

#: Ranks for which the distribution of true grades is shown.
DEPTH = 10


def grades_by_rank(
    labels: pl.DataFrame, runs: Runs, table: pl.DataFrame, *, depth: int = DEPTH, level: float = 0.95
) -> tuple[pl.DataFrame, list[str]]:
    """The share of each true grade at each rank of each system, with its interval; where it cannot be, a note why.

    `labels` has one label per document (query, doc, label), `table` the shares of labels for each grade. The shares
    seen at a rank, times the inverse of the confusion matrix. The interval is for queries like these and a judge known
    from so many gold labels, and is cut at 0 and 1.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), equation (17).
    """
    try:
        whole = checked_table(table)
        grades = whole["grade"].unique().sort().to_numpy()
        shares = whole["share"].to_numpy().reshape(len(grades), len(grades))
        n = whole.group_by("grade").agg(pl.col("n").first()).sort("grade")["n"].to_numpy()
        matrix = ConfusionMatrix(grades, shares / shares.sum(axis=1, keepdims=True), n, n, n)
        matrix.check()
    except (BadInput, Undefined) as why:
        return pl.DataFrame(), [f"no true grades by rank: {why}"]
    seen = ranked(runs, depth).join(labels.select("query", "doc", "label"), on=["query", "doc"]).drop_nulls("label")
    inverse = np.linalg.inv(matrix.shares.T)
    rows = []
    for (system, rank), part in seen.group_by(["system", "rank"], maintain_order=True):
        at = np.searchsorted(grades, part["label"].to_numpy())
        by_labels = np.bincount(at, minlength=len(grades)) / part.height
        truth = inverse @ by_labels
        spread = (np.diag(by_labels) - np.outer(by_labels, by_labels)) / max(part.height - 1, 1)
        for k, share in enumerate(truth):
            spread = spread + share**2 * matrix.row_covariance(k)
        error = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse.T), 0.0))
        half = np.asarray(half_width(error, level, max(part.height - 1.0, 1.0)))
        for k, grade in enumerate(grades):
            ends = float(np.clip(truth[k] - half[k], 0, 1)), float(np.clip(truth[k] + half[k], 0, 1))
            rows.append((system, rank, float(grade), float(by_labels[k]), float(truth[k]), *ends, part.height))
    names = ["system", "rank", "grade", "by_labels", "corrected", "low", "high", "n_queries"]
    by_rank = pl.DataFrame(rows, schema=names, orient="row").sort("system", "rank", "grade")
    outside = by_rank.filter((pl.col("corrected") < 0) | (pl.col("corrected") > 1)).height
    notes = []
    if outside:
        notes.append(f"{count(outside, 'corrected share')} below 0 or above 1: too few labels for single ranks")
    return by_rank, notes
