"""Each subtopic as a query of its own: what one user wanted, apart from what others mean by the same words."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.labels.selection import ITEM, NO_SUBTOPIC
from karat.records import Judgments, Runs

#: Stands between the two ids where a subtopic becomes a query; no id holds it.
BETWEEN = "\x1f"


def one_subtopic_each(labels: Judgments, runs: Runs) -> tuple[Judgments, Runs, pl.DataFrame]:
    """Labels and runs in which every subtopic is a query, and a table that says which is which.

    >>> labels = Judgments.of([{"query": "q", "subtopic": "1", "doc": "d", "label": 1},
    ...                        {"query": "q", "subtopic": "2", "doc": "e", "label": 1}])
    >>> labels, runs, table = one_subtopic_each(labels, Runs.of({"q": {"d": 2.0, "e": 1.0}}))
    >>> len(runs), len(labels), table.select("query", "subtopic").rows()
    (4, 2, [('q', '1'), ('q', '2')])

    A user who asked about one subtopic has no use for the others; conventional measures can then be computed for each
    subtopic. Labels without subtopics, and runs of queries without labels, stay as they are. A document that serves
    none of a query's subtopics (TREC's subtopic 0) was judged for all of them, and is relevant to none. The table has
    `item` (the new query's id), `query` and `subtopic`.
    """
    if not labels.has("subtopic"):
        queries = labels.frame.select(item="query", query="query").unique(maintain_order=True)
        return labels, runs, queries.with_columns(subtopic=pl.lit(None, dtype=pl.String))
    item = pl.when(pl.col("subtopic").is_null()).then("query").otherwise(pl.col("query") + BETWEEN + pl.col("subtopic"))
    is_none = pl.col("subtopic").eq_missing(pl.lit(NO_SUBTOPIC))
    frame = labels.frame.filter(~is_none).with_columns(item.alias("item"))
    table = frame.select("item", "query", "subtopic").unique(maintain_order=True)
    key = ["item", *(name for name in ITEM if name in frame.columns and name not in ("query", "subtopic"))]
    of_none = labels.frame.filter(is_none).drop("subtopic").with_columns(pl.col("label").clip(upper_bound=0.0))
    of_none = of_none.join(table.drop_nulls("subtopic"), on="query").join(frame, on=key, how="anti", nulls_equal=True)
    frame = pl.concat([frame, of_none.select(frame.columns)])
    split = frame.drop("query", "subtopic").rename({"item": "query"})
    lists = runs.frame.join(table.select("item", "query"), on="query", how="left", maintain_order="left")
    lists = lists.with_columns(query=pl.coalesce("item", "query")).drop("item")
    return replace(labels, frame=split), Runs(lists, runs.notes), table
