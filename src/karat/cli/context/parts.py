"""The parts of `karat context`: coverage, distribution, change, correlation, prediction, agreement, and all of them."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.context.labels import labels
from karat.cli.named_measures import measures_named
from karat.cli.part import every_part, part
from karat.cli.results import Tables
from karat.errors import BadInput
from karat.judges import (
    aspect_coverage,
    aspect_distribution,
    change_correlation,
    grade_change,
    mean_change,
    overall_correlation,
    predict_overall,
    setting_agreement,
)
from karat.validity.reuse import MEASURES, SOURCES
from karat.validity.reuse import reuse as leave_one_out


@part(of_labels(), examples="karat context coverage judgments.csv")
def coverage(given: Aspects) -> Tables:
    """How often judges have an answer to each aspect, alone and in context."""
    return {"Coverage": aspect_coverage(given.judgments, **given.chance)}


@part(of_labels(), examples="karat context distribution judgments.csv")
def distribution(given: Aspects) -> Tables:
    """How the grades of each aspect spread, alone and in context."""
    return {"Distribution": aspect_distribution(given.judgments, **given.chance)}


@part(
    of_labels(options.by),
    examples="""karat context change judgments.csv
karat context change judgments.csv --by documents_before""",
)
def change(given: Aspects) -> Tables:
    """How far grades change when another document was read before, by how much and which way."""
    level = given.chance["level"]
    tables = {
        "Size of change": grade_change(given.judgments, **given.chance),
        "Mean change": mean_change(given.judgments, level=level),
    }
    for by in given.by:
        tables[f"Mean change by {by}"] = mean_change(given.judgments, by, level=level)
    return tables


@part(of_labels(), examples="karat context correlation judgments.csv --json")
def correlation(given: Aspects) -> Tables:
    """Which aspects go with overall, alone and in context, and which change together."""
    tables = {"Correlation with overall": overall_correlation(given.judgments, **given.chance)}
    if given.judgments.has("context"):
        tables["Correlation of changes"] = change_correlation(given.judgments, **given.chance)
    return tables


@part(of_labels(), examples="karat context prediction judgments.csv")
def prediction(given: Aspects) -> Tables:
    """How well sets of aspects tell overall, alone and in context."""
    return {"Prediction of overall": predict_overall(given.judgments, **given.chance)}


@part(of_labels(), examples="karat context agreement judgments.csv")
def agreement(given: Aspects) -> Tables:
    """Whether judges agree on each aspect, alone and in context."""
    return {"Agreement": setting_agreement(given.judgments, **given.chance)}


@part(
    of_labels(options.documents, options.depth(None, otherwise="as far as the measures look"), runs=True),
    options.measure(several=True, otherwise=", ".join(MEASURES)),
    options.source(several=True, otherwise="judged, backed-off, predicted"),
    options.predictor,
    examples="""karat context reuse judgments.csv a.run b.run c.run
karat context reuse my-study -m "CCG(context=0.5)@5" --source predicted --predictor features""",
)
def reuse(given: Aspects, depth: int | None, measure: tuple[str, ...], source: tuple[str, ...], model: str) -> Tables:
    """Whether labels serve a run that had no part in what was judged: each run is left out in turn, and scored."""
    if given.runs is None:
        raise BadInput("runs to leave out in turn are needed: name them after LABELS")
    options.refuse("draws", why="intervals are by Student's t over queries")
    options.refuse_documents(model)
    found = leave_one_out(
        given.judgments,
        given.runs,
        measures_named(measure) or MEASURES,
        sources=source or SOURCES,
        model=model,
        documents=given.documents,
        depth=depth,
        level=given.chance["level"],
        seed=given.chance["seed"],
    )
    return {"Reuse": found}


EXAMPLES = """\b
Examples:
  karat context all judgments.csv
  karat context my-study
  karat context judgments.csv my.run"""


@click.command("all", epilog=EXAMPLES)
@of_labels(options.by, runs=True)
@options.form
def all_(given: Aspects, form: options.Form) -> None:
    """All that the data allows, the parts one after another; what is left out is said, with the reason."""
    every_part(given, [coverage, distribution, change, correlation, prediction, agreement, labels], form)
