"""`karat plan gold`: which documents are worth a gold label?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, read_several, run_files
from karat.cli.output_formats import keep_inputs
from karat.cli.results import console, print_result, say, tell_as
from karat.comparison.query_deltas import titles_of
from karat.errors import BadInput, KaratError
from karat.formats import read_judgments, write
from karat.formats.open_files import File
from karat.plan.gold_plan import GoldPlan
from karat.plan.gold_selection import plan_gold, plan_gold_queries
from karat.records import Documents, Judgments, Queries, Result

#: How many of the documents are shown.
SHOWN = 10

EXAMPLES = """\b
Examples:
  karat plan gold llm.csv bm25.run neural.run -n 300 --out gold.csv
  karat plan gold llm.csv bm25.run neural.run -n 300 --queries q.csv --documents d.jsonl --out gold.csv
  karat plan gold llm.csv neural.run -n 200 --out gold.csv
  karat plan gold llm.csv a.run b.run -m DCG@10 -n 200 --gold earlier.csv --out both.csv
  karat plan gold llm.csv a.run b.run -m AP -n 400 --whole-queries --out gold.csv

Fill in the column label of gold.csv, then: karat compare llm.csv bm25.run neural.run --gold gold.csv
(one run alone: karat score llm.csv neural.run --gold gold.csv)."""


@click.command(epilog=EXAMPLES, short_help="Draw the documents whose gold labels say most.")
@click.argument("labels")
@click.argument("runs", metavar="[RUN_A RUN_B...]", nargs=-1)
@options.measure(default="nDCG@10")
@options.n_gold(300)
@options.gold
@options.calibrate
@options.out
@options.queries
@options.documents
@click.option("--whole-queries", is_flag=True, help="Draw whole queries, for measures such as AP.")
@click.option("--uniform", default=0.0, help="The share drawn from all documents, for reuse.")
@click.option("--floor", default=0.2, help="The least probability, as a share of the average.")
@click.option("--cost-gold", type=float, metavar="C", help="What one gold label costs.")
@options.profile
@options.common_queries
@click.option("--force", is_flag=True, help="Overwrite a file that already holds labels.")
@options.seed
@options.corrected
@options.form
def gold(
    labels: str,
    runs: tuple[str, ...],
    measure: str,
    n_gold: int,
    gold: str | None,
    calibrate: bool | tuple[str, ...],
    out: str | None,
    queries: str | None,
    documents: str | None,
    whole_queries: bool,
    uniform: float,
    floor: float,
    cost_gold: float | None,
    force: bool,
    reading: Reading,
    form: options.Form,
    **asked: Any,
) -> None:
    """Draw the documents whose gold labels say most about which system is better.

    A document that both systems show at the same rank says nothing; one whose label is often wrong says much. The file
    written holds query, doc, an empty label to fill in, and the probability with which each was drawn: karat compare
    --gold reads it. With --queries and --documents it also holds the query's text, and the document's title and url,
    for who fills it in.

    With --gold, earlier gold labels, new documents are drawn among those without one. The file then holds the
    earlier labels, too, with probabilities that go for both rounds together: fill in the empty labels and use it alone.
    LABELS may be a study's folder: then labels and runs are the study's, unless runs are named.
    """
    if cost_gold is not None and not cost_gold >= 0:
        raise BadInput.at("--cost-gold", expected="a number from 0", found=str(cost_gold))
    if whole_queries:
        options.refuse("gold", "uniform", "floor", why="--whole-queries draws all queries alike")
    if gold is None:
        options.refuse("calibrate", why="it is about earlier gold labels, and none are named by --gold")
    if out is None:
        options.refuse("force", "queries", "documents", why="nothing is written without --out")
    files = run_files(labels, runs)
    keep_inputs("--out", out, [labels, *files, gold, queries, documents])
    if out is not None:
        _check_out(out, force)
    lists = read_several(files)
    texts = [name for name, file in (("queries", queries), ("documents", documents)) if file is not None]
    study = reading.study(labels, only=texts, gold=gold, queries=queries, documents=documents)
    if whole_queries:
        plan = plan_gold_queries(study.judged, lists, measure, n_gold, **asked)
    else:
        # Gold labels that are in the study are an earlier round as well: drawn anew, their chances would be others.
        known = gold is not None or (study.gold is not None and study.gold.frame["label"].count() > 0)
        earlier = study.gold if known else None
        asked |= {"pilot": earlier, "calibrate": calibrate, "uniform": uniform, "floor": floor}
        plan = plan_gold(study.judged, lists, measure, n_gold, **asked)
    if out is not None:
        write(Judgments(_with_texts(plan.to_frame(), study.queries, study.documents)), out)
    cost = None if cost_gold is None else cost_gold * plan.frame.height
    document = plan.to_dict() | ({} if cost is None else {"cost": cost})
    tell_as(form, document, plan, lambda: _print(plan, cost, out))


def _with_texts(plan: pl.DataFrame, queries: Queries | None, documents: Documents | None) -> pl.DataFrame:
    """The plan with what a person has to know who labels it: query_text, title, url, where these are known."""
    if queries is not None and "text" in queries.frame.columns:
        text = queries.frame.select("query", query_text="text")
        plan = plan.join(text, on="query", how="left", maintain_order="left")
    if documents is not None:
        plan = plan.join(titles_of(documents), on="doc", how="left", maintain_order="left")
        if "url" in documents.frame.columns:
            plan = plan.join(documents.frame.select("doc", "url"), on="doc", how="left", maintain_order="left")
    return plan


def _print(plan: GoldPlan, cost: float | None, out: str | None) -> None:
    more = plan.frame.height - SHOWN
    where = "with --out or --json" if out is None else f"in {out}"
    notes = [f"{more:,} more documents, all of them {where}"] if more > 0 else []
    notes += [*plan.notes, *([] if cost is None else [f"cost: {cost:,.2f}"])]
    notes += ["nothing written: name a file with --out"] if out is None else []
    print_result(Result(plan.frame.drop("label", "order", strict=False).head(SHOWN), plan.finding, tuple(notes)))
    if out is not None:
        empty = "the labels" if plan.earlier is None else "the empty labels"
        then = "score" if len(plan.systems) == 1 else "compare"
        say(console(), f"Wrote {out}: fill in {empty}, then karat {then} ... --gold {out}")


def _check_out(out: str, force: bool) -> None:
    """Refuse a file that could not hold a plan, or that holds labels somebody gave."""
    if File(out).ending not in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"):
        raise BadInput.at(
            out, expected="a table: .csv, .tsv, .jsonl or .parquet", found="an ending that holds no probabilities"
        )
    if force or not Path(out).exists():
        return
    try:
        held = read_judgments(out).frame
        if "round" in held.columns:  # earlier labels are elsewhere, too
            held = held.filter(held["round"] == held["round"].max())
        given = len(held.drop_nulls("label"))
    except KaratError:
        given = 0
    if given:
        raise BadInput.at(
            out, expected="a new file", found=f"one with {given:,} labels", remedy="overwrite it with --force"
        )
