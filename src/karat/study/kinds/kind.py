"""What a kind of task is: what a row of it needs, when two rows ask the same, and the table its answers become."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.records import Records, Rules
from karat.records.judgments import PAGE, SNIPPET
from karat.records.preferences import CHOICES

Row = Mapping[str, Any]

#: What makes two rows the same task, unless a kind says otherwise; which side a system stands on does not matter.
IDENTITY = ("query", "doc", "context", "subtopic", "left", "right", "left_query", "right_query", "surface")
#: Where an answer stands whose right one is in this column of the task.
ANSWERED_IN = {"gold": "label", "expected": "choice"}
#: What the app notes of a judge who opened the page, or judged by what is shown of it.
SEEN = {True: PAGE, False: SNIPPET}
OPENED = {seen: opened for opened, seen in SEEN.items()}
_WHOLE = (
    "task",
    "session",
    "order",
    "repeat",
    "place",
    "round",
    "labels",
    "wanted",
    "filled",
    "answers",
    "event",
    "takes_back",
)
_TYPES: dict[str, Any] = dict.fromkeys(_WHOLE, pl.Int64)
_TYPES |= dict.fromkeys(
    (
        "label",
        "strength",
        "seconds",
        "away",
        "minutes",
        "minutes_away",
        "probability",
        "gold",
        "expected_grade",
        "mass",
        "cost",
    ),
    pl.Float64,
)
_TYPES |= dict.fromkeys(("trap", "practice", "closed", "opened"), pl.Boolean)


def typed(*names: str) -> dict[str, Any]:
    """Columns of tables with their types; what is no number and no yes or no is text.

    >>> typed("doc", "label")
    {'doc': String, 'label': Float64}
    """
    return {name: _TYPES.get(name, pl.String) for name in names}


@dataclass(frozen=True)
class AnswerTable:
    """The table that the answers to a kind of task become: its name, its columns, and the rows of one answer.

    An answer has the columns of the log, of its task, `judge`, `group` and `task`; `rows` is given it and gives the
    columns that are not among them, or others than there. The column `time` is the log's `at`, as text.
    """

    name: str
    title: str
    columns: Mapping[str, Any]
    rows: Callable[[Row], list[dict[str, Any]]]
    #: The record type, where it is one; columns with nothing in them are left out then.
    records: type[Records] | None = None
    #: Whether somebody who could not tell has a row.
    cant_tell: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """How records that were collected elsewhere become answers to a kind of task.

    `gather` is given a judge's rows of one question, and gives the row that counts, what it says in the columns of the
    log, and how many were said again further down.
    """

    records: type[Records]
    #: One of them, for errors, with the names of its question in braces.
    about: str
    asked: tuple[str, ...]
    gather: Callable[[Sequence[Row]], tuple[Row, dict[str, Any], int]]
    #: What is kept of a row beside the columns that the records know.
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskKind:
    """A kind of task, as the database knows it; what judges see of it is in `collect/kinds`.

    The name is kept with every task, in ten letters. A row that does not say its kind is of the one whose column
    `told_by` is filled. `text` is the column of a task file whose text is kept with the task, such as `description` or
    `reason`.

    >>> from karat.study.kinds import KINDS
    >>> pair = KINDS["pair"]
    >>> one = pair.item({"query": "q", "left": "a", "right": "b"})
    >>> one == pair.item({"query": "q", "left": "b", "right": "a", "left_query": "q"}), len(one)
    (True, 64)
    """

    name: str
    #: On the lead's page.
    title: str
    needs: tuple[str, ...]
    table: AnswerTable
    told_by: str | None = None
    text: str = "description"
    identity: tuple[str, ...] = IDENTITY
    #: How many answers the rules of a study want where a row does not say.
    wanted: Callable[[Rules], int] = lambda rules: rules.labels
    #: Refuses a row with something wrong that is wrong for this kind only; the text is the row's place, for errors.
    check: Callable[[Row, str], None] = lambda row, at: None
    #: The column that has the right answer, gold or expected, if it can be practised; what may stand in expected.
    right: str | None = None
    choices: tuple[str, ...] = CHOICES
    #: A document to grade: rules on third labels, one judge a query, hours apart and gold labels hold for it.
    grades: bool = False
    #: Two sides, drawn by lot for each judge, with traps between.
    sides: bool = False
    elsewhere: Elsewhere | None = None

    def item(self, row: Row) -> str:
        """What is asked, whoever is asked and whichever side a system stands on, as one short name."""
        asked = (row.get(name) if name in self.identity else None for name in (*IDENTITY, "text"))
        query, doc, context, subtopic, left, right, left_query, right_query, surface, text = asked
        sides = sorted([(left or "", left_query or query), (right or "", right_query or query)])
        parts = [self.name, "practice" if row.get("practice") else "", query, doc, context, subtopic, sides, text]
        parts += [] if surface in (None, PAGE) else [surface]
        parts += [f"repeat {row['repeat']}"] if row.get("repeat") else []
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def is_right(self, said: Any, task: Any) -> bool:
        """Whether an answer to a practice task is the right one."""
        return self.right is not None and bool(said[ANSWERED_IN[self.right]] == task[self.right])
