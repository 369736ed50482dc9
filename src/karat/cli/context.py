"""`karat context`: what judges say about each aspect of a document, alone and after another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options

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

    def labels(self) -> Judgments | None:
        """A label for every document of the runs given the one above it."""
        from karat.labels.context import label_in_context

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
@click.option("--out", metavar="FILE", help="Write the labels in context of the runs, for karat score.")
@click.option("--by", metavar="COLUMN", help="Report changes by a column of the judgments in context.")
@options.draws
@options.seed
@options.scale
@options.drop_bad_labels
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
    scale: str | None,
    drop_bad_labels: bool,
    as_json: bool,
) -> None:
    """Relevance by aspect, alone and in context.

    How often judges have an answer to each aspect (coverage), how grades spread (distribution), how far they change
    when another document was read before (change), which aspects go with overall and change together (correlation),
    how well they tell overall (prediction), whether judges agree (agreement), and how well the labels in context that
    nobody gave can be predicted (labels). Without --part, all that the data allows.
    """
    from karat.cli.progress import progress
    from karat.cli.results import print_result
    from karat.cli.runs import read_several
    from karat.cli.tables import console, say
    from karat.errors import BadInput, KaratError
    from karat.formats import read_documents, read_judgments
    from karat.records.runs import together

    read = read_judgments(judgments, scale=scale, drop_bad_labels=drop_bad_labels)
    if not len(read):
        raise BadInput.at(judgments, expected="judgments", found="none")
    if by is not None:
        read.need(by, "--by")
    study = Study(
        read,
        together(read_several(runs)) if runs else None,
        None if documents is None else read_documents(documents),
        by,
        draws,
        seed,
        model,
        expected,
        depth,
    )
    if out is not None:
        _write(study, out)
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
        result = _once(result, told)
        print_result(_by_grade(result) if title == "Distribution" else result, SHOWN.get(title), title)
    for reason in reasons:
        say(console(), f"- left out: {reason}")


def _once(result: Result, told: set[str]) -> Result:
    """The result without the notes that a part before it has told."""
    from dataclasses import replace

    new = tuple(note for note in result.notes if note not in told)
    told.update(new)
    return replace(result, notes=new)


def _by_grade(result: Result) -> Result:
    """The distribution with a column for each grade, which is short enough to be read."""
    from dataclasses import replace

    import polars as pl

    parts = [
        result.frame.select("documents", "aspect", pl.lit(name).alias("setting"), "grade", share=column)
        for name, column in (("alone", "alone"), ("in context", "context"))
    ]
    long = pl.concat(parts)
    long = long.with_columns(pl.Series("grade", [f"grade {grade:g}" for grade in long["grade"]]))
    wide = long.pivot("grade", index=["documents", "aspect", "setting"], values="share")
    first = result.frame.select("documents", "aspect").unique(maintain_order=True).with_row_index("place")
    wide = first.join(wide, on=["documents", "aspect"], maintain_order="left_right").drop("place")
    return replace(result, frame=wide, notes=(*result.notes, "intervals with --json"))


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
        from karat.labels.context import add_company

        found["Mean change by company"] = mean_change(add_company(study.judgments, study.documents), "company")
    return found


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
    from karat.labels.context import compare_predictors, context_accuracy, context_sources

    given: dict[str, Any] = {"runs": study.runs, "documents": study.documents, "draws": study.draws, "seed": study.seed}
    found = {
        "Labels in context": context_accuracy(study.judgments, model=study.model, **given),
        "Predictors": compare_predictors(study.judgments, **given),
    }
    labels = study.labels()
    if labels is not None and study.runs is not None:
        found["Where labels come from"] = context_sources(labels, study.runs, depth=study.depth)
    return found


def _write(study: Study, path: str) -> None:
    from karat.errors import BadInput
    from karat.formats import write
    from karat.records.base import count

    labels = study.labels()
    if labels is None:
        raise BadInput.at(
            "--out", expected="runs whose documents are to be labelled", found="none", remedy="add --runs"
        )
    for note in write(labels, path):
        click.echo(f"note: {note}", err=True)
    click.echo(f"Wrote {count(len(labels), 'label')} to {path}.", err=True)


#: What of a wide table is printed; --json has the rest.
SHOWN = {
    "Coverage": ["aspect", "alone", "context", "difference", "n_alone", "n_context"],
    "Size of change": ["aspect", "size", "n", "share"],
    "Mean change": ["aspect", "change", "lower", "same", "higher", "n", "p_holm"],
    "Correlation with overall": ["aspect", "alone", "context", "difference", "n_alone", "n_context"],
    "Prediction of overall": ["aspects", "alone", "context", "random_alone"],
    "Agreement": ["aspect", "figure", "alone", "context", "n_alone", "n_context"],
    "Predictors": ["predictor", "accuracy", "error", "gain", "gain_holm", "n"],
}

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
