"""Several files as one: groups of judges named by their files, systems of the same name told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from karat.formats.open_files import File
from karat.labels.selection import ITEM
from karat.records import Judgments, Runs
from karat.records.base import repeats


def groups_together(read: Sequence[Judgments], files: Sequence[str]) -> Judgments:
    """The judgments of these files as one: a group for each file that has none; gold and others keep their names.

    A file with one label for each document, and no judge's name, is the work of one judge, named by the file.
    """
    if len(read) == 1:
        return read[0]
    frames = []
    stems = [File(path).stem for path in files]
    for path, judgments in zip(files, read, strict=True):
        stem = File(path).stem
        frame, stem = judgments.frame, stem if stems.count(stem) == 1 else path
        if not judgments.has("group"):
            frame = frame.with_columns(group=pl.lit(stem))
        if not judgments.has("judge") and not repeats(frame, [name for name in ITEM if name in frame.columns]).any():
            frame = frame.with_columns(judge=pl.lit(stem))
        frames.append(frame)
    notes = tuple(note for judgments in read for note in judgments.notes)
    return replace(read[0], frame=pl.concat(frames, how="diagonal_relaxed"), notes=notes)


def unique_system_names(read: Sequence[Runs], paths: Sequence[str]) -> list[Runs]:
    """The runs of these files; a system's name that several files use is replaced by the file's name."""
    found = []
    for runs, clash in zip(read, new_names([runs.systems for runs in read], paths), strict=True):
        frame = runs.frame.with_columns(pl.col("system").replace(clash)) if clash else runs.frame
        found.append(Runs(frame, runs.notes, runs.one_system))
    return found


def new_names(systems: Sequence[Sequence[str]], paths: Sequence[str]) -> list[dict[str, str]]:
    """For each file, the systems whose name another file uses as well, with a name after their own file.

    >>> new_names([["bm25"], ["bm25", "dense"]], ["a.run", "b.run"])
    [{'bm25': 'a'}, {'bm25': 'b:bm25'}]
    """
    used = Counter(name for names in systems for name in names)
    stems = Counter(File(path).stem for path in paths)
    found = []
    for names, path in zip(systems, paths, strict=True):
        stem = File(path).stem if stems[File(path).stem] == 1 else path
        found.append({name: stem if len(names) == 1 else f"{stem}:{name}" for name in names if used[name] > 1})
    return found
