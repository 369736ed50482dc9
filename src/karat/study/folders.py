"""The files of a study's folder, by what their names say they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import AmbiguousFile, BadInput
from karat.formats import read_documents, read_queries, read_runs, write
from karat.formats.content_type import kind_of
from karat.formats.csv import write_csv
from karat.formats.open_files import write_bytes
from karat.formats.read import unique_system_names
from karat.formats.study_folder import write_example
from karat.records import Documents, Queries, Runs
from karat.records.runs import joined, ranked
from karat.records.table import count

#: How files of a study's folder may end, and how they begin by what they hold.
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt", ".qrels", ".xml", ".json", ".gz", ".zst")
NAMES = {
    "labels": ("judgments", "labels", "qrels"),
    "gold": ("gold",),
    "queries": ("queries", "topics"),
    "subtopics": ("subtopics",),
    "documents": ("documents", "docs"),
    "preferences": ("preferences",),
    "clicks": ("clicks",),
    "audit": ("llm-audit",),
}
#: How a file with the design is called, and one with the truth of a simulated study.
DESIGN, TRUTH = "study.toml", "truth.json"


def files_of(folder: Path | None, what: str) -> list[str]:
    """The files of a folder that hold these records, by name; those of runs are in its folder runs, or end so."""
    if folder is None:
        return []
    if what == "runs":
        inside = sorted((folder / "runs").iterdir()) if (folder / "runs").is_dir() else []
        return [str(path) for path in inside or sorted(folder.glob("*.run")) if path.is_file() and path.name[0] != "."]
    return [
        str(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix in TABLES and path.name.lower().startswith(NAMES[what])
    ]


def only_file(folder: Path | None, what: str) -> str | None:
    """The one file of a folder that holds these records, if there is one; two are refused."""
    files = files_of(folder, what)
    if len(files) > 1:
        raise BadInput.at(str(folder), expected=f"one file of {what}", found=", ".join(Path(f).name for f in files))
    return files[0] if files else None


def not_read(folder: Path | None) -> str:
    """The tables of a folder whose names say nothing, in words."""
    known = tuple(name for names in NAMES.values() for name in names)
    files = [] if folder is None else sorted(path for path in folder.iterdir() if path.suffix in TABLES)
    names = [path.name for path in files if not path.name.lower().startswith((*known, "truth"))]
    return "" if not names else f"{', '.join(names[:5])} {'was' if len(names) == 1 else 'were'}"


#: Beside karat.db, with the place of the other database; it goes into no copy and no backup.
MARK = "karat.db-elsewhere"
#: Windows has no such flag.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def without_password(url: str) -> str:
    """A database's URL without who signs in.

    >>> without_password("postgresql://karat:secret@localhost/karat")
    'postgresql://...@localhost/karat'
    """
    return url if "@" not in url else f"{url.partition('://')[0]}://...@{url.rpartition('@')[2]}"


def remember(folder: Path, database: str) -> None:
    """Keep in a folder with a database of its own which other one its study is served from.

    A folder that cannot be written does without. No link is followed: the folder may be a stranger's.
    """
    own = folder / "karat.db"
    if own.is_file() and ("://" in database or Path(database).absolute() != own.absolute()):
        with suppress(OSError):
            opened = os.open(folder / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW, 0o600)
            with os.fdopen(opened, "w", encoding="utf-8") as mark:
                mark.write(f"{without_password(database)}\n")


def elsewhere(folder: Path, database: str | None) -> list[str]:
    """The note for somebody who uses the folder's own database after the study moved; none where one is named."""
    if database is not None:
        return []
    try:
        place = "" if (folder / MARK).is_symlink() else (folder / MARK).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return []
    if not place or not place.isprintable():
        return []
    return [
        f"this study was last served from {place}, and {folder / 'karat.db'} has nothing that was said there: name it "
        f"with {advise('--database', 'database=')}, or delete {folder / MARK} if the folder counts again"
    ]


#: Results that stand beside those to judge, to look up: so far down the lists.
BESIDE = 10


@dataclass(frozen=True)
class Started:
    """A folder that was made: the systems, how many results of how many queries are judged, and what to know."""

    systems: tuple[str, ...]
    queries: int
    results: int
    finding: str
    notes: tuple[str, ...] = ()


