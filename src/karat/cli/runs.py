"""Several files of runs, systems of the same name told apart by their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.records import Runs


def read_several(paths: Sequence[str], *, ranks: bool = True) -> list[Runs]:
    """The runs in these files; a system's name that several files use is replaced by the file's name."""
    import polars as pl

    from karat.cli.progress import progress
    from karat.errors import BadInput
    from karat.formats import read_runs
    from karat.formats.files import File
    from karat.records import Runs

    if list(paths).count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    for path in paths:  # a name mistyped at the end should not cost the work on the others
        File(path).check()
    read = [read_runs(path, ranks=ranks) for path in progress(list(paths), "Reading")]
    used = Counter(name for runs in read for name in runs.systems)
    stems = Counter(File(path).stem for path in paths)
    found = []
    for runs, path in zip(read, paths, strict=True):
        stem = File(path).stem if stems[File(path).stem] == 1 else path
        clash = {name: stem if len(runs.systems) == 1 else f"{stem}:{name}" for name in runs.systems if used[name] > 1}
        frame = runs.frame.with_columns(pl.col("system").replace(clash)) if clash else runs.frame
        found.append(Runs(frame, runs.notes, runs.one_system))
    return found
