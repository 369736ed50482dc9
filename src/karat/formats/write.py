"""Writing records: what a format cannot hold is named, never dropped in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.formats.csv import write_csv
from karat.formats.format_registry import Narrow, format_ending, format_named
from karat.formats.open_files import File, write_bytes
from karat.formats.trec import spaced_id
from karat.labels import select
from karat.records import Judgments, PathLike, Queries, Records, Runs
from karat.records.runs import each_system
from karat.records.table import count, repeats

#: Endings that promise something else than TREC's plain lines.
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".doc", ".docx", ".pdf", ".html", ".zip", ".bz2", ".xz")


def write(records: Records, path: PathLike, format: str | None = None) -> list[str]:
    """Write records to a file; returns what the format could not hold, in words.

    The format follows the name's ending (.csv, .tsv, .jsonl, .parquet, .json for a Quepid book; anything else
    is TREC's) unless it is named; .gz or .zst at the end packs the file. Ids with white space do not fit TREC's
    format: under a name that only implies it, such records are written as CSV, which karat reads there, too.
    """
    if not isinstance(records, Records):
        raise BadInput.at(
            "what to write", expected="records", found=type(records).__name__, remedy="such as kt.Judgments.of(frame)"
        )
    path = str(path)
    kind, notes = format_for(records, path, format)
    records, lost = fitted(records, kind)
    write_bytes(path, content(records, kind, path))
    return [*notes, *lost]


def format_for(records: Records, path: str, format: str | None = None) -> tuple[str, list[str]]:
    r"""The format to write records in: as named, or as the file's name says; CSV in place of TREC's for spaced ids.

    >>> format_for(Judgments.of({"star wars": {"d1": 1}}), "x.qrels")
    ('csv', ['x.qrels: written as CSV; TREC\'s format has no place for white space in ids (query "star wars")'])
    """
    kind = format or format_of(path)
    spaced = spaced_id(records.frame) if kind == "trec" and format is None else None
    if spaced is None:
        return kind, []
    name = "standard output" if path == "-" else path
    return "csv", [f"{name}: written as CSV; TREC's format has no place for white space in ids ({spaced})"]


def fitted(records: Records, kind: str) -> tuple[Records, list[str]]:
    """The rows that a format has a place for, and what it has none for, in words.

    >>> rows = [{"query": "q", "doc": "d", "label": 2}, {"query": "q", "doc": "d", "label": 0, "aspect": "novelty"}]
    >>> fit, lost = fitted(Judgments.of(rows), "trec")
    >>> len(fit), lost
    (1, ['1 label of single aspects left aside'])
    """
    narrow = _narrow(records, kind)
    if not isinstance(records, Judgments) or narrow is None:
        return records, _lost(records, kind, narrow)
    room = {"query", "doc", "subtopic"} & narrow.columns
    chosen = select(records)
    if not {*chosen.key} <= room:  # there is nothing but what the format has no place for: say so
        chosen = select(records, room, strict=True)
    whole = replace(records, frame=chosen.frame)
    notes = [*chosen.notes, *_lost(whole, kind, narrow)]
    return (whole if narrow.several else replace(whole, frame=whole.frame.drop_nulls("label"))), notes


def format_of(path: str) -> str:
    """The format that a file's name promises."""
    ending = File(path).ending
    found = format_ending(ending)
    if found is not None:
        return found.name
    if ending in SPREADSHEETS:
        raise BadInput.at(path, expected="a format that karat writes", found=ending, remedy="write .csv")
    return "trec"


def content(records: Records, kind: str, path: str) -> bytes:
    """The bytes of a file of this format; `path` names a Quepid book."""
    narrow, table = _narrow(records, kind), format_named(kind, "the format to write", written=True).write
    if narrow is not None and narrow.write is not None:
        if isinstance(records, Judgments) and not narrow.several:
            _refuse_several(records, kind, narrow)
        return narrow.write(records, File(path).stem)
    if table is not None:
        return table(records.frame)
    raise BadInput.at(
        f"writing {records.schema.name}",
        expected="a table",
        found=f"the format {kind}",
        remedy="write .csv, .jsonl or .parquet",
    )


def _narrow(records: Records, kind: str) -> Narrow | None:
    """What a format does for these records, where it has no table with all their columns."""
    return format_named(kind, "the format to write", written=True).records.get(type(records))


def _lost(records: Records, kind: str, narrow: Narrow | None) -> list[str]:
    notes = []
    if narrow is not None:
        gone = [name for name in records.frame.columns if name not in narrow.columns and records.has(name)]
        if gone:
            notes.append(f"{kind} has no place for {', '.join(gone)}: left out")
        silent = records.frame["label"].null_count() if isinstance(records, Judgments) and not narrow.several else 0
        if silent:
            notes.append(f"{kind} has no place for {count(silent, 'answer')} without a label: left out")
    if isinstance(records, Queries) and records.subtopics.height:
        notes.append(f"{count(records.subtopics.height, 'subtopic')} are not part of the table: left out")
    return notes


def _refuse_several(judgments: Judgments, kind: str, narrow: Narrow) -> None:
    key = ["query", "doc"] + (["subtopic"] if "subtopic" in narrow.columns and judgments.has("subtopic") else [])
    pairs = judgments.frame.drop_nulls("label").select(key)
    again = repeats(pairs, key)
    if again.any():
        row = pairs.filter(again).row(0, named=True)
        raise BadInput.at(
            f"writing {kind}",
            expected="one label for a document",
            found=f"several for {row['doc']} of query {row['query']}",
            remedy=f"reduce them first with {advise('--consensus', 'consensus')}, or write .csv, .jsonl or .parquet",
        )


def write_folder(
    folder: str, files: Mapping[str, Records | pl.DataFrame | str], *, again: str | None = None
) -> list[str]:
    """Writes records, tables and texts under their names into a new folder; returns the names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_folder(f"{place}/study", {"notes.txt": "hello", "sub/t.csv": pl.DataFrame({"query": ["q1"]})})
    ['notes.txt', 'sub/t.csv']

    A folder that holds anything is refused, except one whose study.toml has the line `again`: what that study wrote
    earlier may be written again. Other files in it stay as they are.
    """
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        mark = path / "study.toml"
        known = again is not None and mark.is_file() and again in mark.read_text("utf-8", "replace").splitlines()
        if not known:
            found = "one with other files" if path.is_dir() else "a file"
            raise BadInput.at(folder, expected="a new folder", found=found, remedy="name another")
    for name, content in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            write_bytes(str(place), content.encode())
        elif isinstance(content, pl.DataFrame):
            write_bytes(str(place), write_csv(content, ","))
        else:
            write(content, str(place))
    return list(files)


def runs_by_system(runs: Runs | list[Runs]) -> dict[str, Runs]:
    """A file for each system, by the name it has in a study's folder.

    >>> list(runs_by_system(Runs.of({"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}})))
    ['runs/a.run', 'runs/b.run']
    """
    each = runs if isinstance(runs, list) else [runs]
    return {f"runs/{one.systems[0]}.run": one for run in each for one in each_system(run)}
