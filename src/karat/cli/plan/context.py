"""`karat plan context`: which documents to have judged alone, and which after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import run_files
from karat.cli.outputs import keep_inputs
from karat.cli.reading_options import columns
from karat.cli.results import print_result, tell_as
from karat.cli.runs import read_several
from karat.errors import BadInput
from karat.formats.format import format_ending
from karat.formats.open_files import File, write_bytes
from karat.plan.context import context_schemes, plan_context
from karat.records.runs import together

EXAMPLES = """\b
Examples:
  karat plan context production.run better.run --n-judges 8
  karat plan context my.run --cost-alone 0.5 --cost-in-context 0.8
  karat plan context my.run --scheme paper --n-judges 8 --twice 0.1 --out tasks.csv
  karat plan context my.run --scheme fuller --out tasks.jsonl"""


@click.command(epilog=EXAMPLES)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--scheme", default="paper", help="What to write: cheaper, paper or fuller.")
@options.depth(5)
@click.option("--share", default=0.6, help="The share of queries judged given rank K; the rest is judged further down.")
@click.option("--n-judges", "judges", default=1, help="How many judges; a query has one of them.")
@click.option("--twice", default=0.0, help="The share of queries that a second judge repeats.")
@click.option("--cost-alone", default=1.0, help="What a judgment of a document alone costs.")
@click.option(
    "--cost-in-context",
    type=float,
    show_default="as --cost-alone",
    help="What a judgment given another document costs.",
)
@options.out
@options.seed
@columns
@options.form
def context(
    runs: tuple[str, ...],
    scheme: str,
    cost_in_context: float | None,
    out: str | None,
    form: options.Form,
    **asked: Any,
) -> None:
    """Plan judgments of documents alone and given the one read before.

    Shows what three schemes would ask for and cost: the paper's (Golbus et al., WWW 2014), a cheaper one and a fuller
    one, that of the first K = --depth documents and in some queries 2 K. Only with --out are the tasks of one scheme
    written, a row each (.csv, .tsv, .jsonl or .parquet): query, doc, context, setting, judge, session,
    order, and the probability with which the judgment was drawn. A study's folder stands for its runs.
    """
    if out is None and form.printed != "json":
        options.refuse("scheme", why="all schemes are shown, and one is written with --out only")
    files = run_files(runs[0], ()) if len(runs) == 1 and Path(runs[0]).is_dir() else list(runs)
    keep_inputs("--out", out, files)
    lists = together(read_several(files))
    asked["cost_in_context"] = asked["cost_alone"] if cost_in_context is None else cost_in_context
    schemes = context_schemes(lists, **asked)
    plan = plan_context(lists, scheme=scheme, **asked)
    content = None if out is None else task_file(plan.frame, out)
    if out != "-":
        document = {"schemes": schemes.to_dict(), "plan": plan.to_dict()}
        tell_as(form, document, schemes, lambda: print_result(schemes))
    if out is not None and content is not None:
        write_bytes(out, content)
        if out != "-":
            click.echo(f"Wrote {out}. {plan.finding}", err=True)


def task_file(tasks: pl.DataFrame, path: str) -> bytes:
    """The tasks in the format that a name's ending tells; standard output is CSV."""
    form = format_ending(".csv" if path == "-" else File(path).ending)
    if form is not None and form.write is not None:
        return form.write(tasks)
    raise BadInput.at("--out", expected="a name that ends in .csv, .tsv, .jsonl or .parquet", found=f'"{path}"')
