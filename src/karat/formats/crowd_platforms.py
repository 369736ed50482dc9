"""Tables of results of crowd platforms: MTurk, Toloka, Appen (Figure Eight). One declaration each.

A requester chooses the names of what is shown and answered, and the platform puts its own before them (`Input.qid`,
`OUTPUT:result`). What follows the platform's part is understood as in any table; `--columns` says the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import MOST_COLUMNS, names_of, read_csv, stands_beside, write_csv
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.open_files import File
from karat.records import Judgments
from karat.records.table import count


@dataclass(frozen=True)
class Platform:
    """How a platform writes a table of results."""

    name: str
    #: Headers that no other table has.
    marks: tuple[str, ...]
    #: Which header is which column.
    columns: Mapping[str, str]
    #: What stands before the requester's own names: of what was shown, and of what was answered.
    shown: str = ""
    answered: str = ""
    #: Values of a column by which an answer is left out, and what such answers are called.
    left_out: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    #: What is done with the table before.
    tidied: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame
    #: What stands before the right answers, which only test questions have.
    known: str = ""

    def rows(self, file: File) -> Rows:
        """The answers, with what is known of their columns."""
        frame, source = read_csv(file)
        missing = [name for name in self.marks if name.lower() not in [header.lower() for header in frame.columns]]
        if missing:
            expected = f"results of {self.name} with {', '.join(self.marks)}"
            raise BadInput.at(file.name, expected=expected, found=", ".join(frame.columns))
        notes = []
        for header, (values, called) in self.left_out.items():
            if header in frame.columns:
                out = frame[header].str.to_lowercase().is_in(values).fill_null(False)
                if out.any():
                    notes.append(f"{file.name}: {count(int(out.sum()), f'{called} answer')} left out")
                frame, source = frame.filter(~out), source.keep(~out)
        right = [header for header in frame.columns if self.known and header.startswith(self.known)]
        if right:
            asked = frame.select(pl.any_horizontal(pl.col(right).fill_null("") != "")).to_series()
            if asked.any():
                notes.append(f"{file.name}: {count(int(asked.sum()), 'test question answer')} left out")
            frame, source = frame.filter(~asked), source.keep(~asked)
        frame = self.tidied(frame)
        said = {name: header for name, header in self.columns.items() if header in frame.columns}
        return frame, replace(source, columns=said | self._of_requester(frame.columns), notes=tuple(notes))

    def _of_requester(self, headers: list[str]) -> dict[str, str]:
        """What the requester's own names mean: ids among what was shown, the label among the answers."""
        shown = {h.removeprefix(self.shown): h for h in headers if h.startswith(self.shown)}
        shown = {name: header for name, header in shown.items() if not (self.shown == "" and name.startswith("_"))}
        chosen = Judgments.schema.chosen([*shown])
        found: dict[str, str] = {name: shown[chosen[name]] for name in ("query", "doc") if name in chosen}
        answers = {h.removeprefix(self.answered): h for h in headers if self.answered and h.startswith(self.answered)}
        if not self.answered:  # Appen has a column NAME_gold beside each answer
            answers = {h: h for h in headers if f"{h}_gold" in headers}
        label = Judgments.schema.chosen([*answers]).get("label") or (next(iter(answers)) if len(answers) == 1 else None)
        return found if label is None else found | {"label": answers[label]}


#: Where MTurk puts the answers to a form of crowd elements, all in one cell of JSON.
TASK_ANSWERS = "Answer.taskAnswers"


def _of_mturk(frame: pl.DataFrame) -> pl.DataFrame:
    """MTurk's answers, one in each cell, and its times as others write them."""
    frame = _one_answer(_unpacked(frame))
    if "SubmitTime" in frame.columns:  # Wed Nov 01 12:00:00 PDT 2023
        plain = pl.col("SubmitTime").str.replace(r" [A-Z]{3,4} (\d{4})$", " $1")
        time = plain.str.to_datetime("%a %b %d %H:%M:%S %Y", strict=False).dt.strftime("%Y-%m-%dT%H:%M:%S")
        frame = frame.with_columns(time.alias("SubmitTime"))
    return frame


def _unpacked(frame: pl.DataFrame) -> pl.DataFrame:
    """The answers of crowd elements, `[{"rel": {"0": false, "2": true}}]`, as columns of their own."""
    if TASK_ANSWERS not in frame.columns:
        return frame
    rows = [_answers(cell) for cell in frame[TASK_ANSWERS].to_list()]
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if f"Answer.{name}" not in frame.columns]
    if not 0 < len(names) <= MOST_COLUMNS:
        return frame
    columns = [pl.Series(f"Answer.{name}", [row.get(name) for row in rows], pl.String) for name in names]
    return frame.drop(TASK_ANSWERS).with_columns(columns)


def _answers(cell: str | None) -> dict[str, str]:
    try:
        given = json.loads(cell or "[]")
    except (ValueError, RecursionError):
        return {}
    given = given if isinstance(given, list) else [given]
    return {name: _chosen(value) for one in given if isinstance(one, dict) for name, value in one.items()}


