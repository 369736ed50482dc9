"""`karat compare --live`: where a comparison stands while its gold labels come in."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.inputs import Reading, run_files
from karat.cli.results import print_result, tell_as
from karat.cli.runs import read_several
from karat.cli.tables import console, say
from karat.comparison.live import Live
from karat.comparison.live_verdict import Memo, live_verdict
from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.records import Result, Runs
from karat.records.design import Compared
from karat.study.live_inputs import two_of

#: Options of `karat compare` that do nothing with --live.
NOT_LIVE = (
    "method",
    "baseline",
    "by",
    "queries",
    "only",
    "documents",
    "moved",
    "fail_if_worse",
    "fail_unless_better",
    "weights",
    "peek",
    "by_query",
    "draws",
    "seed",
)
#: How many of the latest looks are shown.
SHOWN = 8


def live_state(
    labels: str,
    files: Sequence[str],
    names: Sequence[object],
    gold: str | None,
    reading: Reading,
    form: options.Form,
    watch: float | None,
    asked: dict[str, Any],
) -> None:
    """Tell it once, or again and again until it is clear, every `watch` seconds."""
    if len(names) > 1:
        raise BadInput.at("--live", expected="one measure", found=str(len(names)))
    if watch is not None and form.printed != "table":
        options.refuse("watch", why="it is for reading; --json, --tsv and --latex are told once")
    design = _design(labels)
    source = click.get_current_context().get_parameter_source
    if source("queries_are") is ParameterSource.DEFAULT:
        asked |= {"queries": design.queries}
    if asked["margin"] is None:
        asked |= {"margin": design.margin}
    lists = read_several(run_files(labels, files))
    runs = two_of(lists, () if files else design.systems)
    memo: Memo = {}
    while True:
        found = _now(labels, gold, reading, runs, names[0] if names else design.measure, asked, memo)
        tell_as(form, found.to_dict(), _rows(found), lambda found=found: _print(found))  # type: ignore[misc]
        if watch is None or found.state == "stop":
            break
        time.sleep(watch)
        if console().is_terminal:
            click.clear()
    if found.state == "cannot say":
        sys.exit(1)


def _design(labels: str) -> Compared:
    """What study.toml says of the live verdict, where there is one."""
    folder = Path(labels)
    return read_study(folder).live if (folder / "study.toml").is_file() else Compared()


def _now(
    labels: str,
    gold: str | None,
    reading: Reading,
    runs: list[Runs],
    measure: object,
    asked: dict[str, Any],
    memo: Memo,
) -> Live:
    study = reading.study(labels, gold=gold)
    if study.gold is None:
        raise BadInput.at(
            "the live verdict",
            expected="gold labels of documents that karat plan gold drew",
            found="none yet",
            remedy="karat plan gold draws documents, karat import STUDY gold.csv has them asked for in the judging app",
        )
    return live_verdict(study.judged, runs, measure, gold=study.gold, memo=memo, **asked)


def _rows(found: Live) -> Result:
    return Result(found.to_frame(), found.finding, found.notes)


def _print(found: Live) -> None:
    out = console()
    say(out, found.finding)
    looks = found.looks.tail(SHOWN)
    if looks.height:
        left = found.looks.height - looks.height
        more = f" ({left} earlier with --json)" if left else ""
        a, b = found.systems
        print_result(Result(looks, f"The looks so far{more}, {b} - {a}:"))
    for note in found.notes:
        say(out, f"- {note}")
