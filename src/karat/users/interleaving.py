"""Interleaving: two systems share one list, each result is one system's, and users' clicks say whose are better."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import ClickLog, Result
from karat.records.number_format import decimals, interval_said, p_said
from karat.records.result import Caution
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Ints
from karat.stats.bootstrap import check_level
from karat.stats.cluster_robust import variance_of_means
from karat.stats.hypothesis_tests import flip_p
from karat.stats.power import queries_needed, smallest_difference

#: With fewer queries, or users, an interval is a guess.
FEW = 20
#: What a search is known by where it has no id of its own.
ONE_SEARCH = ("session", "user", "query")


@dataclass(frozen=True, eq=False, repr=False)
class Interleaving(Result):
    """Which of two interleaved systems users click more.

    The frame has one row: team, over, preference with its interval, p, wins, ties and losses of queries, and the
    numbers behind them. `queries` has a row for each query; `needed` the plan.
    """

    queries: pl.DataFrame = field(default_factory=pl.DataFrame)
    needed: pl.DataFrame = field(default_factory=pl.DataFrame)
    beside: ClassVar[tuple[str, ...]] = ("queries", "needed")

    @property
    def winner(self) -> str | None:
        """The team that users prefer, none where that is not shown."""
        row = self.frame.row(0, named=True)
        if not (row["low"] > 0 or row["high"] < 0):
            return None
        return str(row["team"] if row["preference"] > 0 else row["over"])


def interleave(
    log: Any, *, satisfied_after: float | None = None, difference: float = 0.05, level: float = 0.95
) -> Interleaving:
    """Which of two systems users prefer, from a log of lists in which their results are interleaved (team draft).

    >>> rows = [{"query": f"q{n}", "impression": str(n), "doc": team, "team": team, "clicked": team == won}
    ...         for n in range(40) for won in ["A" if n % 4 else "B"] for team in "AB"]
    >>> print(interleave(rows).finding)
    A is preferred to B: +0.25 (95 % interval +0.11 to +0.39, p < 0.001) over 40 queries.

    A log has a row for each result shown, with the team that brought it and whether it was clicked; only clicks matter,
    so events of clicks alone will do. In each search the team with more clicks wins. The preference of a query is
    (wins + ties / 2) / all - 1/2 over its searches with a click, from -1/2 to 1/2, and the preference is its mean over
    queries, with Student's interval and p over queries; where users are known, these allow for users, too. A query is
    won by the team with more of its searches: `by_wins` is (wins + ties / 2) / all - 1/2 over queries, the same where
    each was asked once, and `p_sign_flip` the exact test that queries are as likely won as lost, which knows of no
    users. The plan says how many queries would show a preference of `difference` with a power of 80 %.
    Reference: Radlinski, Kurup and Joachims (CIKM 2008); Chapelle, Joachims, Radlinski and Yue (TOIS 2012).
    """
    from scipy.special import stdtrit

    check_level(level)
    if not 0 < difference <= 0.5:
        raise BadInput.at("the difference", expected="a preference above 0, and up to 0.5", found=f"{difference:g}")
    read = ClickLog.of(log)
    notes = list(read.notes)
    teams, searches = _searches(read, satisfied_after, notes)
    queries = _by_query(searches, teams)
    value = queries["preference"].to_numpy()
    if len(value) < FEWEST:
        have = count(len(value), "query", "queries")
        raise Undefined(f"{have} with a click on either team's results: {FEWEST} are needed to tell anything")
    mean, error, df, users = _spread(searches, notes)
    reach = float(stdtrit(df, 0.5 + level / 2)) * error
    outcome = queries["outcome"].to_numpy()
    wins, losses = int((outcome > 0).sum()), int((outcome < 0).sum())
    row = {
        "team": teams[0],
        "over": teams[1],
        "preference": mean,
        "low": mean - reach if error else np.nan,
        "high": mean + reach if error else np.nan,
        "p": _p(mean, error, df),
        "by_wins": (wins - losses) / len(value) / 2,
        "p_sign_flip": flip_p(outcome),
        "wins": wins,
        "ties": len(value) - wins - losses,
        "losses": losses,
        "n_queries": len(value),
        "n_searches": searches.height,
        "n_users": users,
    }
    needed, plan = _plan(error * sqrt(len(value)), len(value), searches.height, difference)
    few = min(len(value), users or len(value))
    if few < FEW:
        notes.append(Caution(f"{few} {'users' if few == users else 'queries'} only: the interval is a guess"))
    frame = pl.DataFrame([row])
    shown = ("team", "over", "preference", "p", "wins", "ties", "losses", "n_queries")
    return Interleaving(frame, _finding(row, level), (*notes, *plan), columns=shown, queries=queries, needed=needed)


def _searches(log: ClickLog, satisfied_after: float | None, notes: list[str]) -> tuple[tuple[str, str], pl.DataFrame]:
    """The two teams, and the credited clicks of each in every search with some: query, user, first, second."""
    team = log.need("team", "crediting clicks")
    names = sorted(team.drop_nulls().unique().to_list())
    if len(names) != 2:
        found = ", ".join(names[:5])
        raise BadInput.at("the interleaved lists", expected="results of two teams", found=found or "none")
    frame = log.frame.with_columns(clicked=log.counted(satisfied_after))
    if "impression" not in frame.columns or frame["impression"].null_count() == frame.height:
        known = [name for name in ONE_SEARCH if log.has(name)]
        frame = frame.with_columns(impression=pl.concat_str(known, separator="\x1f", ignore_nulls=True))
        if known == ["query"]:
            notes.append(Caution("no column names the search: all clicks of a query count as of one search"))
        else:
            notes.append(f"no column names the search: rows of one {' and '.join(known)} count as one")
    clicks = frame.filter(pl.col("clicked"))
    lost = clicks["team"].null_count()
    if lost:
        notes.append(f"{count(lost, 'click')} on results of no team left aside")
    if "user" not in clicks.columns:
        clicks = clicks.with_columns(user=pl.lit(None, dtype=pl.String))
    searches = (
        clicks.drop_nulls("team")
        .group_by("query", "impression", maintain_order=True)
        .agg(
            pl.col("user").drop_nulls().first(),
            first=(pl.col("team") == names[0]).sum().cast(pl.Int64),
            second=(pl.col("team") == names[1]).sum().cast(pl.Int64),
        )
        .with_columns(value=(pl.col("first") - pl.col("second")).sign() / 2)
    )
    silent = frame["query"].n_unique() - searches["query"].n_unique()
    if silent:
        notes.append(f"{count(silent, 'query', 'queries')} without a credited click left out")
    return (names[0], names[1]), searches


def _by_query(searches: pl.DataFrame, teams: tuple[str, str]) -> pl.DataFrame:
    """What became of each query: searches won and lost, its preference, and who won it (1, 0, -1)."""
    found = searches.group_by("query").agg(
        searches=pl.len().cast(pl.Int64),
        won=(pl.col("value") > 0).sum().cast(pl.Int64),
        tied=(pl.col("value") == 0).sum().cast(pl.Int64),
        lost=(pl.col("value") < 0).sum().cast(pl.Int64),
        clicks=pl.col("first").sum(),
        clicks_over=pl.col("second").sum(),
        preference=pl.col("value").mean(),
    )
    outcome = (pl.col("won") - pl.col("lost")).sign().cast(pl.Int64)
    names = pl.when(outcome > 0).then(pl.lit(teams[0])).when(outcome < 0).then(pl.lit(teams[1])).otherwise(None)
    return found.with_columns(outcome=outcome, winner=names).sort("query")


def _spread(searches: pl.DataFrame, notes: list[str]) -> tuple[float, float, float, int | None]:
    """The mean over queries, its standard error and degrees of freedom, and how many users are known."""
    value = searches["value"].to_numpy()
    query: Ints = searches["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
    whose, users = searches["user"], None
    if not whose.null_count():
        users = whose.rank("dense").cast(pl.Int64).to_numpy() - 1
    elif whose.null_count() < len(whose):
        notes.append("some searches are of no known user: queries alone are taken for the sample")
    # Every query counts alike, and so do the searches of one.
    mean, spread = variance_of_means(value[:, None], 1 / np.bincount(query)[query], query, users)
    number = None if users is None else int(users.max()) + 1
    return float(mean[0]), sqrt(float(spread.variance[0])), float(spread.df[0]), number


def _p(mean: float, error: float, df: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(mean) / error)) if error else np.nan


def _plan(sd: float, queries: int, searches: int, difference: float) -> tuple[pl.DataFrame, list[str]]:
    """How many queries, and searches like these, show a preference; and the smallest that these many show."""
    if not sd:
        return pl.DataFrame(), ["all queries went alike: nothing can be planned from how they vary"]
    wanted, smallest = queries_needed(difference, sd), smallest_difference(queries, sd)
    each = searches / queries
    needed = pl.DataFrame(
        {
            "difference": [difference],
            "queries": [wanted],
            "more_queries": [max(wanted - queries, 0)],
            "more_searches": [max(int(np.ceil(wanted * each)) - searches, 0)],
            "smallest": [smallest],
        }
    )
    text = f"a preference of {smallest:.3f} would show with a power of 80 % over so many queries"
    if wanted > queries:
        more = count(wanted - queries, "more query", "more queries")
        text += f"; one of {difference:g} needs {more} ({needed['more_searches'][0]:,} more searches with a click)"
    return needed, [text]


def _finding(row: dict[str, Any], level: float) -> str:
    low, high, mean = row["low"], row["high"], row["preference"]
    queries = count(row["n_queries"], "query", "queries")
    places = 2 if np.isnan(low) else decimals(low, high)
    if mean < 0:  # told from the side of the one that is ahead
        row, mean, low, high = row | {"team": row["over"], "over": row["team"]}, -mean, -high, -low
    said = interval_said(low, high, level, places).replace("interval ", "interval +" if low >= 0 else "interval ")
    said = said.replace(" to ", " to +" if high >= 0 else " to ")
    tested = "" if np.isnan(row["p"]) else f"{said[:-1]}, {p_said(row['p'])})"
    if low > 0:
        return f"{row['team']} is preferred to {row['over']}: +{mean:.{places}f}{tested} over {queries}."
    if np.isnan(low):
        return f"{row['team']} and {row['over']}: a preference of +{mean:.{places}f} over {queries}, not tested."
    return f"No preference shown between {row['team']} and {row['over']}: +{mean:.{places}f}{tested} over {queries}."
