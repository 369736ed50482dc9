"""A chart for any result: a dot on its interval for each row, or the chart that fits its figures better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from karat.comparison import Comparison, GroupComparison
from karat.comparison.many_systems import family_p
from karat.comparison.verdict import IN_WORDS
from karat.errors import Undefined
from karat.llm.audit_sheet import LLMAudit, LLMSheet
from karat.llm.audit_sheet import name as figure_name
from karat.measures.scores import Scores
from karat.plan.power import PowerPlan
from karat.records.number_format import GRADES, WHOLE, in_words
from karat.records.result import Differences, Grid, Histograms, Lines, Panels, ResultBase
from karat.records.scale import Scale
from karat.records.table import count
from karat.reports import charts
from karat.reports.charts import panels
from karat.reports.figure import Figure
from karat.reports.offline_chart import offline
from karat.reports.query_groups import groups_figure
from karat.reports.section import headline
from karat.reports.verdict_figures import dots_figure, methods_figure

#: More rows than these are not drawn.
MOST_ROWS = 40
ENDS = ("value", "low", "high")
#: The columns of a confusion matrix.
CONFUSED = {"grade", "label", "share", "effective"}


def plot(result: ResultBase) -> Any:
    """The result as an Altair chart whose title is the finding; `Undefined` where no figure has an interval.

    >>> from karat.records import Result
    >>> frame = pl.DataFrame({"group": ["crowd"], "kappa": [0.4], "low": [0.1], "high": [0.7]})
    >>> plot(Result(frame, "The crowd agrees.")).to_dict()["title"]["text"]
    ['The crowd agrees']
    """
    import altair

    return offline(altair.Chart.from_dict(figure_of(result).picture()))


def figure_of(result: ResultBase) -> Figure:
    """The chart of a result, as a picture that can be written."""
    if isinstance(result, Comparison):
        return _verdict(result)
    if isinstance(result, GroupComparison):
        return groups_figure(result)
    spec, data = _drawn(result)
    how = (
        getattr(getattr(result, "drawing", None), "how", "")
        or _how(data)
        or (next((note for note in result.notes if "not understood" not in note), ""))
    )
    return Figure("plot", headline(result.finding), how, spec, data)


def _verdict(found: Comparison) -> Figure:
    """What each method says of the difference, under the verdict with its interval; of many systems, every pair."""
    if not found.methods.height or found.verdict == "cannot say":
        raise Undefined(found.finding.rstrip("."))
    if len(found.systems) == 2:
        figure = methods_figure(found, None)
    else:
        rows = found.pairs.head(MOST_ROWS).select(
            row=pl.col("b") + " less " + pl.col("a"),
            difference="difference",
            low="low",
            high="high",
            p="p",
            look_at=pl.Series(family_p(found.pairs)[:MOST_ROWS] <= 1 - found.level),
        )
        how = f"Differences in {found.measure} with {found.level * 100:g} % intervals, {IN_WORDS[found.method]}; gold: "
        figure = dots_figure("pairs", "", f"{how}shown, allowing for all pairs.", rows, found.measure)
    return replace(figure, name="plot", title=found.finding.partition(" over ")[0])


def _how(data: pl.DataFrame) -> str:
    """How squares of figures were made, which their notes do not say."""
    columns = {*data.columns}
    if columns >= CONFUSED:
        labels = data.group_by("grade").agg(pl.col("n").first())["n"].to_list()
        return f"Share of the labels of each gold grade, from {count(sum(labels), 'gold label')}"
    if columns >= {"tau_b", "systems", "queries"}:
        return f"Kendall's tau_b over {data['systems'][0]} systems and {count(data['queries'][0], 'query', 'queries')}"
    return ""


def _drawn(result: ResultBase) -> tuple[dict[str, Any], pl.DataFrame]:
    """The chart and the numbers in it."""
    if isinstance(result, PowerPlan):
        curve = result.curve.with_columns(series=pl.lit("power"))
        drawn = {"x": "queries", "value": "power", "series": "series", "x_title": "queries", "y_title": "power"}
        return charts.lines(curve, **drawn, whole=True), curve  # type: ignore[arg-type]
    if isinstance(result, LLMAudit | LLMSheet):
        rows = _agreement_of_llms(result)
        return charts.dots(rows, value="value", x_title="agreement beyond chance", line=0.0, places=2), rows
    drawing = getattr(result, "drawing", None)
    if isinstance(drawing, Lines):
        names = ("x", "value", "series", "x_title", "y_title", "points", "whole")
        return charts.lines(drawing.frame, **{name: getattr(drawing, name) for name in names}), drawing.frame
    if isinstance(drawing, Differences):
        return charts.dots(drawing.frame, value="difference", x_title=drawing.x_title, line=0.0), drawing.frame
    if isinstance(drawing, Histograms):
        return charts.histograms(drawing.frame, x_title=drawing.x_title, truth=drawing.truth), drawing.frame
    if isinstance(drawing, Grid):
        return charts.cells(drawing.frame, x_title=drawing.x_title, y_title=drawing.y_title, text="said"), drawing.frame
    if isinstance(drawing, Panels):
        return panels(drawing), drawing.frame
    frame = result.to_frame()
    if {*frame.columns} >= CONFUSED:
        first, second = (_grades(frame[name], result.scale) for name in ("grade", "label"))
        cells = pl.DataFrame({"first": first, "second": second, "value": frame["share"]})
        return charts.cells(cells, x_title="label", y_title="gold grade"), frame
    if {"first", "second", "tau_b"} <= {*frame.columns}:
        return charts.square(frame), frame
    name, rows = _dots(result)
    return charts.dots(rows, value="value", x_title=name.replace("_", " ")), rows


def _grades(grades: pl.Series, scale: Scale | None) -> list[str]:
    return [f"{grade:g}" if scale is None else scale.name(grade) for grade in grades]


def _agreement_of_llms(result: LLMAudit | LLMSheet) -> pl.DataFrame:
    """How far each LLM agrees with gold and with itself: figures in other units do not go on the same axis."""
    sheets = result.sheets if isinstance(result, LLMAudit) else (result,)
    rows = [
        (f"{sheet.judge}, {figure_name(row)}" if len(sheets) > 1 else figure_name(row), *(row[n] for n in ENDS))
        for sheet in sheets
        for row in sheet.frame.filter(pl.col("unit") == "agreement", pl.col("value").is_not_nan()).to_dicts()
    ]
    if not rows:
        raise Undefined("there is no agreement to draw: no gold labels, and nothing was asked again; see to_frame()")
    return pl.DataFrame(rows, schema=["row", *ENDS], orient="row").head(MOST_ROWS)


def _dots(result: ResultBase) -> tuple[str, pl.DataFrame]:
    """The figure that is drawn, and `row`, `value`, `low`, `high` of each row."""
    frame = in_words(_by_measure(result) if isinstance(result, Scores) else result.shown(), result.scale)
    frame = frame.head(MOST_ROWS)
    if {"low", "high"} <= {*frame.columns}:
        before = [name for name in frame.columns[: frame.columns.index("low")] if name != "standard_error"]
        name, low, high = before[-1], "low", "high"
    else:
        ends = [name for name in (*result.columns, *frame.columns) if f"{name}_low" in frame.columns]
        if not ends:
            raise Undefined("there is no chart for this result: none of its figures has an interval; see to_frame()")
        name, low, high = ends[0], f"{ends[0]}_low", f"{ends[0]}_high"
    numbers = [column for column in (*GRADES, *WHOLE) if column in frame.columns and column != name]
    words = [column for column, kind in frame.schema.items() if kind == pl.String or column in numbers]
    told = [", ".join(_word(row[column]) for column in words if row[column] is not None) for row in frame.to_dicts()]
    again = [
        f"{text} ({told[:place].count(text) + 1})" if text in told[:place] else text for place, text in enumerate(told)
    ]
    return name, frame.select(pl.Series("row", again), value=name, low=low, high=high).drop_nulls("value")


def _by_measure(scores: Scores) -> pl.DataFrame:
    """The means measure by measure, the best system of the first one first: only such rows can be compared."""
    measures, systems = (
        pl.col(name).replace_strict({one: place for place, one in enumerate(order)}, return_dtype=pl.Int64)
        for name, order in (("measure", scores.measures), ("system", scores.best_first()))
    )
    rows = scores.means.select("measure", "system", "value", "low", "high")
    if scores.has_gold:
        # A corrected score stands above the uncorrected one; what gold labels have no bearing on stands alone.
        corrected = scores.means["n_gold"] > 0
        beside = corrected | scores.means["value"].is_nan()
        word = pl.Series("labels", corrected).replace_strict({True: "corrected", False: None}, return_dtype=pl.String)
        plain = scores.uncorrected_means.filter(beside).select(rows.columns)
        rows = pl.concat(
            [
                rows.with_columns(word).filter(~pl.col("value").is_nan()),
                plain.with_columns(labels=pl.lit("uncorrected")),
            ]
        ).select("measure", "system", "labels", "value", "low", "high")
    return rows.sort(measures, systems, maintain_order=True)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
