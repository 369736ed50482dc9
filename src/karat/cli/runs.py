"""Several run files on the command line, their systems told apart by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.records import Runs


def read_several(paths: Sequence[str]) -> list[Runs]:
    """The runs in these files; a system name that several files use is replaced by the file's name."""
    import polars as pl

    from karat.errors import BadInput
    from karat.formats import read_runs
    from karat.formats.files import File
    from karat.records import Runs

    if list(paths).count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    for path in paths:  # a name mistyped at the end should not cost the work on the others
        File(path).check()
    parts = [read_runs(path) for path in paths]
    used = Counter(name for part in parts for name in part.systems)
    stems = Counter(File(path).stem for path in paths)
    found = []
    for part, path in zip(parts, paths, strict=True):
        stem = File(path).stem if stems[File(path).stem] == 1 else path
        clash = {name: stem if len(part.systems) == 1 else f"{stem}:{name}" for name in part.systems if used[name] > 1}
        found.append(
            Runs(part.frame.with_columns(pl.col("system").replace(clash)), part.notes, part.one_system)
            if clash
            else part
        )
    return found
