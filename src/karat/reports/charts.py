"""The kinds of charts a report has: dots on intervals, bars by group, lines with bands, shares, differences, squares.

Each takes a frame and gives a Vega-Lite chart as a dictionary, as wide as its place. Altair is loaded when one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import polars as pl

from karat.records import Scale
from karat.records.number_format import in_words
from karat.records.result import Panels, rows_of
from karat.reports.figure import ACCENT, GROUPS, LETTERS, ON_GOLD, PAPER, QUIET, RULE, TRUTH, WIDTH

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


#: Pixels for a row of dots, and for a chart of bars or lines.
ROW, TALL = 38, 260
#: So many whole numbers each have a tick of their own.
MOST_TICKS = 12
#: Errors this far apart leave no place for those between that nobody made.
MOST_ERRORS = 100
#: Bars of a histogram.
BINS = 60
#: An axis that is nothing but its labels.
BARE: dict[str, Any] = {"grid": False, "ticks": False, "domain": False, "title": None}


@unchecked
def dots(
    frame: pl.DataFrame,
    *,
    value: str,
    x_title: str,
    row: str = "row",
    colour: str | None = None,
    line: float | None = None,
    percent: bool = False,
    places: int = 3,
) -> dict[str, Any]:
    """An estimate in each row as a dot on its interval, with its number; rows in the order of the frame.

    `colour` is a column of groups. A column `look_at` makes some rows gold and the others grey; a column `truth`, what
    was planted in a simulation, is drawn as a diamond. `line` is where nothing is found (zero, chance).
    """
    import altair as alt

    number = ".0%" if percent else f".{places}f"
    # Room at both ends, in pixels, so that no number is written over the names of the rows.
    x = alt.X(f"{value}:Q", title=x_title, scale={"zero": False, "nice": False, "padding": 18}, axis=axis(percent))
    # A label of two parts takes two lines, so that a narrow page shows both.
    two_lines = {
        "grid": False,
        "ticks": False,
        "domain": False,
        "labelPadding": 8,
        "labelExpr": "split(datum.label, ', ')",
        "labelLineHeight": 13,
        "labelBaseline": "line-bottom" if frame[row].str.contains(", ").any() else "middle",
    }
    # Named in their order: a row without an interval would otherwise come after all that have one.
    y = alt.Y(f"{row}:N", sort=frame[row].to_list(), title=None, axis=two_lines)
    ink: Any = alt.ColorValue(ACCENT)
    if "look_at" in frame.columns:
        ink = either("datum['look_at']", ACCENT, QUIET)
    elif colour is not None:
        ink = grouped(colour, frame[colour].unique(maintain_order=True).to_list())
    under_pointer = tips(frame)
    base = alt.Chart(inline(frame)).encode(y=y, color=ink, tooltip=under_pointer)
    layers = [] if line is None else [rule(line).encode(x=alt.X("at:Q"))]
    layers += [
        base.mark_rule(strokeWidth=3, opacity=0.55).encode(x=alt.X("low:Q", title=x_title), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x),
        base.mark_text(dy=-12, fontSize=11).encode(x=alt.X(f"{value}:Q"), text=alt.Text(f"{value}:Q", format=number)),
    ]
    if "truth" in frame.columns:
        planted = alt.Chart(inline(frame)).encode(y=y, x=alt.X("truth:Q"), tooltip=under_pointer)
        layers.append(planted.mark_point(shape="diamond", color=TRUTH, size=110, strokeWidth=2.2, filled=False))
    return _spec(alt.layer(*layers), ROW * max(frame.height, 1) + 10)


@unchecked
def bars(
    frame: pl.DataFrame, *, x: str, group: str, x_title: str, zero: bool = False, scale: Scale | None = None
) -> dict[str, Any]:
    """Shares as bars, those of the groups beside each other, with their intervals where there are any.

    `zero` draws x as numbers around 0, as errors are. Grades along x stand under the names of their `scale`.
    """
    import altair as alt

    groups = frame[group].unique(maintain_order=True).to_list()
    order = sorted(frame[x].unique().to_list(), key=lambda v: (isinstance(v, str), v))
    if zero and order and order[-1] - order[0] < MOST_ERRORS:  # errors that nobody made keep their place
        order = list(range(order[0], order[-1] + 1))
    order = in_words(pl.DataFrame({x: order}), scale)[x].to_list()
    frame = in_words(frame, scale)
    sign: dict[str, Any] = {"labelExpr": "datum.value > 0 ? '+' + datum.value : datum.value"} if zero else {}
    across = alt.X(
        f"{x}:O",
        title=x_title,
        sort=order,
        scale={"domain": order},
        axis={"labelAngle": 0, "grid": False, **sign},
    )
    base = alt.Chart(inline(frame)).encode(
        x=across, xOffset=alt.XOffset(f"{group}:N", sort=groups), tooltip=tips(frame)
    )
    up = alt.Y("share:Q", title="share", axis={"format": "%"})
    layers = [base.mark_bar(opacity=0.85).encode(y=up, color=grouped(group, groups))]
    if {"low", "high"} <= {*frame.columns}:
        # What nobody said has no bar, and an interval above nothing looks like one: the numbers have it.
        there = base.transform_filter("datum['share'] > 0")
        layers.append(there.mark_rule(color=LETTERS).encode(y=alt.Y("low:Q", title="share"), y2=alt.Y2("high:Q")))
    return _spec(alt.layer(*layers), TALL)


@unchecked
def parts(frame: pl.DataFrame, *, row: str, colours: Sequence[str], x_title: str) -> dict[str, Any]:
    """The share of each part in each row, beside each other; parts in the order of the frame."""
    import altair as alt

    names = frame["part"].unique(maintain_order=True).to_list()
    placed = frame.with_columns(order=pl.col("part").replace_strict({n: i for i, n in enumerate(names)}))
    base = alt.Chart(inline(placed)).encode(
        y=alt.Y(f"{row}:N", sort=None, axis=BARE),
        order="order:Q",
        tooltip=tips(frame),
    )
    across = alt.X("share:Q", stack="zero", title=x_title, axis={"format": "%"}, scale={"domain": [0, 1]})
    shown = alt.Color("part:N", sort=names, scale={"domain": names, "range": list(colours)}, title=None)
    layers = [
        base.mark_bar(height=22).encode(x=across, color=shown),
        base.transform_filter("datum['share'] > 0.06")
        .mark_text(fontSize=11, color=ON_GOLD)
        .encode(
            x=alt.X("share:Q", stack="zero", bandPosition=0.5),
            detail="part:N",
            text=alt.Text("share:Q", format=".0%"),
        ),
    ]
    return _spec(alt.layer(*layers), ROW * max(frame[row].n_unique(), 1) + 10)


@unchecked
def lines(
    frame: pl.DataFrame,
    *,
    x: str,
    value: str,
    series: str,
    x_title: str,
    y_title: str,
    points: str | None = None,
    line: float | None = None,
    whole: bool = False,
    percent: bool = False,
) -> dict[str, Any]:
    """Lines along x, one for each of the series, in bands from low to high; `points` is a column of markers.

    `whole` says that x has whole numbers only.
    """
    import altair as alt

    names = frame[series].unique(maintain_order=True).to_list()
    across = alt.X(
        f"{x}:Q",
        title=x_title,
        scale={"zero": False, "nice": False},
        axis=_whole(frame[x]) if whole else {"grid": False, "tickCount": 8},
    )
    up = alt.Y(f"{value}:Q", title=y_title, scale={"zero": False}, axis=axis(percent))
    base = alt.Chart(inline(frame)).encode(x=across, color=grouped(series, names), tooltip=tips(frame))
    layers = [] if line is None else [rule(line).encode(y=alt.Y("at:Q", title=y_title))]
    if {"low", "high"} <= {*frame.columns}:
        layers.append(base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", title=y_title), y2=alt.Y2("high:Q")))
    layers.append(base.mark_line(strokeWidth=2.2).encode(y=up))
    if {"points_low", "points_high"} <= {*frame.columns}:
        layers.append(base.mark_rule().encode(y=alt.Y("points_low:Q", title=y_title), y2="points_high:Q"))
    layers.append(
        base.mark_point(filled=True, size=45, opacity=1).encode(y=alt.Y(f"{points or value}:Q", title=y_title))
    )
    return _spec(alt.layer(*layers), TALL)


def _whole(x: pl.Series) -> dict[str, Any]:
    """An axis of whole numbers: each that there is where they are few, as ticks between them would repeat them."""
    there = x.unique().sort().to_list()
    ticks: dict[str, Any] = {"values": there} if len(there) <= MOST_TICKS else {"tickMinStep": 1}
    return {"grid": False, "format": "d", **ticks}


@unchecked
def histograms(frame: pl.DataFrame, *, x_title: str, truth: float | None = None) -> dict[str, Any]:
    """How often each `value` was drawn, the `series` over each other; `truth` is a line."""
    import altair as alt

    names = frame["series"].unique(maintain_order=True).to_list()
    known = frame.filter(pl.col("value").is_finite())
    least, most = (float(end) for end in np.quantile(known["value"], (0.0, 1.0))) if known.height else (0.0, 1.0)
    ends = np.linspace(least, most if most > least else least + 1.0, BINS + 1)
    rows = []
    for name in names:
        mine = known.filter(pl.col("series") == name)["value"].to_numpy()
        number = np.histogram(mine, ends)[0]
        rows += [
            (name, low, high, n / max(len(mine), 1)) for low, high, n in zip(ends[:-1], ends[1:], number, strict=True)
        ]
    counted = pl.DataFrame(rows, schema=["series", "low", "high", "share"], orient="row").filter(pl.col("share") > 0)
    base = alt.Chart(inline(counted)).encode(color=grouped("series", names), tooltip=tips(counted))
    across = alt.X("low:Q", title=x_title, scale={"zero": False, "nice": True}, axis={"grid": False})
    up = alt.Y("share:Q", title="share of draws", stack=None, axis={"format": "%"})
    layers = [base.mark_bar(opacity=0.6).encode(x=across, x2="high:Q", y=up, y2=alt.datum(0))]
    if truth is not None:
        line = rule(truth).mark_rule(color=LETTERS, strokeWidth=2, strokeDash=[5, 3])
        layers.append(line.encode(x=alt.X("at:Q", title=x_title)))
    return _spec(alt.layer(*layers), TALL)


@unchecked
def differences(frame: pl.DataFrame, *, y_title: str) -> dict[str, Any]:
    """A bar for the difference of each query from the greatest loss to the greatest win; wins are gold."""
    import altair as alt

    base = alt.Chart(inline(frame)).encode(tooltip=tips(frame))
    bar = base.mark_bar().encode(
        x=alt.X("query:N", sort=None, axis={"labels": False, "ticks": False, "grid": False}, title="queries, ordered"),
        y=alt.Y("difference:Q", title=y_title),
        color=either("datum['difference'] > 0", ACCENT, QUIET),
    )
    return _spec(alt.layer(bar, rule(0).encode(y=alt.Y("at:Q"))), 220)


def square(frame: pl.DataFrame) -> dict[str, Any]:
    """Kendall's tau_b of every two, `first` and `second`, both ways round."""
    turned = frame.with_columns(first="second", second="first")
    both = pl.concat([frame, turned]).drop_nans("tau_b").rename({"tau_b": "value"})
    # Across as down, so that what is empty, each with itself, is the diagonal.
    return cells(both, order=both["first"].unique(maintain_order=True).to_list())


