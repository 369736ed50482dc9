"""The folder of a study: study.toml, queries, documents, runs, tasks and practice items."""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.atomic_write import put_in_place
from karat.formats.karat_tables import TaskTable, read_tasks
from karat.formats.read import read_documents, read_queries, read_runs, read_subtopics
from karat.formats.read_errors import parse_toml
from karat.records import Documents, PathLike, Queries, Runs, Source
from karat.records.runs import ranked
from karat.records.scale import Level, Scale
from karat.records.study_design import (
    SNIPPET_QUESTION,
    Aspect,
    Compared,
    Platform,
    Rules,
    SnippetFirst,
    StudyDesign,
    Webhook,
)

#: The files of a folder by what they hold, in the order in which they are looked for.
FILES = {
    "queries": ("queries.csv", "queries.jsonl", "queries.tsv", "queries.xml", "queries.parquet"),
    "subtopics": ("subtopics.csv", "subtopics.jsonl", "subtopics.tsv"),
    "documents": ("documents.jsonl", "documents.csv", "documents.parquet", "documents.jsonl.gz", "documents.jsonl.zst"),
    "tasks": ("tasks.csv", "tasks.jsonl", "tasks.tsv", "tasks.parquet"),
    "practice": ("practice.csv", "practice.jsonl", "practice.tsv"),
}

#: What study.toml may say: table -> key -> type. Anything else is a slip of the pen and refused.
KNOWN: dict[str, dict[str, tuple[type, ...]]] = {
    "": {"id": (str,), "title": (str,), "guidelines": (str,), "groups": (list,), "cant_tell": (list,), "pool": (bool,)},
    "scale": {
        "levels": (list,),
        "question": (str,),
        "question_in_context": (str,),
        "not_applicable": (bool,),
    },
    "aspects": {"name": (str,), "definition": (str,)},
    "overlap": {
        "labels": (int,),
        "third_when_apart_by": (int, float),
        "judges_per_pair": (int,),
        "reserve_minutes": (int, float),
        "one_judge_per_query": (bool,),
        "hours_apart": (int, float),
        "most_per_judge": (int,),
        "repeat_hours": (int, float),
    },
    "traps": {"block": (int,), "failed_allowed": (int,), "invited_failing": (str,)},
    "speed": {"min_seconds": (int, float), "min_share_of_median": (int, float)},
    "practice": {"pass": (int, float)},
    "pairs": {"reasons": (list,), "classes": (list,), "strengths": (int,), "depth": (int,)},
    "platform": {
        "prolific": (bool,),
        "mturk": (bool,),
        "group": (str,),
        "completion_code": (str,),
        "tasks": (int,),
        "prolific_studies": (list,),
        "frame_ancestors": (list,),
    },
    "snippet": {"levels": (list,), "question": (str,)},
    # Of models, by their names: dollars for a million tokens of questions and of answers, and when that was so.
    "prices": {"question": (int, float), "answer": (int, float), "date": (str,)},
    "webhook": {"url": (str,), "events": (list,)},
    "live": {"measure": (str,), "systems": (list,), "margin": (int, float), "queries": (str,)},
}


def within(folder: Path, file: Path) -> Path:
    """A file of the folder; one that a link or `..` leads to elsewhere is refused.

    What stands in a study is shown to judges, and the folder may be a stranger's.
    """
    if not file.resolve().is_relative_to(folder.resolve()):
        raise BadInput.at(
            str(file), expected="a file in the study's folder", found="one elsewhere", remedy="copy it there"
        )
    return file


@dataclass(frozen=True)
class StudyFolder:
    """A study and the files beside it."""

    path: Path
    study: StudyDesign
    #: The scale, and the rules for further labels, where study.toml says them: labels in files may be others' else.
    scale: Scale | None = None
    rules: Rules | None = None
    #: What models cost, by their names.
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    live: Compared = field(default_factory=Compared)
    #: Whether the top of the runs is asked about: always, never, or (None) unless tasks were imported.
    pool: bool | None = None
    #: Whom to tell what happens in the study, if anybody.
    webhook: Webhook | None = None

    def file(self, what: str) -> Path | None:
        """The file that holds queries, documents, tasks, ..., if there is one."""
        found = next((self.path / name for name in FILES[what] if (self.path / name).is_file()), None)
        return None if found is None else within(self.path, found)

    @cached_property
    def queries(self) -> Queries | None:
        """The queries, with their subtopics where they are known."""
        path, more = self.file("queries"), self.file("subtopics")
        if path is None:
            return None
        queries = read_queries(str(path))
        return queries if more is None else Queries(queries.frame, (), read_subtopics(str(more)).subtopics)

    @cached_property
    def documents(self) -> Documents | None:
        """The documents."""
        path = self.file("documents")
        return None if path is None else read_documents(str(path))

    @cached_property
    def runs(self) -> list[Runs]:
        """The runs in the folder `runs`."""
        folder = self.path / "runs"
        files = [within(self.path, path) for path in sorted(folder.glob("*")) if path.is_file()]
        return [read_runs(str(path)) for path in files]

    def tasks(self) -> TaskTable | None:
        """The tasks of the folder's task file, if there is one."""
        path = self.file("tasks")
        return None if path is None else read_tasks(str(path))

    def pooled(self) -> TaskTable | None:
        """The top of all runs as tasks, each document once; nothing where study.toml says so."""
        if self.pool is False:
            return None
        tops = [ranked(runs, self.study.depth).sort("query", maintain_order=True) for runs in self.runs]
        if not tops:
            return None
        frame = pl.concat([top.select("query", "doc") for top in tops]).unique(maintain_order=True)
        return TaskTable(frame, Source("the top of the runs"))

    def practice(self) -> TaskTable | None:
        """The practice items: query, doc, gold (the right grade) and note (why)."""
        path = self.file("practice")
        return None if path is None else read_tasks(str(path))


