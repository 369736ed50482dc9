"""Which queries won and lost most, and why: the two lists side by side, with labels and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from karat.comparison.comparison import Comparison
from karat.errors import BadInput
from karat.estimate.gold_sample import Gold
from karat.labels.consensus import How, consensus
from karat.measures.topics import Topics
from karat.records import Judgments, LabelsLike, Queries, RunsLike
from karat.records.runs import ranked, several, together

#: So many documents of each list are shown where the measure has no cutoff.
DEPTH = 10


def moved(
    found: Comparison,
    labels: LabelsLike,
    runs: RunsLike,
    *,
    number: int = 5,
    depth: int = DEPTH,
    gold: LabelsLike | None = None,
    queries: Queries | None = None,
    how: How = "median",
) -> list[dict[str, Any]]:
    """The queries on which the second of two systems lost and won most, the most lost first.

    >>> import karat as kt
    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> told = moved(kt.compare(labels, {"a": a, "b": b}, "P@1"), labels, {"a": a, "b": b}, number=1)
    >>> told[0]["difference"], [row["doc"] for row in told[0]["documents"]]
    (1.0, ['good', 'bad'])

    Each has the query, its text if known, both scores by the labels, the difference, and its documents: where each
    system ranks them (none below `depth`), the label that counts (`how` several became one), and that in `gold`.
    """
    if len(found.systems) != 2:
        raise BadInput.at("queries that moved", expected="two systems", found=str(len(found.systems)))
    if number < 1:
        raise BadInput.at("queries to show", expected="1 or more", found=str(number))
    a, b = found.systems
    values = found.by_query.with_columns(difference=pl.col(b) - pl.col(a)).filter(pl.col("difference") != 0)
    order = values.sort("difference", "query")
    lost = order.filter(pl.col("difference") < 0).head(number)
    won = order.filter(pl.col("difference") > 0).tail(number)
    chosen = pl.concat([lost, won])
    docs = _documents(together(several(runs)), found.systems, chosen["query"].to_list(), depth)
    # The labels that the scores were made of: one a document, as for any measure.
    counted = Topics.of(consensus(labels, how, apart=("subtopic",))).judged
    docs = docs.join(counted, on=["query", "doc"], how="left", maintain_order="left")
    if gold is not None:
        known = Gold.of(Judgments.of(gold)).frame.select("query", "doc", gold="label")
        docs = docs.join(known, on=["query", "doc"], how="left", maintain_order="left")
    texts = (
        {}
        if queries is None or "text" not in queries.frame.columns
        else dict(queries.frame.select("query", "text").iter_rows())
    )
    parts = {name: part.drop("query") for (name,), part in docs.group_by(["query"], maintain_order=True)}
    return [
        {
            "query": row["query"],
            "text": texts.get(row["query"]),
            "a": row[a],
            "b": row[b],
            "difference": row["difference"],
            "documents": parts[row["query"]].to_dicts() if row["query"] in parts else [],
        }
        for row in chosen.iter_rows(named=True)
    ]


def _documents(runs: Any, systems: Sequence[str], queries: list[str], depth: int) -> pl.DataFrame:
    """The documents that either system shows for these queries, with both ranks."""
    seen = ranked(runs, depth).filter(pl.col("query").is_in(queries))
    sides = [
        seen.filter(pl.col("system") == name).select("query", "doc", pl.col("rank").alias(f"rank_{side}"))
        for name, side in zip(systems, "ab", strict=True)
    ]
    both = sides[0].join(sides[1], on=["query", "doc"], how="full", coalesce=True)
    best = pl.min_horizontal("rank_a", "rank_b")
    return both.sort("query", best, "rank_b", nulls_last=True)
