"""How `karat validate` shows its results: as text with the columns that matter, or as one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from karat.records import Result

#: What the tables of the paper are called, in findings and in JSON.
TABLES = tuple(f"Table {number}" for number in range(1, 10))


def document(result: Result) -> dict[str, Any]:
    """The result as one document; a table of the paper has its name in `table`."""
    table, dot, _ = result.finding.partition(".")
    name = {"table": table} if dot and table in TABLES else {}
    return name | result.to_dict()


def show(result: Result) -> None:
    """Print the result with the columns that people look at, and the tables that belong to it."""
    from karat.cli.results import print_result
    from karat.records import Result
    from karat.validity import Agreement, SystemRanking

    if not isinstance(result, Agreement):
        print_result(result, [name for name in result.frame.columns if name not in ("systems", "queries")])
        if isinstance(result, SystemRanking) and result.judges.height:
            click.echo()
            print_result(Result(result.judges.head(10), "The least reliable judges (1 is the average, 0 guesses)."))
        return
    shown = ["measure", "split", "agree", "equal", "disagree", "ties", "n", "agree_share", "p", "p_adjusted"]
    print_result(result, shown)
    if result.between_measures.height:
        click.echo()
        names = ["first", "second", "difference", "sign_p", "p_adjusted", "better"]
        print_result(Result(result.between_measures, "Between measures, on the same pairs:"), names)
    if result.between_splits.height:
        click.echo()
        names = ["measure", "first", "second", "first_share", "second_share", "welch_p", "p_adjusted"]
        print_result(Result(result.between_splits, "Between parts:"), names)
