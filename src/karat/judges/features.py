"""Features of queries and documents by which judges may go wrong: Wikipedia page, query words in the URL, and so on.

A feature is a column of the judgments, whether karat makes it or the user brings it. Texts are compared value by value;
numbers are cut into a few slices first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from karat.errors import BadInput
from karat.judges import text_features
from karat.records import Documents, FrameLike, Judgments, LabelsLike, Queries, Runs, RunsLike
from karat.records.documents import HOST, SCHEME, SITE
from karat.records.list_order import ListOrders
from karat.records.runs import joined, ranked
from karat.records.table import count

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


WORD = text_features.WORD

_PATH = (
    pl.col("url")
    .str.replace(SCHEME + r"[^/?#]*", "")
    .str.replace(r"[?#].*$", "")
    # /index.html is the page at /, and no step further down.
    .str.replace(r"(?i)(^|/)(?:index|default|home)\.[a-z]{2,5}$", "$1")
)
_ASKS = pl.col("url").str.contains(r"\?[^#]")


@dataclass(frozen=True)
class Feature:
    """A feature that karat can make: what it means, which fact it needs, and how its slices read in a sentence."""

    about: str
    needs: tuple[str, ...]
    make: Callable[[pl.DataFrame], pl.Series]
    #: Whose feature it is: the page's or the query's.
    of: str
    #: How a slice reads, with {} for its value; or the words for having the feature and for not having it.
    reads: str | tuple[str, str]


def _either(has: str, condition: pl.Expr) -> Callable[[pl.DataFrame], pl.Series]:
    chosen = pl.when(condition).then(pl.lit(has)).when(~condition).then(pl.lit("n" + has))
    return lambda facts: facts.select(chosen).to_series()


def _number(expression: pl.Expr) -> Callable[[pl.DataFrame], pl.Series]:
    return lambda facts: facts.select(whole(expression)).to_series()


def _query_in_url(facts: pl.DataFrame) -> pl.Series:
    """Every word of the query somewhere in the URL, as in shaniatwain.com for shania twain."""
    pairs = facts.select("query_text", "url").unique().drop_nulls()
    inside = (
        pairs.with_columns(
            word=pl.col("query_text").str.to_lowercase().str.extract_all(WORD),
            # Addresses write other letters than a to z as %C3%A9, but for the reader they are letters.
            plain=_unquoted(pairs["url"]).str.to_lowercase(),
        )
        .explode("word", empty_as_null=True, keep_nulls=True)
        .group_by("query_text", "url")
        .agg(pl.col("plain").str.contains(pl.col("word"), literal=True).all(ignore_nulls=False).alias("inside"))
    )
    joined = facts.select("query_text", "url").join(inside, on=["query_text", "url"], how="left", maintain_order="left")
    return _either("QiU", pl.col("inside"))(joined)


def _unquoted(url: pl.Series) -> pl.Series:
    from urllib.parse import unquote

    quoted = url.str.contains("%", literal=True)
    if not quoted.any():
        return url
    return url.zip_with(~quoted, url.map_elements(unquote, return_dtype=pl.String))


#: The features that karat makes, by name.
FEATURES: Mapping[str, Feature] = MappingProxyType(
    {
        "wikipedia": Feature(
            "WP: a page of Wikipedia; nWP: another",
            ("url",),
            _either("WP", HOST.str.contains(r"(?:^|\.)wikipedia\.org$")),
            "page",
            ("Wikipedia pages", "pages outside Wikipedia"),
        ),
        "query_in_url": Feature(
            "QiU: all the query's words are in the URL; nQiU: they are not",
            ("query_text", "url"),
            _query_in_url,
            "page",
            ("pages with the query in their URL", "pages without the query in their URL"),
        ),
        "root_url": Feature(
            "RU: the root of a site, so probably a home page; nRU: a page further down",
            ("url",),
            _either("RU", _PATH.is_in(["", "/"]) & ~_ASKS),
            "page",
            ("root pages", "pages that are no root"),
        ),
        "url_depth": Feature(
            "how many steps below the site's root the URL is",
            ("url",),
            _number(_PATH.str.count_matches(r"[^/]+")),
            "page",
            "pages at URL depth {}",
        ),
        "domain": Feature(
            "the site's host, without www",
            ("url",),
            lambda facts: facts.select(SITE).to_series(),
            "page",
            "pages of {}",
        ),
        "query_length": Feature(
            "how many words the query has",
            ("query_text",),
            _number(pl.col("query_text").str.count_matches(WORD)),
            "query",
            "queries of {} words",
        ),
        "navigational": Feature(
            "Nav: the user wants one certain page; nNav: the user wants something else",
            ("query_kind",),
            _either("Nav", pl.col("query_kind").str.contains("(?i)nav|^true$")),
            "query",
            ("navigational queries", "queries that are not navigational"),
        ),
        "document_length": Feature(
            "how many words the document has",
            ("document_words",),
            _number(pl.col("document_words")),
            "page",
            "documents of {} words",
        ),
        "query_in_title": Feature(
            "QiT: all the query's words are in the title; nQiT: they are not",
            ("query_text", "title"),
            text_features.in_title,
            "page",
            ("pages with the query in their title", "pages without the query in their title"),
        ),
        "query_in_text": Feature(
            "the percentage of the query's words that are in the text",
            ("query_text", "document_text"),
            text_features.in_text,
            "page",
            "documents with {} % of the query's words",
        ),
        "text_topic": Feature(
            "what the text is about: the words that tell its cluster from the others",
            ("document_text",),
            text_features.topic,
            "page",
            "documents about {}",
        ),
        "kinship": Feature(
            "Kin: the one system that shows the document has a word of its name in common with the judge; nKin: none",
            ("shown_by", "judge_name"),
            text_features.kinship,
            "page",
            ("results of systems akin to the judge", "results of systems not akin to the judge"),
        ),
        "rank_shown": Feature(
            "the best rank at which a system shows the document",
            ("rank",),
            _number(pl.col("rank")),
            "page",
            "documents at rank {}",
        ),
        "shown_by": Feature(
            "the one system that has the document among its first ten, or several systems",
            ("shown_by",),
            lambda facts: facts["shown_by"],
            "page",
            "documents retrieved by {}",
        ),
    }
)

#: Each fact that a feature may need: the column, and where to give it.
_SOURCES = {
    "url": ("the column url", "give documents with their url, or addresses as the documents' ids"),
    "query_text": ("the column text of queries", "give queries with their text, or texts as the queries' ids"),
    "query_kind": (
        "the column kind of queries, with some navigational or informational",
        "give queries with their kind, or a column kind in the judgments",
    ),
    "document_words": ("the column text of documents", "give documents with their text"),
    "title": ("the column title of documents", "give documents with their title"),
    "document_text": ("the column text of documents", "give documents with their text"),
    "judge_name": ("the judges' names", "give a column judge or model"),
    "rank": ("the column rank", "give runs, or a column rank in the judgments"),
    "shown_by": ("runs of several systems", "give the runs that were judged"),
}


def add_features(
    judgments: LabelsLike,
    names: Sequence[str] | None = None,
    *,
    queries: Queries | FrameLike | None = None,
    documents: Documents | FrameLike | None = None,
    runs: RunsLike | None = None,
) -> Judgments:
    """The judgments with a column for each feature of query and document.

    >>> judgments = Judgments.of({"gps": {"http://www.gps.gov/": 2, "https://en.wikipedia.org/wiki/GPS": 1}})
    >>> added = add_features(judgments, ["wikipedia", "query_in_url", "url_depth"])
    >>> added.frame.select("wikipedia", "query_in_url", "url_depth").rows()
    [('nWP', 'QiU', 0), ('WP', 'QiU', 2)]

    Without `names`, all of `FEATURES` that the data allows are made, and a note says which are not and why. A column
    that the judgments already have under a feature's name is kept as it is; a feature of your own is a column that you
    add. Where a fact is unknown, the feature is null.

    Reference: Kazai et al., An Analysis of Systematic Judging Errors in Information Retrieval (CIKM 2012), section 3.
    """
    judgments = Judgments.of(judgments)
    for name in names or ():
        if name not in FEATURES and name not in judgments.frame.columns:
            expected = f"some of {', '.join(FEATURES)}, or a column of the judgments"
            raise BadInput.at("the features", expected=expected, found=name)
    facts, lacks = facts_of(
        judgments,
        Queries.of_optional(queries),
        Documents.of_optional(documents),
        None if runs is None else joined(runs),
    )
    frame, notes, missing, partly = judgments.frame, [], [], []
    for name in names if names is not None else FEATURES:
        if name in frame.columns or name not in FEATURES:
            continue
        feature = FEATURES[name]
        lack = next((fact for fact in feature.needs if fact in lacks), None)
        if lack is None:
            frame = frame.with_columns(feature.make(facts).alias(name))
            unknown = frame[name].null_count()
            if unknown:
                partly.append(f"{name} in {unknown:,}")
        elif names is not None:
            raise BadInput.at(
                f"the feature {name}", expected=_SOURCES[lack][0], found=lacks[lack], remedy=_SOURCES[lack][1]
            )
        else:
            missing.append(f"{name} ({lacks[lack]})")
    kept = [name for name in names or FEATURES if name in judgments.frame.columns and name in FEATURES]
    if kept:
        notes.append(f"kept as the judgments have them: {', '.join(kept)}")
    if missing:
        notes.append(f"features that cannot be made: {', '.join(missing)}")
    if partly:
        notes.append(f"unknown features of {count(frame.height, 'judgment')}: {', '.join(partly)}")
    return replace(judgments, frame=frame, notes=(*judgments.notes, *notes))
