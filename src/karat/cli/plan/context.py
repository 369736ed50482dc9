"""`karat plan context`: which documents to have judged alone, and which after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import read_several, run_files
from karat.cli.options import columns
from karat.cli.output_formats import keep_inputs
from karat.cli.results import Tables
from karat.cli.subcommand import part
from karat.errors import BadInput
from karat.formats.format_registry import format_ending
from karat.formats.open_files import File, write_bytes
from karat.plan.context_tasks import plan_context
from karat.records.runs import together


@part(
    click.argument("runs", nargs=-1, required=True, metavar="RUN..."),
    options.depth(5),
    click.option(
        "--share", default=0.6, help="The share of queries judged given rank K; the rest is judged further down."
    ),
    click.option("--n-judges", "judges", default=1, help="How many judges; a query has one of them."),
    click.option("--twice", default=0.0, help="The share of queries that a second judge repeats."),
    options.out,
    options.seed,
    columns,
    examples="""karat plan context production.run better.run --n-judges 8
karat plan context my.run --n-judges 8 --twice 0.1 --out tasks.csv""",
)
def context(runs: tuple[str, ...], out: str | None, **asked: Any) -> Tables:
    """Plan judgments of documents alone and given the one read before, as Golbus et al. (WWW 2014) had them.

    They are of the first K = --depth documents, in some queries of 2 K. --out writes them, a row each (.csv, .tsv,
    .jsonl or .parquet): query, doc, context, setting, judge, session, order, and the probability with which the
    judgment was drawn. A study's folder stands for its runs.
    """
    files = run_files(runs[0], ()) if len(runs) == 1 and Path(runs[0]).is_dir() else list(runs)
    keep_inputs("--out", out, files)
    plan = plan_context(together(read_several(files)), **asked)
    if out is not None:
        write_bytes(out, task_file(plan.frame, out))
        if out != "-":
            click.echo(f"Wrote {out}.", err=True)
    return {"Judgments to collect": plan}


def task_file(tasks: pl.DataFrame, path: str) -> bytes:
    """The tasks in the format that a name's ending tells; standard output is CSV."""
    form = format_ending(".csv" if path == "-" else File(path).ending)
    if form is not None and form.write is not None:
        return form.write(tasks)
    raise BadInput.at("--out", expected="a name that ends in .csv, .tsv, .jsonl or .parquet", found=f'"{path}"')
