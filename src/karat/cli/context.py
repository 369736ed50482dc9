"""`karat context`: what judges say about each aspect of a document, alone and after another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.inputs import Reading

if TYPE_CHECKING:
    from karat.records import Documents, Judgments, Result, Runs

EXAMPLES = """\b
Examples:
  karat context judgments.csv
  karat context judgments.csv --part change --documents documents.jsonl
  karat context judgments.csv --part correlation --json
  karat context judgments.csv --part labels --runs my.run --runs other.run --documents documents.jsonl
  karat context judgments.csv --part labels --runs my.run --model features --out labels.csv
  karat score labels.csv my.run -m "CCG(context=0.5)@5,nDCG(context=0.5)@5"

JUDGMENTS have the columns query, doc, label, and for what they are about: aspect (none: overall), context (the document
read just before, none: alone) and judge. An empty label, or N/A, says that the judge could not tell."""


@dataclass(frozen=True)
class Study:
    """What the parts of the report look at."""

    judgments: Judgments
    runs: Runs | None
    documents: Documents | None
    by: str | None
    draws: int
    seed: int
    model: str
    expected: bool
    depth: int

    @cached_property
    def labels(self) -> Judgments | None:
        """A label for every document of the runs given the one above it."""
        from karat.context import label_in_context

        if self.runs is None:
            return None
        return label_in_context(
            self.judgments,
            self.runs,
            depth=self.depth,
            model=self.model,
            value="expected" if self.expected else "grade",
            documents=self.documents,
            seed=self.seed,
        )


def _part(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    from karat.errors import BadInput

    if value is not None and value not in PARTS:
        raise BadInput.at("--part", expected=", ".join(PARTS), found=f'"{value}"')
    return value


@click.command(epilog=EXAMPLES)
@click.argument("judgments")
@click.option(
    "--part",
    callback=_part,
    metavar="PART",
    help="One part alone: coverage, distribution, change, correlation, prediction, agreement or labels.",
)
@click.option("--runs", multiple=True, metavar="FILE", help="Runs whose documents get labels in context; repeatable.")
@click.option("--documents", metavar="FILE", help="Documents with text, site or url: what was read before?")
@click.option(
    "--model",
    default="grades",
    show_default=True,
    help="What predicts labels in context: grades (the paper's), levels, features or ordinal.",
)
@click.option("--expected", is_flag=True, help="Label with the expected grade, a real number, not the likeliest.")
@click.option("--depth", default=10, show_default=True, metavar="K", help="Label the first K documents of the runs.")
@click.option("--out", metavar="FILE", help="Write the labels in context of the runs: .csv, .tsv, .jsonl or .parquet.")
@click.option("--by", metavar="COLUMN", help="Report changes by a column of the judgments in context.")
@options.draws
@options.seed
@options.database
@options.labels
@options.as_json
def context(
    judgments: str,
    part: str | None,
    runs: tuple[str, ...],
    documents: str | None,
    model: str,
    expected: bool,
    depth: int,
    out: str | None,
    by: str | None,
    draws: int,
    seed: int,
    database: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Relevance by aspect, alone and in context.

    How often judges have an answer to each aspect (coverage), how grades spread (distribution), how far they change
    when another document was read before (change), which aspects go with overall and change together (correlation),
    how well they tell overall (prediction), whether judges agree (agreement), and how well the labels in context that
    nobody gave can be predicted (labels). Without --part, all that the data allows.
    """
    from karat.cli.context_tables import SHOWN, once, shaped
    from karat.cli.outputs import keep_inputs
    from karat.cli.progress import progress
    from karat.cli.results import print_result
    from karat.cli.runs import read_several
    from karat.cli.tables import console, say
    from karat.errors import BadInput, KaratError
    from karat.judges.dimensions.change import check_by
    from karat.records.runs import together

    _check_out(out, runs, as_json)
    keep_inputs("--out", out, [judgments, *runs, documents])
    check_by(by)
    given = reading.study(judgments, database=database, only=["documents"], documents=documents)
    read = given.judged
    if not len(read):
        raise BadInput.at(judgments, expected="judgments", found="none")
    if by is not None:
        read.need(by, "--by")
    study = Study(
        read,
        together(read_several(runs)) if runs else None,
        given.documents,
        by,
        draws,
        seed,
        model,
        expected,
        depth,
    )
    if out is not None:
        _write(study, out)
        if out == "-":
            return
    found: dict[str, dict[str, Result]] = {}
    left_out = dict[str, KaratError]()
    for name in progress(list(PARTS) if part is None else [part], "Looking"):
        try:
            found[name] = PARTS[name](study)
        except KaratError as error:
            if part is not None:
                raise
            left_out[name] = error
    if not found:
        raise next(iter(left_out.values()))
    reasons = [f"{name}: {error}" for name, error in left_out.items()]
    if as_json:
        document: dict[str, Any] = {
            name: {title: result.to_dict() for title, result in results.items()} for name, results in found.items()
        }
        document = document[part] if part is not None else {**document, "left_out": reasons}
        click.echo(json.dumps(document, ensure_ascii=False, default=str))
        return
    told = set[str]()
    for place, (title, result) in enumerate((t, r) for results in found.values() for t, r in results.items()):
        if place:
            click.echo()
        print_result(shaped(once(result, told), title, read.scale), SHOWN.get(title), title)
    for reason in reasons:
        say(console(), f"- left out: {reason}")


