"""`{query: {document: number}}`: what ranx saves (JSON, or CBOR packed as .lz4), pytrec_eval takes and MTEB keeps."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import polars as pl

from karat.advice import advise
from karat.errors import AmbiguousFile, BadInput, MissingExtra
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.json_files import load_json, shown
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source
from karat.records.table import from_nested

_TEXT = rb'"(?:[^"\\]|\\.)*"'
#: An object whose first value is an object whose first value is a number; both may be empty.
SHAPE = re.compile(rb"\s*\{\s*" + _TEXT + rb"\s*:\s*\{\s*(?:" + _TEXT + rb"\s*:\s*-?\d|\})")
EXPECTED = "{query: {document: number}}"
#: An object of CBOR begins with one of these bytes, with which no text begins.
CBOR = tuple(bytes([first]) for first in range(0xA0, 0xC0))
#: MTEB's predictions have this beside the parts of a task, and in them its splits.
MTEB = "mteb_model_meta"


def read_labels(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from `{query: {document: label}}`."""
    frame, source = _frame(file, "label")
    made = Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True)
    return replace(made, is_unnamed=True)


def read_run(file: File, ranks: bool = True) -> Runs:
    """A run from `{query: {document: score}}`, named by its file or by MTEB's model."""
    frame, source = _frame(file, "score")
    model = load_json(file).get(MTEB) if is_mteb(file) else None
    name = str(model.get("model_name") or "") if isinstance(model, dict) else ""
    return Runs.check(frame, system=name or file.stem, source=source)


def write_labels(judgments: Judgments, name: str) -> bytes:
    """Judgments as `{query: {document: label}}`, whole numbers where all are."""
    frame = judgments.frame.drop_nulls("label")
    whole = (frame["label"] == frame["label"].round(0)).all()
    return _bytes(frame.select("query", "doc", pl.col("label").cast(pl.Int64 if whole else pl.Float64)))


def write_run(runs: Runs, name: str) -> bytes:
    """A run as `{query: {document: score}}`."""
    if len(runs.systems) > 1:
        raise BadInput.at("writing ranx", expected="one system", found=", ".join(runs.systems[:5]))
    return _bytes(runs.frame.select("query", "doc", "score"))


def is_nested(file: File) -> bool:
    """Whether a file begins as one such document, and not as lines with an object each."""
    if file.head.startswith(CBOR) or is_mteb(file):
        return True
    if not SHAPE.match(file.head):
        return False
    first, _, rest = file.head.lstrip().partition(b"\n")
    return not (first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{"))


def is_mteb(file: File) -> bool:
    """Whether a file begins as MTEB's predictions do."""
    return re.match(rb'\s*\{\s*"mteb_model_meta"\s*:', file.head) is not None


def _document(file: File) -> Any:
    if not file.head.startswith(CBOR):
        return load_json(file)
    try:
        import cbor2
    except ImportError:
        raise MissingExtra.named("lz4", "a run of ranx packed with lz4") from None
    try:
        # CBOR has more than JSON has, bytes and names that are no texts; ranx writes none of it.
        return json.loads(json.dumps(cbor2.loads(file.content)))
    except (cbor2.CBORDecodeError, TypeError, ValueError, RecursionError) as error:
        raise BadInput.at(file.name, expected="a run of ranx (CBOR)", found=f"something else ({error})") from None


def _one_split(found: dict[str, Any], file: File) -> Any:
    """The lists of MTEB's predictions, which must be of one part and split of the task."""
    parts = [
        (f"{part} {split}", lists)
        for part, splits in found.items()
        if part != MTEB and isinstance(splits, dict)
        for split, lists in splits.items()
    ]
    if len(parts) != 1:
        names = ", ".join(name for name, _ in parts) or "none"
        raise BadInput.at(file.name, expected="predictions for one split of one part", found=names)
    return parts[0][1]


def _frame(file: File, value: str) -> Rows:
    found = _document(file)
    if isinstance(found, dict) and MTEB in found:
        found = _one_split(found, file)
    for query, docs in found.items() if isinstance(found, dict) else [("", found)]:
        if not isinstance(docs, dict):
            raise BadInput.at(file.name, expected=EXPECTED, found=f"{shown(docs)} of {query or 'all'}")
        odd = next((doc for doc, number in docs.items() if not _number(number)), None)
        if odd is not None:
            raise BadInput.at(
                f"{file.name}: query {query}, document {odd}", expected=f"a number as {value}", found=shown(docs[odd])
            )
    columns = from_nested(found, value)
    if not columns["query"]:
        raise BadInput.at(file.name, expected=EXPECTED, found="no query with a document")
    return pl.DataFrame(columns, schema={"query": pl.String, "doc": pl.String, value: pl.Float64}), Source(file.name)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bytes(frame: pl.DataFrame) -> bytes:
    nested: dict[str, dict[str, float]] = {}
    for query, doc, number in frame.iter_rows():
        nested.setdefault(query, {})[doc] = number
    return (json.dumps(nested, ensure_ascii=False) + "\n").encode()


def _holds(file: File) -> str:
    """Scores have decimals; whole numbers may be either, and nothing else in the file tells."""
    if is_mteb(file):
        return "runs"
    numbers = _frame(file, "number")[0]["number"]
    if (numbers != numbers.round(0)).any():
        return "runs"
    raise AmbiguousFile.at(
        file.name,
        expected="a file that tells labels from scores",
        found=f"{EXPECTED}, which could be judgments or runs",
        remedy=advise("say it with --kind", "use read_judgments or read_runs"),
    )


def _rows(file: File) -> Rows:
    return _frame(file, "number")


add_format(
    Format(
        "ranx",
        _rows,
        read_from=(".json",),
        sniff=lambda file, schema: is_nested(file),
        records={
            Judgments: Narrow(read_labels, write_labels, frozenset({"query", "doc", "label"})),
            Runs: Narrow(read_run, write_run, frozenset({"query", "doc", "score", "system", "rank"})),
        },
        holds=_holds,
    ),
    __name__,
)
