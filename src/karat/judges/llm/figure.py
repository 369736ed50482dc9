"""One figure of the sheet: what it is, its value with an interval over queries, and what it rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.judges.slices import cell_means

Unit = Literal["share", "grades", "agreement", "slope", "times", "money", "seconds", "tokens", "answers"]


@dataclass(frozen=True)
class Figure:
    """A figure: of which `part` of the sheet, its name, of which slice it is, in which unit, and about which system."""

    part: str
    figure: str
    value: float
    low: float
    high: float
    n: int
    n_queries: int
    unit: Unit
    of: str = ""
    system: str = ""


def table(figures: list[Figure]) -> pl.DataFrame:
    """The figures as a frame, a row each."""
    types = {
        "part": pl.String,
        "figure": pl.String,
        "of": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n": pl.Int64,
        "n_queries": pl.Int64,
        "unit": pl.String,
    }
    return pl.DataFrame([asdict(one) for one in figures], schema=types | {"system": pl.String}).drop("system")


def mean(
    part: str,
    figure: str,
    values: npt.ArrayLike,
    query: pl.Series,
    unit: Unit,
    *,
    weight: npt.ArrayLike | None = None,
    level: float = 0.95,
    of: str = "",
) -> Figure:
    """A mean over answers, those of a query kept together; shares have Wilson's interval for what they amount to.

    >>> found = mean("again", "same", [1, 0, 1, 1, 1, 1], pl.Series(["a", "b", "c", "d", "e", "f"]), "share")
    >>> round(found.value, 2), found.n
    (0.83, 6)

    The queries stand for others like them, and the judge for itself. With fewer than five queries there is no interval.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Figure(part, figure, np.nan, np.nan, np.nan, 0, 0, unit, of)
    frame = pl.DataFrame(
        {
            "_group": ["judge"] * len(numbers),
            "value": ["all"] * len(numbers),
            "_query": query.rank("dense").cast(pl.Int64) - 1,
            "_judge": np.zeros(len(numbers), np.int64),
            "_weight": np.ones(len(numbers)) if weight is None else np.asarray(weight, dtype=np.float64),
            "_figure": numbers,
        }
    )
    size, found = cell_means(frame, ["_figure"], [unit == "share"], (), level=level)
    low, high = float(found["_low"][0, 0]), float(found["_high"][0, 0])
    return Figure(part, figure, float(found[""][0, 0]), low, high, len(numbers), int(size["n_queries"][0]), unit, of)
