"""A study as records: all that its folder, its database or named files hold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from karat.advice import advise
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
from karat.formats.column_mapping import Columns, ColumnsLike, said_of_all, tables_in
from karat.formats.open_files import File
from karat.formats.read import groups_together, unique_system_names
from karat.formats.study_folder import StudyFolder, read_study
from karat.labels import GOLD, known_grades, select, split_gold
from karat.labels.cache import made_once
from karat.labels.selection import ALTERED
from karat.records import ClickLog, Clicks, Documents, Judgments, PathLike, Preferences, Queries, Runs, Scale
from karat.records.study_design import StudyDesign
from karat.records.table import count
from karat.study.collected import Collected, collected
from karat.study.folders import DESIGN, TRUTH, files_of, not_read, only_file


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


#: What a study may hold beside its labels and gold labels, and all of it.
BESIDE = ("runs", "queries", "documents", "preferences", "clicks")
FILED = ("labels", "gold", *BESIDE)
TO_LABEL = "fill in the column label; karat serve asks people for them, karat ask a language model"


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Labels, gold labels, runs and what users did, as far as they are there; gold is not among the labels.

    >>> labels = Judgments.of({"q": {"d": 1}})
    >>> Study("Horses", labels=labels)
    Horses: 1 judgment of 1 document for 1 query, label 1

    The scale of the study, with its names and definitions, and its rules (two labels, a third where they are apart)
    are on the labels: `labels.scale`, `labels.rules`.
    """

    title: str
    design: StudyDesign | None = None
    labels: Judgments | None = None
    gold: Judgments | None = None
    runs: tuple[Runs, ...] = ()
    queries: Queries | None = None
    documents: Documents | None = None
    preferences: Preferences | None = None
    clicks: Clicks | ClickLog | None = None
    truth: Truth | None = None
    #: What karat ask --audit asked of language models, which is about them: canaries, repeats, gold documents.
    audit: Judgments | None = None
    notes: tuple[str, ...] = ()
    #: Where it was read, for commands to type: "gold", "labels" (or "labels of GROUP") and "run of SYSTEM".
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(
        cls,
        folder: PathLike | None = None,
        *,
        database: str | None = None,
        labels: PathLike | Sequence[PathLike] = (),
        runs: PathLike | Sequence[PathLike] = (),
        gold: PathLike | None = None,
        queries: PathLike | None = None,
        documents: PathLike | None = None,
        preferences: PathLike | None = None,
        clicks: PathLike | None = None,
        title: str | None = None,
        scale: Scale | str | None = None,
        gold_scale: Scale | str | None = None,
        drop_bad_labels: bool = False,
        time_format: str | None = None,
        from_format: str | None = None,
        columns: ColumnsLike | None = None,
        only: Collection[str] = BESIDE,
    ) -> Study:
        """All that a study's folder holds; a file that is named stands for the folder's own.

        The folder may have judgments*, gold.*, runs/*, queries.*, subtopics.*, documents.*, preferences.*, clicks.*,
        llm-audit.csv, study.toml and, of a simulated study, truth.json. What karat serve collected in its karat.db, or
        in the `database` named, is used where there are no files of it. Of what stands beside the labels, `only` these
        kinds are read. `gold_scale` is the scale of the gold labels where it is another one than that of the labels.
        `from_format` is that of the labels; `columns` says which header of the tables is which column,
        where names do not tell.
        """
        if columns is not None:
            given = {name: value for name, value in locals().items() if name not in ("cls", "columns", "folder")}
            tables = {path: name for name in FILED for path in _paths(() if given[name] is None else given[name])}
            tables |= {} if folder is None else tables_in(Path(folder))
            with said_of_all(Columns.of_files(columns, tables)):
                return cls.load(folder, **given)
        unknown = [kind for kind in only if kind not in BESIDE]
        if unknown:
            raise BadInput.at("only", expected=f"some of {', '.join(BESIDE)}", found=", ".join(unknown))
        place = None if folder is None else Path(folder)
        if place is not None and not place.is_dir():
            raise BadInput.at(str(folder), expected="the folder of a study", found="no folder of that name")
        if place is None and database is not None:
            raise BadInput.at(advise("--database", "database="), expected="the study's folder beside it", found="none")
        served = read_study(place) if place is not None and (place / DESIGN).is_file() else None
        asked = {"labels": _paths(labels), "gold": gold, "preferences": preferences}
        held = _held(served, place, database, [kind for kind, files in asked.items() if files])
        scale = scale if scale is not None or served is None else served.scale

        def read(path: str, format: str | None = None, is_gold: bool = False) -> Judgments:
            found = read_judgments(
                path,
                scale=gold_scale if is_gold and gold_scale is not None else scale,
                drop_bad_labels=drop_bad_labels,
                time_format=time_format,
                format=format,
            )
            return found if served is None else replace(found, rules=served.rules)

        if gold_scale is not None and gold is None and (place is None or only_file(place, "gold") is None):
            raise BadInput.at(
                advise("--gold-scale", "gold_scale="),
                expected=f"gold labels in a file of their own ({advise('--gold', 'gold=')})",
                found="none",
            )
        judged, trusted, files, notes = _judged(place, _paths(labels), gold, held, read, from_format)
        named = {"queries": queries, "documents": documents, "preferences": preferences, "clicks": clicks}
        paths = {
            what: None if what not in only else only_file(place, what) if path is None else str(path)
            for what, path in named.items()
        }
        run_files = (_paths(runs) or files_of(place, "runs")) if "runs" in only else []
        lists = unique_system_names([read_runs(path) for path in run_files], run_files)
        liked = (
            None if paths["preferences"] is None else read_preferences(paths["preferences"], time_format=time_format)
        )
        stored = held.records.get("preferences") if "preferences" in only else None
        study = cls(
            title=title or _title(served, place),
            design=None if served is None else served.study,
            labels=judged,
            gold=trusted,
            runs=tuple(lists),
            queries=_queries(paths["queries"], only_file(place, "subtopics") if "queries" in only else None),
            documents=None if paths["documents"] is None else read_documents(paths["documents"]),
            preferences=stored if liked is None and isinstance(stored, Preferences) else _by_rules(liked, served),
            clicks=None if paths["clicks"] is None else read_clicks(paths["clicks"]),
            truth=Truth.read(place / TRUTH) if place is not None and (place / TRUTH).is_file() else None,
            audit=None if (audit := only_file(place, "audit")) is None else read(audit),
            notes=(*held.notes, *notes),
            files=files | _of_one(run_files, lists),
        )
        held_any = (study.labels, study.gold, study.runs or None, study.preferences, study.audit)
        if all(one is None for one in held_any):
            raise BadInput.at(
                "the study" if folder is None else str(folder),
                expected="labels (judgments*), gold.*, preferences.* or clicks.*",
                found="none of them yet",
                remedy="karat serve collects labels, and a file of them may be put there",
            )
        return study

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

    @property
    def scale(self) -> Scale | None:
        """The scale on which judges graded, where it is known."""
        return None if self.labels is None else self.labels.scale

    @property
    def judged(self) -> Judgments:
        """The labels; `BadInput` where there are none."""
        if self.labels is None:
            raise BadInput("; ".join(["there are no labels", *self.notes]))
        if not self.labels.has("label"):
            found = "none that says more than N/A" if len(self.labels) else "none"
            where = self.files.get("labels", "the labels")
            raise BadInput.at(where, expected="at least one label", found=found, remedy=TO_LABEL)
        return self.labels

    @property
    def known(self) -> Judgments | None:
        """What judges are checked against: the gold labels, or else grades known of documents (the column gold).

        The latter were chosen, not drawn, and correct no score.
        """
        if self.gold is not None or self.labels is None:
            return self.gold
        found = known_grades(self.labels)
        if found is None:
            return None
        many = count(len(found), "document")
        return replace(found, notes=(f"judges are checked by the known grades of {many} (column gold of the tasks)",))

    @property
    def with_gold(self) -> Judgments:
        """The labels with the gold ones as a group of that name, where the judges are in groups as well."""
        labels, gold = self.judged, self.gold
        if gold is None or not labels.has("group"):
            return labels
        both = [labels.frame, gold.frame.with_columns(group=pl.lit(GOLD))]
        return replace(labels, frame=pl.concat(both, how="diagonal_relaxed"))

    @property
    def with_audit(self) -> Judgments:
        """The labels with what an audit asked beside them: what a model said of a document to both counts once."""
        if self.audit is None:
            return self.judged
        if self.labels is None:
            return self.audit
        labels, audit = self.labels, self.audit.frame
        key = [name for name in ("judge", "query", "doc") if name in labels.frame.columns and name in audit.columns]
        plain = pl.lit(True)
        for name in ("repeat", ALTERED):
            if name in audit.columns:
                plain &= pl.col(name).cast(pl.String).is_in(["0", "0.0"]) | pl.col(name).is_null()
        known = audit.filter(plain).join(labels.frame.drop_nulls("label"), on=key, how="anti", maintain_order="left")
        parts = [labels.frame, known, audit.filter(~plain)]
        return replace(labels, frame=pl.concat(parts, how="diagonal_relaxed"))

    def of_group(self, group: str | None) -> Judgments:
        """The labels of one group, or of all, to score lists with: what is left aside is in their notes."""
        return made_once(self.judged, ("group", group), lambda: self._of_group(group))

    def _of_group(self, group: str | None) -> Judgments:
        labels = self.judged
        if group is not None:
            if group not in self.groups:
                known = ", ".join(self.groups) or "no groups"
                raise BadInput.at("the group", expected=f"one of the judgments' ({known})", found=f'"{group}"')
            labels = replace(labels, frame=labels.frame.filter(pl.col("group") == group))
        counted = select(labels, ["subtopic"], strict=True)
        return replace(labels, frame=counted.frame, notes=(*labels.notes, *counted.notes))

    @property
    def in_context(self) -> bool:
        """Whether documents were judged in context or by aspect."""
        return self.labels is not None and (self.labels.has("context") or self.labels.has("aspect"))

    def __repr__(self) -> str:
        parts = [self.labels, self.gold and f"gold: {self.gold}", *self.runs, self.preferences, self.clicks]
        return f"{self.title}: " + ("; ".join(str(part) for part in parts if part is not None) or "nothing yet")


