"""Nuggetizer's assignments as JSON lines: which nuggets an answer supports, partly supports or does not.

An answer is a list here and its documents the query's nuggets, named RUN/QUERY/NUMBER; labels are 2, 1 and 0. Which
nuggets count is for the lists to say: all of them (nuggetizer) or the vital ones (nuggetizer-vital). Assignments to
retrieved passages (docid) are labels of passages by nugget, which are subtopics.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.json_files import is_json, load_objects, objects, shown
from karat.formats.open_files import File
from karat.records import Judgments, Queries, Runs, Scale, Source
from karat.records.table import count

GRADES = {"support": 2.0, "partial_support": 1.0, "not_support": 0.0}
#: What stands where the model gave no assignment.
FAILED = ("failed", "fail", "", None)
EXPECTED = "lines with qid, run_id (or docid) and nuggets of text, importance and assignment"


def _nuggets(file: File) -> list[dict[str, Any]]:
    """A row for each answer or passage and nugget."""
    rows = []
    for place, record in enumerate(load_objects(file, EXPECTED), 1):
        at = f"{file.name} record {place}"
        of = record.get("run_id") if record.get("run_id") is not None else record.get("docid")
        if record.get("qid") in (None, "") or of in (None, "") or not isinstance(record.get("nuggets"), list):
            raise BadInput.at(at, expected=EXPECTED, found=shown(record))
        passage = record.get("run_id") is None
        for number, nugget in enumerate(objects(record["nuggets"], file, EXPECTED), 1):
            said = nugget.get("assignment")
            said = said.strip().lower() if isinstance(said, str) else said
            if said not in FAILED and said not in GRADES:
                raise BadInput.at(at, expected=f"an assignment: {', '.join(GRADES)}", found=shown(said))
            importance = nugget.get("importance", "vital")  # as nuggetizer itself takes it
            if importance not in ("vital", "okay"):
                raise BadInput.at(at, expected="vital or okay as importance", found=shown(importance))
            rows.append(
                {
                    "query": str(record["qid"]),
                    "text": str(record.get("query") or record.get("text") or ""),
                    "system": str(of),
                    "doc": str(of) if passage else f"{of}/{record['qid']}/{number}",
                    "subtopic": str(number) if passage else None,
                    "label": None if said in FAILED else GRADES[said],
                    "importance": importance,
                    "nugget": str(nugget.get("text", "")),
                    "answer": str(record.get("answer_text") or record.get("candidate_text") or ""),
                }
            )
    if not rows:
        raise BadInput.at(file.name, expected=EXPECTED, found="no nugget")
    return rows


def _table(file: File, vital: bool) -> pl.DataFrame:
    frame = pl.DataFrame(_nuggets(file), infer_schema_length=None, schema_overrides={"label": pl.Float64})
    frame = frame.with_columns(pl.col("subtopic").cast(pl.String))
    kept = frame.filter(pl.col("importance") == "vital") if vital else frame
    if not kept.height:
        raise BadInput.at(file.name, expected="a vital nugget", found="none")
    return kept


def read_labels(
    file: File, scale: Scale | None = None, drop_bad_labels: bool = False, *, vital: bool = False
) -> Judgments:
    """Labels of nuggets in answers, or of passages by nugget; assignments that failed are no labels, and counted."""
    frame = _table(file, vital)
    frame = frame.select("query", "doc", "subtopic", "label", comment="nugget")
    frame = frame if frame["subtopic"].count() else frame.drop("subtopic")
    source = Source(file.name)
    found = Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True)
    failed = found.frame["label"].null_count()
    note = f"{file.name}: {count(failed, 'assignment')} failed: no label, and counted as not supported"
    return Judgments(found.frame, (*found.notes, *([note] if failed else [])), scale)


def read_answers(file: File, ranks: bool = True, *, vital: bool = False) -> Runs:
    """Answers as lists of the nuggets that count, in the nuggets' order."""
    frame = _table(file, vital)
    if frame["subtopic"].count():
        raise BadInput.at(
            file.name,
            expected="assignments to answers (run_id)",
            found="assignments to passages (docid)",
            remedy="these are labels of passages; the runs are what retrieved them",
        )
    frame = frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("system", "query"))
    return Runs.check(frame.select("system", "query", "doc", "rank"), source=Source(file.name))


def read_queries(file: File) -> Queries:
    """The queries with their texts."""
    frame = _table(file, False).select("query", "text").unique("query", keep="first", maintain_order=True)
    return Queries.check(frame, source=Source(file.name))


def read_documents(file: File, *, vital: bool = False) -> Rows:
    """What a person sees who is asked whether an answer supports a nugget: the nugget as title, the answer as text."""
    frame = _table(file, vital).unique("doc", keep="first", maintain_order=True)
    return frame.select("doc", title="nugget", text="answer"), Source(file.name)


def is_nuggetizer(file: File) -> bool:
    """Whether the first record has nuggets that were assigned."""
    return is_json(file) and b'"nuggets"' in file.head and b'"assignment"' in file.head


for name, vital in (("nuggetizer", False), ("nuggetizer-vital", True)):
    add_format(
        Format(
            name,
            partial(read_documents, vital=vital),
            read_from=(".jsonl", ".ndjson", ".json") if not vital else (),
            sniff=(lambda file, schema: is_nuggetizer(file)) if not vital else lambda file, schema: False,
            records={
                Judgments: Narrow(partial(read_labels, vital=vital), several=True),
                Runs: Narrow(partial(read_answers, vital=vital)),
                Queries: Narrow(read_queries),
            },
            holds=lambda file: "judgments",
            exact=not vital,
        ),
        __name__,
    )