def _coverage(study: Study) -> dict[str, Result]:
    from karat.judges import aspect_coverage

    return {"Coverage": aspect_coverage(study.judgments, draws=study.draws, seed=study.seed)}


def _distribution(study: Study) -> dict[str, Result]:
    from karat.judges import aspect_distribution

    return {"Distribution": aspect_distribution(study.judgments, draws=study.draws, seed=study.seed)}


def _change(study: Study) -> dict[str, Result]:
    from karat.judges import grade_change, mean_change

    found = {
        "Size of change": grade_change(study.judgments, draws=study.draws, seed=study.seed),
        "Mean change": mean_change(study.judgments),
    }
    if study.by is not None:
        found[f"Mean change by {study.by}"] = mean_change(study.judgments, study.by)
    if study.documents is not None:
        from karat.context import add_company
        from karat.errors import KaratError

        try:
            found["Mean change by company"] = mean_change(add_company(study.judgments, study.documents), "company")
        except KaratError as error:
            found["Mean change"] = _with_note(found["Mean change"], f"by company: left out ({error})")
    return found


def _with_note(result: Result, note: str) -> Result:
    from dataclasses import replace

    return replace(result, notes=(*result.notes, note))


def _correlation(study: Study) -> dict[str, Result]:
    from karat.judges import change_correlation, overall_correlation

    found = {"Correlation with overall": overall_correlation(study.judgments, draws=study.draws, seed=study.seed)}
    if study.judgments.has("context"):
        found["Correlation of changes"] = change_correlation(study.judgments, draws=study.draws, seed=study.seed)
    return found


def _prediction(study: Study) -> dict[str, Result]:
    from karat.judges import predict_overall

    return {"Prediction of overall": predict_overall(study.judgments, draws=study.draws, seed=study.seed)}


def _agreement(study: Study) -> dict[str, Result]:
    from karat.judges import setting_agreement

    return {"Agreement": setting_agreement(study.judgments, draws=study.draws, seed=study.seed)}


def _labels(study: Study) -> dict[str, Result]:
    from karat.context import compare_predictors, context_accuracy, context_sources
    from karat.errors import Undefined

    given: dict[str, Any] = {"runs": study.runs, "documents": study.documents, "draws": study.draws, "seed": study.seed}
    found: dict[str, Result] = {}
    lack = ""
    try:
        found["Labels in context"] = context_accuracy(study.judgments, model=study.model, **given)
        found["Predictors"] = compare_predictors(study.judgments, **given)
    except Undefined as error:
        # The labels that there are can be counted, though no model can be tested.
        if study.runs is None:
            raise
        lack = f"accuracy and predictors left out: {error}"
    if study.labels is not None and study.runs is not None:
        sources = context_sources(study.labels, study.runs, depth=study.depth)
        found["Where labels come from"] = _with_note(sources, lack) if lack else sources
    return found


def _check_out(out: str | None, runs: tuple[str, ...], as_json: bool) -> None:
    """Refuse what cannot be written before any work is done."""
    import polars as pl

    from karat.cli.plan.context import task_file
    from karat.errors import BadInput

    if out is None:
        return
    if as_json and out == "-":
        raise BadInput("--json and --out - both want the standard output: choose one")
    task_file(pl.DataFrame(), out)  # refuses a name whose ending tells no format
    if not runs:
        raise BadInput.at(
            "--out", expected="runs whose documents are to be labelled", found="none", remedy="add --runs"
        )


def _write(study: Study, path: str) -> None:
    from karat.cli.plan.context import task_file
    from karat.formats.files import write_bytes
    from karat.records.base import count

    labels = study.labels
    if labels is None:
        return
    write_bytes(path, task_file(labels.frame, path))
    if path != "-":
        click.echo(f"Wrote {count(len(labels), 'label')} to {path}.", err=True)


#: The parts of the report, in the order in which they are told.
PARTS: dict[str, Callable[[Study], dict[str, Result]]] = {
    "coverage": _coverage,
    "distribution": _distribution,
    "change": _change,
    "correlation": _correlation,
    "prediction": _prediction,
    "agreement": _agreement,
    "labels": _labels,
}
