"""`karat interleave`: which of two interleaved systems do users click more?"""

from __future__ import annotations

from typing import Any

import click

from karat import validity
from karat.cli import options
from karat.cli.part import part
from karat.cli.reading_options import columns
from karat.cli.results import Tables
from karat.errors import BadInput
from karat.formats import read_clicks
from karat.records import ClickLog, Result


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
    found = validity.interleave(read, **asked)
    tables: dict[str, Result] = {"Preference": found}
    if by_query:
        shown = ("query", "winner", "searches", "won", "tied", "lost", "preference")
        said = f"What became of each query: searches that {found.frame['team'][0]} won, tied and lost."
        tables["Queries"] = Result(found.queries, said, columns=shown)
    return tables
