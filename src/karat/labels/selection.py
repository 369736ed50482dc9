"""Which labels speak of the same thing: what a label is about, and what an analysis leaves aside.

A label is about an item: a document for a query, and what was asked of it. Labels of a snippet and of the page, of
novelty and of relevance as a whole, of a document alone and of it after another, of one subtopic and of another are
never two answers to one question.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from karat.errors import BadInput
from karat.records import Judgments, Runs
from karat.records.judgments import PAGE
from karat.records.table import count


class Asked(NamedTuple):
    """A column that says what was asked: the usual value, how other labels and the usual ones are called."""

    usual: str | None
    others: str
    wanted: str


#: The group of language models: people's labels are counted by themselves.
LLM = "llm"
#: The aspect of a label that names none; of the surfaces, it is the page.
OVERALL = "overall"
#: What may have been asked of a document, beside its relevance as a whole, alone, by its page, for the whole query.
ASKED = {
    "aspect": Asked(OVERALL, "of single aspects", "overall labels"),
    "surface": Asked(PAGE, "of snippets", "labels of pages"),
    "context": Asked(None, "given after another document", "labels of documents read alone"),
    "subtopic": Asked(None, "of single subtopics", "labels for whole queries"),
}
#: All that makes two labels speak of the same thing.
ITEM = ("query", "doc", *ASKED)
#: A column that says how a document was altered to try a judge: a label of it is about no document of a list.
ALTERED = "altered"
#: TREC's diversity files have a document that serves none of the subtopics under this one.
NO_SUBTOPIC = "0"


@dataclass(frozen=True, eq=False)
class Selected:
    """The labels that answer one question, the columns that tell their items apart, and what was left aside."""

    frame: pl.DataFrame
    key: tuple[str, ...]
    notes: tuple[str, ...]


def select(judgments: Judgments, apart: Collection[str] = (), *, strict: bool = False) -> Selected:
    """The overall labels of pages, read alone, for whole queries; what is left aside is counted in the notes.

    >>> rows = [{"query": "q", "doc": "d", "label": 2, "surface": PAGE},
    ...         {"query": "q", "doc": "d", "label": 1, "surface": "snippet"}]
    >>> selected = select(Judgments.of(rows))
    >>> selected.frame.rows(), selected.key, selected.notes
    ([('q', 'd', 2.0)], ('query', 'doc'), ('1 label of snippets left aside',))

    The columns named in `apart` are not selected by: each of their values makes items of its own. So does a column in
    which no label has the usual value (TREC's diversity labels are all of subtopics), and a note says it; with
    `strict` that is an error.
    """
    frame, key, notes = judgments.frame, ["query", "doc"], list[str]()
    if ALTERED in frame.columns:
        as_it_is = frame.filter(pl.col(ALTERED).cast(pl.String).fill_null("") == "")
        if as_it_is.height < frame.height:
            notes.append(
                f"{count(frame.height - as_it_is.height, 'label')} of documents altered to try a judge left aside"
            )
        frame = as_it_is.drop(ALTERED)
    for column, asked in ASKED.items():
        if column not in frame.columns:
            continue
        if asked.usual is not None:
            frame = frame.with_columns(pl.col(column).fill_null(asked.usual))
        if column in apart:
            key.append(column)
            continue
        kept = frame.filter(pl.col(column).eq_missing(pl.lit(asked.usual, pl.String)))
        if frame.height and not kept.height:
            if strict:
                raise BadInput.at(
                    "the judgments",
                    expected=f"some {asked.wanted}",
                    found=f"only labels {asked.others} ({_some(frame[column])})",
                    remedy=f"choose the {column} to go by and leave the others out",
                )
            notes.append(f"there are only labels {asked.others}: each {column} is taken by itself")
            key.append(column)
            continue
        if kept.height < frame.height:
            notes.append(f"{count(frame.height - kept.height, 'label')} {asked.others} left aside")
        frame = kept.drop(column)
    return Selected(frame, tuple(key), (*notes, *_mixed_prompts(frame)))


def _mixed_prompts(frame: pl.DataFrame) -> list[str]:
    """Warnings about judges whose labels come from several versions of a prompt.

    `karat ask` records a hash of prompt, guidelines and scale. A tool that records whole questions has another one for
    nearly every label, which says nothing.
    """
    if not {"judge", "prompt"} <= {*frame.columns}:
        return []
    parts = ["judge", *(name for name in ("aspect", "surface") if name in frame.columns)]
    known = frame.select(*parts, pl.col("prompt").cast(pl.String)).drop_nulls(["judge", "prompt"])
    versions = known.group_by(parts).agg(pl.len(), pl.col("prompt").n_unique().alias("versions"))
    mixed = versions.filter((pl.col("versions") > 1) & (2 * pl.col("versions") <= pl.col("len")))
    by_judge = mixed.group_by("judge").agg(pl.max("versions"), pl.sum("len")).sort("judge")
    return [
        f"the {labels:,} labels of {judge} were made with {number} versions of its prompt, guidelines or scale, so "
        "they are not labels of one judge"
        for judge, number, labels in by_judge.iter_rows()
    ]


def refuse_unknown(apart: Collection[str], *given: Judgments | None) -> None:
    """Refuse to tell labels apart by what is no column of theirs, nor one that says what was asked."""
    there = [*dict.fromkeys(name for labels in given if labels is not None for name in labels.frame.columns)]
    for name in apart:
        if name not in (*there, *ITEM):
            raise BadInput.at(
                "the labels",
                expected=f"a column {name}",
                found=", ".join(there),
                remedy=f"what was asked stands in {', '.join(ASKED)}",
            )


def subtopics_of(judgments: Judgments) -> pl.DataFrame:
    """The subtopics that labels are of: query, subtopic, in order; none where labels are for whole queries.

    >>> subtopics_of(Judgments.of([{"query": "q", "doc": "d", "label": 0, "subtopic": "0"},
    ...                            {"query": "q", "doc": "e", "label": 1, "subtopic": "2"}])).rows()
    [('q', '2')]
    """
    if not judgments.has("subtopic"):
        return pl.DataFrame(schema={"query": pl.String, "subtopic": pl.String})
    named = judgments.frame.select("query", "subtopic").drop_nulls()
    return named.filter(pl.col("subtopic") != NO_SUBTOPIC).unique().sort("query", "subtopic")


def _some(values: pl.Series) -> str:
    names = values.drop_nulls().unique().sort().to_list()
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


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
