"""What was collected, as records that every format can write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records import Judgments, Preferences, Records, Scale, Schema
from karat.store import collected
from karat.store.store import Store

#: What can be written.
KINDS = ("judgments", "preferences", "tasks", "codes", "log")


@dataclass(frozen=True, eq=False, repr=False)
class Table(Records):
    """Rows of the study that are no record type of their own: tasks, codes, the log."""

    schema: ClassVar[Schema] = Schema("rows", ())


def exported(store: Store, kind: str, scale: Scale | None = None) -> Records:
    """The study's judgments, preferences, tasks, codes or log; columns in which nothing stands are left out."""
    if kind == "judgments":
        frame = _filled(collected.judgments(store).drop("task"), ["query", "doc", "label", "judge", "group"])
        if "aspect" in frame.columns and frame["aspect"].n_unique() < 2:
            frame = frame.drop("aspect")
        return Judgments(frame, (), scale)
    if kind == "preferences":
        frame = collected.preferences(store).drop("task")
        return Preferences(_filled(frame, ["query", "left", "right", "choice", "judge", "group", "trap"]))
    frames = {"tasks": collected.tasks_frame, "codes": collected.codes, "log": collected.events_frame}
    if kind not in frames:
        raise BadInput.at("the export", expected=" or ".join(KINDS), found=f'"{kind}"')
    return Table(frames[kind](store))


def _filled(frame: pl.DataFrame, always: list[str]) -> pl.DataFrame:
    return frame.select(name for name in frame.columns if name in always or frame[name].null_count() < frame.height)
