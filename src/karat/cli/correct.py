"""`karat correct`: scores, or the difference of two, without the judges' errors, from files or printed figures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, read_several, run_files
from karat.cli.results import print_result, tell_as
from karat.correction.corrected_runs import corrected_runs
from karat.correction.error_rates import Accuracy
from karat.correction.published_pairs import CorrectedPair, corrected_difference
from karat.correction.published_pairs import needed as plan_of
from karat.correction.published_scores import Corrected, Observed, corrected_score
from karat.correction.two_samples import CorrectedRuns
from karat.errors import BadInput
from karat.formats import read_confusion
from karat.records import Result

EXAMPLES = """\b
Examples, from files and from printed figures:
  karat correct crowd.csv a.run b.run -m P@3 --gold gold.csv
  karat correct crowd.csv a.run b.run -m P@3 --gold gold.csv --per-run
  karat correct crowd.csv a.run b.run -m DCG@5 --confusion confusion.csv
  karat correct crowd.csv a.run -m P@3 --relevant 43/59 --nonrelevant 67/84
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --relevant 43/59 --nonrelevant 67/84
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --score 0.6385 --sd 0.402 --n-queries 20604 \\
      --relevant 43/59 --nonrelevant 67/84
  karat correct --score 0.61 --sd 0.30 --n-queries 200 --score 0.64 --sd 0.31 --n-queries 200 --sd-difference 0.18 \\
      --relevant 130/150 --nonrelevant 128/150
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --relevant 43/59 --nonrelevant 67/84 --needed 0.02
  karat correct --score 0.41 --n-queries 500 --relevant 84/127 --nonrelevant 96/109 --json