def _chosen(value: Any) -> str:
    """What was chosen: of radio buttons the one that is true, of a classifier its label."""
    if isinstance(value, dict):
        true = [name for name, said in value.items() if said is True]
        if true or any(said is False for said in value.values()):
            value = ", ".join(true)  # of several, which no number is, the reader says so
        elif len(value) == 1:
            value = next(iter(value.values()))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_answer(frame: pl.DataFrame) -> pl.DataFrame:
    """MTurk's radio buttons have a column of true and false for each choice: the one that is true is the answer."""
    groups: dict[str, dict[str, str]] = {}
    for header in frame.columns:
        base, dot, choice = header.removeprefix("Answer.").rpartition(".")
        values = frame[header].str.to_lowercase().drop_nulls()
        if header.startswith("Answer.") and dot and len(values) and values.is_in(["true", "false"]).all():
            groups.setdefault(base, {})[header] = choice
    for base, choices in groups.items():
        picked = [pl.when(pl.col(h).str.to_lowercase() == "true").then(pl.lit(c)) for h, c in choices.items()]
        frame = frame.with_columns(pl.coalesce(picked).alias(f"Answer.{base}")).drop([*choices])
    return frame


def _of_appen(frame: pl.DataFrame) -> pl.DataFrame:
    """Appen's `_id` is the answer's; its times give how long the worker took."""
    frame = frame.rename({"_id": "judgment_id"}, strict=False)
    if {"_started_at", "_created_at"} <= {*frame.columns}:
        start, end = (
            pl.col(name).str.to_datetime("%m/%d/%Y %H:%M:%S", strict=False) for name in ("_started_at", "_created_at")
        )
        took = (end - start).dt.total_seconds().cast(pl.Float64)
        frame = frame.with_columns(
            pl.when(took >= 0).then(took).alias("seconds"), end.dt.strftime("%Y-%m-%dT%H:%M:%S").alias("time")
        )
    return frame


PLATFORMS = (
    Platform(
        "mturk",
        ("HITId", "AssignmentId", "WorkerId"),
        {"judge": "WorkerId", "seconds": "WorkTimeInSeconds", "time": "SubmitTime"},
        "Input.",
        "Answer.",
        {"AssignmentStatus": (("rejected",), "rejected")},
        _of_mturk,
    ),
    Platform(
        "toloka",
        ("ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id"),
        {"judge": "ASSIGNMENT:worker_id", "time": "ASSIGNMENT:submitted"},
        "INPUT:",
        "OUTPUT:",
        {"ASSIGNMENT:status": (("rejected", "skipped", "expired", "active"), "rejected or unfinished")},
        known="GOLDEN:",
    ),
    Platform(
        "appen",
        ("_unit_id", "_worker_id", "_trust"),
        {"judge": "_worker_id"},
        left_out={"_tainted": (("true",), "tainted"), "_golden": (("true",), "test question")},
        tidied=_of_appen,
    ),
)


def _format(platform: Platform) -> Format:
    marks = {mark.lower() for mark in platform.marks}

    def of_tool(name: str) -> bool:
        return name.startswith((platform.shown.lower(), platform.answered.lower()))

    return Format(
        platform.name,
        platform.rows,
        read_from=(".csv",),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and marks <= {*names_of(file)},
        holds=lambda file: "judgments",
        exact=True,
        beside=lambda file, schema: bool(platform.shown) and stands_beside(file, schema, of_tool),
    )


for _platform in PLATFORMS:
    add_format(_format(_platform), __name__)


NAMES = {"task", "worker", "label"}
BETWEEN = "\t"


def read_answers(file: File) -> Rows:
    """The answers, with query and document from the task."""
    frame, source = read_csv(file)
    frame = frame.rename({name: name.strip().lower() for name in frame.columns})
    missing = sorted(NAMES - {*frame.columns})
    if missing:
        raise BadInput.at(file.name, expected="task, worker and label", found=", ".join(frame.columns))
    source.refuse(frame["worker"].fill_null("") == "", expected="a worker for every answer", found=lambda row: "none")
    parts = frame["task"].str.split(BETWEEN)
    both = bool((parts.list.len() == 2).all()) and frame.height > 0
    query, doc = (parts.list.first(), parts.list.last()) if both else (frame["task"], frame["task"])
    named = frame.drop("task").select(query.alias("query"), doc.alias("doc"), pl.all())
    notes = () if both else (f"{file.name}: tasks without a query: each counts as a query with one document",)
    return named, replace(source, notes=notes)


def write_answers(judgments: Judgments, name: str) -> bytes:
    """Judgments as `task,worker,label`."""
    if not judgments.has("judge") or judgments.frame["judge"].null_count():
        raise BadInput.at("writing crowd-kit", expected="a judge for every label", found="labels without one")
    task = pl.concat_str("query", "doc", separator=BETWEEN).alias("task")
    frame = judgments.frame.drop_nulls("label")
    return write_csv(frame.select(task, pl.col("judge").alias("worker"), "label"))


add_format(
    Format(
        "crowd-kit",
        read_answers,
        read_from=(".csv",),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and {*names_of(file)} == NAMES,
        records={
            Judgments: Narrow(write=write_answers, columns=frozenset({"query", "doc", "label", "judge"}), several=True)
        },
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)
