"""What the kinds of charts are made of: colours of groups, axes, lines, what is shown under the pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import polars as pl

from karat.records.result import rows_of
from karat.reports.colours import ACCENT, GROUPS, RULE

if TYPE_CHECKING:
    import altair as alt

P = ParamSpec("P")
T = TypeVar("T")


def unchecked(draw: Callable[P, T]) -> Callable[P, T]:
    """Leave out Altair's check of every part against Vega-Lite's schema: half of a report's time went to it.

    Tests check each kind of chart as a whole (`tests/reports/test_page.py`).
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> T:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return draw(*args, **kwargs)

    return drawn


def grouped(column: str, names: Sequence[Any]) -> alt.Color:
    """The colours of groups, with a legend where there are several."""
    import altair as alt

    if len(names) == 1:
        return alt.Color(f"{column}:N", scale={"domain": list(names), "range": [ACCENT]}, legend=None)
    ranged = [GROUPS[place % len(GROUPS)] for place in range(len(names))]
    return alt.Color(
        f"{column}:N",
        sort=list(names),
        scale={"domain": list(names), "range": ranged},
        legend={"title": None, "symbolOpacity": 1, "symbolType": "circle"},
    )


def either(test: str, yes: str, no: str) -> alt.ColorValue:
    """One colour where a test of the row holds, and another elsewhere.

    `alt.condition` says the same as a dictionary, which Altair checks against its schema again in every chart.
    """
    import altair as alt

    return alt.ColorValue(no, condition={"test": test, "value": yes})


def rule(at: float) -> Any:
    """A line at a value."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=[{"at": at}])).mark_rule(color=RULE)


def axis(percent: bool) -> dict[str, Any]:
    """An axis of numbers, or of shares in percent."""
    return {"format": "%", "tickCount": 6} if percent else {"tickCount": 6}


def tips(frame: pl.DataFrame) -> list[Any]:
    """What is shown of a row under the pointer."""
    import altair as alt

    shown = [
        (name, kind) for name, kind in frame.schema.items() if kind != pl.List and name not in ("order", "look_at")
    ]
    return [
        alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=".4~f" if kind.is_float() else ",d")
        if kind.is_numeric()
        else alt.Tooltip(f"{name}:N", title=name.replace("_", " "))
        for name, kind in shown
    ]


def inline(frame: pl.DataFrame) -> Any:
    """The rows as they stand in the chart."""
    import altair as alt

    flat = frame.select(name for name, kind in frame.schema.items() if kind != pl.List)
    return alt.InlineData(values=rows_of(flat))
