"""`karat context labels`: what would judges say of each document of a run, given the one above it?"""

from __future__ import annotations

from dataclasses import replace

import click
import polars as pl

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.part import part
from karat.cli.plan.context import task_file
from karat.cli.results import Tables
from karat.context import context_accuracy, context_sources, label_in_context
from karat.errors import Undefined
from karat.formats.open_files import write_bytes
from karat.records import Judgments, Result
from karat.records.base import count


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
