"""`karat plan gold`: which documents are worth a gold label?"""

from __future__ import annotations

import json
from pathlib import Path

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.outputs import keep_inputs
from karat.cli.results import print_result
from karat.cli.runs import read_several
from karat.cli.tables import console, say
from karat.errors import BadInput, KaratError
from karat.formats import read_judgments, write
from karat.formats.open_files import File
from karat.measures import profile_named
from karat.plan.gold import plan_gold, plan_gold_queries
from karat.records import Judgments, Result

#: As in karat.plan.gold, which is not loaded for the sake of a default.
FLOOR = 0.2

EXAMPLES = """\b
Examples:
  karat plan gold llm.csv bm25.run neural.run -m P@10 -n 300 --out gold.csv
  karat plan gold llm.csv a.run b.run -m DCG@10 -n 200 --gold earlier.csv --out both.csv
  karat plan gold llm.csv a.run b.run -m nDCG@10 -n 400 --whole-queries --out gold.csv

Fill in the column label of gold.csv, then: karat compare llm.csv bm25.run neural.run -m P@10 --gold gold.csv"""


@click.command(epilog=EXAMPLES, short_help="Draw the documents whose gold labels say most.")
@click.argument("labels")
@click.argument("runs", metavar="RUN_A RUN_B [RUN...]", nargs=-1, required=True)
@options.measure(default="P@10")
@options.n_gold(300)
@options.gold
@options.out
@click.option("--whole-queries", is_flag=True, help="Draw whole queries, for nDCG, AP, RR, ERR.")
@click.option("--uniform", default=0.0, help="The share drawn from all documents, for reuse.")
@click.option("--floor", default=FLOOR, help="The least probability, as a share of the average.")
@click.option("--cost-gold", type=float, metavar="C", help="What one gold label costs.")
@options.profile
@options.complete
@click.option("--force", is_flag=True, help="Overwrite a file that already holds labels.")
@options.seed
@options.labels
@options.as_json
def gold(
    labels: str,
    runs: tuple[str, ...],
    measure: str,
    n_gold: int,
    gold: str | None,
    out: str | None,
    whole_queries: bool,
    uniform: float,
    floor: float,
    cost_gold: float | None,
    profile: str,
    complete: bool,
    force: bool,
    seed: int,
    reading: Reading,
    as_json: bool,
) -> None:
    """Draw the documents whose gold labels say most about which system is better.

    A document that both systems show at the same rank says nothing; one whose label is often wrong says much. The file
    written holds query, doc, an empty label to fill in, and the probability with which each was drawn: karat compare
    --gold reads it.

    With --gold, earlier gold labels, new documents are drawn among those without one. The file then holds the
    earlier labels, too, with probabilities that go for both rounds together: fill in the empty labels and use it alone.
    """
    if cost_gold is not None and not cost_gold >= 0:
        raise BadInput.at("--cost-gold", expected="a number from 0", found=str(cost_gold))
    if whole_queries and (gold is not None or uniform or floor != FLOOR):
        raise BadInput("--whole-queries draws all queries alike: --gold, --uniform and --floor say nothing there")
    keep_inputs("--out", out, [labels, *runs, gold])
    if out is not None:
        _check_out(out, force)
    lists = read_several(runs, ranks=profile_named(profile).order == "rank")
    read = reading.judgments(labels)
    if whole_queries:
        plan = plan_gold_queries(read, lists, measure, n_gold, profile=profile, complete=complete, seed=seed)
    else:
        earlier = None if gold is None else reading.judgments(gold)
        plan = plan_gold(
            read,
            lists,
            measure,
            n_gold,
            pilot=earlier,
            uniform=uniform,
            floor=floor,
            profile=profile,
            complete=complete,
            seed=seed,
        )
    if out is not None:
        write(Judgments(plan.to_frame()), out)
    if as_json:
        document = plan.to_dict()
        if cost_gold is not None:
            document["cost"] = cost_gold * plan.frame.height
        click.echo(json.dumps(document, ensure_ascii=False))
        return

    notes = list(plan.notes)
    if cost_gold is not None:
        notes.append(f"cost: {cost_gold * plan.frame.height:,.2f}")
    if out is None:
        notes.append("nothing written: name a file with --out")
    print_result(Result(plan.frame.drop("label").head(10), plan.finding))
    printed = console()
    if plan.frame.height > 10:
        say(printed, f"- {plan.frame.height - 10:,} more documents, all of them with --out or --json")
    for note in notes:
        say(printed, f"- {note}")
    if out is not None:
        empty = "the labels" if plan.earlier is None else "the empty labels"
        say(printed, f"Wrote {out}: fill in {empty}, then karat compare ... --gold {out}")


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
