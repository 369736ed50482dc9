"""What a task shows: the texts of queries, documents and result lists, looked up by id."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from karat.records import Documents, Queries, Runs
from karat.records.contexts import read_before
from karat.records.runs import ranked
from karat.study.plain_text import plain_text

#: What judges see of a document before they open it.
FRONT = ("doc", "title", "snippet", "url")
#: So many texts that were read from pages are kept.
TEXTS = 100


def beginning(text: str, most: int = 200) -> str:
    r"""The beginning of a text as a snippet, whole words.

    >>> beginning("Horse hooves\nare trimmed", most=20)
    'Horse hooves are ...'
    """
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else words[: most - 3].rpartition(" ")[0] + " ..."


class Material:
    """Queries, documents and runs of a study, ready to be shown.

    >>> documents = Documents.of([{"doc": "d1", "title": "Hooves"}])
    >>> Material(queries=Queries.of([{"query": "q", "text": "horse hooves"}]), documents=documents).front("d1")
    {'doc': 'd1', 'title': 'Hooves', 'snippet': '', 'url': '', 'page': False}
    """

    def __init__(
        self,
        *,
        queries: Queries | None = None,
        documents: Documents | None = None,
        runs: Sequence[Runs] = (),
        depth: int = 10,
    ) -> None:
        self._queries = {} if queries is None else {row["query"]: row for row in queries.frame.iter_rows(named=True)}
        subtopics = [] if queries is None else queries.subtopics.iter_rows(named=True)
        self._subtopics = {(row["query"], row["subtopic"]): row.get("description") or "" for row in subtopics}
        self._documents = pl.DataFrame({"doc": []}) if documents is None else documents.frame
        self._rows = {doc: row for row, doc in enumerate(self._documents["doc"].to_list())}
        self._text = lru_cache(TEXTS)(lambda doc: plain_text(self.row(doc)))
        self._reading = threading.Lock()
        self._lists: dict[tuple[str, str], list[str]] = {}
        self._retrieved: dict[str, set[str]] = {}
        for run in runs:
            for system, query, docs in ranked(run, depth).group_by("system", "query").agg("doc").iter_rows():
                self._lists[system, query] = docs
                self._retrieved.setdefault(query, set()).update(docs)

    def query(self, query: str, subtopic: str | None = None, meaning: str | None = None) -> dict[str, str]:
        """A query's text and need; what the subtopic means as the study's files say, or else as the task does."""
        row = self._queries.get(query, {})
        return {
            "query": query,
            "text": row.get("text") or query,
            "description": row.get("description") or "",
            "subtopic": "" if subtopic is None else self._subtopics.get((query, subtopic)) or meaning or subtopic,
        }

    def knows_query(self, query: str) -> bool:
        """Whether the query is in the file."""
        return query in self._queries

    def knows_text(self, query: str) -> bool:
        """Whether the query's text is there."""
        return bool(self._queries.get(query, {}).get("text"))

    def knows_document(self, doc: str) -> bool:
        """Whether anything of the document is there."""
        return doc in self._rows

    def front(self, doc: str) -> dict[str, Any]:
        """What a result list shows of a document, and whether there is a page to open."""
        row = self.row(doc)
        shown = {name: row.get(name) or "" for name in FRONT}
        shown["snippet"] = shown["snippet"] or beginning(row.get("text") or "")
        return shown | {"doc": doc, "page": bool(row.get("html") or row.get("text"))}

    def row(self, doc: str) -> dict[str, Any]:
        """All that is known of a document; nothing if it is not known."""
        place = self._rows.get(doc)
        return {} if place is None else self._documents.row(place, named=True)

    def text(self, doc: str) -> str:
        """A document's text, read from its page once and one page at a time: the largest take a second or two."""
        with self._reading:
            return self._text(doc)

    def having(self, parts: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
        """For each part the ids of the documents that have it, in one of its columns or another."""
        table, found = self._documents, dict[str, set[str]]()
        for part, columns in parts.items():
            there = [pl.col(name).fill_null("") != "" for name in columns if name in table.columns]
            found[part] = {*table.filter(pl.any_horizontal(there))["doc"]} if there else set()
        return found

    def titles(self, context: str | None) -> str:
        """The titles of what was read before, in order, or the ids of those that have none."""
        return ", ".join(self.front(doc)["title"] or doc for doc in read_before(context))

    def results(self, system: str, query: str, docs: str | None = None) -> list[dict[str, Any]]:
        """A result list: as planned, or the top of the system's run."""
        return [self.front(doc) for doc in self._ranking(system, query, docs)]

    def _ranking(self, system: str, query: str, docs: str | None) -> list[str]:
        return json.loads(docs) if docs else self._lists.get((system, query), [])

    def lists(self, task: dict[str, Any]) -> list[list[dict[str, Any]]]:
        """The result lists of a task with two sides; of another none."""
        return [
            self.results(task[side], task[f"{side}_query"] or task["query"], task[f"{side}_docs"])
            for side in ("a", "b")
            if task[side]
        ]

    def displayed(self, task: dict[str, Any]) -> set[str]:
        """The ids of all documents that a task shows: the one to judge, what was read before it, its result lists."""
        docs = {task["doc"], *read_before(task["context"])} - {None}
        for side in "ab":
            if task[side]:
                docs.update(self._ranking(task[side], task[f"{side}_query"] or task["query"], task[f"{side}_docs"]))
        return docs

    def retrieved(self, query: str) -> set[str]:
        """The ids of all documents that some run shows for a query."""
        return {*self._retrieved.get(query, ())}
