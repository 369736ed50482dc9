"""The figures of the verdict: naive beside corrected, group by group, query by query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from karat.comparison import Comparison
from karat.comparison import compare as compared
from karat.comparison.verdict import IN_WORDS
from karat.errors import KaratError, Undefined
from karat.records import Runs
from karat.records.table import count
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Told, in_a_few_words
from karat.study import Study, Truth

#: The methods in the order in which they are drawn, and their names there; inversion-independent, which assumes what
#: no study has, stays in the table.
DRAWN = {"plain": "as they are", "inversion": "confusion matrix", "ppi": "with gold labels"}


def methods_figure(found: Comparison, truth: Truth | None) -> Figure:
    """What each method says: of two systems B less A, of more the best less every other."""
    order = {name: place for place, name in enumerate(found.systems)}
    frame = found.methods.filter(pl.col("method").is_in([*DRAWN])).sort(
        pl.col("system_a").replace_strict(order),
        pl.col("method").replace_strict({name: place for place, name in enumerate(DRAWN)}),
    )
    frame = frame.with_columns(pair=pl.col("system_b") + " less " + pl.col("system_a"))
    method = pl.col("method").replace_strict(DRAWN, return_dtype=pl.String)
    shown = frame.with_columns(
        row=pl.col("pair") + ", " + method if frame["method"].n_unique() > 1 else pl.col("pair"),
        labels=pl.col("method").replace_strict(IN_WORDS, return_dtype=pl.String),
        look_at=pl.col("method") == found.method,
    ).select("row", "pair", "labels", "difference", "low", "high", "p", "n_queries", "n_gold", "look_at")
    how = f"Differences in {found.measure} with {found.level * 100:g} % intervals over {frame['n_queries'][0]} queries"
    how += f"; gold: what decides ({IN_WORDS[found.method]})."
    if "inversion" in frame["method"]:
        how += " Confusion matrix: right only if the judge errs alike on all systems' documents."
    pairs = frame.select("system_a", "system_b").rows()
    planted = [None if truth is None else truth.difference(found.measure, a, b) for a, b in pairs]
    if any(value is not None for value in planted):
        shown = shown.with_columns(truth=pl.Series(planted, dtype=pl.Float64))
        how += " Diamonds: the planted truth."
    return dots_figure("naive-and-corrected", in_a_few_words(found), how, shown, found.measure)


def by_group(
    found: Comparison,
    told: Told,
    pair: list[Runs],
    study: Study,
    truth: float | None,
    how: Mapping[str, Any],
) -> Figure:
    """What the labels of each group say of the two systems, as they are and corrected; `how` is passed to `compare`."""
    rows = []
    for group in study.groups:
        try:
            labels = study.of_group(group)
            mine = compared(labels, pair, found.measure, gold=study.gold, draws=100, **how)
        except KaratError:
            continue
        kept = mine.methods.filter(pl.col("method").is_in(["plain", "ppi"]))
        rows += [{"group": group, **row} for row in kept.iter_rows(named=True) if not math.isnan(row["low"])]
    if not rows:
        raise Undefined("no group labelled what both systems show")
    frame = pl.DataFrame(rows).select(
        row=pl.col("group") + ", " + pl.col("method").replace_strict(DRAWN, return_dtype=pl.String),
        group="group",
        labels=pl.col("method").replace_strict(IN_WORDS, return_dtype=pl.String),
        difference="difference",
        low="low",
        high="high",
        p="p",
        n_queries="n_queries",
        look_at=pl.col("method") != "plain",
    )
    caption = f"{told.b} less {told.a} in {found.measure} by each group's labels, {found.level * 100:g} % intervals"
    caption += "; gold: corrected with the gold labels." if study.gold is not None else "."
    said = ""
    if truth is not None:
        caption += " Diamonds: the planted truth."
        frame, said = frame.with_columns(truth=pl.lit(truth)), groups_and_truth(rows, truth)
    return dots_figure("by-group", _sides(rows, told), caption, frame, found.measure, said)


def _sides(rows: Sequence[Mapping[str, Any]], told: Told) -> str:
    """Which groups would have said what, by their labels as they are."""
    naive = {
        str(row["group"]): 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0
        for row in rows
        if row["method"] == "plain"
    }
    a, b = told.a, told.b
    if len({*naive.values()}) == 1:
        return f"Taken as they are, the labels of all groups of judges say the same of {b} and {a}"
    sides = [
        f"{word} by the labels of {' and '.join(group for group, way in naive.items() if way == side)}"
        for side, word in ((1, f"{b} is better"), (-1, f"{a} is better"), (0, "no difference"))
        if side in naive.values()
    ]
    return f"Whom you ask decides: {'; '.join(sides)}"


def groups_and_truth(rows: Sequence[Mapping[str, Any]], truth: float) -> str:
    """Which groups' intervals miss the planted truth, as they are and corrected, in words.

    >>> ends = {"group": "llm", "low": 0.1, "high": 0.2}
    >>> groups_and_truth([{**ends, "method": "plain"}, {**ends, "method": "ppi", "low": -0.1}], 0.0)
    'The planted truth is +0.000. As they are, the labels of llm miss it. Corrected, the labels of every group hold it.'
    """
    said = f"The planted truth is {truth:+z.3f}."
    for method, word in (("plain", "As they are"), ("ppi", "Corrected")):
        mine = [row for row in rows if row["method"] == method]
        missing = [str(row["group"]) for row in mine if not row["low"] <= truth <= row["high"]]
        if mine:
            who = " and ".join(missing) or "every group"
            said += f" {word}, the labels of {who} {'miss' if missing else 'hold'} it."
    return said


def by_query(found: Comparison, told: Told) -> Figure:
    """The difference of the two systems query by query, by the labels as they are."""
    a, b = told.a, told.b
    frame = found.by_query.select("query", score=pl.col(b), score_against=pl.col(a), difference=pl.col(b) - pl.col(a))
    frame = frame.drop_nans("difference").sort("difference")
    wins, losses = int((frame["difference"] > 0).sum()), int((frame["difference"] < 0).sum())
    as_labelled = "" if found.method == "plain" else "By the labels as they are, "
    return Figure(
        "by-query",
        f"{as_labelled}{b} wins {wins:,}, ties {frame.height - wins - losses:,}, loses "
        f"{count(losses, 'query', 'queries')} against {a}",
        f"Difference in {found.measure} of each query by the labels as they are.",
        charts.differences(frame, y_title=f"difference in {found.measure}"),
        frame,
    )


def dots_figure(
    name: str, title: str, how: str, frame: pl.DataFrame, measure: str, said: str = "", less: str = ""
) -> Figure:
    """Differences as dots on their intervals; rows to `look_at` are gold. `less` says of what from what."""
    across = f"difference in {measure}" + (f", {less}" if less else "")
    chart = charts.dots(frame, value="difference", x_title=across, line=0.0)
    return Figure(name, title, how, chart, frame.drop("row", "look_at"), said)
