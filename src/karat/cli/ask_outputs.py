"""What `karat ask` says and writes: the bar, the estimate, the labels, and a sentence with counts."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from karat.cli.ask_inputs import Asked
from karat.cli.results import print_json
from karat.cli.terminal import tell_notes, visible, waiting
from karat.formats import read_judgments, write
from karat.labels.selection import LLM
from karat.llm.answer_form import CANT_TELL
from karat.llm.answer_rows import Answered, Judge, questions
from karat.llm.asking import ASKED_AGAIN, Estimate, estimate
from karat.llm.model_names import is_same_model
from karat.llm.outcomes import GRADED, NO_ANSWER
from karat.llm.panel import Gathered, Panel, gather, in_words
from karat.records import Judgments, Preferences, Records
from karat.records.table import count

if TYPE_CHECKING:
    from karat.llm.audit_sheet import LLMAudit

#: The file of a study's folder with what an audit asked.
AUDIT = "llm-audit.csv"
#: Of fewer documents the same grade may be the truth.
FEWEST_ALIKE = 10
#: The records that the answers to each kind of task are, and what stands in the name of their file; for those that are
#: none, the column of the answer.
FILES: dict[str, tuple[type[Records] | str, str]] = {
    "judge": (Judgments, ""),
    "pair": (Preferences, "preferences"),
    "code": ("class", "codes"),
    "support": ("choice", "support"),
    "nugget": ("choice", "nuggets"),
}


def tell(
    panel: Panel, asked: Asked, out: str | None, as_json: bool, *, expected: bool = False, sends: bool = True
) -> str:
    """Write the labels, put them into the study's log, and say what came of it; what is left over, in a sentence."""
    log: dict[str, list[dict[str, Any]]] = {judge.name: [] for judge in panel.judges}
    audit = any("request" in task for judge in panel.judges for task in judge.tasks)
    keeps = asked.opened is not None and not audit

    def keep(one: Answered) -> None:
        from karat.llm.study_tasks import log_row

        if (row := log_row(one)) is not None:
            log[one.judge.name].append(row)

    found = gather(panel, keep) if keeps else gather(panel)
    written = _write(found, out, expected) if out else []
    written += _keep_audit(found, asked) if audit and asked.opened is not None else []
    sheets = _audited(found, asked) if audit else None
    taken = _record(asked, log) if keeps else []
    if as_json:
        said = {"outcomes": {name: dict(counts) for name, counts in found.outcomes.items()}}
        said |= {} if sheets is None else {"audit": sheets.to_dict()}
        print_json(
            said
            | {
                "spent": panel.budget.spent if any(judge.price for judge in panel.judges) else None,
                "files": written,
                "study": taken,
                "left_out": [*dict.fromkeys(panel.no_text.values())],
            }
        )
    else:
        for name, counts in found.outcomes.items():
            click.echo(visible(in_words(name, counts)))
        if any(judge.price for judge in panel.judges):
            click.echo(f"Spent now: ${panel.budget.spent:.4f}.")
        for line in (*taken, *(f"Wrote {what}." for what in written)):
            click.echo(visible(line))
        if sheets is not None:
            from karat.cli.judges.llm import print_audit

            click.echo()
            print_audit(sheets)
    tell_notes(f"{kind}, the first of them: {why}" for kind, why in found.why.items() if why)
    tell_left_out(panel)
    _tell_other_models(found)
    _tell_alike(found)
    counts = sum(found.outcomes.values(), Counter[str]())
    if not counts.total():
        return "there was nothing to ask: no task has a text to show"
    left = counts.total() - counts[GRADED] - counts[CANT_TELL]
    if not left:
        return ""
    again = [kind for kind in NO_ANSWER if counts[kind] and kind not in ASKED_AGAIN]
    how = f"--retry {' --retry '.join(map(repr, again))} asks again" if again else "the same command asks again"
    return f"{count(left, 'question')} without an answer; {how if sends else 'without --replay they are asked'}"


def _tell_other_models(found: Gathered) -> None:
    """Say where another model was allowed to answer, and where several versions of a model did."""
    rows = [found.table(kind).select("judge", "model", "returned_model", "outcome") for kind in FILES]
    valid = pl.concat(rows).drop_nulls().filter(pl.col("outcome").is_in([GRADED, CANT_TELL])).drop("outcome")
    for (judge, model), names in valid.group_by("judge", "model", maintain_order=True):
        replied = names["returned_model"].unique(maintain_order=True).to_list()
        others = [name for name in replied if not is_same_model(str(model), name)]
        versions = [name for name in replied if name not in others]
        tell_notes(f"asked for {model}, answered by {name} (--allow-model)" for name in others)
        if len(versions) > 1:
            named = ", ".join(sorted(versions))
            tell_notes([f"{judge} was answered by {len(versions)} versions of {model}: {named}"])


def _tell_alike(found: Gathered) -> None:
    """Say where a judge gave all documents the same grade: such labels tell nothing of a ranking."""
    grades = found.table("judge").filter(pl.col("aspect").is_null()).drop_nulls("label")
    alike = grades.group_by("judge", maintain_order=True).agg(
        pl.len(), pl.col("label").n_unique(), pl.first("label").alias("grade")
    )
    tell_notes(
        f"{judge} gave all {number:,} documents the grade {grade:g}: such labels tell no ranking from another"
        for judge, number, grades_given, grade in alike.iter_rows()
        if grades_given == 1 and number >= FEWEST_ALIKE
    )


