"""One query as its judges see it: who said what of which document."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.level_votes import levels_of, with_names
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.result import Grid
from karat.records.table import count

#: More documents than these do not fit beside each other.
MOST_DRAWN = 16


def opinions(labels: Panel | LabelsLike, query: str | None = None, top: float | None = None) -> Result:
    """Every judge's label of every document of a query, documents that most call top first (the paper's Fig. 4).

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n}
    ...         for d, given in {"a": [1, 2], "b": [2, 2]}.items() for j, n in zip("xy", given, strict=True)]
    >>> opinions(rows).frame.rows()
    [('b', '2', '2'), ('a', '1', '2')]

    `query` is by default the one with most labels on documents that several judges labelled.
    """
    panel = with_names(Panel.of(labels).of_judges(), "what each of them says")
    levels = levels_of(panel, top)
    # Two people of one name, in two groups, are told apart.
    twice = pl.col("judge").count().over("judge") > 1
    who = pl.when(twice).then(pl.format("{} ({})", "judge", "group")).otherwise("judge")
    rows = panel.items.select("query", "doc")[panel.item].with_columns(
        judge=panel.judges.select(who)["judge"][panel.judge],
        label=pl.Series(panel.value).clip(upper_bound=levels[-1]),
    )
    rows = rows.unique(["query", "doc", "judge"], keep="first", maintain_order=True)
    several = rows.filter(pl.len().over("query", "doc") > 1)
    if not several.height:
        raise Undefined("no document has labels of two judges: there is nothing to disagree on")
    if query is None:
        query = several.group_by("query", maintain_order=True).len().sort("len", descending=True)["query"][0]
    mine = rows.filter(pl.col("query") == query)
    if not mine.height:
        raise BadInput.at("the query", expected="one that has labels", found=query)
    is_top = pl.col("label") >= levels[-1]
    order = mine.group_by("doc", maintain_order=True).agg(n=is_top.sum(), mean=pl.col("label").mean())
    docs = order.sort("n", "mean", descending=True, maintain_order=True)["doc"].to_list()
    judges = mine["judge"].unique().sort().to_list()
    words = pl.Series([panel.said(grade) for grade in mine["label"].to_list()], dtype=pl.String)
    said_of = mine.with_columns(label=words).pivot("judge", index="doc", values="label")
    table = pl.DataFrame({"doc": docs}).join(said_of, on="doc", maintain_order="left").select("doc", *judges)
    said, anybody, everybody = panel.said(levels[-1]), order["n"] > 0, order["n"] == len(judges)
    finding = (
        f"Of {count(len(docs), 'document')} of {query}, {anybody.sum()} are {said} to at least one of "
        f"{count(len(judges), 'judge')}, {everybody.sum()} to all of them."
    )
    place = np.searchsorted(levels, mine["label"].to_numpy()) / max(len(levels) - 1, 1)
    grid = mine.select(first="judge", second="doc", value=pl.Series(place), said=words)
    shown = (
        pl.DataFrame({"second": docs[:MOST_DRAWN]}).join(grid, on="second", maintain_order="left").select(grid.columns)
    )
    how = f"{count(len(docs), 'document')}" if len(docs) <= MOST_DRAWN else f"The first {MOST_DRAWN} documents"
    drawing = Grid(
        shown.sort("first", maintain_order=True), "document", "judge", f"{how}, by how many call them {said}"
    )
    return Result(table, finding, panel.notes, drawing=drawing)
