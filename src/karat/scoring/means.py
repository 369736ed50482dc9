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
    rows: list[tuple[str, str, float, float, float, int]] = []
    # Resampled in the order of the queries' ids, so that the order of the rows in a file changes nothing.
    by_id = queries.sort("query", maintain_order=True)
    values, kinds = by_id.select(measures).to_numpy(), [parse_measure(name).mean for name in measures]
    for system in systems:
        mine = values[(by_id["system"] == system).to_numpy()]
        defined = ~np.isnan(mine)
        whole = bool(defined.all())
        low, high = _intervals(mine, level, draws, seed) if whole else (np.empty(0), np.empty(0))
        for place, name in enumerate(measures):
            kept = mine[defined[:, place], place]
            ends = (
                (low[place], high[place])
                if whole
                else [end[0] for end in _intervals(kept[:, None], level, draws, seed)]
            )
            value = float(kept.mean()) if len(kept) else np.nan
            if kinds[place] == "geometric":
                value, *ends = np.exp([value, *ends]).tolist()
            elif kinds[place] == "sum":
                value, *ends = float(kept.sum()), np.nan, np.nan  # a count is what it is
            rows.append((system, name, value, float(ends[0]), float(ends[1]), len(kept)))
    return pl.DataFrame(rows, schema=MEANS, orient="row"), _on_few([row[-1] for row in rows]) if draws else []


def _intervals(values: Floats, level: float, draws: int, seed: int) -> tuple[Floats, Floats]:
    if not draws:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing
    return mean_intervals(values, level=level, draws=draws, seed=seed)


def _on_few(numbers: list[int]) -> list[str]:
    notes: list[str] = []
    if any(number < FEWEST for number in numbers):
        notes.append(f"no interval for a mean of fewer than {FEWEST} queries: too few to tell")
    few = sorted({number for number in numbers if FEWEST <= number < FEW})
    if few:
        notes.append(Caution(f"{few[0]} queries only: the interval is a guess"))
    return notes