def _audited(found: Gathered, asked: Asked) -> LLMAudit | None:
    """The sheets of an audit, as `karat judges llm` has them; none where no document was graded."""
    from karat.llm.audit import audit_llm

    rows = found.table("judge")
    pairs = found.table("pair").drop_nulls("choice")
    if not rows["label"].count():
        return None
    with waiting("Looking"):
        return audit_llm(
            Judgments.of(rows.select(name for name in rows.columns if name == "label" or rows[name].count())),
            gold=asked.gold,
            preferences=Preferences.of(pairs) if pairs.height else None,
            **asked.beside,
        )


def _write(found: Gathered, out: str, expected: bool) -> list[str]:
    """The labels in a file, real numbers where `expected`, and what is no label of a document beside it."""
    said = []
    for kind, (records, name) in FILES.items():
        rows, path = found.table(kind), _beside(out, name) if name else out
        if kind == "pair" and (none := rows["choice"].null_count()):
            tell_notes([f"{count(none, 'question')} about lists came to no choice: not in {path}"])
            rows = rows.drop_nulls("choice")
        if not rows.height:
            continue
        if kind == "judge" and expected:
            none = rows.filter(pl.col("label").is_not_null() & pl.col("expected_grade").is_null()).height
            tell_notes(
                [f"{count(none, 'grade')} without log-probabilities: no expected grade, no label"] if none else []
            )
            rows = rows.with_columns(label=pl.col("expected_grade"))
        always = {"query", "judge", "outcome", *([records] if isinstance(records, str) else records.schema.required)}
        rows = rows.select(name for name in rows.columns if name in always or rows[name].count())
        tell_notes(write(_table(rows) if isinstance(records, str) else records.of(rows), path))
        said.append(f"{count(rows.height, 'row')} to {path}")
    return said


def _keep_audit(found: Gathered, asked: Asked) -> list[str]:
    """An audit of a study beside it, for its sheet and its report; what other judges were asked there stays."""
    assert asked.opened is not None
    path, rows = asked.opened.folder.path / AUDIT, found.table("judge")
    if not rows.height:
        return []
    if path.is_file():
        before = read_judgments(path).frame
        others = before.filter(~pl.col("judge").is_in(rows["judge"].unique().to_list()))
        rows = pl.concat([others, rows], how="diagonal_relaxed")
    rows = rows.select(name for name in rows.columns if name == "label" or rows[name].count())
    write(Judgments.of(rows), str(path))
    return [f"{count(rows.height, 'row')} to {path}, for karat judges llm and karat report"]


def _table(rows: pl.DataFrame) -> Records:
    from karat.study.exports import Table

    return Table(rows)


def _beside(out: str, what: str) -> str:
    path = Path(out)
    return str(path.with_name(f"{path.stem}-{what}{''.join(path.suffixes)}"))


def _record(asked: Asked, log: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    """Put the answers into the study's log."""
    from karat.llm.study_tasks import record

    said = []
    assert asked.opened is not None
    for judge, rows in log.items():
        done = record(asked.opened.store, rows)
        line = f"{count(done.new, 'new answer')} of {judge} in the study, group {LLM}"
        line += f"; {done.known:,} were there already" if done.known else ""
        if done.changed:
            line += f"; {done.changed:,} unlike what {judge} said before, which stands: name another judge by --as"
        said.append(f"{line}.")
    return said


def tell_left_out(panel: Panel) -> None:
    """What was not asked, or not shown whole."""
    cut = {doc for judge in panel.judges for doc in judge.asker.cut}
    notes = []
    if panel.no_text:
        first = next(iter(panel.no_text.values()))
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
        asked = questions(judge, panel.leave_out)
        limits = {"calls_a_minute": typed["rpm"], "tokens_a_minute": typed["tpm"]}
        if typed["batch"] and judge.price is not None:
            judge = replace(judge, price=judge.price.halved)
        found = estimate(asked, panel.store, judge.price, at_once=typed["concurrency"], retry=typed["retry"], **limits)
        rows.append((judge, found))
    if as_json:
        prices = [None if judge.price is None else asdict(judge.price) for judge, _ in rows]
        print_json({j.name: {**asdict(e), "price": p} for (j, e), p in zip(rows, prices, strict=True)})
    else:
        for judge, found in rows:
            click.echo(visible(_estimated(judge, found, typed["batch"])))
    tell_left_out(panel)


def _estimated(judge: Judge, found: Estimate, batch: bool) -> str:
    """An estimate in a sentence or two."""
    if not found.calls:
        return f"{judge.name}: nothing to ask; all {count(found.known, 'question')} have an answer."
    known = f" ({found.known:,} more have an answer)" if found.known else ""
    tokens = f"{found.tokens_in[0]:,.0f} to {found.tokens_in[1]:,.0f} tokens in the questions"
    times = "a day at most" if batch else " to ".join(f"{minutes:.1f}" for minutes in found.minutes) + " minutes"
    text = f"{judge.name}: {count(found.calls, 'call')}{known}, {tokens}, {times}. "
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
        bar.update(task, completed=asked + known + len(panel.no_text), rate=rate)

    with bar:
        yield told
