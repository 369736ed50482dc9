"""What was collected, as records that every format can write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from karat.errors import BadInput
from karat.labels import GOLD
from karat.labels.selection import LLM, OVERALL
from karat.records import Judgments, Records, Scale, Schema
from karat.records.table import count
from karat.study import answer_tables
from karat.study.kinds import JUDGE, KINDS
from karat.study.kinds.kind import typed
from karat.study.people import all_judges, excluded_kinds
from karat.study.progress import NO_WORK, iso, judge_counts, judge_work
from karat.study.store import Store


@dataclass(frozen=True, eq=False, repr=False)
class Table(Records):
    """Rows of the study that are no record type of their own: tasks, codes, people, the log."""

    schema: ClassVar[Schema] = Schema("rows", ())


def exportable() -> tuple[str, ...]:
    """What can be written: the answers to each kind of task, gold labels, and what there is beside them.

    >>> exportable()
    ('judgments', 'preferences', 'codes', 'nuggets', 'support', 'gold', 'tasks', 'people', 'log')
    """
    return (*(kind.table.name for kind in KINDS.values()), "gold", *_BESIDE)


def exported(
    store: Store, what: str, scale: Scale | None = None, group: str | None = None, *, before: int | None = None
) -> Records:
    """The answers to a kind of task, gold labels, tasks, people or log; empty columns are left out.

    A `group` is for judgments and gold labels: those of its judges alone. `before`, the number of an event, is for
    preferences and other choices: those that stood just before it.
    """
    if what == "gold":
        return drawn_labels(store, scale, group)
    if what == JUDGE.table.name:
        said, waiting = _said_and_waiting(store, group)
        left, gold = waiting.filter(pl.col("group") != GOLD), waiting.filter(pl.col("group") == GOLD)
        note = f"{_documents(left)} without a label yet left out: --kind gold has them, for compare --gold"
        return _judgments(pl.concat([said, gold], how="diagonal"), scale, (note,) if left.height else ())
    if what in _BESIDE:
        return Table(_BESIDE[what](store))
    kind = next((kind for kind in KINDS.values() if kind.table.name == what), None)
    if kind is None:
        raise BadInput.at("the export", expected=" or ".join(exportable()), found=f'"{what}"')
    frame = answer_tables.answers_frame(store, kind, before=before)
    if kind.sides:
        # Their answers are taken back: without this nobody would know that somebody failed a trap.
        frame = frame.with_columns(
            rejected=pl.lit(answer_tables.rejected(store, kind) or None, pl.Int64),
            failed_allowed=pl.lit(store.rules.traps_failed or None, pl.Int64),
        )
    if kind.table.records is None:
        return Table(frame)
    return kind.table.records(_filled(frame.drop("task"), kind.table.records))


def drawn_labels(store: Store, scale: Scale | None = None, group: str | None = None) -> Judgments:
    """The labels of documents that a plan drew, and a row without label for each that has none yet.

    Those without tell how much of the draw is there: without their rows a comparison would take too little for all.
    """
    said, waiting = _said_and_waiting(store, group)
    # What a model says of a document that was drawn for people is not what it was drawn for.
    said = said.filter(pl.col("aspect") == OVERALL, pl.col("group") != LLM)
    drawn = said.drop_nulls("probability").filter(pl.col("context").is_null() & pl.col("subtopic").is_null())
    left = said.drop_nulls("label").height - drawn.drop_nulls("label").height
    notes = [f"{count(left, 'label')} of documents that are not in the sample left out"] if left else []
    if waiting.height:
        notes.append(f"{_documents(waiting)} without a label yet")
    return _judgments(pl.concat([drawn, waiting], how="diagonal"), scale, tuple(notes))


def with_gold(store: Store, scale: Scale | None = None) -> Judgments:
    """All judgments, those of the group gold as `drawn_labels` has them where a plan drew some."""
    said, gold = answer_tables.judgments(store), drawn_labels(store, scale, GOLD)
    if not len(gold):
        return _judgments(said, scale)
    others = said.filter(pl.col("group") != GOLD)
    return _judgments(pl.concat([others, gold.frame], how="diagonal"), scale, gold.notes)


def _said_and_waiting(store: Store, group: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What judges said, and the drawn documents of which they said nothing yet."""
    waiting = _of(group, answer_tables.waiting(store))  # first: what is said meanwhile is not lost between the two
    said = _of(group, answer_tables.judgments(store))
    asked = ["query", "doc", "context", "subtopic", "group"]
    return said, waiting.join(said, on=asked, how="anti", nulls_equal=True, maintain_order="left")


def _documents(waiting: pl.DataFrame) -> str:
    return count(waiting.select("query", "doc").n_unique(), "drawn document")


def _of(group: str | None, frame: pl.DataFrame) -> pl.DataFrame:
    return frame if group is None else frame.filter(pl.col("group") == group)


def _judgments(frame: pl.DataFrame, scale: Scale | None, notes: tuple[str, ...] = ()) -> Judgments:
    frame = _filled(frame.drop("task", strict=False), Judgments)
    if "aspect" in frame.columns and frame["aspect"].drop_nulls().n_unique() < 2:
        frame = frame.drop("aspect")
    return Judgments(frame, notes, scale)


def people_frame(store: Store) -> pl.DataFrame:
    """Everybody, with the platform's id, the completion code if it was given, what they did, and whether it stands.

    Who to pay is the lead's to say: `minutes` are at work, rejected answers and can't tells included. No
    secrets are in it: neither links nor their hashes.
    """
    counts, work, excluded = judge_counts(store), judge_work(store), excluded_kinds(store)
    rows = [
        {
            "judge": person["name"],
            "group": person["grp"],
            "source": person["source"],
            "platform_id": person["external"],
            **_came_from(person["details"]),
            "completion_code": person["completion"],
            "state": person["state"],
            "why": person["why"],
            "excluded": ", ".join(excluded.get(person["id"], [])) or None,
            "joined": iso(person["made"]),
            "answers": counts["answers"][person["id"]],
            **work.get(person["id"], NO_WORK),
            **{name: counts[name][person["id"]] for name in ("practice", "practice_right", "traps", "traps_failed")},
        }
        for person in all_judges(store)
    ]
    places = ("platform_id", "platform_study", "platform_session", "completion_code")
    said = ("answers", "rejected", "cant_tell", "gold_seen", "gold_right", "practice", "practice_right")
    spent = ("traps", "traps_failed", "minutes", "minutes_away", "first", "last")
    names = ("judge", "group", "source", *places, "state", "why", "excluded", "joined", *said, *spent)
    numbers = dict.fromkeys((*said, "traps", "traps_failed"), pl.Int64)
    return pl.DataFrame(rows, schema=typed(*names) | numbers)


def _came_from(details: str | None) -> dict[str, str | None]:
    """The platform's own numbers: Prolific's study and submission, MTurk's HIT and assignment."""
    known = json.loads(details or "{}")
    return {
        "platform_study": known.get("STUDY_ID", known.get("hitId")),
        "platform_session": known.get("SESSION_ID", known.get("assignmentId")),
    }


def _filled(frame: pl.DataFrame, records: type[Records]) -> pl.DataFrame:
    """Without columns in which nothing stands, but for those that are always looked for."""
    always = {*records.schema.required, "judge", "group", "trap"}
    return frame.select(name for name in frame.columns if name in always or frame[name].null_count() < frame.height)


_BESIDE = {"tasks": answer_tables.tasks_frame, "people": people_frame, "log": answer_tables.events_frame}
