"""What a report rests on: everything that a study's folder holds, or the files that were named."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats import (
    read_clicks,
    read_documents,
    read_judgments,
    read_preferences,
    read_queries,
    read_runs,
    read_subtopics,
)
from karat.formats.files import File
from karat.formats.several import groups_together, told_apart
from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Runs

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
}


@dataclass(frozen=True)
class Truth:
    """What was planted in a simulated study, so that a report can say whether it was found.

    `simulated` says in words what of the study is simulated; `scores` are the systems' true scores by `measure`.
    """

    simulated: str = ""
    measure: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Truth:
        """The planted truth in a JSON file with simulated, measure and scores; what else it holds is left aside."""
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from None
        if not isinstance(said, dict) or not isinstance(said.get("scores", {}), dict):
            raise BadInput.at(
                str(path), expected='an object with "simulated", "measure" and "scores"', found=str(said)[:60]
            )
        scores = {str(name): float(value) for name, value in said.get("scores", {}).items()}
        return cls(str(said.get("simulated", "")), str(said.get("measure", "")), scores)

    def difference(self, measure: str, a: str, b: str) -> float | None:
        """The true difference of b less a by a measure, where it is known.

        >>> Truth("all", "P@10", {"x": 0.5, "y": 0.75}).difference("P@10", "x", "y")
        0.25
        """
        if measure != self.measure or a not in self.scores or b not in self.scores:
            return None
        return self.scores[b] - self.scores[a]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labels, gold labels, runs and what users did, as far as they are there; gold is not among the labels."""

    title: str
    labels: Judgments | None = None
    gold: Judgments | None = None
    runs: tuple[Runs, ...] = ()
    queries: Queries | None = None
    documents: Documents | None = None
    preferences: Preferences | None = None
    clicks: Clicks | ClickLog | None = None
    truth: Truth | None = None
    notes: tuple[str, ...] = ()
    #: Where it was read, for commands to type: "gold", "labels" (or "labels of GROUP") and "run of SYSTEM".
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The systems by name."""
        return [name for runs in self.runs for name in runs.systems]

    @property
    def groups(self) -> list[str]:
        """The groups of judges."""
        if self.labels is None or not self.labels.has("group"):
            return []
        return self.labels.frame["group"].drop_nulls().unique().sort().to_list()

    def of_group(self, group: str | None) -> Judgments:
        """The labels of one group, or of all: overall grades of documents read alone, to score lists with."""
        if self.labels is None:
            raise BadInput("; ".join(["there are no labels", *self.notes]))
        frame = self.labels.frame
        if group is not None:
            if group not in self.groups:
                known = ", ".join(self.groups) or "no groups"
                raise BadInput.at("the group", expected=f"one of the judgments' ({known})", found=f'"{group}"')
            frame = frame.filter(pl.col("group") == group)
        if self.labels.has("aspect"):
            frame = frame.filter(pl.col("aspect").is_null() | pl.col("aspect").is_in(["", "overall"]))
        if self.labels.has("context"):
            frame = frame.filter(pl.col("context").is_null() | (pl.col("context") == ""))
        return replace(self.labels, frame=frame)

    @property
    def in_context(self) -> bool:
        """Whether documents were judged in context or by aspect."""
        return self.labels is not None and (self.labels.has("context") or self.labels.has("aspect"))

    def __repr__(self) -> str:
        parts = [self.labels, self.gold and f"gold: {self.gold}", *self.runs, self.preferences, self.clicks]
        return f"{self.title}: " + ("; ".join(str(part) for part in parts if part is not None) or "nothing yet")


def read_evidence(
    folder: str | None = None,
    *,
    labels: Sequence[str] = (),
    runs: Sequence[str] = (),
    gold: str | None = None,
    queries: str | None = None,
    documents: str | None = None,
    preferences: str | None = None,
    clicks: str | None = None,
    title: str | None = None,
    scale: str | None = None,
    drop_bad_labels: bool = False,
) -> Evidence:
    """All that a study's folder holds; a file that is named stands for the folder's own.

    The folder may have judgments*, gold.*, runs/*, queries.*, subtopics.*, documents.*, preferences.*, clicks.*,
    study.toml (for its title) and, of a simulated study, truth.json.
    """
    place = None if folder is None else Path(folder)
    if place is not None and not place.is_dir():
        raise BadInput.at(folder or "", expected="the folder of a study", found="no folder of that name")

    def found(what: str, named: str | None) -> str | None:
        files = [named] if named is not None else _files(place, what)
        if len(files) > 1:
            raise BadInput.at(str(place), expected=f"one file of {what}", found=", ".join(Path(f).name for f in files))
        return files[0] if files else None

    label_files = list(labels) or _files(place, "labels")
    run_files = list(runs) or _run_files(place)
    read = [read_judgments(path, scale=scale, drop_bad_labels=drop_bad_labels) for path in label_files]
    judged = groups_together(read, label_files) if read else None
    gold_file = found("gold", gold)
    golden = None if gold_file is None else read_judgments(gold_file, scale=scale, drop_bad_labels=drop_bad_labels)
    judged, golden, notes = _apart(judged, golden)
    if judged is None and (others := _not_read(place)):
        notes.append(f"labels are looked for in judgments*, labels* and qrels*, so {others} not read (see --labels)")
    named = {
        "queries": queries,
        "subtopics": None,
        "documents": documents,
        "preferences": preferences,
        "clicks": clicks,
    }
    paths = {what: found(what, path) for what, path in named.items()}
    asked = None if paths["queries"] is None else read_queries(paths["queries"])
    if asked is not None and paths["subtopics"] is not None:
        asked = Queries(asked.frame, (), read_subtopics(paths["subtopics"]).subtopics)
    lists = told_apart([read_runs(path) for path in run_files], run_files)
    evidence = Evidence(
        title=title or _title(place),
        labels=judged,
        gold=golden,
        runs=tuple(lists),
        queries=asked,
        documents=None if paths["documents"] is None else read_documents(paths["documents"]),
        preferences=None if paths["preferences"] is None else read_preferences(paths["preferences"]),
        clicks=None if paths["clicks"] is None else read_clicks(paths["clicks"]),
        truth=Truth.read(place / "truth.json") if place is not None and (place / "truth.json").is_file() else None,
        notes=tuple(notes),
        files=_of_one(label_files, read) | _of_one(run_files, lists) | ({"gold": gold_file} if gold_file else {}),
    )
    if judged is None and golden is None and not evidence.runs and evidence.preferences is None:
        raise BadInput.at(
            folder or "the report",
            expected="judgments*, gold.*, runs/*, preferences.* or clicks.*",
            found="none of them",
            remedy="name a study's folder, or the files with --labels and --run",
        )
    return evidence


def _of_one(paths: Sequence[str], read: Sequence[Judgments | Runs]) -> dict[str, str]:
    """The files that hold the labels of one group, or the run of one system, and nothing else."""
    found = {"labels": paths[0]} if len(read) == 1 and isinstance(read[0], Judgments) else dict[str, str]()
    for path, one in zip(paths, read, strict=True):
        if isinstance(one, Runs):
            of = [f"run of {system}" for system in one.systems]
        else:
            groups = one.frame["group"].unique() if one.has("group") else [File(path).stem]
            of = [f"labels of {group}" for group in groups]
        found |= {of[0]: path} if len(of) == 1 else {}
    return found


def _files(folder: Path | None, what: str) -> list[str]:
    """The files of a folder that hold these records, by name."""
    if folder is None:
        return []
    return [
        str(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix in TABLES and path.name.lower().startswith(NAMES[what])
    ]


def _not_read(folder: Path | None) -> str:
    """The tables of a folder whose names say nothing, in words."""
    known = tuple(name for names in NAMES.values() for name in names)
    files = [] if folder is None else sorted(path for path in folder.iterdir() if path.suffix in TABLES)
    names = [path.name for path in files if not path.name.lower().startswith((*known, "truth"))]
    return "" if not names else f"{', '.join(names[:5])} {'was' if len(names) == 1 else 'were'}"


def _run_files(folder: Path | None) -> list[str]:
    if folder is None:
        return []
    inside = sorted((folder / "runs").iterdir()) if (folder / "runs").is_dir() else []
    return [str(path) for path in inside or sorted(folder.glob("*.run")) if path.is_file() and path.name[0] != "."]


def _title(folder: Path | None) -> str:
    if folder is None:
        return "A study of search engines"
    file = folder / "study.toml"
    if file.is_file():
        try:
            said: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{file}: {error}") from None
        if isinstance(said.get("title"), str):
            return str(said["title"])
    return folder.resolve().name


def _apart(labels: Judgments | None, gold: Judgments | None) -> tuple[Judgments | None, Judgments | None, list[str]]:
    """The labels and the gold labels, also where both came in one table with a column group."""
    if labels is None or not labels.has("group"):
        return labels, gold, []
    is_gold = pl.col("group").fill_null("") == "gold"
    inside, rest = labels.frame.filter(is_gold), labels.frame.filter(~is_gold)
    if not inside.height or not rest.height:
        return labels, gold, []
    kept = replace(labels, frame=rest)
    if gold is not None:
        return kept, gold, [f"{inside.height:,} labels of the group gold left aside: the gold labels came apart"]
    return kept, replace(labels, frame=inside, notes=()), []
