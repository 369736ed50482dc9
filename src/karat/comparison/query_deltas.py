"""Which queries won and lost most, and why: the two lists side by side, with labels and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from karat.comparison.comparison import Comparison
from karat.correction.gold_sample import Gold
from karat.errors import BadInput
from karat.labels.consensus import How, consensus
from karat.measures import as_measures
from karat.measures.topics import Topics
from karat.records import Documents, FrameLike, Judgments, LabelsLike, Queries, Result, RunsLike
from karat.records.result import Differences
from karat.records.runs import ranked, several, together

#: So far down a list ranks are told.
DEPTH = 10
#: As many letters of a title, or of a text in its place, as tell what a document is.
LONGEST = 100
#: As many letters of a query as stand beside a chart.
SHORT = 40


def moved(
    found: Comparison,
    labels: LabelsLike,
    runs: RunsLike,
    *,
    number: int = 5,
    depth: int = DEPTH,
    gold: LabelsLike | None = None,
    queries: Queries | FrameLike | None = None,
    documents: Documents | FrameLike | None = None,
    how: How = "median",
) -> list[dict[str, Any]]:
    """The queries on which the second of two systems lost most, then those on which it won most, the largest first.

    >>> import karat as kt
    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> told = moved(kt.compare(labels, {"a": a, "b": b}, "P@1"), labels, {"a": a, "b": b}, number=1)
    >>> told[0]["difference"], [row["doc"] for row in told[0]["documents"]]
    (1.0, ['good', 'bad'])

    Each has the query, its text if known, both scores by the labels, the difference, and the documents that the
    measure looks at in either list: where each system ranks them (none below `depth`), the label that counts (`how`
    several became one), and that in `gold`; with `documents`, the title of each, or else its address or the beginning
    of its text.
    """
    if len(found.systems) != 2:
        raise BadInput.at("queries that moved", expected="two systems", found=str(len(found.systems)))
    queries, documents = Queries.of_optional(queries), Documents.of_optional(documents)
    if number < 1:
        raise BadInput.at("queries to show", expected="1 or more", found=str(number))
    a, b = found.systems
    values = found.by_query.with_columns(difference=pl.col(b) - pl.col(a)).filter(pl.col("difference") != 0)
    lost = values.filter(pl.col("difference") < 0).sort("difference", "query").head(number)
    won = values.filter(pl.col("difference") > 0).sort(-pl.col("difference"), "query").head(number)
    chosen = pl.concat([lost, won])
    docs = _documents(together(several(runs)), found.systems, chosen["query"].to_list(), depth)
    looked_at = as_measures(found.measure)[0].cutoff
    if looked_at is not None:
        docs = docs.filter(pl.min_horizontal("rank_a", "rank_b") <= looked_at)
    # The labels that the scores were made of: one a document, as for any measure.
    counted = Topics.of(consensus(labels, how, apart=("subtopic",))).judged
    docs = docs.join(counted, on=["query", "doc"], how="left", maintain_order="left")
    if gold is not None:
        known = Gold.of(Judgments.of(gold)).frame.select("query", "doc", gold="label")
        docs = docs.join(known, on=["query", "doc"], how="left", maintain_order="left")
    if documents is not None:
        docs = docs.join(titles_of(documents), on="doc", how="left", maintain_order="left")
        docs = docs.select("query", "doc", "title", pl.all().exclude("query", "doc", "title"))
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


def moved_table(found: Comparison, told: Sequence[Mapping[str, Any]]) -> Result:
    """The queries that `moved` found, a row each, to write and to draw."""
    a, b = found.systems
    names = {"query": pl.String, "text": pl.String, "a": pl.Float64, "b": pl.Float64, "difference": pl.Float64}
    frame = pl.DataFrame([tuple(one[name] for name in names) for one in told], schema=names, orient="row")
    # A comma would divide the name of a row into two lines: the id stands above the text.
    text = pl.col("text").str.slice(0, SHORT).str.replace_all(", ", " ")
    drawn = frame.select(
        "difference",
        row=pl.concat_str("query", text, separator=", ", ignore_nulls=True),
        low=pl.min_horizontal("difference", 0.0),
        high=pl.max_horizontal("difference", 0.0),
        look_at=pl.col("difference") > 0,
    )
    lost = int((frame["difference"] < 0).sum())
    finding = f"The queries on which {b} lost and won most against {a} by {found.measure}."
    how = f"{b} less {a} by the labels as they are; gold: {b} wins ({frame.height - lost}), grey: it loses ({lost})."
    across = f"difference in {found.measure}, {b} less {a}"
    return Result(frame, finding, drawing=Differences(drawn, across, how) if frame.height else None)


def titles_of(documents: Documents) -> pl.DataFrame:
    """What each document is called: its title, or else its address, or how its text begins."""
    known = [name for name in ("title", "url", "snippet", "text") if name in documents.frame.columns]
    words = [pl.col(name).str.slice(0, LONGEST).str.replace_all(r"\s+", " ").str.strip_chars() for name in known]
    first = pl.coalesce(pl.when(text != "").then(text) for text in words) if words else pl.lit(None, pl.String)
    return documents.frame.select("doc", title=first)


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