def _judged(
    place: Path | None,
    named: list[str],
    named_gold: PathLike | None,
    held: Collected,
    read: Callable[..., Judgments],
    format: str | None,
) -> tuple[Judgments | None, Judgments | None, dict[str, str], tuple[str, ...]]:
    """The labels of a study, gold apart, the files that they stand in, and what to say of it."""
    paths = named or files_of(place, "labels")
    if format is not None and not paths:
        raise BadInput.at(advise("--from", "format="), expected="a file of labels", found="none")
    each = [read(path, format) for path in paths]
    labels = groups_together(each, paths) if each else _judgments(held, "labels")
    gold_path = only_file(place, "gold") if named_gold is None else str(named_gold)
    gold = _judgments(held, "gold") if gold_path is None else read(gold_path, is_gold=True)
    notes = []
    if labels is not None:
        apart = gold is not None
        labels, gold = split_gold(labels, gold, given_stands=True, any_scale=True)
        if gold is not None and not apart:
            inside = count(gold.frame.drop_nulls("label").height, "label")
            labels = replace(labels, notes=(*labels.notes, f"{inside} of the group {GOLD} taken for gold labels"))
    elif others := not_read(place):
        notes.append(f"labels are looked for in judgments*, labels* and qrels*, so {others} not read")
    return labels, gold, _of_one(paths, each) | ({"gold": gold_path} if gold_path else {}), tuple(notes)


