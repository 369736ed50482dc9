"""`karat compare`: which system is better, given that the labels are wrong sometimes?"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import click

from karat.cli import options
from karat.cli.inputs import Reading, run_files
from karat.cli.results import print_result, tell_as
from karat.cli.runs import read_several
from karat.cli.tables import console, say, side_by_side
from karat.comparison import Comparison
from karat.comparison import compare as compared
from karat.comparison.verdict import Method
from karat.errors import BadInput
from karat.measures import profile_named
from karat.records import Result
from karat.records.number_format import figure

EXAMPLES = """\b
Examples:
  karat compare qrels.txt bm25.run neural.run -m nDCG@10
  karat compare llm.csv bm25.run neural.run -m P@10 --gold gold.csv
  karat compare llm.csv a.run b.run c.run d.run -m "DCG@10" --gold gold.csv --json
  karat compare crowd.csv a.run b.run -m P@10 --consensus dawid-skene --gold gold.csv
  karat compare qrels.txt a.run b.run -m P@10 --peek 400

karat plan gold draws the documents worth a gold label and writes the file for --gold."""

#: The methods of the table in a few words each; inversion-independent goes with inversion.
ABOUT = {
    "plain": "plain, the labels as they are",
    "ppi": "ppi, corrected with gold labels, right for any judge",
    "inversion": "inversion, right for a judge who errs alike on all systems (-independent: each system apart)",
}


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@click.argument("runs", metavar="RUN_A RUN_B [RUN...]", nargs=-1)
@options.measure(otherwise="nDCG@10, or P@10 with --gold")
@options.gold
@click.option(
    "--method",
    default="auto",
    type=click.Choice(["auto", "plain", "inversion", "inversion-independent", "ppi"]),
    help="The method that decides: auto is ppi with gold labels, plain without.",
)
@options.queries_are
@options.consensus_or_model
@click.option("--peek", type=int, metavar="N", help="Intervals for looking again and again; N queries are planned.")
@options.by_query
@options.profile
@options.complete
@options.level
@options.test_draws
@options.seed
@options.study
@options.form
def compare(
    labels: str,
    runs: tuple[str, ...],
    measure: str | None,
    gold: str | None,
    method: Method,
    queries_are: Literal["sample", "fixed"],
    by_query: bool,
    profile: str,
    reading: Reading,
    form: options.Form,
    **asked: Any,
) -> None:
    """Say which system is better, and how sure that is.

    The verdict is about RUN_B against RUN_A; with more runs, about the best against all others. LABELS may be wrong
    sometimes: with --gold, the labels of a trusted judge for a sample of documents, the verdict holds nevertheless.
    LABELS may be a study's folder: then labels, gold labels and runs are the study's, unless they are named.
    Exit code 1: the data cannot say.
    """
    if [labels, *runs, gold].count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    by_rank = profile_named(profile).order == "rank"
    lists = read_several(run_files(labels, runs), ranks=by_rank)
    study = reading.study(labels, gold=gold)
    found = compared(
        study.judged,
        lists,
        measure,
        gold=study.gold,
        method=method,
        queries=queries_are,
        profile=profile,
        **asked,
    )
    document = found.to_dict() | ({"by_query": found.by_query.to_dicts()} if by_query else {})
    rows = Result(found.by_query if by_query else found.methods, found.finding, found.notes)
    tell_as(form, document, rows, lambda: _print(found, by_query))
    if found.verdict == "cannot say":
        sys.exit(1)


def _print(found: Comparison, by_query: bool) -> None:
    out = console()
    many = len(found.systems) > 2
    say(out, found.finding)
    methods = found.methods.drop("system_a", "system_b") if not many else found.methods.drop("system_a")
    names = {"n_queries": "queries", "n_gold": "gold"} | ({"system_b": "system"} if many else {})
    heads = {"a": found.systems[0], "b": "score" if many else found.systems[1]}
    print_result(Result(methods.rename(names), ""), heads=heads)
    if found.pairs.height:
        out.print()
    if many and found.ranks.height:
        print_result(Result(found.ranks.rename({"best_rank": "from", "worst_rank": "to"}), "Places each may have:"))
        out.print()
        print_result(Result(found.pairs.drop("effect"), "Every pair, b - a:"))
    elif found.pairs.height:
        row = found.pairs.row(0, named=True)
        said = f"By the labels {found.systems[1]} wins {row['wins']}, ties {row['ties']}, loses {row['losses']} queries"
        if found.method in ("plain", "inversion") and found.tests is not None:
            effect = "" if math.isnan(row["effect"]) else f"; effect size {row['effect']:.2f}"
            print_result(Result(found.tests, f"{said}{effect}."))
        else:
            say(out, f"{said}.")
    if found.judge is not None:
        out.print()
        print_result(Result(found.judge, "The judge's error, gain by label less gain by gold label:"))
    if by_query:
        rows = [[row["query"], *(figure(row[s], 4) for s in found.systems)] for row in found.by_query.to_dicts()]
        out.print()
        say(out, "Every query's scores by the labels:")
        for table in side_by_side(["query", *found.systems], rows, out.width):
            out.print(table)
    for note in found.notes:
        say(out, f"- {note}")
    shown = [ABOUT[name] for name in found.methods["method"].unique(maintain_order=True) if name in ABOUT]
    if len(shown) > 1:
        say(out, f"Methods: {'; '.join(shown)}. More: docs/compare.md")