karat judges confusion --out writes the file for --confusion."""

#: What goes with printed figures, and what with files.
OF_FIGURES = ("scores", "sds", "sizes", "sd_difference", "needed")
OF_FILES = ("measure", "gold", "confusion", "per_run", "database", "scale", "drop_bad_labels", "time_format")


@click.command(epilog=EXAMPLES, short_help="Scores without the judges' errors, from files or printed figures.")
@click.argument("labels", required=False)
@click.argument("runs", metavar="[RUN_A [RUN_B]]", nargs=-1)
@options.measure(default="P@10")
@options.gold
@click.option(
    "--confusion",
    metavar="FILE",
    multiple=True,
    help="How often each true grade gets each label; twice if each run has its own.",
)
@click.option(
    "--per-run", is_flag=True, help="Count how judges err for each run apart, on the gold documents it shows."
)
@click.option("--score", "scores", type=float, multiple=True, help="P@k by the judges' labels; twice: A, B.")
@click.option("--sd", "sds", type=float, multiple=True, help="Its standard deviation over queries; without: P@1.")
@click.option("--n-queries", "sizes", type=int, multiple=True, help="How many queries.")
@click.option(
    "--relevant",
    multiple=True,
    metavar="R/N",
    help="Of N documents that gold calls relevant, the judges agree on R; twice if each system has its own gold.",
)
@click.option("--nonrelevant", multiple=True, metavar="R/N", help="The same for those not relevant.")
@click.option("--sd-difference", type=float, help="The standard deviation of a query's difference between two systems.")
@click.option("--needed", type=float, metavar="X", help="Queries and gold labels that a true difference of X needs.")
@options.resampling
@options.study
@options.form
def correct(
    labels: str | None,
    runs: tuple[str, ...],
    measure: str,
    gold: str | None,
    confusion: tuple[str, ...],
    per_run: bool,
    scores: tuple[float, ...],
    sds: tuple[float, ...],
    sizes: tuple[int, ...],
    relevant: tuple[str, ...],
    nonrelevant: tuple[str, ...],
    sd_difference: float | None,
    needed: float | None,
    reading: Reading,
    form: options.Form,
    **chance: Any,
) -> None:
    """Scores as they would be without the judges' errors, of one system or two.

    From files: LABELS and one run or two, which may have the same queries, some, or none in common. How often judges
    err is told by --gold, labels of a trusted judge for documents that LABELS have, too, shown by a run or not; by
    --confusion, a matrix of one's own; or by counts, --relevant and --nonrelevant.
    From printed figures alone: --score, --sd and --n-queries, and the counts.
    B, the second, is compared with A, the first. An impossible corrected score gives no verdict.
    Exit code 1: the data cannot say.
    """
    accuracies = _accuracies(relevant, nonrelevant)
    if labels is None:
        options.refuse(*OF_FILES, why="it is for files, and no LABELS are named")
        _of_figures(_systems(scores, sds, sizes), accuracies, sd_difference, needed, form, chance)
        return
    options.refuse(*OF_FIGURES, why="LABELS and runs are named, and the figures are theirs")
    given = {"--gold": gold is not None, "--confusion": bool(confusion), "--relevant": bool(accuracies)}
    named = [option for option, there in given.items() if there]
    if len(named) > 1:
        raise BadInput(f"{' and '.join(named)} both say how often judges err: choose one")
    files = run_files(labels, runs)
    if [labels, *files, gold, *confusion].count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    lists = read_several(files)
    tables = [read_confusion(path) for path in confusion] or [_table(accuracy) for accuracy in accuracies]
    study = reading.study(labels, gold=gold)
    found = corrected_runs(
        study.judged,
        lists,
        measure,
        gold=None if tables else study.gold,
        confusion=tables or None,
        per_run=per_run,
        **chance,
    )
    tell_as(form, found.to_dict(), found, lambda: _print_runs(found))
    if found.verdict == "cannot say":
        sys.exit(1)


def _of_figures(
    systems: list[Observed],
    accuracies: list[Accuracy],
    sd_difference: float | None,
    needed: float | None,
    form: options.Form,
    chance: dict[str, Any],
) -> None:
    """What printed figures are worth."""
    if not accuracies:
        raise BadInput("--relevant and --nonrelevant are needed: how often the judges agree with gold labels")
    found: Corrected | CorrectedPair
    if len(systems) == 1:
        if sd_difference is not None or len(accuracies) > 1:
            what = "--sd-difference" if sd_difference is not None else "--relevant"
            raise BadInput.at(what, expected="a second --score to compare", found="one score")
        found = corrected_score(systems[0], accuracies[0], **chance)
    else:
        second = accuracies[1] if len(accuracies) > 1 else None
        found = corrected_difference(
            systems[0], systems[1], accuracies[0], second, sd_difference=sd_difference, **chance
        )
    plan = None
    if needed is not None:
        plan = plan_of(needed, systems[0], accuracies[0], sd_difference=sd_difference, level=chance["level"])
    document = found.to_dict() | ({} if plan is None else {"needed": plan.to_dict()})
    rows = Result(found.to_frame(), found.finding, found.notes)
    tell_as(form, document, rows, lambda: _print(rows, plan), [] if plan is None else ["needed"])
    if isinstance(found, CorrectedPair) and found.verdict == "cannot say":
        sys.exit(1)


def _print_runs(found: CorrectedRuns) -> None:
    _print(Result(found.to_frame(), found.finding), None, dict(zip("ab", found.systems, strict=False)))
    if found.pair is not None:
        click.echo()
        wide = found.scores.filter(pl.col("method") == "corrected").drop("method")
        wide = wide.insert_column(1, found.scores.filter(pl.col("method") == "naive")["score"].alias("naive"))
        print_result(Result(wide.rename({"score": "corrected", "n_queries": "queries"}), "Each run's own score:"))
    click.echo()
    accuracy = found.accuracy if found.accuracy["system"].null_count() == 0 else found.accuracy.drop("system")
    print_result(Result(accuracy.drop("effective"), "How often labels are right:", found.notes))


def _table(accuracy: Accuracy) -> pl.DataFrame:
    """Counts of relevant documents and others as a confusion matrix of two grades."""
    rows = [
        (grade, label, (agreed if grade == label else n - agreed) / n, n)
        for grade, (_, agreed, n) in zip((1, 0), accuracy.checked().counts, strict=True)
        for label in (0, 1)
    ]
    return pl.DataFrame(rows, schema=["grade", "label", "share", "n"], orient="row")


def _print(found: Result, plan: Result | None, heads: dict[str, str] | None = None) -> None:
    # Intervals of so different a width need columns of their own: one number of decimals would hide the narrow ones.
    frame = found.frame.rename({"low": "from", "high": "to"})
    shown = ("method", "score", "a", "b", "difference", "from", "to", "standard_error", "p")
    print_result(replace(found, frame=frame, columns=shown), heads=heads)
    if plan is not None:
        click.echo()
        print_result(plan)


def _systems(scores: Sequence[float], sds: Sequence[float], sizes: Sequence[int]) -> list[Observed]:
    if not scores:
        raise BadInput("LABELS and a run are needed, or printed figures: --score and --n-queries")
    if len(scores) > 2:
        raise BadInput.at(
            "--score", expected="one score, or two to compare", found=f"{len(scores)}", remedy="compare two at a time"
        )
    if len(sizes) != len(scores):
        raise BadInput.at("--n-queries", expected=f"one for each score ({len(scores)})", found=f"{len(sizes)}")
    if len(sds) not in (0, len(scores)):
        raise BadInput.at("--sd", expected=f"one for each score ({len(scores)}), or none", found=f"{len(sds)}")
    spreads: Sequence[float | None] = sds or [None] * len(scores)
    return [Observed(score, n, sd) for score, n, sd in zip(scores, sizes, spreads, strict=True)]


def _accuracies(relevant: Sequence[str], nonrelevant: Sequence[str]) -> list[Accuracy]:
    if len(relevant) != len(nonrelevant) or len(relevant) > 2:
        raise BadInput.at(
            "--relevant and --nonrelevant",
            expected="one each, or two each if each system has its own gold",
            found=f"{len(relevant)} and {len(nonrelevant)}",
        )
    return [Accuracy.of(yes, no) for yes, no in zip(relevant, nonrelevant, strict=True)]
