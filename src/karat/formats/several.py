"""Several files as one: groups of judges named by their files, systems of the same name told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from karat.formats.files import File
from karat.formats.read import read_judgments
from karat.records import Judgments, Runs, Scale


def read_groups(files: Sequence[str], scale: Scale | str | None = None, drop_bad_labels: bool = False) -> Judgments:
    """All files as one, with a group for each file that has none; gold and other groups keep their names."""
    return groups_together(
        [read_judgments(path, scale=scale, drop_bad_labels=drop_bad_labels) for path in files], files
    )


def groups_together(read: Sequence[Judgments], files: Sequence[str]) -> Judgments:
    """The judgments of these files as one, as `read_groups` has them."""
    if len(read) == 1:
        return read[0]
    frames = []
    stems = [File(path).stem for path in files]
    for path, judgments in zip(files, read, strict=True):
        stem = File(path).stem
        frame, stem = judgments.frame, stem if stems.count(stem) == 1 else path
        if not judgments.has("group"):
            frame = frame.with_columns(group=pl.lit(stem))
        if not judgments.has("judge"):
            frame = frame.with_columns(judge=pl.lit(stem))
        frames.append(frame)
    notes = tuple(note for judgments in read for note in judgments.notes)
    return Judgments(pl.concat(frames, how="diagonal_relaxed"), notes, read[0].scale)


def told_apart(read: Sequence[Runs], paths: Sequence[str]) -> list[Runs]:
    """The runs of these files; a system's name that several files use is replaced by the file's name."""
    used = Counter(name for runs in read for name in runs.systems)
    stems = Counter(File(path).stem for path in paths)
    found = []
    for runs, path in zip(read, paths, strict=True):
        stem = File(path).stem if stems[File(path).stem] == 1 else path
        clash = {name: stem if len(runs.systems) == 1 else f"{stem}:{name}" for name in runs.systems if used[name] > 1}
        frame = runs.frame.with_columns(pl.col("system").replace(clash)) if clash else runs.frame
        found.append(Runs(frame, runs.notes, runs.one_system))
    return found
