"""The parts of `karat context`: coverage, distribution, change, correlation, prediction, agreement, and all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, measures_named, read_several, runs_in
from karat.cli.options import as_one
from karat.cli.output_formats import keep_inputs
from karat.cli.plan.context import task_file
from karat.cli.results import Tables
from karat.cli.subcommand import Given, every_part, part
from karat.context import context_accuracy, context_sources, label_in_context
from karat.context.aspect_correlation import change_correlation, overall_correlation, predict_overall
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import BEFORE, check_by, grade_change, mean_change
from karat.context.setting_agreement import setting_agreement
from karat.errors import BadInput, Undefined
from karat.formats.open_files import write_bytes
from karat.records import Documents, Judgments, Result, Runs, Scale
from karat.records.number_format import in_words
from karat.records.runs import together
from karat.records.table import count
from karat.users.pool_reuse import MEASURES, SOURCES
from karat.users.pool_reuse import reuse as leave_one_out


@dataclass(frozen=True)
class Aspects(Given):
    """What the parts of the report look at."""

    by: tuple[str, ...]
    documents: Documents | None
    runs: Runs | None
    #: The level of intervals, their draws and seed.
    chance: dict[str, Any]

    def seen(self, result: Result, title: str) -> Result:
        """A table as people see it, distributions wide."""
        return super().seen(by_grade(result, self.judgments.scale) if title == "Distribution" else result, title)


def of_labels(
    *wanted: Callable[[Any], Any], runs: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """LABELS, these options and those of every part, with `runs` the runs after the labels: all given as `given`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_given(**typed: Any) -> None:
            read = {name: typed.pop(name) for name in READ if name in typed}
            keep_inputs("--out", typed.get("out"), [read["labels"], *read.get("runs", ()), read.get("documents")])
            command(given=_read(**read), **typed)

        words = [click.argument("labels")]
        words += [click.argument("runs", metavar="[RUN...]", nargs=-1)] if runs else []
        made: Callable[..., None] = as_one(*words, *wanted, options.resampling, options.study)(with_given)
        return made

    return decorated


#: What is read before a command begins; all else that is typed goes to the command.
READ = ("reading", "labels", "level", "draws", "seed", "by", "documents", "runs")


def _read(
    reading: Reading,
    labels: str,
    by: tuple[str, ...] = (),
    documents: str | None = None,
    runs: Sequence[str] | None = None,
    **chance: Any,
) -> Aspects:
    """The labels with what stands beside them; a study's folder stands for its runs where none are named."""
    for name in by:
        check_by(name)
    given = reading.study(labels, only=["documents"], documents=documents)
    for name in by:
        if name != BEFORE:
            given.judged.need(name, "--by")
    files = [] if runs is None else runs or runs_in(labels)
    return Aspects(given.judged, by, given.documents, together(read_several(files)) if files else None, chance)


def by_grade(result: Result, scale: Scale | None) -> Result:
    """The distribution with a column for each grade, which is short enough to be read."""
    result = replace(result, frame=in_words(result.frame, scale), columns=())
    parts = [
        result.frame.select("documents", "aspect", pl.lit(name).alias("setting"), "grade", share=column)
        for name, column in (("alone", "alone"), ("in context", "context"))
    ]
    long = pl.concat(parts)
    if long["grade"].dtype != pl.String:
        long = long.with_columns(pl.Series("grade", [f"grade {grade:g}" for grade in long["grade"]]))
    wide = long.pivot("grade", index=["documents", "aspect", "setting"], values="share")
    first = result.frame.select("documents", "aspect").unique(maintain_order=True).with_row_index("place")
    wide = first.join(wide, on=["documents", "aspect"], maintain_order="left_right").drop("place")
    return replace(result, frame=wide, notes=(*result.notes, "intervals with --json"))


@part(
    of_labels(options.documents, options.depth(10), runs=True),
    options.predictor,
    options.source(),
    click.option("--expected", is_flag=True, help="Label with the expected grade, a real number, not the likeliest."),
    click.option(
        "--redraws",
        default=0,
        type=click.IntRange(0, 1000),
        metavar="N",
        help="Also write what predicted labels may have been, N times: scores then allow for it.",
    ),
    options.out,
    examples="""karat context labels judgments.csv
karat context labels judgments.csv my.run other.run --predictor features --documents documents.jsonl
karat context labels judgments.csv my.run --out labels.csv
karat score labels.csv my.run -m "CCG(context=0.5)@5,nDCG(context=0.5)@5\"""",
)
def labels(
    given: Aspects,
    depth: int = 10,
    model: str = "grades",
    source: str = "predicted",
    expected: bool = False,
    redraws: int = 0,
    out: str | None = None,
) -> Tables:
    """Labels in context that nobody gave, for the documents of runs, and how well they are predicted.

    --out writes a label for every document of the runs given the one above it, for karat score: .csv, .tsv, .jsonl or
    .parquet.
    """
    options.refuse_documents(model)
    if given.runs is None:
        options.refuse(
            "depth", "source", "expected", "redraws", "out", why="there are no runs to label; name them after LABELS"
        )
    if out is None:
        options.refuse("redraws", why="they are written to the file that --out names")
    else:
        task_file(pl.DataFrame(), out)  # refuses a name whose ending tells no format
    made = _labels(given, model, source, depth, expected, redraws)
    if out is not None and made is not None:
        write_bytes(out, task_file(made.frame, out))
        if out != "-":
            click.echo(f"Wrote {count(len(made), 'label')} to {out}.", err=True)
    return _tables(given, model, depth, made)


def _labels(given: Aspects, model: str, source: str, depth: int, expected: bool, redraws: int) -> Judgments | None:
    """A label for every document of the runs given the one above it."""
    if given.runs is None:
        return None
    return label_in_context(
        given.judgments,
        given.runs,
        depth=depth,
        model=model,
        source=source,
        redraws=redraws,
        value="expected" if expected else "grade",
        documents=given.documents,
        seed=given.chance["seed"],
    )


def _tables(given: Aspects, model: str, depth: int, made: Judgments | None) -> Tables:
    tables: dict[str, Result] = {}
    lack = ""
    try:
        tables["Labels in context"] = context_accuracy(
            given.judgments, model=model, runs=given.runs, documents=given.documents, **given.chance
        )
    except Undefined as error:
        # The labels that there are can be counted, though no model can be tested.
        if made is None:
            raise
        lack = f"accuracy left out: {error}"
    if made is not None and given.runs is not None:
        sources = context_sources(made, given.runs, depth=depth)
        tables["Where labels come from"] = replace(sources, notes=(*sources.notes, lack)) if lack else sources
    return tables


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
