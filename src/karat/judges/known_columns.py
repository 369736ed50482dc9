"""What is known about the query and the document of each judgment, from queries, documents, runs and the judgments."""

from __future__ import annotations

import polars as pl

from karat.records import Documents, Judgments, Queries, Runs
from karat.records.list_order import ListOrders
from karat.records.runs import ranked

#: What makes a document's id an address: a scheme, www, or a host with dots before a path.
ADDRESS = r"^(?:[a-zA-Z][a-zA-Z0-9+.-]*://|www\.|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+/)"
#: What a user sees of a list without asking for more.
FIRST_TEN = 10


def whole(expression: pl.Expr) -> pl.Expr:
    """Whole numbers from texts."""
    # By way of a real number, because a column of ranks may have been read as 1.0, 2.0, ...
    return expression.cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)


def facts_of(
    judgments: Judgments, queries: Queries | None, documents: Documents | None, runs: Runs | None
) -> tuple[pl.DataFrame, dict[str, str]]:
    """What is known about each judgment's query and document, and for what is not, what was found instead."""
    frame, lacks = judgments.frame, dict[str, str]()

    def own(*columns: str) -> pl.Series | None:
        return next((frame[column].cast(pl.String) for column in columns if judgments.has(column)), None)

    def joined(table: pl.DataFrame, key: list[str], column: str) -> pl.Series:
        values = table.select(*key, fact=pl.col(column))
        return frame.select(key).join(values, on=key, how="left", nulls_equal=True, maintain_order="left")["fact"]

    def first(name: str, sources: list[pl.Series | None], found: str) -> pl.Series:
        known = [source for source in sources if source is not None]
        fact = pl.select(pl.coalesce(known)).to_series() if known else pl.Series([None] * frame.height, dtype=pl.String)
        if fact.null_count() == frame.height:
            lacks[name] = found
        return fact.alias(name)

    def given(records: Queries | Documents | None, what: str, column: str) -> str:
        if records is None:
            return f"no {what}"
        has = f"{what} with {', '.join(records.frame.columns)}"
        return f"{has}, none for these judgments" if records.has(column) else has

    ids = frame["doc"].set(~frame["doc"].str.contains(ADDRESS), None)
    url = [
        None if documents is None or not documents.has("url") else joined(documents.frame, ["doc"], "url"),
        own("url"),
        ids,
    ]
    text = [
        None if queries is None or not queries.has("text") else joined(queries.frame, ["query"], "text"),
        own("query_text"),
        frame["query"] if _are_texts(frame["query"]) else None,
    ]
    kind: list[pl.Series | None] = [own("query_kind", "kind")]
    if queries is not None and queries.has("kind"):
        kind.insert(0, joined(queries.frame, ["query"], "kind"))
    if queries is not None and judgments.has("subtopic") and queries.subtopics["kind"].drop_nulls().len():
        kind.insert(0, joined(queries.subtopics, ["query", "subtopic"], "kind"))
    words = None
    if documents is not None and documents.has("text"):
        counted = documents.frame.select("doc", words=pl.col("text").str.count_matches(r"\S+").cast(pl.String))
        words = joined(counted, ["doc"], "words")
    title, body = (
        [None if documents is None or not documents.has(name) else joined(documents.frame, ["doc"], name), own(column)]
        for name, column in (("title", "title"), ("text", "document_text"))
    )
    rank = [None if runs is None else joined(_best_ranks(runs), ["query", "doc"], "rank"), own("rank")]
    given_runs = "no runs" if runs is None else "runs without these documents"
    alone = runs is not None and len(runs.systems) == 1
    shown_by = None if runs is None or alone else _shown_by(frame, runs)
    facts = pl.DataFrame(
        [
            first("url", url, given(documents, "documents", "url")),
            first("query_text", text, given(queries, "queries", "text")),
            first("query_kind", kind, given(queries, "queries", "kind")),
            first("document_words", [words], given(documents, "documents", "text")),
            first("title", title, given(documents, "documents", "title")),
            first("document_text", body, given(documents, "documents", "text")),
            first("judge_name", [own("model", "judge", "group")], "no judges' names"),
            first("rank", rank, given_runs),
            first("shown_by", [shown_by], "runs of one system" if alone else given_runs),
        ]
    )
    kinds = facts["query_kind"].drop_nulls().unique().sort()
    if len(kinds) and not kinds.str.contains("(?i)nav|info|^true$|^false$").any():
        lacks["query_kind"] = f"only the kinds {', '.join(kinds)}"
    return facts, lacks


def _are_texts(ids: pl.Series) -> bool:
    """Whether queries' ids are what users typed, as in Quepid: most have letters, and spaces or no digits."""
    different = ids.unique()
    typed = different.str.contains(r"\p{L}") & (different.str.contains(r"\s") | ~different.str.contains(r"\d"))
    return bool(typed.sum() > len(different) / 2)


def _ranked(runs: Runs) -> pl.DataFrame:
    """The runs with the ranks that were given, or those by score where there are none, or where scores decide."""
    return runs.frame if runs.has("rank") and not ListOrders.of(runs).by_score else ranked(runs)


def _best_ranks(runs: Runs) -> pl.DataFrame:
    """The best rank of each document over systems."""
    return _ranked(runs).group_by("query", "doc").agg(pl.col("rank").min().cast(pl.String))


def _shown_by(frame: pl.DataFrame, runs: Runs) -> pl.Series:
    """Whose result a document is: one system's alone or several systems'; null where none has it in its first ten."""
    shown = _ranked(runs).filter(pl.col("rank") <= FIRST_TEN).group_by("query", "doc").agg("system")
    alone = pl.col("system").list.first() + " alone"
    said = pl.when(pl.col("system").list.len() == 1).then(alone).otherwise(pl.lit("several systems"))
    found = frame.select("query", "doc").join(
        shown.select("query", "doc", said=said), on=["query", "doc"], how="left", maintain_order="left"
    )
    return found["said"]
