"""`karat simulate clicks` and `interleaving`: logs of users who look at results and click."""

from __future__ import annotations

from typing import Any

import click

from karat.cli.simulate.study import Files, Made, n_queries, number, study
from karat.errors import BadInput
from karat.simulate.click_log import position_log, team_draft_log

#: More noise than this drowns everything.
MOST = 100.0


@study(
    n_queries(20),
    number("--n-docs", 10, "Documents for a query.", "documents", least=1),
    number("--n-searches", 2000, "How many searches.", "pages", least=1),
    number("--shuffle", 2.0, "By how many ranks a document's place varies; 0: never."),
    click.option("--best-first", is_flag=True, help="The usual order is that of attractiveness."),
    number("--unlike", 0.0, "How much users differ in how readily they click."),
    examples="karat simulate clicks --best-first --out shop",
)
def clicks(shuffle: float, unlike: float, **asked: Any) -> Made:
    """A log of results shown and clicked: each rank is looked at with a chance, each document attractive with one."""
    for option, value in (("--shuffle", shuffle), ("--unlike", unlike)):
        if not 0 <= value <= MOST:
            raise BadInput.at(option, expected=f"a number from 0 to {MOST:g}", found=f"{value:g}")
    made = position_log(shuffle=shuffle, unlike=unlike, **asked)
    looked = {f"rank_{place}": float(chance) for place, chance in enumerate(made.examination, start=1)}
    files: Files = {"log.csv": made.log, "attractiveness.csv": made.truth}
    return f"A simulated log: {made.log!r}.", looked, files


@study(
    n_queries(200),
    number("--n-searches", 1000, "How many searches.", "searches", least=1),
    number("--n-users", 300, "How many users.", "users", least=1),
    number("--better", 0.1, "How much less noise A's ranking has than B's, from -0.2 to 0.2."),
    number("--habit", 0.0, "How much users lean to a team, whatever the query."),
    examples="karat simulate interleaving --better 0 --out shop",
)
def interleaving(better: float, habit: float, **asked: Any) -> Made:
    """A log of lists that two systems share by team draft, and its clicks."""
    if not -0.2 <= better <= 0.2:
        raise BadInput.at("--better", expected="a number from -0.2 to 0.2", found=f"{better:g}")
    if not 0 <= habit <= MOST:
        raise BadInput.at("--habit", expected=f"a number from 0 to {MOST:g}", found=f"{habit:g}")
    log = team_draft_log(better=better, habit=habit, **asked)
    return f"A simulated log: {log!r}.", {"better": better, "habit": habit}, {"log.csv": log}
