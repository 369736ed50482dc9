"""How many queries, and how many gold labels, until a difference is seen: and what that costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.plan.variance import PilotVariance
from karat.records.base import count
from karat.records.result import ResultBase, rows_of
from karat.stats.power import paired_power, queries_needed, smallest_difference

#: The shares of gold labels that are looked at when none are asked for.
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
#: A smaller share would leave most queries without a gold label, and the t test without its footing.
LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class PowerPlan(ResultBase):
    """A plan: the queries needed, the power with fewer or more, and shares of gold labels with what they cost.

    `queries` is the number with every label right; `curve` has queries, power and the smallest difference seen;
    `shares` has gold_share, queries, gold_labels, cost and which is cheapest, and is empty without a gold variance.
    """

    difference: float
    spread: PilotVariance
    power: float
    alpha: float
    queries: int
    curve: pl.DataFrame
    shares: pl.DataFrame
    finding: str
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """The shares of gold labels, or the curve of power where there are none."""
        return self.shares if self.shares.height else self.curve

    def to_dict(self) -> dict[str, Any]:
        """The plan as one document; what is undefined is None."""
        return {
            "difference": self.difference,
            "sd": self.spread.sd,
            "gold_variance": self.spread.gold_variance,
            "pool": self.spread.pool,
            "power": self.power,
            "alpha": self.alpha,
            "queries": self.queries,
            "finding": self.finding,
            "shares": rows_of(self.shares),
            "curve": rows_of(self.curve),
            "notes": list(self.notes),
        }


def plan_power(
    difference: float,
    spread: PilotVariance | float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    shares: Sequence[float] = (),
    cost_query: float | None = None,
    cost_gold: float | None = None,
) -> PowerPlan:
    """The queries and gold labels with which a paired t test sees a difference of this size.

    >>> plan_power(0.02, 0.2)
    To see a difference of 0.02 with power 80 % you need 787 queries.
    - paired t test at 0.05; a query's difference has a standard deviation of 0.2

    `spread` is the standard deviation of a query's difference, or a `PilotVariance` that also knows what a missing
    gold label costs. Then every share of gold labels has its number of queries: few gold labels on many queries may be
    cheaper than many on few, and with both costs the cheapest share is found. `cost_query` is all that a query costs
    but its gold labels. The difference is one of true scores; judges' errors, if nobody sets them right with gold
    labels, make it smaller. Not for choosing a difference after the result is known: power is a matter of before.
    """
    spread = PilotVariance(float(spread)) if isinstance(spread, int | float) else spread
    difference, shares = abs(difference), tuple(float(share) for share in shares)
    _check(spread, shares, cost_query, cost_gold)
    needed = queries_needed(difference, spread.sd, power=power, alpha=alpha)
    by_share = _shares(difference, spread, power, alpha, shares, cost_query, cost_gold)
    return PowerPlan(
        difference=difference,
        spread=spread,
        power=power,
        alpha=alpha,
        queries=needed,
        curve=_curve(difference, spread.sd, needed, power, alpha, cost_query),
        shares=by_share,
        finding=_finding(difference, spread, needed, by_share, power, alpha),
        notes=tuple(_notes(difference, spread, power, alpha)),
    )


def _check(spread: PilotVariance, shares: Sequence[float], cost_query: float | None, cost_gold: float | None) -> None:
    for name, cost in (("the cost of a query", cost_query), ("the cost of a gold label", cost_gold)):
        if cost is not None and not 0 <= cost < math.inf:
            raise BadInput.at(name, expected="a number from 0", found=f"{cost:g}")
    for share in shares:
        if not 0 < share <= 1:
            raise BadInput.at("the share of gold labels", expected="above 0, at most 1", found=f"{share:g}")
    if spread.pool is not None and not 0 < spread.pool < math.inf:
        raise BadInput.at("the documents of a query that matter", expected="a number above 0", found=f"{spread.pool:g}")
    if spread.gold_variance is None and (shares or cost_gold is not None):
        what = "the share of gold labels" if shares else "the cost of a gold label"
        raise BadInput.at(
            what,
            expected="how far labels are off (the gold variance) with it",
            found="nothing",
            remedy="give a pilot with --gold, or --gold-variance",
        )
    if cost_gold is not None and spread.pool is None:
        raise BadInput.at(
            "the cost of a gold label",
            expected="how many documents of a query matter with it",
            found="nothing",
            remedy="give --pool",
        )


def _shares(
    difference: float,
    spread: PilotVariance,
    power: float,
    alpha: float,
    shares: Sequence[float],
    cost_query: float | None,
    cost_gold: float | None,
) -> pl.DataFrame:
    """Queries, gold labels and cost for each share of gold labels."""
    schema = {
        "gold_share": pl.Float64,
        "queries": pl.Int64,
        "gold_labels": pl.Int64,
        "cost": pl.Float64,
        "cheapest": pl.Boolean,
    }
    if spread.gold_variance is None:
        return pl.DataFrame(schema=schema)
    looked_at = set(shares or SHARES)
    priced = cost_query is not None and cost_gold is not None
    if priced and not shares:
        looked_at.add(_best_share(spread, cost_query or 0.0, cost_gold or 0.0))
    rows: list[dict[str, Any]] = []
    for share in sorted(looked_at):
        queries = queries_needed(difference, spread.at(share), power=power, alpha=alpha)
        gold = None if spread.pool is None else math.ceil(queries * spread.pool * share - 1e-9)
        cost = None
        if priced and gold is not None:
            cost = queries * (cost_query or 0.0) + gold * (cost_gold or 0.0)
        rows.append({"gold_share": share, "queries": queries, "gold_labels": gold, "cost": cost, "cheapest": None})
    if priced:
        least = min(rows, key=lambda row: float(row["cost"]))
        for row in rows:
            row["cheapest"] = row is least
    return pl.DataFrame(rows, schema=schema)


def _best_share(spread: PilotVariance, cost_query: float, cost_gold: float) -> float:
    """The share, in percent, at which variance times the cost of a query and its gold labels is smallest."""
    shares = [percent / 100 for percent in range(round(100 * LEAST_SHARE), 101)]
    return min(
        shares, key=lambda share: spread.at(share) ** 2 * (cost_query + cost_gold * (spread.pool or 0.0) * share)
    )


def _curve(
    difference: float, sd: float, needed: int, power: float, alpha: float, cost_query: float | None
) -> pl.DataFrame:
    """The power, and the smallest difference seen, for round numbers of queries around the one needed."""
    lowest, highest = max(5.0, needed / 12), needed * 4.0
    tens = range(0, math.ceil(math.log10(highest)) + 1)
    round_ones = [digit * 10**ten for ten in tens for digit in (1, 2, 5)]
    queries = sorted({needed, *(n for n in round_ones if lowest <= n <= highest)})
    columns: dict[str, Any] = {
        "queries": queries,
        "power": paired_power(difference, sd, queries, alpha=alpha),
        "smallest_difference": [smallest_difference(n, sd, power=power, alpha=alpha) for n in queries],
    }
    if cost_query is not None:
        columns["cost"] = [n * cost_query for n in queries]
    return pl.DataFrame(columns)


def _finding(
    difference: float, spread: PilotVariance, needed: int, by_share: pl.DataFrame, power: float, alpha: float
) -> str:
    of = f" in {spread.measure}" if spread.measure else ""
    said = f"To see a difference of {difference:g}{of} with power {100 * power:g} % you need "
    if not by_share.height:
        said += count(needed, "query", "queries")
        if not math.isnan(spread.low):
            ends = [queries_needed(difference, sd, power=power, alpha=alpha) for sd in (spread.low, spread.high)]
            said += f" (95 % interval {ends[0]:,} to {ends[1]:,})"
        return said + "."
    cheapest = by_share.filter(pl.col("cheapest").fill_null(False))
    if cheapest.height:
        row = cheapest.row(0, named=True)
        return (
            f"{said}{_with_gold(row)}: the cheapest of the shares looked at, for {row['cost']:,.0f} "
            "in the unit of your costs."
        )
    least, most = by_share.row(0, named=True), by_share.row(-1, named=True)
    if by_share.height == 1:
        return f"{said}{_with_gold(least)}."
    return f"{said}{_with_gold(most)}, or {_with_gold(least)}."


def _with_gold(row: dict[str, Any]) -> str:
    labels = "" if row["gold_labels"] is None else f" ({count(row['gold_labels'], 'label')})"
    share = f"{100 * row['gold_share']:.3g} %"
    return f"{count(row['queries'], 'query', 'queries')} with gold for {share} of what matters{labels}"


def _notes(difference: float, spread: PilotVariance, power: float, alpha: float) -> list[str]:
    known, gold = "", spread.gold
    there = "" if spread.queries is None else count(spread.queries, "query", "queries")
    if gold is not None:
        there += f" and {count(gold.labels, 'gold label')} that count"
        known = f" in truth, known from {there}"
    elif spread.queries is not None:
        known = f", known from {there} by the labels"
    sd = f"{spread.sd:g}" if spread.queries is None else f"{spread.sd:.3g}"
    notes = [f"paired t test at {alpha:g}; a query's difference has a standard deviation of {sd}{known}"]
    if spread.queries is not None:
        now = math.sqrt(spread.sd**2 + (0.0 if gold is None else gold.now))
        seen = smallest_difference(spread.queries, now, power=power, alpha=alpha)
        notes.append(f"the {there} there are see a difference of {seen:.2g} or more with that power")
    if gold is not None:
        notes.append("gold labels drawn by karat plan gold, each difference corrected as karat compare --gold does it")
    elif spread.gold_variance is not None:
        notes.append(
            "gold labels drawn uniformly among the documents that count for one system more than for the other; karat "
            "plan gold needs as many or fewer"
        )
    elif spread.queries is not None:
        notes.append(
            f"without gold labels, {difference:g} is a difference as the judges see it; by their errors it may be "
            "smaller or larger than the true one"
        )
    return [*notes, *spread.notes]
