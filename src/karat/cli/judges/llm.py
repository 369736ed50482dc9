"""`karat judges llm`: can you trust this LLM as a judge?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, read_several, runs_in
from karat.cli.results import console, say, side_by_side, tell_as
from karat.cli.terminal import waiting
from karat.formats.open_files import File
from karat.llm.audit import audit_llm
from karat.llm.audit_sheet import LLMAudit, LLMSheet, main_figures, where_it_errs
from karat.records.number_format import figure
from karat.records.runs import together

EXAMPLES = """\b
Examples:
  karat judges llm llm.csv --gold gold.csv
  karat judges llm llm.csv bm25.run neural.run --gold gold.csv --documents docs.jsonl --queries queries.csv
  karat judges llm umbrela.jsonl --gold gold.csv --documents passages.jsonl --queries queries.csv
  karat judges llm gpt.csv --labels llama.csv --gold gold.csv --preferences both-orders.csv --json
  karat judges llm quepid-book.json --llm-judge judge@example.com --gold gold.csv
  karat judges llm my-study --group llm"""


@click.command(epilog=EXAMPLES, short_help="Whether to use an LLM as a judge, and with how many gold labels.")
@click.argument("labels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@options.gold
@click.option("--labels", "more_labels", multiple=True, metavar="FILE", help="More labels, a group each; repeatable.")
@options.side_by_side
@options.documents
@options.queries
@click.option("--llm-judge", "llms", multiple=True, metavar="NAME", help="A judge who is an LLM; may be repeated.")
@options.group
@options.measure(otherwise="nDCG@10")
@options.difference(0.02)
@click.option(
    "--width", default=0.1, show_default=True, help="Without two runs: how well a mean grade should be known."
)
@options.resampling
@options.study
@options.form
def llm(
    labels: str,
    runs: tuple[str, ...],
    gold: str | None,
    more_labels: tuple[str, ...],
    preferences: str | None,
    documents: str | None,
    queries: str | None,
    llms: tuple[str, ...],
    group: str | None,
    measure: str | None,
    difference: float,
    width: float,
    reading: Reading,
    form: options.Form,
    **chance: Any,
) -> None:
    """Can you trust this judge? A sentence (use it, use it only with so many gold labels, do not use it), then why.

    LABELS are what karat ask wrote, or UMBRELA's JSON lines, a Quepid book, or any table of query, doc and label, with
    what else is known: model, outcome, repeat, altered (canaries), expected_grade, cost. A sheet for each LLM: judges
    named with --llm-judge, or of --group, or of the group llm, or with a model, or all; others are people. Two runs
    say what the plan is for: the gold labels that show --difference in the measure between them. A study's folder
    stands for labels, gold labels, runs and all else.
    """
    study = reading.study(
        labels,
        only=("documents", "queries", "preferences"),
        more_labels=more_labels,
        gold=gold,
        documents=documents,
        queries=queries,
        preferences=preferences,
    )
    paths = list(runs) or runs_in(labels)
    lists = together(read_several(paths)) if paths else None
    if lists is not None and len(lists.systems) > 1:
        options.refuse("width", why="with two runs the plan is for a difference between them")
    else:
        options.refuse("measure", "difference", why="without two runs the plan is for a mean grade (--width)")
    judged = study.with_audit
    if not any(judged.has(name) for name in ("judge", "model", "group")):
        judged = replace(judged, frame=judged.frame.with_columns(judge=pl.lit(File(labels).stem)))
    with waiting("Looking"):
        found = audit_llm(
            judged,
            lists,
            gold=study.gold,
            preferences=study.preferences,
            queries=study.queries,
            documents=study.documents,
            llms=llms,
            group=group,
            measure=measure or "nDCG@10",
            difference=difference,
            width=width,
            **chance,
        )
    tell_as(form, found.to_dict(), found, lambda: print_audit(found))


def print_audit(found: LLMAudit) -> None:
    """A sheet under the other, then what goes for all of them."""
    out = console()
    for place, sheet in enumerate(found.sheets):
        if place:
            out.print()
        _print_sheet(sheet)
    for note in found.notes:
        say(out, f"- {note}")


def _print_sheet(sheet: LLMSheet) -> None:
    out = console()
    say(out, sheet.finding)
    out.print()
    _print_rows(main_figures(sheet.frame))
    errs = where_it_errs(sheet.frame)
    if errs.height:
        out.print()
        say(out, "Where it errs: mean of grade less gold, and what adds to it")
        _print_rows(errs)
    if sheet.confusion is not None:
        out.print()
        say(out, "How often each gold grade (down) gets each grade (across)")
        _print_rows(_square(sheet))
    if sheet.mistakes.height:
        out.print()
        say(out, "Its most telling mistakes")
        for row in sheet.mistakes.iter_rows(named=True):
            _print_mistake(sheet, row)
    for note in sheet.notes:
        say(out, f"- {note}")


def _print_rows(frame: pl.DataFrame) -> None:
    """A table of words and figures, with an empty line between the parts that it may have."""
    out = console()
    shown, parts = frame.drop("part", strict=False), frame["part"] if "part" in frame.columns else None
    rows = list[list[str]]()
    for place, row in enumerate(shown.rows()):
        if parts is not None and place and parts[place] != parts[place - 1]:
            rows.append([""] * shown.width)
        rows.append([f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row])
    for table in side_by_side(shown.columns, rows, out.width):
        out.print(table)


def _square(sheet: LLMSheet) -> pl.DataFrame:
    """The confusion as a square, with how many gold labels each row rests on."""
    assert sheet.confusion is not None
    scale = sheet.scale
    named = {} if scale is None or not scale.named else {level.grade: level.name for level in scale}
    cells = sheet.confusion.frame
    grades = cells["label"].unique().sort().to_list()
    rows = []
    for (gold,), mine in cells.group_by("grade", maintain_order=True):
        shares = dict(zip(mine["label"], mine["share"], strict=True))
        row = {"gold": named.get(gold, f"{gold:g}")}
        row |= {named.get(grade, f"{grade:g}"): f"{100 * shares[grade]:.0f} %" for grade in grades}
        rows.append(row | {"n": f"{mine['n'][0]:,}"})
    return pl.DataFrame(rows)


def _print_mistake(sheet: LLMSheet, row: dict[str, Any]) -> None:
    out, scale = console(), sheet.scale
    said = [f"{grade:g}" if scale is None else scale.name(grade) for grade in (row["label"], row["gold"])]
    query = row.get("query_text") or row["query"]
    rank = row.get("rank_shown")
    where = "" if rank is None else f", shown at rank {figure(rank, 0)}"
    document = f": {row['document']}" if row.get("document") else ""
    say(out, f"- graded {said[0]}, gold {said[1]}{where}; query {query}; document {row['doc']}{document}")
