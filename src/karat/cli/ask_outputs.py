"""What `karat ask` says and writes: the bar, the estimate, the labels, and a sentence with counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import polars as pl

from karat.ask.estimate import Estimate, estimate
from karat.ask.form import CANT_TELL
from karat.ask.outcome import GRADED
from karat.ask.panel import Panel, in_words
from karat.ask.rows import Judge, answered_tasks, questions, table
from karat.cli.ask_inputs import Asked
from karat.cli.messages import tell_notes, visible
from karat.cli.results import print_json
from karat.formats import write
from karat.labels.selection import LLM
from karat.records import Judgments, Preferences, Records
from karat.records.base import count

#: The kinds of tasks whose rows go to a file of their own beside the labels, and what stands in its name.
BESIDE = {"pair": "preferences", "code": "codes"}


def tell(panel: Panel, asked: Asked, out: str | None, as_json: bool) -> str:
    """Write the labels, put them into the study's log, and say what came of it; what is left over, in a sentence."""
    counts = {judge.name: panel.outcomes(judge) for judge in panel.judges}
    frame = pl.concat([table(answered_tasks(judge, panel.store)) for judge in panel.judges], how="diagonal")
    written = _write(frame, out) if out else []
    taken = _record(panel, asked)
    if as_json:
        said = {"outcomes": {name: dict(found) for name, found in counts.items()}, "spent": panel.budget.spent}
        print_json(said | {"files": written, "study": taken, "left_out": [*panel.no_text]})
    else:
        for name, found in counts.items():
            click.echo(visible(in_words(name, found)))
        if any(judge.price for judge in panel.judges):
            click.echo(f"Spent now: ${panel.budget.spent:.4f}.")
        for line in (*taken, *(f"Wrote {what}." for what in written)):
            click.echo(visible(line))
    tell_left_out(panel)
    left = sum(many for found in counts.values() for kind, many in found.items() if kind not in (GRADED, CANT_TELL))
    return f"{count(left, 'question')} without an answer; karat ask --retry asks again" if left else ""


def _write(frame: pl.DataFrame, out: str) -> list[str]:
    """The labels in a file, and what is no label of a document beside it."""
    lists = pl.col("left").is_not_null() if "left" in frame.columns else pl.lit(False)
    codes = pl.col("classes").is_not_null() if "classes" in frame.columns else pl.lit(False)
    parts: list[tuple[type[Records], pl.DataFrame, str]] = [
        (Judgments, frame.filter(~lists & ~codes), out),
        (Preferences, frame.filter(lists), _beside(out, "preferences")),
    ]
    said = []
    for records, rows, path in parts:
        if rows.height:
            kept = [name for name in rows.columns if name in records.schema.required or rows[name].count()]
            tell_notes(write(records.of(rows.select(kept)), path))
            said.append(f"{count(rows.height, 'row')} to {path}")
    return said


def _beside(out: str, what: str) -> str:
    path = Path(out)
    return str(path.with_name(f"{path.stem}-{what}{''.join(path.suffixes)}"))


def _record(panel: Panel, asked: Asked) -> list[str]:
    """Put the answers into the study's log, unless they are an audit's."""
    if asked.opened is None or any("request" in task for judge in panel.judges for task in judge.tasks):
        return []
    from karat.ask.study_tasks import record

    said = []
    for judge in panel.judges:
        done = record(asked.opened.store, answered_tasks(judge, panel.store))
        line = f"{count(done.new, 'new answer')} of {judge.name} in the study, group {LLM}"
        line += f"; {done.known:,} were there already" if done.known else ""
        if done.changed:
            line += f"; {done.changed:,} unlike what {judge.name} said before, which stands: name another judge by --as"
        said.append(f"{line}.")
    return said


def tell_left_out(panel: Panel) -> None:
    """What was not asked, or not shown whole."""
    cut = {doc for judge in panel.judges for doc in judge.asker.cut}
    notes = []
    if panel.no_text:
        first = next(iter(panel.no_text))
        notes.append(f"{count(len(panel.no_text), 'task')} not asked, as there is nothing to show: {first}")
    if cut:
        most = panel.judges[0].asker.most_shown
        notes.append(f"{count(len(cut), 'document')} cut after {most:,} characters (--most-shown)")
    if panel.budget.guessed:
        notes.append(
            f"the tokens of {count(panel.budget.guessed, 'call')} are estimated: the server does not count them"
        )
    tell_notes(notes)


def tell_estimate(panel: Panel, typed: dict[str, Any], as_json: bool) -> None:
    """What asking would take, for each judge."""
    rows = []
    for judge in panel.judges:
        asked = questions(judge, lambda why: panel.no_text.update({why: None}))
        limits = {"calls_a_minute": typed["rpm"], "tokens_a_minute": typed["tpm"]}
        found = estimate(asked, panel.store, judge.price, at_once=typed["concurrency"], retry=typed["retry"], **limits)
        rows.append((judge, found))
    if as_json:
        prices = [None if judge.price is None else asdict(judge.price) for judge, _ in rows]
        print_json({j.name: {**asdict(e), "price": p} for (j, e), p in zip(rows, prices, strict=True)})
    else:
        for judge, found in rows:
            click.echo(visible(_estimated(judge, found)))
    tell_left_out(panel)


def _estimated(judge: Judge, found: Estimate) -> str:
    """An estimate in a sentence or two."""
    if not found.calls:
        return f"{judge.name}: nothing to ask; all {count(found.known, 'question')} have an answer."
    known = f" ({found.known:,} more have an answer)" if found.known else ""
    tokens = f"{found.tokens_in[0]:,.0f} to {found.tokens_in[1]:,.0f} tokens in the questions"
    times = " to ".join(f"{minutes:.1f}" for minutes in found.minutes)
    text = f"{judge.name}: {count(found.calls, 'call')}{known}, {tokens}, {times} minutes. "
    if judge.price is None or found.dollars is None:
        return text + f"The price of {judge.asker.model.name} is not known: name it by --price."
    least, most = found.dollars
    per = f"${judge.price.question:g} and ${judge.price.answer:g} a million tokens, {judge.price.source}"
    return text + f"${least:.4f} to ${most:.4f} (at {per})."


@contextmanager
def asking_bar(panel: Panel) -> Iterator[Callable[[], None]]:
    """A bar while a panel is asked: the rate, the cost so far and the time left; only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task, began = bar.add_task("", total=panel.total, rate=""), time.monotonic()

    def told() -> None:
        asked = sum(tally.asked for tally in panel.tallies.values())
        known = sum(tally.known for tally in panel.tallies.values())
        rate = f"{asked / (time.monotonic() - began):.1f} a second, ${panel.budget.spent:.4f}"
        bar.update(task, completed=asked + known, rate=rate)

    with bar:
        yield told
