"""Prodigy's annotations as JSON lines: accept, reject or ignore, or one of several options.

With options, the one that was accepted is the label, and there is none where the question was rejected; without, accept
is 1 and reject 0. What was ignored is left out and counted. Ids stand beside the text or in `meta`.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Rows, add_format
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Source
from karat.records.base import count

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
