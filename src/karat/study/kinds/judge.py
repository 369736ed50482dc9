"""A document to grade, alone or after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from karat.errors import BadInput
from karat.labels.selection import OVERALL
from karat.records import Judgments
from karat.records.judgments import PAGE, SNIPPET
from karat.study.kinds.kind import OPENED, AnswerTable, Elsewhere, Row, TaskKind, typed

#: Of a language model: the mean grade by its chances, the share of these that lay on grades, and how it was asked.
OF_A_MODEL = ("expected_grade", "mass", "model", "returned_model", "prompt", "cost")
COLUMNS = typed(
    *("query", "doc", "label", "judge", "group", "aspect", "context", "subtopic", "surface", "opened", "time"),
    *("seconds", "comment", "probability", "round", "drawn_for", "away", "gold", "repeat", *OF_A_MODEL, "task"),
)


def _check(row: Row, at: str) -> None:
    if row["practice"] and row["gold"] is None:
        raise BadInput.at(at, expected="the right grade in the column gold, for practice", found="nothing")


def _rows(row: Row) -> list[dict[str, Any]]:
    """A label, and one for each graded aspect.

    A label is about the document; whether the judge opened the page stands beside it. Only labels of tasks that grade
    snippet and page have a surface, and labels collected elsewhere that came with one. The comment of somebody who
    could not tell is the reason.
    """
    said = {
        "surface": row["more"].get("surface"),
        "opened": OPENED.get(row["surface"]),
        "comment": row["comment"] or (row["reason"] if row["kind"] == "cant_tell" else None),
        "aspect": OVERALL,
        **{name: row["more"].get(name) for name in OF_A_MODEL},
    }
    if "snippet" in row["more"]:  # two steps of one task: the snippet's label stands beside the page's
        said["surface"] = PAGE
    aspects = row["more"].get("aspects", {}).items()
    of_aspect = said | dict.fromkeys(("gold", "expected_grade", "mass", "cost"))
    graded = [said, *(of_aspect | {"aspect": name, "label": grade} for name, grade in aspects)]
    if "snippet" in row["more"]:
        first = {"surface": SNIPPET, "opened": False, "label": row["more"]["snippet"]}
        graded.append(of_aspect | first | {"prompt": row["more"].get("snippet_prompt", said["prompt"])})
    return graded


def _gather(rows: Sequence[Row]) -> tuple[Row, dict[str, Any], int]:
    """One label of the rows of a judge and document, the aspects beside the whole."""
    graded = {row.get("aspect") or OVERALL: row for row in rows}
    whole = graded.pop(OVERALL, None)
    label = None if whole is None else whole["label"]
    aspects = {aspect: row["label"] for aspect, row in graded.items()}
    base = rows[0] if whole is None else whole
    more = {name: value for name, value in (("aspects", aspects), ("surface", base.get("surface"))) if value}
    said = {"kind": "cant_tell" if label is None else "answer", "label": label, "aspects": aspects}
    twice = len(rows) - len(graded) - (whole is not None)
    return base, said | {"more": json.dumps(more) if more else None}, twice


JUDGE = TaskKind(
    "judge",
    "Documents",
    ("query", "doc"),
    AnswerTable("judgments", "Judgments", COLUMNS, _rows, Judgments, cant_tell=True),
    check=_check,
    right="gold",
    grades=True,
    elsewhere=Elsewhere(
        Judgments,
        "the label of document {doc} of query {query}",
        ("query", "doc", "context", "subtopic", "surface", "repeat"),
        _gather,
        kept=("round", "drawn_for"),
    ),
)