def _judgments(held: Collected, kind: str) -> Judgments | None:
    records = held.records.get(kind)
    return records if isinstance(records, Judgments) else None


def _held(served: StudyFolder | None, place: Path | None, database: str | None, named: list[str]) -> Collected:
    """What the study's database holds; nothing where there is none."""
    if place is None or (database is None and (served is None or not (place / "karat.db").is_file())):
        return Collected()
    return collected(read_study(place) if served is None else served, database, named)


def _by_rules(liked: Preferences | None, served: StudyFolder | None) -> Preferences | None:
    """Preferences of a file, with the number of traps that a judge may fail where only study.toml says it."""
    allowed = 0 if served is None else served.study.rules.traps_failed
    if liked is None or not allowed or liked.has("failed_allowed"):
        return liked
    return replace(liked, frame=liked.frame.with_columns(failed_allowed=pl.lit(allowed, pl.Int64)))


def _paths(given: PathLike | Sequence[PathLike]) -> list[str]:
    return [str(given)] if isinstance(given, str | os.PathLike) else [str(path) for path in given]


def _queries(path: str | None, subtopics: str | None) -> Queries | None:
    if path is None:
        return None
    queries = read_queries(path)
    return queries if subtopics is None else Queries(queries.frame, (), read_subtopics(subtopics).subtopics)


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


def _title(served: StudyFolder | None, folder: Path | None) -> str:
    if served is not None:
        return served.study.title
    return "A study of search engines" if folder is None else folder.resolve().name