def read_study(path: PathLike) -> StudyFolder:
    """The study in a folder."""
    folder = Path(path)
    file = folder / "study.toml"
    if not file.is_file():
        raise BadInput.at(
            str(path), expected="a folder with study.toml", found="none", remedy=f"make one: karat init {path}"
        )
    try:
        said = parse_toml(file.read_text(encoding="utf-8-sig"), str(file))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: {error}") from None
    try:
        study = _study(said, str(file), folder)
        says_scale = "levels" in said.get("scale", {})
        says_rules = bool({"labels", "third_when_apart_by"} & {*said.get("overlap", {})})
        live = said.get("live", {})
        return StudyFolder(
            folder,
            study,
            study.scale if says_scale else None,
            study.rules if says_rules else None,
            said.get("prices", {}),
            Compared(**live | {"systems": tuple(str(name) for name in live.get("systems", ()))}),
            said.get("pool"),
            _webhook(said.get("webhook")),
        )
    except BadInput as error:
        # Rules and scales check themselves, and do not know where they were written.
        raise (error if str(error).startswith(str(file)) else BadInput(f"{file}: {error}")) from None


def _study(said: dict[str, Any], file: str, folder: Path) -> StudyDesign:
    _check("", {name: value for name, value in said.items() if name not in KNOWN}, file)
    aspects = said.get("aspects", [])
    for name, table in said.items():
        if name in KNOWN and name != "aspects":
            if not isinstance(table, Mapping):
                raise BadInput.at(file, expected=f"a table [{name}]", found=f"{name} = {table!r}")
            for part in [table] if name != "prices" else table.values():
                _check(name, part if isinstance(part, Mapping) else {name: part}, file)
    if not isinstance(aspects, list) or not all(isinstance(aspect, Mapping) for aspect in aspects):
        raise BadInput.at(file, expected="tables [[aspects]]", found=f"aspects = {aspects!r}")
    for aspect in aspects:
        _check("aspects", aspect, file)
        if "name" not in aspect:
            raise BadInput.at(file, expected="a name for each aspect", found=str(dict(aspect)))
    overlap, traps, pairs = (said.get(name, {}) for name in ("overlap", "traps", "pairs"))
    more: dict[str, Any] = {}
    for name, where in (("reasons", pairs), ("classes", pairs), ("cant_tell", said), ("groups", said)):
        if name in where:
            more[name] = tuple(str(value) for value in where[name])
            if not more[name] and name != "reasons":  # without ready answers, people say why in their own words
                raise BadInput.at(file, expected=f"something in {name}", found="an empty list")
            twice = [value for value, many in Counter(more[name]).items() if many > 1]
            if twice:
                raise BadInput.at(file, expected=f"each of {name} once", found=f'"{twice[0]}" again')
    for name in ("strengths", "depth"):
        if name in pairs:
            more[name] = pairs[name]
    more |= {name: value for name, value in said.get("scale", {}).items() if name != "levels"}
    if "snippet" in said:
        first = said["snippet"]
        more["snippet"] = SnippetFirst(_scale(first.get("levels"), file), first.get("question", SNIPPET_QUESTION))
    platform = _platform(said.get("platform", {}), file)
    groups = more.get("groups", ("judges",))
    if platform.group and platform.group not in groups:
        raise BadInput.at(file, expected=f"a platform group of {', '.join(groups)}", found=f'"{platform.group}"')
    guidelines = said.get("guidelines", "")
    if guidelines.endswith((".md", ".txt")) and not any(sign.isspace() for sign in guidelines):
        named = within(folder, folder / guidelines)
        if not named.is_file():
            raise BadInput.at(file, expected=f"the guidelines in {guidelines}", found="no such file in the folder")
        guidelines = named.read_text(encoding="utf-8-sig")
    rules = Rules(
        **{name: value for name, value in overlap.items() if name != "third_when_apart_by"},
        apart=float(overlap.get("third_when_apart_by", 1.0)),
        block=traps.get("block", 5),
        traps_failed=traps.get("failed_allowed", 0),
        invited_failing=traps.get("invited_failing", Rules.invited_failing),
        min_seconds=float(said.get("speed", {}).get("min_seconds", Rules.min_seconds)),
        min_share_of_median=float(said.get("speed", {}).get("min_share_of_median", Rules.min_share_of_median)),
        practice_pass=float(said.get("practice", {}).get("pass", Rules.practice_pass)),
    )
    return StudyDesign(
        id=said.get("id") or folder.resolve().name,
        title=said.get("title") or folder.resolve().name,
        scale=_scale(said.get("scale", {}).get("levels"), file),
        aspects=tuple(Aspect(aspect["name"], aspect.get("definition", "")) for aspect in aspects),
        guidelines=guidelines,
        rules=rules,
        platform=platform,
        **more,
    )


