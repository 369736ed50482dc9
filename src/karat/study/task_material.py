"""What a task shows: the texts of queries, documents and result lists, looked up by id."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any

import polars as pl

from karat.records import Documents, Queries, Runs
from karat.records.judgments import read_before
from karat.records.runs import ranked

#: A document's HTML is read up to here; a page of a book has some thousand characters.
MOST = 5_000_000
#: And up to so many tags, some two seconds of work. A limit of tags, not of seconds: a page reads alike on every
#: machine, and a model that is asked again sees the same text.
TAGS = 500_000
#: Elements whose content is no text of the page, up to their end tag whatever stands in it.
RAW = ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
#: Elements that are not shown, with what is in them.
UNSEEN = ("template", "noscript")
BLOCKS = {"p", "div", "br", "li", "tr", "section", "article", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "table"}
NAME = re.compile(r"/?[a-z][^\s/>]*", re.IGNORECASE)


def plain_text(row: dict[str, Any]) -> str:
    r"""A document's text; where it has only HTML, what a reader would see of it.

    >>> plain_text({"html": "<title>Hooves</title><p>Trim <b>them</b>.</p><script>x()</script><p>Daily.</p>"})
    'Trim them.\nDaily.'
    """
    if row.get("text"):
        return str(row["text"])
    text = "".join(_Reader(str(row.get("html") or "")[:MOST]).parts())
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


class _Reader:
    """Goes through HTML once, from left to right, whatever stands in it.

    Python's own parser looks for the end of a tag again and again: a page of `<a <a <a` keeps it busy for hours. Here
    no stretch is looked through twice for the same sign.
    """

    def __init__(self, html: str) -> None:
        self.html, self.low = html, html.lower()
        if len(self.low) != len(html):  # some capital letters are longer when small
            self.low = html
        self._last: dict[str, tuple[int, int]] = {}

    def parts(self) -> list[str]:
        """The texts of the page, with a new line for each block."""
        found: list[str] = []
        place, hidden = 0, 0
        for _ in range(TAGS):
            if place >= len(self.html):
                break
            start = self._find("<", place)
            if not hidden:
                found.append(_text(self.html[place:start]))
            if start == len(self.html):
                break
            name = NAME.match(self.html, start + 1)
            if name is None:
                place, shown = self._no_tag(start)
                found += [] if hidden else [shown]
                continue
            place, tag = self._end_of_tag(name.end()), name[0].lower()
            if tag in RAW:
                place = self._find(f"</{tag}", place)
            elif tag.lstrip("/") in UNSEEN:
                hidden = max(hidden + (-1 if tag[0] == "/" else 1), 0)
            elif tag.lstrip("/") in BLOCKS:
                found.append("\n")
        return found

    def _no_tag(self, start: int) -> tuple[int, str]:
        """Past a comment, a declaration, or a `<` that is only a sign."""
        if self.html.startswith("<!--", start):
            return min(self._find("-->", start + 4) + 3, len(self.html)), ""
        if self.html.startswith(("<!", "<?", "</"), start):
            return min(self._find(">", start + 2) + 1, len(self.html)), ""
        return start + 1, "<"

    def _end_of_tag(self, place: int) -> int:
        """Past the `>` of a tag; one within quotes does not count where the quotes end."""
        while True:
            end = self._find(">", place)
            quote = min((self._find(sign, place), sign) for sign in ('"', "'"))
            if quote[0] > end:
                return min(end + 1, len(self.html))
            close = self._find(quote[1], quote[0] + 1)
            if close == len(self.html):
                return min(end + 1, len(self.html))
            place = close + 1

    def _find(self, sign: str, place: int) -> int:
        """Where a sign stands next, or the end; what lies before the place found last is not looked through again."""
        since, found = self._last.get(sign, (0, -1))
        if not since <= place <= found:
            found = self.low.find(sign, place)
            found = len(self.html) if found < 0 else found
            self._last[sign] = (place, found)
        return found


def _text(text: str) -> str:
    """A text without its references; one that stands for no character stays as it is."""
    try:
        return unescape(text)
    except (ValueError, OverflowError):  # a number of thousands of digits
        return text


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
