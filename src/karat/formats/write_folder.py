"""A study written as a folder of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import write_csv
from karat.formats.open_files import write_bytes
from karat.formats.write import write
from karat.records import Records, Runs
from karat.records.runs import each_system


def write_folder(
    folder: str, files: Mapping[str, Records | pl.DataFrame | str], *, again: str | None = None
) -> list[str]:
    """Writes records, tables and texts under their names into a new folder; returns the names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_folder(f"{place}/study", {"notes.txt": "hello", "sub/t.csv": pl.DataFrame({"query": ["q1"]})})
    ['notes.txt', 'sub/t.csv']

    A folder that holds anything is refused, except one whose study.toml has the line `again`: what that study wrote
    earlier may be written again. Other files in it stay as they are.
    """
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        mark = path / "study.toml"
        known = again is not None and mark.is_file() and again in mark.read_text("utf-8", "replace").splitlines()
        if not known:
            found = "one with other files" if path.is_dir() else "a file"
            raise BadInput.at(folder, expected="a new folder", found=found, remedy="name another")
    for name, content in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            write_bytes(str(place), content.encode())
        elif isinstance(content, pl.DataFrame):
            write_bytes(str(place), write_csv(content, ","))
        else:
            write(content, str(place))
    return list(files)


def runs_by_system(runs: Runs | list[Runs]) -> dict[str, Runs]:
    """A file for each system, by the name it has in a study's folder.

    >>> list(runs_by_system(Runs.of({"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}})))
    ['runs/a.run', 'runs/b.run']
    """
    each = runs if isinstance(runs, list) else [runs]
    return {f"runs/{one.systems[0]}.run": one for run in each for one in each_system(run)}