def _platform(said: Mapping[str, Any], file: str) -> Platform:
    studies = said.get("prolific_studies")
    if studies is not None:
        if not studies:
            raise BadInput.at(file, expected="something in prolific_studies", found="an empty list")
        if not all(isinstance(study, str) and study for study in studies):
            raise BadInput.at(file, expected="texts in prolific_studies", found=str(studies))
        if not said.get("prolific"):
            raise BadInput.at(file, expected="prolific = true where prolific_studies are named", found="none")
    sites = said.get("frame_ancestors", [])
    if not all(isinstance(site, str) for site in sites):
        raise BadInput.at(file, expected="texts in frame_ancestors", found=str(sites))
    return Platform(**{**said, "prolific_studies": tuple(studies or ()), "frame_ancestors": tuple(sites)})


def _webhook(said: Mapping[str, Any] | None) -> Webhook | None:
    if said is None:
        return None
    events = {"events": tuple(said["events"])} if "events" in said else {}
    return Webhook(said.get("url", ""), **events)


def _scale(levels: Any, file: str) -> Scale:
    if levels is None:
        return Scale.parse("0=not relevant, 1=relevant")
    if all(isinstance(level, str) for level in levels):
        return Scale.parse(", ".join(levels))
    made = []
    for place, level in enumerate(levels):
        if (
            not isinstance(level, Mapping)
            or "name" not in level
            or not {*level} <= {"grade", "name", "definition", "gain"}
        ):
            raise BadInput.at(file, expected="levels with grade, name, definition", found=str(level))
        grade, gain = level.get("grade", place), level.get("gain")
        if any(not isinstance(v, int | float) or isinstance(v, bool) for v in (grade, 0 if gain is None else gain)):
            raise BadInput.at(file, expected="numbers as grade and gain", found=str(level))
        made.append(Level(float(grade), str(level["name"]), str(level.get("definition", "")), gain))
    return Scale(tuple(made))


def _check(table: str, said: Mapping[str, Any], file: str) -> None:
    """Refuse what is not known, or of the wrong type."""
    for name, value in said.items():
        place = f"[{table}] {name}" if table else name
        if name not in KNOWN[table]:
            sections = [f"[[{name}]]" if name == "aspects" else f"[{name}]" for name in KNOWN if name and not table]
            shown = f"[{name}]" if isinstance(value, Mapping) and not table else place
            raise BadInput.at(file, expected=f"one of {', '.join([*KNOWN[table], *sections])}", found=shown)
        types = KNOWN[table][name]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = " or ".join(kind.__name__ for kind in types)
            raise BadInput.at(file, expected=f"{place} as {wanted}", found=repr(value))


def new_id() -> str:
    """A new study's id: several studies may share a database."""
    return secrets.token_hex(8)


def keep_id(folder: Path, study_id: str) -> None:
    """Write a study's id into its study.toml where that says none.

    Without it the folder's name is the id, and a study in a folder of another name would not find its judgments.
    """
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8-sig")
    if parse_toml(text, str(file)).get("id"):
        return
    line = f"id = {json.dumps(study_id, ensure_ascii=False)}\n"
    empty = re.compile(r"""^[ \t]*id[ \t]*=[ \t]*(?:""|'')[^\n]*\n?""", re.MULTILINE)
    put_in_place(file, (line + empty.sub("", text, count=1)).encode())


EXAMPLE_FILES = ("study.toml", "queries.csv", "documents.jsonl", "tasks.csv", "runs/plain.run", "runs/better.run")


def write_example(
    folder: str, *, title: str = "An example study", empty: bool = False, depth: int | None = None
) -> list[str]:
    """Write the files of a study into a folder; returns their names. What is there is never overwritten."""
    place, example = Path(folder), files("karat.formats") / "example_study"
    names = list(EXAMPLE_FILES[:1] if empty else EXAMPLE_FILES)
    there = [name for name in names if (place / name).exists()]
    if there:
        raise BadInput.at(folder, expected="a new folder", found=", ".join(there), remedy="choose another one")
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    try:
        for name in names:
            content = (example / name).read_text(encoding="utf-8")
            if name == "study.toml":
                content = content.replace("{id}", new_id()).replace("{title}", quoted)
                content = content if depth is None else content.replace("# depth = 10", f"depth = {depth}")
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            put_in_place(place / name, content.encode())
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from None
    return names
