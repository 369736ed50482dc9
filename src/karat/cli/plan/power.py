"""`karat plan power`: how many queries and gold labels does it take to detect a difference?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, read_several, run_files
from karat.cli.results import console, print_result, say, tell_as
from karat.cli.terminal import waiting
from karat.errors import BadInput
from karat.plan import PilotVariance, PowerPlan, pilot_variance, plan_power
from karat.plan.power import MIN_STUDIES, count_simulated_studies
from karat.plan.simulated_power import STUDIES
from karat.records import Result

EXAMPLES = """\b
Examples:
  karat plan power --difference 0.02 --sd-difference 0.2
  karat plan power --difference 0.02 --sd-difference 0.2 --gold-variance 0.005 --pool 8 --cost-query 5 --cost-gold 1
  karat plan power qrels.txt bm25.run neural.run -m nDCG@10 --difference 0.02
  karat plan power llm.csv a.run b.run -m P@10 --difference 0.02 --gold pilot.csv --json"""


@click.command(epilog=EXAMPLES)
@click.argument("files", metavar="[LABELS [RUN_A RUN_B]]", nargs=-1)
@options.difference()
@click.option("--sd-difference", type=float, help="The standard deviation of a query's difference between two systems.")
@options.measure(otherwise="nDCG@10")
@click.option("--power", default=0.8, help="Probability of detecting the difference.")
@click.option("--alpha", default=0.05, help="False-positive rate of the test.")
@options.gold
@options.calibrate
@click.option(
    "--gold-variance", type=float, metavar="R", help="Variance that missing gold labels add, if there is no pilot."
)
@click.option(
    "--gold-share",
    "shares",
    type=float,
    multiple=True,
    metavar="SHARE",
    help="Share of documents with a gold label.",
)
@click.option("--pool", type=float, metavar="N", help="The documents of a query that count for one system only.")
@click.option("--cost-query", type=float, metavar="C", help="What a query costs, all but its gold labels.")
@click.option("--cost-gold", type=float, metavar="C", help="What one gold label costs.")
@click.option(
    "--studies",
    type=click.IntRange(MIN_STUDIES),
    default=STUDIES,
    help="Simulated studies per share of gold labels (nDCG, RR and ERR).",
)
@options.common_queries
@options.seed
@options.corrected
@options.form
def power(
    files: tuple[str, ...],
    difference: float | None,
    sd_difference: float | None,
    measure: str | None,
    gold: str | None,
    calibrate: bool | tuple[str, ...],
    gold_variance: float | None,
    pool: float | None,
    common_queries: bool,
    reading: Reading,
    form: options.Form,
    **asked: Any,
) -> None:
    """Plan how many queries and gold labels it takes to detect a difference.

    With files, the variance between queries is estimated from the labels, and label errors from the gold labels of a
    pilot (--gold); without files, give --sd-difference and --gold-variance. With a pilot, nDCG, RR and ERR are planned
    by simulating studies. A study's folder stands for its labels and runs.
    """
    if difference is None:
        raise BadInput("give the smallest difference worth detecting, such as --difference 0.02")
    _check(files, sd_difference, gold, gold_variance)
    if gold is None:
        options.refuse("calibrate", why="it is about gold labels, and none are named by --gold")
    if files:
        study = reading.study(files[0], gold=gold)
        pilot = None if gold is None else study.gold
        lists = read_several(run_files(files[0], files[1:]))
        spread = pilot_variance(
            study.judged,
            lists,
            measure or "nDCG@10",
            gold=pilot,
            calibrate=calibrate,
            common_queries=common_queries,
        )
        if gold_variance is not None:
            spread = replace(spread, gold_variance=gold_variance)
        if pool is not None:
            spread = replace(spread, pool=pool)
    else:
        spread = PilotVariance(sd_difference or 0.0, gold_variance, pool, measure or "")
    if spread.gold_variance is None:
        options.refuse("pool", why="it counts gold labels; give a pilot with --gold, or --gold-variance")
    if asked["cost_query"] is None:
        options.refuse("cost_gold", why="gold labels are weighed against queries; give --cost-query as well")
    if spread.model is None:
        options.refuse("studies", "seed", why="nothing is simulated: that takes nDCG, RR or ERR and a pilot (--gold)")
    priced = asked["cost_query"] is not None and asked["cost_gold"] is not None
    total = count_simulated_studies(spread, asked["shares"], priced=priced, studies=asked["studies"])
    with waiting("Simulating studies", total) as study_done:
        found = plan_power(difference, spread, on_study=study_done, **asked)
    tell_as(form, found.to_dict(), found, lambda: _print(found), ["the curve of power"] if found.shares.height else [])


def _check(files: tuple[str, ...], sd: float | None, gold: str | None, gold_variance: float | None) -> None:
    """Refuse what does not go together before anything is read."""
    if not files:
        if sd is None:
            raise BadInput("give --sd-difference, or LABELS RUN_A RUN_B to take it from")
        if gold is not None:
            raise BadInput.at("--gold", expected="LABELS RUN_A RUN_B with it", found="no files")
        options.refuse(
            "scale", "drop_bad_labels", "time_format", "database", "common_queries", why="no labels are read"
        )
        return
    if sd is not None:
        raise BadInput.at(
            "--sd-difference", expected="no files with it", found=", ".join(files), remedy="leave out one or the other"
        )
    if len(files) > 3 or (len(files) == 1 and not Path(files[0]).is_dir()):
        raise BadInput.at("the files", expected="LABELS RUN_A RUN_B, or a study's folder", found=", ".join(files))
    if gold is not None and gold_variance is not None:
        raise BadInput.at("--gold-variance", expected="no --gold with it", found=gold)
    if [*files, gold].count("-") > 1:
        raise BadInput("standard input (-) can be read once only")


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with costs as whole numbers, unless they are small; power where it was simulated."""
    if "power_error" in frame.columns and frame["power_error"].is_null().all():
        frame = frame.drop("power", "power_error")
    if "cost" not in frame.columns or frame["cost"].null_count() or (frame["cost"] < 100).any():
        return frame
    return frame.with_columns(pl.col("cost").round().cast(pl.Int64))


def _print(found: PowerPlan) -> None:
    if not found.shares.height:
        print_result(Result(_whole(found.curve), found.finding))
    else:
        print_result(Result(_whole(found.shares), found.finding))
        if found.shares["cost"].null_count():
            click.echo()
            print_result(Result(_whole(found.curve), "With a gold label for every document that matters:"))
    for note in found.notes:
        say(console(), f"- {note}")
