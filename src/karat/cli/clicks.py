"""`karat clicks`: what clicks say of documents once it is known where they stood."""

from __future__ import annotations

from typing import Any

import click

import karat as kt
from karat.cli import options
from karat.cli.options import OneOf, columns
from karat.cli.output_formats import keep_inputs, write_csv
from karat.cli.results import Tables
from karat.cli.subcommand import part
from karat.errors import BadInput
from karat.formats import read_clicks
from karat.formats.click_batches import LogParts, click_batches
from karat.records import ClickLog, Clicks, Result
from karat.users.click_models import click_labels_by_rank, click_labels_of_parts


@part(
    click.argument("log", metavar="LOG...", nargs=-1, required=True),
    click.option(
        "--label",
        type=OneOf("karat.users.click_models:KINDS"),
        show_default="attractiveness, or coec where ranks cannot tell",
        help="Which figure --out writes as the label.",
    ),
    options.satisfied_after,
    options.level,
    columns,
    options.out,
    examples="""karat clicks log.parquet --out labels.csv
karat clicks ubi_queries.ndjson ubi_events.ndjson --satisfied-after 30
karat score labels.csv new.run -m nDCG@10""",
)
def clicks(log: tuple[str, ...], label: str | None, out: str | None, **asked: Any) -> Tables:
    """Labels from clicks, freed of the rank at which results were shown.

    LOG has a row for each result shown: query, doc, rank, clicked, and maybe session and dwell (seconds); or a row for
    each event, with an action (impression, click); or it is what OpenSearch's User Behavior Insights writes, queries
    and events, in one file or several. Beside the rate of clicks there are COEC (clicks over expected clicks) and the
    attractiveness by a position-based model, each with its interval.
    """
    if out is None:
        options.refuse("label", why="it goes with --out, which writes labels")
    keep_inputs("--out", out, log)
    found = click_batches(*log)
    if isinstance(found, Clicks):
        raise BadInput.at(
            ", ".join(log),
            expected="a log with a row for each result shown, and its rank",
            found="counts without ranks",
            remedy="karat judges clicks and karat validate clicks take counts",
        )
    if isinstance(found, LogParts):
        told = click_labels_of_parts(found, found.rows, **asked)
    else:
        told = click_labels_by_rank(found, **asked)
    if out is not None:
        write_csv(told.labels(label).frame, out)
    ranks = Result(told.ranks, "How likely each rank is looked at, the most looked-at one 1.")
    return {"Documents": told, "Ranks": ranks}


@part(
    click.argument("log", metavar="LOG...", nargs=-1, required=True),
    options.difference(0.05),
    options.by_query,
    options.satisfied_after,
    options.level,
    columns,
    examples="""karat interleave log.csv
karat interleave ubi_queries.ndjson ubi_events.ndjson --by-query
karat interleave log.parquet --difference 0.02 --json""",
)
def interleave(log: tuple[str, ...], by_query: bool, **asked: Any) -> Tables:
    """Which of two interleaved systems users click more, and how many more searches it takes to tell.

    LOG has a row for each result shown in a list that two systems share (team draft): query, doc, team, clicked, and
    maybe impression (the search), user and session; or a row for each event, with an action; or it is what OpenSearch's
    User Behavior Insights writes, where a result's search_config is its team. A search is won by the team with more
    clicks; the preference of a query is (wins + ties / 2) / all - 1/2 over its searches, and of all, the mean.
    """
    read = read_clicks(*log)
    if not isinstance(read, ClickLog):
        raise BadInput.at(
            ", ".join(log), expected="a log with the team of each result, and whether it was clicked", found="counts"
        )
    found = kt.users.interleave(read, **asked)
    tables: dict[str, Result] = {"Preference": found}
    if by_query:
        shown = ("query", "winner", "searches", "won", "tied", "lost", "preference")
        said = f"What became of each query: searches that {found.frame['team'][0]} won, tied and lost."
        tables["Queries"] = Result(found.queries, said, columns=shown)
    return tables