def start_study(
    folder: str, files: Sequence[str], *, title: str, depth: int = 10, results: int | None = None, seed: int = 0
) -> Started:
    """Write a study's folder from files of runs, queries and documents, which tell by themselves what they hold.

    All of the runs' first `depth` results are to be judged, or about so many `results`: those of queries drawn at
    random, each whole, so that what is found holds for all queries. `pool = true` in study.toml asks for the others
    later. Nothing that is there is overwritten.
    """
    runs, queries, documents = _read(files)
    both = joined(runs)
    top = pl.concat([ranked(run, depth) for run in runs]).select("query", "doc").unique(maintain_order=True)
    notes = []
    unknown = top.join(queries.frame, on="query", how="anti")["query"].n_unique()
    if unknown:
        notes.append(f"{count(unknown, 'query', 'queries')} of the runs not in the file of queries left out")
    pool = top.join(queries.frame, on="query", how="semi", maintain_order="left")
    if not pool.height:
        raise BadInput.at("the runs", expected="queries of the file of queries", found="others only")
    chosen = _drawn(pool, results, seed)
    shown = pl.concat([ranked(run, max(depth, BESIDE)) for run in runs])
    kept = documents.frame.join(shown, on="doc", how="semi", maintain_order="left")
    missing = chosen.join(kept, on="doc", how="anti").height
    if missing == chosen.height:
        raise BadInput.at("the runs", expected="documents of the file of documents", found="others only")
    if missing:
        notes.append(f"{count(missing, 'result')} to judge not in the file of documents, shown by id only")
    _write(folder, title, depth, runs, queries, Documents(kept), chosen)
    number, every = chosen["query"].n_unique(), pool["query"].n_unique()
    drawn = "" if number == every else f", drawn by lot (seed {seed})"
    finding = (
        f"{count(chosen.height, 'result')} to judge: the first {depth} of {count(len(both.systems), 'system')} "
        f"for {number:,} of {count(every, 'query', 'queries')}{drawn}."
    )
    return Started(tuple(both.systems), number, chosen.height, finding, tuple(notes))


def _read(files: Sequence[str]) -> tuple[list[Runs], Queries, Documents]:
    """The files by what they hold; each of the three has to be there."""
    by_kind: dict[str, list[str]] = {"runs": [], "queries": [], "documents": []}
    for file in files:
        try:
            kind = kind_of(file)
        except AmbiguousFile as error:
            raise BadInput.at(
                error.place,
                expected=error.expected,
                found=error.found,
                remedy="call the file queries.tsv or documents.tsv, or write a first line such as query,text or "
                "query,doc,score" + advise(", or say which column is which with --columns", ""),
            ) from None
        if kind not in by_kind:
            raise BadInput.at(file, expected="a run, queries or documents", found=kind, remedy="karat import takes it")
        by_kind[kind].append(file)
    for kind, found in by_kind.items():
        if not found or (kind != "runs" and len(found) > 1):
            one = "at least one run" if kind == "runs" else f"one file of {kind}"
            raise BadInput.at("the files", expected=one, found=", ".join(found) or "none")
    runs = unique_system_names([read_runs(file) for file in by_kind["runs"]], by_kind["runs"])
    return runs, read_queries(by_kind["queries"][0]), read_documents(by_kind["documents"][0])


def _drawn(pool: pl.DataFrame, results: int | None, seed: int) -> pl.DataFrame:
    """The results of queries in random order, whole queries, until there are as near to so many as it gets."""
    if results is None or results >= pool.height:
        return pool
    sizes = pool.group_by("query", maintain_order=True).len().sort("query")
    order = sizes[np.random.default_rng(seed).permutation(sizes.height)]
    together = order["len"].cast(pl.Int64).cum_sum()
    many = int((together - results).abs().arg_min() or 0) + 1
    return pool.join(order.head(many), on="query", how="semi", maintain_order="left")


def _write(
    folder: str,
    title: str,
    depth: int,
    runs: Sequence[Runs],
    queries: Queries,
    documents: Documents,
    chosen: pl.DataFrame,
) -> None:
    place = Path(folder)
    names = {system: re.sub(r"[^\w.-]+", "-", system) or "run" for run in runs for system in run.systems}
    if len({*names.values()}) < len(names):  # names that differ in what no file is called
        names = {system: f"{number}-{name}" for number, (system, name) in enumerate(names.items(), 1)}
    made = ("study.toml", "queries.csv", "documents.jsonl", "tasks.csv", "runs")
    there = [name for name in made if (place / name).exists()]
    if there:
        raise BadInput.at(folder, expected="a new folder", found=", ".join(there), remedy="choose another one")
    try:
        # All files are written elsewhere first: whatever fails, nothing is left behind.
        above = next(one for one in place.absolute().parents if one.is_dir())
        with TemporaryDirectory(dir=above, prefix=".karat-") as temporary:
            draft = Path(temporary)
            write_example(str(draft), title=title, empty=True, depth=depth)
            (draft / "runs").mkdir()
            for run in runs:
                for system in run.systems:
                    mine = Runs(run.frame.filter(pl.col("system") == system))
                    write(mine, draft / "runs" / f"{names[system]}.run")
            write(queries, draft / "queries.csv")
            write(documents, draft / "documents.jsonl")
            write_bytes(str(draft / "tasks.csv"), write_csv(chosen))
            place.mkdir(parents=True, exist_ok=True)
            for name in made:
                (draft / name).rename(place / name)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from None
