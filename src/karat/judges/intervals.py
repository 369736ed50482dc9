"""Figures of agreement with intervals, row by row: over queries and judges where judges are a sample, else queries."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judges.agreement_figures import FIGURES, SHARES, resampled_figures
from karat.judges.left_out import Judges, LeftOut, left_out
from karat.judges.sums import Sums
from karat.labels import Panel
from karat.labels.panel import Floats
from karat.stats import FEWEST, Resampling
from karat.stats.kappas import fleiss_test


def with_figures(
    panel: Panel, sums: Sums, at: float, *, judges: Judges, level: float, draws: int, seed: int
) -> pl.DataFrame:
    """The rows with their figures, the ends of their intervals, Fleiss' p, and whether judges were a `sample`."""
    resampling = Resampling(level, draws, seed)
    found = left_out(panel, sums, at, judges if draws else "fixed")
    ends = np.full((2, *found.whole.shape), np.nan)
    starts = np.searchsorted(sums.row, np.arange(sums.rows.height + 1))
    sampled = [found.sampled(row) for row in range(sums.rows.height)]
    for row, queries in enumerate(sums.rows["n_queries"]):
        if not draws or queries < FEWEST:
            continue
        if sampled[row]:
            ends[:, :, row] = _ends(found, row, level)
            continue
        drawn = resampled_figures(sums.tables[starts[row] : starts[row + 1]], panel.grades, at, resampling)
        ends[:, :, row] = np.transpose([resampling.ends(of, queries) for of in drawn])
    # An undefined figure has no interval, even where some draws would define it.
    ends[:, np.isnan(found.whole)] = np.nan
    columns = [pl.Series("sample", sampled, pl.Boolean)]
    for number, name in enumerate(FIGURES):
        columns += [
            pl.Series(name, found.whole[number]),
            pl.Series(f"{name}_low", ends[0, number]),
            pl.Series(f"{name}_high", ends[1, number]),
        ]
        if name == "fleiss":
            p = fleiss_test(sums.of_rows(sums.tables[:, 0]), sums.of_rows(sums.spread))[1]
            columns.append(pl.Series("fleiss_p", p))
    return sums.rows.with_columns(columns)


def _ends(found: LeftOut, row: int, level: float) -> Floats:
    """The ends of a row's intervals by Student's t, on a scale that has no end where a figure has one.

    Shares lie between 0 and 1, agreement beyond chance below 1: logit and log(1 - figure).
    """
    from scipy.special import expit, logit, stdtrit

    error, df = found.error(row)
    half, value = stdtrit(df, (1 + level) / 2) * error, found.whole[:, row]
    share = np.isin(FIGURES, SHARES)
    room = np.where(share, value * (1 - value), 1 - value)
    # Without room, nothing tells how far from the end a figure might be.
    reach = np.divide(half, room, out=np.full(len(half), np.nan), where=room > 1e-12)
    sides = np.array([[-1.0], [1.0]])
    with np.errstate(invalid="ignore"):
        beyond = 1 - (1 - value) * np.exp(-sides * reach)
        shares = expit(logit(np.where(share, value, 0.5)) + sides * reach)
    ends: Floats = np.where(share, shares, beyond)
    return ends
