"""`karat plan pairs`: which pairs of result lists should users compare?"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, read_several, run_files
from karat.cli.options import named
from karat.cli.output_formats import keep_inputs
from karat.cli.plan.context import task_file
from karat.cli.results import print_result, tell_as
from karat.errors import BadInput
from karat.formats import read_preferences
from karat.formats.csv import read_csv
from karat.formats.open_files import File, write_bytes
from karat.plan import PairSelection, comparison_tasks, next_pairs, select_pairs
from karat.records import Preferences, Result
from karat.records.result import rows_of

EXAMPLES = """\b
Examples:
  karat plan pairs diversity.qrels runs/*.run --teams teams.csv
  karat plan pairs diversity.qrels runs/*.run --queries topics.xml --judges-each 8 --out tasks.jsonl
  karat plan pairs qrels.txt a.run b.run --min-difference nDCG@10=0.1 --relevant-gap 2 --out tasks.csv

The rules and their defaults are those of Sanderson et al. (SIGIR 2010)."""


@click.command(epilog=EXAMPLES, short_help="Choose pairs of result lists for users to compare.")
@click.argument("labels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@click.option("--teams", metavar="FILE", help="A table of system and team; systems of one team are not paired.")
@click.option("--same-team", is_flag=True, help="Pair systems of one team, too.")
@options.queries
@options.depth(10)
@click.option("--hopeless", default=2, help="Drop queries where no system has more relevant documents.")
@click.option("--relevant-gap", default="0", metavar="N|any", help="How far the numbers of relevant may differ.")
@click.option(
    "--min-difference",
    "least",
    multiple=True,
    metavar="MEASURE=X",
    show_default="StRecall and alpha_nDCG at --depth, 0.1",
    help="How far a measure must differ.",
)
@click.option(
    "--max-pairs", "most", type=click.IntRange(1), metavar="N", help="At most so many pairs of a query, at random."
)
@options.side_by_side
@options.n_pairs(None)
@click.option("--judges-each", "judges", default=8, type=click.IntRange(1), help="Judges who see each pair.")
@click.option("--block", default=5, type=click.IntRange(1), help="Comparisons a block, trap included.")
@click.option("--no-traps", is_flag=True, help="Build in no traps.")
@options.out
@options.seed
@options.scored
@options.form
def pairs(
    labels: str,
    runs: tuple[str, ...],
    teams: str | None,
    queries: str | None,
    depth: int,
    relevant_gap: str,
    least: tuple[str, ...],
    preferences: str | None,
    n: int | None,
    judges: int,
    block: int,
    no_traps: bool,
    out: str | None,
    seed: int,
    reading: Reading,
    form: options.Form,
    **rules: Any,
) -> None:
    """Choose pairs of result lists that users should compare, and write the comparisons as tasks.

    Two systems of different teams, equally many relevant documents in the top ten, different in how they cover the
    subtopics. Says how many pairs each rule left; a task file is written with --out only:
    .jsonl, .csv or .parquet. With --preferences,
    the answers so far, of these pairs the --n-pairs are asked whose answers tell most about the
    order of systems. LABELS may be a study's folder: then labels, runs and queries are the study's.
    """
    if rules["same_team"]:
        options.refuse("teams", why="--same-team pairs systems of one team, too")
    files = run_files(labels, runs)
    if n is None:
        options.refuse("preferences", why="all pairs are asked: say how many with --n-pairs")
    keep_inputs("--out", out, [labels, *files, teams, queries, preferences])
    if out is not None:
        task_file(pl.DataFrame(), out)  # refuses a name whose ending tells no format
    study = reading.study(labels, only=["queries"], queries=queries)
    lists = read_several(files)
    chosen = select_pairs(
        study.judged,
        lists,
        teams=None if teams is None else _read_teams(teams),
        depth=depth,
        relevant_gap=_gap(relevant_gap),
        least=named("--min-difference", least, float, expected="MEASURE=X, as alpha_nDCG@10=0.1") or None,
        seed=seed,
        **rules,
    )
    told = None if preferences is None else read_preferences(preferences, time_format=reading.time_format)
    if n is not None and chosen.pairs.height:
        chosen = _next(chosen, told, n, seed)
    tasks = None
    if chosen.pairs.height:
        tasks = comparison_tasks(
            chosen.pairs,
            study.judged,
            lists,
            queries=study.queries,
            judges=judges,
            block=block,
            traps=not no_traps,
            depth=depth,
            seed=seed,
        )
    if out is not None and tasks is not None:
        flat = out == "-" or File(out).ending in (".csv", ".tsv")
        # Ids hold no spaces in TREC's formats, and a list of them is one cell.
        joined = pl.col("left_docs", "right_docs").list.join(" ")
        write_bytes(out, task_file(tasks.frame.with_columns(joined) if flat else tasks.frame, out))
    notes = () if tasks is None else tasks.notes
    document = chosen.to_dict() | {
        "notes": [*chosen.notes, *notes],
        "pairs": rows_of(chosen.pairs),
        "tasks": None if tasks is None else tasks.finding,
        "out": None if tasks is None else out,
    }
    rows = Result(chosen.pairs, chosen.finding, (*chosen.notes, *notes))
    if out != "-":
        tell_as(form, document, rows, lambda: _print(chosen, tasks, out))


def _next(chosen: PairSelection, told: Preferences | None, n: int, seed: int) -> PairSelection:
    """Of the pairs worth showing those to ask next."""
    found = next_pairs(chosen.pairs, told, n, seed=seed)
    key = ["query", "a", "b"]
    kept = found.frame.unique(key, maintain_order=True).join(chosen.pairs, on=key, how="left", maintain_order="left")
    systems = pl.concat([kept["a"], kept["b"]]).n_unique()
    row = pl.DataFrame(
        [("those that tell most", kept.height, kept["query"].n_unique(), systems)], chosen.frame.schema, orient="row"
    )
    return PairSelection(pl.concat([chosen.frame, row]), found.finding, (*chosen.notes, *found.notes), kept)


def _print(chosen: PairSelection, tasks: Result | None, out: str | None) -> None:
    print_result(chosen)
    if tasks is not None:
        told = tasks.finding + (f" Written to {out}." if out else " Write them with --out.")
        print_result(Result(pl.DataFrame(), told, tasks.notes))
    elif out is not None:
        click.echo(f"Nothing to show, so {out} was not written.")


def _gap(text: str) -> int | None:
    if text.lower() == "any":
        return None
    if not text.isdigit():
        raise BadInput.at("--relevant-gap", expected="a whole number, or any", found=f'"{text}"')
    return int(text)


def _read_teams(path: str) -> dict[str, str]:
    frame, source = read_csv(File(path))
    if not {"system", "team"} <= {*frame.columns}:
        raise BadInput.at(source.name, expected="the columns system and team", found=", ".join(frame.columns))
    frame = frame.drop_nulls(["system", "team"]).select(pl.col("system", "team").cast(pl.String)).unique()
    twice = frame.filter(pl.col("system").is_duplicated()).sort("system", "team")
    if twice.height:
        raise BadInput.at(
            source.name,
            expected="one team for a system",
            found=f"{twice['system'][0]} in {twice['team'][0]} and {twice['team'][1]}",
        )
    return dict(zip(frame["system"].to_list(), frame["team"].to_list(), strict=True))
