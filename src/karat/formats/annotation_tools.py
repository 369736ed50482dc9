"""Label Studio's exports: JSON of tasks with their annotations, the short JSON-MIN, and CSV.

What a task's `data` holds is understood as in any table; the answer is what was chosen, rated or typed as a number.
Annotations that were cancelled (skipped) are left out and counted, tasks without any are counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import names_of, read_csv
from karat.formats.format_registry import Format, Rows, add_format
from karat.formats.json_files import is_json, load_json, objects, read_jsonl, shown
from karat.formats.open_files import File
from karat.records import Judgments, Source
from karat.records.column_names import LABEL
from karat.records.table import count

#: What the short exports have of an annotation.
SHORT = {"annotation_id", "annotator", "lead_time"}
#: Where a result has its value, by its type.
VALUES = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}
#: An answer in a cell of CSV, with what stands around it.
ANSWER = r'^\[\{"(?:rating|number|taxonomy)":\s*(?:\[\[)?"?([^\[\]",]+)"?(?:\]\])?\}\]$'


def read_label_studio(file: File) -> Rows:
    """The annotations, a row each."""
    if not is_json(file):
        return _known(*read_csv(file))
    tasks = objects(load_json(file), file, "Label Studio's list of tasks")
    if tasks and "annotations" not in tasks[0]:
        rows = [{name: _single(value) for name, value in task.items()} for task in tasks]
        for place, row in enumerate(rows, 1):
            several = [name for name in ("label", *LABEL) if isinstance(row.get(name), dict | list) and row[name]]
            if several:
                expected = f"one answer to {several[0]}"
                raise BadInput.at(f"{file.name} task {place}", expected=expected, found=shown(row[several[0]]))
        return _known(_frame(rows), Source(file.name))
    rows, cancelled, empty = [], 0, 0
    for place, task in enumerate(tasks, 1):
        given = objects(task.get("annotations", []), file, f"a list of annotations in task {place}")
        data = task.get("data")
        if not isinstance(data, dict):
            raise BadInput.at(file.name, expected=f"data in task {place}", found="none")
        empty += not given
        for annotation in given:
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                cancelled += 1
                continue
            rows.append(data | _answered(annotation, f"{file.name} task {place}") | {"task": task.get("id")})
    notes = [f"{file.name}: {count(cancelled, 'cancelled annotation')} left out"] if cancelled else []
    notes += [f"{file.name}: {count(empty, 'task')} without an annotation"] if empty else []
    return _frame(rows), Source(file.name, notes=tuple(notes))


def _answered(annotation: Mapping[str, Any], place: str) -> dict[str, Any]:
    """What an annotation says: judge, time, label and comment."""
    by = annotation.get("completed_by")
    by = (by.get("email") or by.get("id")) if isinstance(by, dict) else by
    row: dict[str, Any] = {"judge": None if by is None else str(by), "seconds": annotation.get("lead_time")}
    row |= {"time": annotation["created_at"]} if annotation.get("created_at") else {}
    answers: dict[str, Any] = {}
    for result in annotation.get("result") or []:
        kind, value = result.get("type"), result.get("value")
        if kind == "textarea" and isinstance(value, dict):
            row["comment"] = "; ".join(map(str, value.get("text") or []))
        elif kind in VALUES and isinstance(value, dict):
            said = value.get(VALUES[kind])
            if isinstance(said, list) and len(said) != 1:
                found = ", ".join(map(str, said)) or "none"
                raise BadInput.at(place, expected=f"one answer to {result.get('from_name')}", found=found)
            answers[str(result.get("from_name"))] = _single(said)
    main = next((name for name in ("label", *LABEL) if name in answers), None)
    if main is None and len(answers) == 1:
        main = next(iter(answers))
    rest = {name: answer for name, answer in answers.items() if name != main}
    return row | rest | ({} if main is None else {"label": answers[main]})


def _single(value: Any) -> Any:
    """An answer without the list and object around it, `[{"rating": 2}]` or `[{"taxonomy": [["2"]]}]`."""
    while isinstance(value, list | dict) and len(value) == 1:
        if isinstance(value, dict) and next(iter(value)) not in VALUES.values():
            break
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    return value


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as columns of single values; lists and objects, which no analysis asks for, are left out."""
    flat = [{n: v for n, v in row.items() if not isinstance(v, dict | list)} for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return pl.DataFrame({name: [row.get(name) for row in flat] for name in names}, strict=False)


def _known(frame: pl.DataFrame, source: Source) -> Rows:
    """A short export: `id` is the task's, not a document's; a rating in CSV stands in an object."""
    frame = frame.rename({"id": "task"} if "task" not in frame.columns else {}, strict=False)
    rated = pl.col(pl.String).str.replace(ANSWER, "$1")
    said = {"judge": "annotator", "seconds": "lead_time", "time": "created_at"}
    said = {name: header for name, header in said.items() if header in frame.columns}
    return frame.with_columns(rated), replace(source, columns=said)


def is_label_studio(file: File) -> bool:
    """Whether a file begins as one of the exports does."""
    if is_json(file):
        full = b'"annotations"' in file.head and (b'"completed_by"' in file.head or b'"was_cancelled"' in file.head)
        return full or (file.head.startswith(b"[") and all(f'"{name}"'.encode() in file.head for name in SHORT))
    return {*names_of(file)} >= SHORT


add_format(
    Format(
        "label-studio",
        read_label_studio,
        read_from=(".csv", ".json"),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and is_label_studio(file),
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)


DOCCANO_LABEL = re.compile(rb'"label"\s*:\s*\[')


def read_doccano(file: File) -> Rows:
    """The texts with a label, a row each."""
    frame, source = read_jsonl(file)
    if "label" not in frame.columns or frame["label"].dtype != pl.List:
        raise BadInput.at(file.name, expected="a list as label in each line", found=", ".join(frame.columns))
    if frame["label"].dtype.inner.is_nested():  # type: ignore[attr-defined]
        found = "places in texts or relations"
        raise BadInput.at(file.name, expected="labels of whole texts", found=found, remedy="export text classification")
    many = frame["label"].list.len().fill_null(0)
    source.refuse(many > 1, expected="one label", found=lambda row: ", ".join(map(str, frame["label"][row])), remedy="")
    empty = int((many == 0).sum())
    notes = (f"{file.name}: {count(empty, 'text')} without a label",) if empty else ()
    frame, source = frame.filter(many == 1), source.keep(many == 1)
    frame = frame.with_columns(pl.col("label").list.first()).rename({"id": "task"}, strict=False)
    frame = frame.select(name for name in frame.columns if not frame[name].dtype.is_nested())
    frame = frame if "text" in frame.columns else frame.rename({"data": "text"}, strict=False)
    return frame, replace(source, notes=notes)


def is_doccano(file: File) -> bool:
    """Whether the first record is a text with a list of labels."""
    first = file.head.partition(b"\n")[0]
    # Some versions call the text data: https://github.com/doccano/doccano/issues/1522.
    return is_json(file) and (b'"text"' in first or b'"data"' in first) and DOCCANO_LABEL.search(first) is not None


add_format(
    Format(
        "doccano",
        read_doccano,
        read_from=(".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and is_doccano(file),
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)


GRADES = {"accept": 1, "reject": 0}


def read_prodigy(file: File) -> Rows:
    """The answers, a row each."""
    frame, source = read_jsonl(file)
    if "answer" not in frame.columns:
        raise BadInput.at(file.name, expected="Prodigy's answers", found=f"{', '.join(frame.columns)} (no answer)")
    rows, lines, ignored = list[dict[str, Any]](), list[int](), 0
    for place, said in enumerate(frame.iter_rows(named=True)):
        answer = said["answer"]
        if answer not in ("ignore", *GRADES):
            raise BadInput.at(source.at(place), expected="accept, reject or ignore as answer", found=f'"{answer}"')
        if answer == "ignore":
            ignored += 1
            continue
        chosen = said.get("accept")
        if chosen is not None and len(chosen) > 1:
            raise BadInput.at(source.at(place), expected="one option accepted", found=", ".join(map(str, chosen)))
        # Who rejects a question with options has chosen none of them, whatever was ticked before.
        picked = chosen[0] if chosen and answer == "accept" else None
        label = picked if "accept" in frame.columns else GRADES[answer]
        meta = said.get("meta")
        known = (meta if isinstance(meta, dict) else {}) | {
            name: value
            for name, value in said.items()
            if not isinstance(value, dict | list) and not name.startswith("_") and name not in ("answer", "label")
        }
        judge, time = said.get("_annotator_id") or said.get("_session_id"), said.get("_timestamp")
        rows.append(known | {"label": label, "judge": judge, "time": time})
        lines.append(place + 1 if source.lines is None else int(source.lines[place]))
    names = dict.fromkeys(name for row in rows for name in row)
    table = pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=False)
    table = table.select(name for name in table.columns if name == "label" or table[name].count())
    notes = (f"{file.name}: {count(ignored, 'ignored answer')} left out",) if ignored else ()
    return table, Source(file.name, pl.Series(lines, dtype=pl.Int64), notes=notes)


def is_prodigy(file: File) -> bool:
    """Whether the first record has Prodigy's marks."""
    first = file.head.partition(b"\n")[0]
    return is_json(file) and b'"_task_hash"' in first and b'"answer"' in first


add_format(
    Format(
        "prodigy",
        read_prodigy,
        read_from=(".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and is_prodigy(file),
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)
