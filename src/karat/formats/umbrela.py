"""UMBRELA's judgments as JSON lines: `model, query, passage, prediction, judgment`, and `result_status` of some.

An answer without a grade in it is a 0 in the file. `result_status` 0 marks it; older and compact files have no mark:
then the answer itself (`prediction`) tells of many: a grade 0 whose answer has no 0 in it was not given. Queries and
passages are known by their texts, unless a tool around UMBRELA adds their ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.json_files import check_lines, is_json, load_line, read_jsonl
from karat.formats.open_files import NEWLINE, File
from karat.records import Judgments, Scale, Source
from karat.records.table import count

#: Names under which a tool around UMBRELA may have put the ids.
QUERY_IDS, DOC_IDS = ("qid", "query_id"), ("docid", "doc_id", "pid", "passage_id")
TYPES = {
    "query": pl.String,
    "doc": pl.String,
    "label": pl.Float64,
    "outcome": pl.String,
    "model": pl.String,
    "comment": pl.String,
}


def read_umbrela(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments with an outcome each; a 0 that stands for an answer without a grade is no label."""
    rows, lines, silent = [], [], 0
    check_lines(file, file.content, file.content.split(NEWLINE))
    # Not splitlines(): some of what it takes for the end of a line may stand in the middle of a passage.
    for number, line in enumerate(file.content.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{file.name} line {number}"
        said = load_line(line, place)
        try:
            row, untold = _row(said)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            found = f"no {error}" if isinstance(error, KeyError) else f'"{line.decode()[:60]}"'
            raise BadInput.at(place, expected="query, passage and judgment as JSON", found=found) from None
        rows.append(row)
        lines.append(number)
        silent += untold
    frame = pl.DataFrame(rows, schema=TYPES, orient="row")
    frame = frame.select(name for name in frame.columns if name in ("label", "outcome") or frame[name].count())
    source = Source(file.name, pl.Series(lines))
    judgments = Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels)
    notes = list(judgments.notes)
    invalid = int((judgments.frame["outcome"] == "invalid").sum())
    if invalid:
        notes.append(f"{file.name}: {count(invalid, 'answer')} without a grade, which UMBRELA writes as 0: no label")
    if silent:
        notes.append(
            f"{file.name}: of {count(silent, 'grade')} 0 nobody can tell whether the model gave it or UMBRELA wrote it "
            "for an answer without a grade; run it with --include-trace for result_status"
        )
    return Judgments(judgments.frame, tuple(notes), scale)


def _row(said: Mapping[str, Any]) -> tuple[tuple[Any, ...], bool]:
    """The row of a record, and whether its 0 may stand for an answer without a grade."""
    label = None if said["judgment"] is None else float(said["judgment"])
    answer, status = said.get("prediction"), said.get("result_status")
    given = label is not None and status in (None, 1, True)
    untold = False
    if given and label == 0 and status is None:
        given = answer is None or "0" in str(answer)
        untold = given and answer is None
    outcome = "graded" if given else "invalid"
    query, passage = said["query"], said["passage"] if "passage" in said else said["doc"]
    asked = _id(said, QUERY_IDS) or (_id(query, ("qid", "id", "text")) if isinstance(query, dict) else str(query))
    doc = _id(said, DOC_IDS) or (_id(passage, ("docid", "segment", "text")) if isinstance(passage, dict) else passage)
    model = said.get("model")
    comment = said.get("reasoning") or answer
    return (asked, str(doc), label if given else None, outcome, model and str(model), comment and str(comment)), untold


def _id(said: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((str(said[name]) for name in names if said.get(name) is not None), None)


def _first(file: File) -> bytes:
    return file.head.lstrip().partition(b"\n")[0]


def is_umbrela(file: File) -> bool:
    """Whether the first record has a judgment of a passage."""
    first = _first(file)
    return is_json(file) and b'"judgment"' in first and (b'"passage"' in first or b'"prediction"' in first)


add_format(
    Format(
        "umbrela",
        read_jsonl,
        read_from=(".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and is_umbrela(file),
        records={Judgments: Narrow(read_umbrela, several=True)},
        holds=lambda file: "judgments",
        exact=True,
        beside=lambda file, schema: all(name in _first(file) for name in (b'"doc"', b'"label"')),
    ),
    __name__,
)
