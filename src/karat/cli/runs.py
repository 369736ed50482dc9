"""Several files of runs, systems of the same name told apart by their files."""

from __future__ import annotations

from collections.abc import Sequence

from karat.cli.progress import progress
from karat.errors import BadInput
from karat.formats import read_runs
from karat.formats.merge import unique_system_names
from karat.formats.open_files import File
from karat.records import Runs


def read_several(paths: Sequence[str]) -> list[Runs]:
    """The runs in these files; a system's name that several files use is replaced by the file's name."""
    if list(paths).count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    for path in paths:  # a name mistyped at the end should not cost the work on the others
        File(path).check()
    read = [read_runs(path) for path in progress(list(paths), "Reading")]
    return unique_system_names(read, paths)
