"""Means over queries with bootstrap intervals: from every query's scores to one figure a system and measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.measures import parse_measure
from karat.records.result import Caution
from karat.stats import FEWEST, mean_intervals
from karat.stats.arrays import Floats

#: With fewer queries an interval is a guess.
FEW = 10
MEANS = {
    "system": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}


def means_over_queries(
    queries: pl.DataFrame, systems: Sequence[str], measures: Sequence[str], *, level: float, draws: int, seed: int
) -> tuple[pl.DataFrame, list[str]]:
    """The mean of each system by each measure over the queries on which it is defined, and what to say of few queries.

    >>> queries = pl.DataFrame({"system": ["a", "a"], "query": ["q1", "q2"], "P@1": [1.0, 0.0]})
    >>> means_over_queries(queries, ["a"], ["P@1"], level=0.95, draws=0, seed=0)[0].rows()
    [('a', 'P@1', 0.5, nan, nan, 2)]
    """
    # Resampled in the order of the queries' ids, so that the order of the rows in a file changes nothing.
    by_id = queries.sort("query", maintain_order=True)
    values, owner = by_id.select(measures).to_numpy(), by_id["system"].to_numpy()
    columns = [values[owner == system, place] for system in systems for place in range(len(measures))]
    columns = [column[~np.isnan(column)] for column in columns]
    ends = _intervals(columns, level, draws, seed)
    rows: list[tuple[str, str, float, float, float, int]] = []
    for place, (system, name) in enumerate((system, name) for system in systems for name in measures):
        kept, (low, high) = columns[place], ends[place]
        value, kind = float(kept.mean()) if len(kept) else np.nan, parse_measure(name).mean
        if kind == "geometric":
            value, low, high = np.exp([value, low, high]).tolist()
        elif kind == "sum":
            value, low, high = float(kept.sum()), np.nan, np.nan  # a count is what it is
        rows.append((system, name, value, low, high, len(kept)))
    return pl.DataFrame(rows, schema=MEANS, orient="row"), _on_few([row[-1] for row in rows]) if draws else []


def _intervals(columns: list[Floats], level: float, draws: int, seed: int) -> list[tuple[float, float]]:
    """The interval of each column's mean; columns of one length are resampled together, by the same draws."""
    ends = [(np.nan, np.nan)] * len(columns)
    for size in {len(column) for column in columns} if draws else ():
        places = [place for place, column in enumerate(columns) if len(column) == size]
        together = np.column_stack([columns[place] for place in places])
        for place, low, high in zip(
            places, *mean_intervals(together, level=level, draws=draws, seed=seed), strict=True
        ):
            ends[place] = (float(low), float(high))
    return ends


def _on_few(numbers: list[int]) -> list[str]:
    notes: list[str] = []
    if any(number < FEWEST for number in numbers):
        notes.append(f"no interval for a mean of fewer than {FEWEST} queries: too few to tell")
    few = sorted({number for number in numbers if FEWEST <= number < FEW})
    if few:
        notes.append(Caution(f"{few[0]} queries only: the interval is a guess"))
    return notes
