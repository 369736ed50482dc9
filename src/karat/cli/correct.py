"""`karat correct`: a score, or the difference of two, with the judges' errors allowed for, from summary figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from karat.cli import options
from karat.cli.results import print_result, tell_as
from karat.errors import BadInput
from karat.published.accuracy import Accuracy
from karat.published.corrected import Corrected, corrected_score
from karat.published.corrected_pair import CorrectedPair, corrected_difference
from karat.published.needed import needed as plan_of
from karat.published.observed import Observed
from karat.records import Result

EXAMPLES = """\b
Examples:
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --relevant 43/59 --nonrelevant 67/84
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --score 0.6385 --sd 0.402 --n-queries 20604 \\
      --relevant 43/59 --nonrelevant 67/84
  karat correct --score 0.61 --sd 0.30 --n-queries 200 --score 0.64 --sd 0.31 --n-queries 200 --sd-difference 0.18 \\
      --relevant 130/150 --nonrelevant 128/150
  karat correct --score 0.6260 --sd 0.414 --n-queries 10278 --relevant 43/59 --nonrelevant 67/84 --needed 0.02
  karat correct --score 0.41 --n-queries 500 --relevant 84/127 --nonrelevant 96/109 --json"""


@click.command(epilog=EXAMPLES, short_help="A score without the judges' errors, from summary figures.")
@click.option(
    "--score", "scores", type=float, multiple=True, required=True, help="P@k by the judges' labels; twice: A, B."
)
@click.option("--sd", "sds", type=float, multiple=True, help="Its standard deviation over queries; without: P@1.")
@click.option("--n-queries", "sizes", type=int, multiple=True, required=True, help="How many queries.")
@click.option(
    "--relevant",
    multiple=True,
    required=True,
    metavar="R/N",
    help="Of N documents that gold calls relevant, the judges agree on R; twice if each system has its own gold.",
)
@click.option("--nonrelevant", multiple=True, required=True, metavar="R/N", help="The same for those not relevant.")
@click.option("--sd-difference", type=float, help="The standard deviation of a query's difference between two systems.")
@click.option("--needed", type=float, metavar="X", help="Queries and gold labels that a true difference of X needs.")
@options.resampling
@options.form
def correct(
    scores: tuple[float, ...],
    sds: tuple[float, ...],
    sizes: tuple[int, ...],
    relevant: tuple[str, ...],
    nonrelevant: tuple[str, ...],
    sd_difference: float | None,
    needed: float | None,
    level: float,
    form: options.Form,
    **drawn: Any,
) -> None:
    """A score as it would be without the judges' errors, from figures alone.

    Takes the score that judges' labels give a system, and how often the judges agree with gold labels on a sample.
    With a second score, which of two systems is better: B, the second, against A, the first.
    """
    systems, accuracies = _systems(scores, sds, sizes), _accuracies(relevant, nonrelevant)
    found: Corrected | CorrectedPair
    if len(systems) == 1:
        if sd_difference is not None or len(accuracies) > 1:
            what = "--sd-difference" if sd_difference is not None else "--relevant"
            raise BadInput.at(what, expected="a second --score to compare", found="one score")
        found = corrected_score(systems[0], accuracies[0], level=level, **drawn)
    else:
        found = corrected_difference(
            systems[0],
            systems[1],
            accuracies[0],
            accuracies[1] if len(accuracies) > 1 else None,
            sd_difference=sd_difference,
            level=level,
            **drawn,
        )
    plan = None
    if needed is not None:
        plan = plan_of(needed, systems[0], accuracies[0], sd_difference=sd_difference, level=level)
    document = found.to_dict() | ({} if plan is None else {"needed": plan.to_dict()})
    rows = Result(found.to_frame(), found.finding, found.notes)
    tell_as(form, document, rows, lambda: _print(rows, plan), [] if plan is None else ["needed"])


def _print(found: Result, plan: Result | None) -> None:
    # Intervals of so different a width need columns of their own: one number of decimals would hide the narrow ones.
    frame = found.frame.rename({"low": "from", "high": "to"})
    shown = ("method", "score", "a", "b", "difference", "from", "to", "standard_error", "p")
    print_result(replace(found, frame=frame, columns=shown))
    if plan is not None:
        click.echo()
        print_result(plan)


def _systems(scores: Sequence[float], sds: Sequence[float], sizes: Sequence[int]) -> list[Observed]:
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
