"""How a result is to be drawn, where dots on intervals would not show it: said in names of columns, drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines along `x`, one for each of the `series`; columns low and high are a band, `points` markers beside them.

    Columns points_low and points_high are the bars of the markers; `how` says how it was made.
    """

    frame: pl.DataFrame
    x: str
    value: str
    series: str
    x_title: str
    y_title: str
    points: str | None = None
    whole: bool = False
    how: str = ""


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each value was drawn, one histogram for each of the `series`: columns series and value.

    `truth` is a line where the values should be; `how` says what was drawn.
    """

    frame: pl.DataFrame
    x_title: str
    truth: float | None = None
    how: str = ""


@dataclass(frozen=True, eq=False)
class Grid:
    """What each of `first` (down) said of each of `second` (across): columns first, second, value from 0 to 1, said."""

    frame: pl.DataFrame
    x_title: str
    y_title: str
    how: str = ""


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences around 0, each on its interval: columns row, difference, low, high; rows to `look_at` stand out."""

    frame: pl.DataFrame
    x_title: str
    how: str = ""


@dataclass(frozen=True, eq=False)
class Panels:
    """Lines along `x` in panels: columns `down` and `across` say in which, value, low and high are drawn by `series`.

    A column `reference` is a dashed line of the same colour, where the curve begins.
    """

    frame: pl.DataFrame
    x: str
    series: str
    x_title: str
    how: str = ""


#: What a result may say of its chart.
Drawing = Lines | Histograms | Grid | Differences | Panels
