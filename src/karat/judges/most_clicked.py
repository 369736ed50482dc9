"""The most clicked document of a query: do the labels see it?

Reference: Kazai, Craswell, Yilmaz and Tahaghoghi, An Analysis of Systematic Judging Errors in Information Retrieval
(CIKM 2012), section 6.1: Table 4.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judges.clicked import Clicked, in_percent, shares
from karat.labels.panel import Panel
from karat.records import ClickLog, Clicks, FrameLike, LabelsLike, Result
from karat.records.base import count
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats, Ints


def most_clicked(
    labels: Panel | LabelsLike,
    clicks: Clicks | ClickLog | FrameLike,
    *,
    by: str | None = None,
    minimum_clicks: int = 100,
    high: float | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often the most clicked document of a query gets a high label (p_a), and none a higher one (p_r).

    >>> clicks = Clicks.of({"query": ["q", "q"], "doc": ["a", "b"], "clicks": [900, 300]})
    >>> found = most_clicked({"q": {"a": 2, "b": 3, "c": 0}}, clicks)
    >>> found.frame.select("p_a", "p_r", "n_queries").row(0)
    (1.0, 0.0, 1)

    Per group: the most clicked of the documents that the group labelled, if it has `minimum_clicks`. p_a is the share
    of queries where it has one of the two highest labels of the scale (or `high` and above); without a scale, of the
    labels that the group itself gave, so that a group on a scale of three grades is not held against another's five.
    `high_label` is the least label that counts as high. p_r is the share where no document that the group labelled for
    the query has a higher label; queries with one labelled document say nothing there. Documents clicked equally often
    share their query's figure. `by` splits the queries by what the most clicked document is. A lenient group has a high
    p_a and a low p_r.
    """
    data = Clicked.of(labels, clicks, by, minimum_clicks)
    notes = list(data.notes)
    high_labels = _high_labels(data.panel, high, notes)
    cells, parts = list[tuple[str, ...]](), []
    tied = single = 0
    for group, label, least in zip(data.panel.groups, data.label, high_labels, strict=True):
        given = ~np.isnan(label)
        best = _largest(data.query, np.where(given, data.clicks, -1), data.queries)
        top = given & (data.clicks > 0) & (data.clicks == best[data.query])
        highest = _largest(data.query, np.where(given, label, -np.inf), data.queries)
        of_query = np.bincount(data.query[top], minlength=data.queries)
        alone = np.bincount(data.query[given], minlength=data.queries) < 2
        tied += int((of_query > 1).sum())
        single += int((alone & (of_query > 0)).sum())
        weight = 1 / np.maximum(of_query, 1)[data.query]
        for number, kind in enumerate(data.kinds):
            mine = top & (data.kind == number)
            cells.append((group, kind))
            relative = mine & ~alone[data.query]
            found = [
                (mine & (label >= least), mine if not np.isnan(least) else np.zeros_like(mine)),
                (relative & (label >= highest[data.query]), relative),
            ]
            parts.append(
                [[np.bincount(data.query[m], weight[m], data.queries) for m in (yes, asked)] for yes, asked in found]
            )
    table = np.array(parts)  # cells x (p_a, p_r) x (yes, asked) x queries
    share, low, high_end = shares(table[:, :, 0], table[:, :, 1], Resampling(level, draws, seed))
    asked = (table[:, :, 1] > 0).sum(axis=2)
    if tied:
        notes.append(f"{tied:,} times documents were clicked equally often and share their query's answer")
    if single:
        notes.append(f"{single:,} times a group labelled one document of the query: left out of p_r")
    names = ["group", "value"] if by is not None else ["group"]
    frame = pl.DataFrame([cell[: len(names)] for cell in cells], schema=names, orient="row").with_columns(
        *(
            pl.Series(name + end, ends[:, n])
            for n, name in enumerate(("p_a", "p_r"))
            for end, ends in (("", share), ("_low", low), ("_high", high_end))
        ),
        pl.Series("n_queries", np.where(asked[:, 0] > 0, asked[:, 0], (table.max(axis=(1, 2)) > 0).sum(axis=1))),
        pl.Series("n_relative", asked[:, 1]),
        pl.Series("high_label", np.repeat(high_labels, len(data.kinds))),
    )
    if draws and np.isnan(low).any():
        notes.append(f"no interval for fewer than {FEWEST} queries, or where all of them agree")
    return Result(frame, _most_clicked_finding(frame, level), tuple(notes))


def _largest(query: Ints, values: Floats | Ints, queries: int) -> Floats:
    """The largest value of each query."""
    largest = np.full(queries, -np.inf)
    np.maximum.at(largest, query, values.astype(np.float64))
    return largest


def _high_labels(panel: Panel, high: float | None, notes: list[str]) -> list[float]:
    """The least of the high labels of each group: the second highest of its scale; NaN where that says nothing."""
    if high is not None:
        return [high] * len(panel.groups)
    given = [np.unique(panel.value[panel.group == number]) for number in range(len(panel.groups))]
    scales = given if panel.scale is None else [panel.grades] * len(panel.groups)
    found = [float(grades[-2]) if len(grades) > 2 else float("nan") for grades in scales]
    undefined = [group for group, least in zip(panel.groups, found, strict=True) if np.isnan(least)]
    if undefined:
        whose = f" for {', '.join(undefined)}" if len(undefined) < len(found) else ""
        notes.append(f"p_a is undefined{whose}: both of two labels would be high; name the least high grade with high")
    if panel.scale is None and len(undefined) < len(found):
        each = [
            f"{grades[-2]:g} and {grades[-1]:g}" + (f" of {group}" if panel.has_groups else "")
            for group, grades in zip(panel.groups, scales, strict=True)
            if len(grades) > 2
        ]
        notes.append(f"no scale given: the two highest labels given count as high: {', '.join(each)}")
    return found


def _most_clicked_finding(frame: pl.DataFrame, level: float) -> str:
    figure = "p_r" if frame["p_a"].is_nan().all() else "p_a"
    known = frame.filter(pl.col(figure).is_not_nan()).sort(figure, descending=True, maintain_order=True)
    if not known.height:
        return "No group labelled the most clicked document of a query."
    row = known.row(0, named=True)
    who = f"{row['group']} ({row['value']})" if "value" in row else row["group"]
    high = f"gets {row['high_label']:g} or more from {who} in {in_percent(row, 'p_a', level)} of "
    relative = "" if np.isnan(row["p_r"]) else in_percent(row, "p_r", level)
    queries = count(row["n_queries"], "query", "queries")
    if figure == "p_r":
        return f"The most clicked document is labelled no lower than any other by {who} in {relative} of {queries}."
    return f"The most clicked document {high}{queries}" + (
        f", and none is labelled higher in {relative}." if relative else "."
    )
