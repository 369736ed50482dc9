"""Figures of agreement with intervals, row by row: over queries and judges where judges are a sample, else queries."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judges.agreement_figures import FIGURES, SHARES, figures_of
from karat.judges.left_out import AT_ONCE, LeftOut
from karat.judges.sums import Sums
from karat.labels import Panel
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats
from karat.stats.correction import half_width
from karat.stats.kappas import fleiss_test
from karat.stats.paired_figures import bounded_ends


def with_figures(
    panel: Panel, sums: Sums, found: LeftOut, first: int, at: float, resampling: Resampling
) -> pl.DataFrame:
    """The rows with their figures, the ends of their intervals, Fleiss' p, and whether judges were a `sample`.

    They are the `first` of those that were `found` and the ones behind it.
    """
    whole = found.whole[:, first : first + sums.rows.height]
    ends = np.full((2, *whole.shape), np.nan)
    starts = np.searchsorted(sums.row, np.arange(sums.rows.height + 1))
    sampled = [resampling.draws > 0 and found.sampled(first + row) for row in range(sums.rows.height)]
    for row, queries in enumerate(sums.rows["n_queries"]):
        if not resampling.draws or queries < FEWEST:
            continue
        if sampled[row]:
            ends[:, :, row] = _ends(found, first + row, resampling.level)
            continue
        drawn = _resampled(sums.tables[starts[row] : starts[row + 1]], panel.grades, at, resampling)
        ends[:, :, row] = np.transpose([resampling.ends(of, queries) for of in drawn])
    # An undefined figure has no interval, even where some draws would define it.
    ends[:, np.isnan(whole)] = np.nan
    columns = [pl.Series("sample", sampled, pl.Boolean)]
    for name, *values in zip(FIGURES, whole, *ends, strict=True):
        columns += [pl.Series(name + end, of) for end, of in zip(("", "_low", "_high"), values, strict=True)]
        if name == "fleiss":
            p = fleiss_test(sums.of_rows(sums.tables[:, 0]), sums.of_rows(sums.spread))[1]
            columns.append(pl.Series("fleiss_p", p))
    return sums.rows.with_columns(columns)


def _resampled(cells: Floats, grades: Floats, at: float, resampling: Resampling) -> Floats:
    """The figures of resampled queries, figures x draws."""
    flat = cells.reshape(len(cells), -1)
    at_once = max(1, AT_ONCE // flat.shape[1])
    found = []
    for times in resampling.times(len(cells)):
        for start in range(0, len(times), at_once):
            summed = (times[start : start + at_once] @ flat).reshape(-1, *cells.shape[1:])
            found.append(figures_of(summed, grades, at))
    return np.concatenate(found, axis=1)


def _ends(found: LeftOut, row: int, level: float) -> Floats:
    """The ends of a row's intervals by Student's t: shares lie between 0 and 1, agreement beyond chance below 1."""
    error, df = found.error(row)
    half, value = np.asarray(half_width(error, level, df)), found.whole[:, row]
    share, kappa = bounded_ends(value, half, "share"), bounded_ends(value, half, "kappa")
    ends: Floats = np.where(np.isin(list(FIGURES), SHARES), share, kappa)
    return ends
