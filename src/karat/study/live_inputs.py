"""What the live verdict of a study is made from: labels, gold labels, and the two systems that study.toml names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from karat.errors import BadInput
from karat.formats.study_folder import StudyFolder
from karat.records import Runs
from karat.study.study import Study


def live_inputs(folder: StudyFolder, database: str | None = None) -> tuple[Study, list[Runs]]:
    """The study as it stands now, and the runs of its two systems."""
    study = Study.load(folder.path, database=database, only=("runs",))
    return study, two_of(study.runs, folder.live.systems)


def two_of(runs: Sequence[Runs], systems: Sequence[str]) -> list[Runs]:
    """The runs of two systems by name; where none are named, of the two that there are."""
    known = {name: run for run in runs for name in run.systems}
    named = list(systems) or list(known)
    if len(named) != 2:
        raise BadInput.at(
            "the live verdict",
            expected="two systems",
            found=f"{len(named)} ({', '.join(named)})" if named else "no runs",
            remedy="name two in study.toml, [live] systems, or two runs on the command line",
        )
    missing = [name for name in named if name not in known]
    if missing:
        found = f'"{missing[0]}"'
        raise BadInput.at("study.toml, [live] systems", expected=f"two of {', '.join(known)}", found=found)
    return [replace(known[name], frame=known[name].frame.filter(pl.col("system") == name)) for name in named]
