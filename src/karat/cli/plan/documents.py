"""`karat plan documents`: which pairs of documents should be compared next?"""

from __future__ import annotations

import click
import numpy as np
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.output_formats import keep_inputs
from karat.cli.plan.context import task_file
from karat.cli.results import print_result, tell_as
from karat.formats import read_preferences
from karat.formats.open_files import File, write_bytes
from karat.plan import next_pairs, pairs_of_documents
from karat.records import Queries, Result

EXAMPLES = """\b
Examples:
  karat plan documents qrels.txt --best 5 --n-pairs 200 --out round1.jsonl
  karat plan documents qrels.txt --preferences round1.pref --n-pairs 100 --out round2.jsonl"""


@click.command(epilog=EXAMPLES, short_help="Choose pairs of documents to compare next.")
@click.argument("labels")
@options.side_by_side
@click.option("--best", default=5, type=click.IntRange(2), help="Find out the so many best documents of a query.")
@options.n_pairs(100)
@options.queries
@options.out
@options.seed
@options.study
@options.form
def documents(
    labels: str,
    preferences: str | None,
    best: int,
    n: int,
    queries: str | None,
    out: str | None,
    seed: int,
    reading: Reading,
    form: options.Form,
) -> None:
    """Choose the pairs of documents whose comparison tells most about the best documents of each query.

    Of each query the documents with the best labels are compared. The first round spreads pairs over all of them; with
    the answers so far, the next is asked where the order of those that may be among the best is least known. --out
    writes tasks for `karat import` and `karat ask`; `karat validate documents` reads the answers.
    """
    keep_inputs("--out", out, [labels, preferences, queries])
    if out is not None:
        task_file(pl.DataFrame(), out)  # refuses a name whose ending tells no format
    study = reading.study(labels, only=["queries"], queries=queries)
    told = None if preferences is None else read_preferences(preferences, time_format=reading.time_format)
    found = next_pairs(pairs_of_documents(study.judged, best), told, n, of="documents", top=best, seed=seed)
    if out is not None:
        flat = out == "-" or File(out).ending in (".csv", ".tsv")
        write_bytes(out, task_file(_tasks(found.frame, study.queries, flat, seed), out))
    if out != "-":
        written = Result(found.frame, found.finding + (f" Written to {out}." if out else ""), found.notes)
        tell_as(form, found.to_dict() | {"out": out}, found, lambda: print_result(written))


def _tasks(pairs: pl.DataFrame, queries: Queries | None, flat: bool, seed: int) -> pl.DataFrame:
    """A task for each pair: one document on either side, which on which drawn by lot."""
    turn = pl.lit(pl.Series(np.random.default_rng(seed).random(pairs.height) < 0.5))
    left, right = (pl.when(turn).then(one).otherwise(two) for one, two in (("a", "b"), ("b", "a")))
    number = pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(len(str(pairs.height)))
    tasks = pairs.select("query", task=pl.format("t{}", number), left=left, right=right)
    shown = {f"{side}_docs": pl.col(side) if flat else pl.concat_list(side) for side in ("left", "right")}
    tasks = tasks.with_columns(**shown)
    if queries is not None and queries.has("text"):
        tasks = tasks.join(queries.frame.select("query", "text"), on="query", how="left", maintain_order="left")
    return tasks