@unchecked
def cells(
    frame: pl.DataFrame,
    *,
    x_title: str = "",
    y_title: str = "",
    text: str | None = None,
    order: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A `value` for each `first` (down) and `second` (across), as squares from pale to gold, each with its figure.

    `text` is a column of words in place of the figures; `order` that of both sides, of the rows unless given.
    """
    import altair as alt

    names = {side: order or frame[side].unique(maintain_order=True).to_list() for side in ("first", "second")}
    across, down = ({"title": title} if title else {} for title in (x_title, y_title))
    base = alt.Chart(inline(frame)).encode(
        x=alt.X("second:N", sort=names["second"], axis={**BARE | across, "labelAngle": 0}),
        y=alt.Y("first:N", sort=names["first"], axis=BARE | down),
        tooltip=tips(frame),
    )
    scale = {"domain": [0, 1], "range": [PAPER, ACCENT], "clamp": True}
    layers = [
        base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=12).encode(
            text=alt.Text("value:Q", format=".2f") if text is None else alt.Text(f"{text}:N"),
            color=either("datum['value'] > 0.6", ON_GOLD, LETTERS),
        ),
    ]
    return _spec(alt.layer(*layers), 44 * max(len(names["first"]), 1) + 10)


def _spec(chart: Any, height: int) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict(validate=False)
    spec.pop("config", None)
    return spec


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
