"""Tasks and labels that name what the study's files do not hold: judges would be shown an id, or an empty list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from karat.records import Documents, Judgments, Queries, Records, Runs
from karat.records.judgments import read_before
from karat.study.progress import open_tasks
from karat.study.store import Store
from karat.study.task_material import Material

#: What judges see of a document, and the columns that it is made of.
SEEN = {"title": ("title",), "address": ("url",), "snippet": ("snippet", "text"), "page": ("html", "text")}
#: So many names are said; of the rest the number.
NAMED = 5


def references_to_nothing(store: Store, material: Material) -> list[str]:
    """One line for each kind of thing that open tasks name and the study does not have, and for practice on tasks.

    >>> from karat.records import Scale, StudyDesign
    >>> store = Store.open("sqlite://", StudyDesign("s", "S", Scale.parse("bad, good")))
    >>> references_to_nothing(store, Material())
    ['note: there are no tasks: judges will be told that they are done.']
    >>> store.close()
    """
    rows = open_tasks(store)
    if rows is None:
        return ["note: there are no tasks: judges will be told that they are done."]
    queries: set[str] = set()
    docs: set[str] = set()
    lists: set[tuple[str, str]] = set()
    for row in rows:
        queries.add(row["query"])
        docs.update(doc for doc in (row["doc"], *read_before(row["context"])) if doc is not None)
        for side in "ab" if row["a"] else "":
            asked = row[f"{side}_query"] or row["query"]
            queries.add(asked)
            if row[f"{side}_docs"]:
                docs.update(json.loads(row[f"{side}_docs"]))
            else:
                lists.add((row[side], asked))
    empty = {(system, query) for system, query in lists if not material.results(system, query)}
    docs.update(result["doc"] for system, query in lists - empty for result in material.results(system, query))
    queries = {query for query in queries if not material.knows_query(query)}
    docs = {doc for doc in docs if not material.knows_document(doc)}
    lacking = {f"{system} for {query}" for system, query in empty}
    found = (
        (queries, "query", "queries", "not in the file of queries, shown by id only"),
        (docs, "document", "documents", "not in the file of documents, shown by id only"),
        (lacking, "result list", "result lists", "in no run, shown empty"),
    )
    said = [
        f"note: {_number(names, one, many)} of the tasks {what}: {_named(names)}."
        for names, one, many, what in found
        if names
    ]
    said += _tells(rows, material)
    asked = {stage: {_question(row) for row in rows if bool(row["practice"]) == stage} for stage in (True, False)}
    if told := len(asked[True] & asked[False]):
        what = "practice item is a task" if told == 1 else "practice items are tasks"
        said.append(f"note: {told:,} {what}, too: judges are told the right answer before they are asked for theirs.")
    return said


def _tells(rows: Iterable[dict[str, Any]], material: Material) -> list[str]:
    """A line for each part of a document that traps and gold documents lack, or have alone: judges see that."""
    shown: dict[bool, set[str]] = {True: set(), False: set()}
    for row in rows:
        if not row["practice"]:
            shown[bool(row["trap"]) or row["gold"] is not None] |= material.displayed(row)
    secret, others = shown[True] - shown[False], shown[False]
    said = []
    for part, have in material.having(SEEN).items():
        has, lacks, usual = len(secret & have), len(secret - have), len(others & have)
        always, never = others and usual == len(others), others and not usual
        if (always and lacks) or (never and has):
            number, words = (lacks, f"no {part}") if always else (has, f"a {part}")
            said.append(
                f"warning: {number:,} of the {len(secret):,} documents that only traps and gold tasks show "
                f"have {words}, unlike all other documents of the tasks. Judges can tell them apart: make the "
                f"documents alike."
            )
    return said


def _question(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row asks about, whichever way round its lists stand."""
    named = tuple(row[name] for name in ("kind", "query", "doc", "context", "subtopic"))
    return (*named, frozenset((row[side], row[f"{side}_query"], row[f"{side}_docs"]) for side in "ab"))


def not_in_the_files(
    records: Records, *, queries: Queries | None, documents: Documents | None, runs: Sequence[Runs]
) -> list[str]:
    """A line that says which queries, documents and systems of some labels or preferences the study's files lack.

    Of what the study has no file at all, nothing is said.

    >>> labels = Judgments.of([{"query": "q", "doc": "d", "label": 1}, {"query": "r", "doc": "e", "label": 1}])
    >>> not_in_the_files(labels, queries=Queries.of([{"query": "q", "text": "hooves"}]), documents=None, runs=())
    ["note: not in the study's files: 1 query of the labels (r)."]
    """
    said: list[str] = []
    of = "labels" if isinstance(records, Judgments) else "preferences"
    for known, names, one, many in (
        (None if queries is None else [queries.frame["query"]], ("query",), "query", "queries"),
        (None if documents is None else [documents.frame["doc"]], ("doc", "context"), "document", "documents"),
        ([run.frame["system"] for run in runs] or None, ("left", "right"), "system", "systems"),
    ):
        there = [records.frame[name].drop_nulls() for name in names if name in records.frame.columns]
        if known is None or not there:
            continue
        missing = {*pl.concat(there).unique()} - {*pl.concat(known).unique()}
        if missing:
            example = min(missing) if len(missing) == 1 else f"for instance {min(missing)}"
            said.append(f"{_number(missing, one, many)}{'' if said else f' of the {of}'} ({example})")
    return [f"note: not in the study's files: {', '.join(said)}."] if said else []


def _number(names: set[str], one: str, many: str) -> str:
    return f"{len(names):,} {one if len(names) == 1 else many}"


def _named(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - NAMED
    return ", ".join(ordered[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
