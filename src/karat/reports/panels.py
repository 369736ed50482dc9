"""Lines in panels, two by two: the same curves for several kinds of users and figures."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.records.chart import Panels
from karat.reports.chart_parts import grouped, inline, tips, unchecked
from karat.reports.figure import WIDTH

#: The height of a panel.
HIGH = 190


@unchecked
def panels(drawing: Panels) -> dict[str, Any]:
    """A panel for each kind (`down`) and figure (`across`), all with one legend."""
    import altair as alt

    frame = drawing.frame.filter(pl.col("value").is_not_nan())
    names = drawing.frame[drawing.series].unique(maintain_order=True).to_list()
    downs, acrosses = (frame[name].unique(maintain_order=True).to_list() for name in ("down", "across"))
    colour = grouped(drawing.series, names)
    rows = []
    for down in downs:
        made = []
        for across in acrosses:
            mine = frame.filter((pl.col("down") == down) & (pl.col("across") == across))
            x = alt.X(f"{drawing.x}:Q", title=drawing.x_title if down == downs[-1] else None, scale={"nice": False})
            up = alt.Y("value:Q", title=None, scale={"zero": False}, axis={"tickCount": 5})
            base = alt.Chart(inline(mine)).encode(x=x, color=colour, tooltip=tips(mine))
            layers = [base.mark_line(strokeWidth=2).encode(y=up)]
            if mine["low"].is_not_nan().any():
                band = base.mark_area(opacity=0.1).encode(y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"))
                layers.insert(0, band)
            if "reference" in mine.columns:
                dashed = base.mark_line(strokeDash=[4, 3], strokeWidth=1, opacity=0.7)
                layers.append(dashed.encode(y=alt.Y("reference:Q", title=None)))
            title = alt.TitleParams(f"{across}, {down}", fontSize=12, anchor="start")
            wide = WIDTH // len(acrosses) - 60
            made.append(alt.layer(*layers).properties(width=wide, height=HIGH, title=title))
        rows.append(alt.hconcat(*made))
    spec: dict[str, Any] = alt.vconcat(*rows).to_dict(validate=False)
    spec.pop("config", None)
    return spec
