"""How many queries and gold labels it takes to detect a difference, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.advice import advise
from karat.correction.calibration import FEWEST as MIN_GOLD_LABELS
from karat.errors import BadInput
from karat.plan.pilot import FEW, PilotVariance
from karat.plan.simulated_power import (
    FIRST_STUDIES,
    MAX_SIMULATED_QUERIES,
    MIN_QUERIES,
    STUDIES,
    PilotModel,
    SimulatedErrors,
)
from karat.records.result import ResultBase, rows_of
from karat.records.table import count
from karat.stats.power import paired_power, queries_needed, smallest_difference

#: The shares of gold labels that are looked at when none are asked for.
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
#: Fewer where each is simulated.
SIMULATED_SHARES = (0.1, 0.25, 0.5)
#: Fewer simulated studies have no standard error worth reporting.
MIN_STUDIES = 10
#: A smaller share would leave most queries without a gold label, and the t test without its footing.
LEAST_SHARE = 0.01


#: A row of the table of shares.
SHARE_ROWS = {
    "gold_share": pl.Float64,
    "queries": pl.Int64,
    "gold_labels": pl.Int64,
    "power": pl.Float64,
    "power_error": pl.Float64,
    "cost": pl.Float64,
    "cheapest": pl.Boolean,
}


@dataclass(frozen=True, eq=False, repr=False)
class PowerPlan(ResultBase):
    """A plan: the queries needed, the power with fewer or more, and shares of gold labels with what they cost.

    `queries` is the number with every label right; `curve` has queries, power and the smallest detectable difference;
    `shares` has gold_share, queries, gold_labels, power with its Monte-Carlo standard error where it was simulated,
    cost and which is cheapest, and is empty without a gold variance. `detectable` is the smallest difference that the
    pilot's own queries could detect if every document had a gold label, None without a pilot.
    """

    difference: float
    spread: PilotVariance
    power: float
    alpha: float
    queries: int
    curve: pl.DataFrame
    shares: pl.DataFrame
    finding: str
    detectable: float | None = None
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
            "detectable": self.detectable,
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
    studies: int = STUDIES,
    seed: int = 0,
    on_study: Callable[[], None] | None = None,
) -> PowerPlan:
    """Plan how many queries and gold labels it takes to detect a difference of this size.

    >>> plan_power(0.02, 0.2)
    To detect a difference of 0.02 with 80% power you need 787 queries.
    - Paired t test at 0.05; the standard deviation of a query's difference is 0.2.

    With a pilot of gold labels, every share of documents with a gold label has its number of queries: few gold labels
    on many queries may be cheaper than many on few, and with both costs the cheapest share is found. For sums over
    documents (P, DCG, RBP) power is that of a formula. For nDCG, RR and ERR studies of the planned size are simulated
    from the pilot and compared as `compare` does it. No plan has fewer gold labels than `compare` needs.

    Choose the difference before you know the result: it is the smallest that would be worth acting on.

    Args:
        difference: The true difference between the two systems that the study should detect.
        spread: The standard deviation of a query's difference, or what `pilot_variance` found.
        power: The probability that a study detects the difference.
        alpha: The false-positive rate of the test.
        shares: Shares of the documents that matter to get a gold label; some common ones unless given.
        cost_query: What a query costs, apart from its gold labels.
        cost_gold: What a gold label costs.
        studies: Simulated studies for each share, for nDCG, RR and ERR.
        seed: The seed of the simulation.
        on_study: Called after each simulated study, of which there are `count_simulated_studies`.

    Returns:
        A PowerPlan with the number of queries and a row for each share of gold labels.

    Raises:
        BadInput: The difference is 0, or a share, cost or power is out of range.
    """
    spread = PilotVariance(float(spread)) if isinstance(spread, int | float) else spread
    difference, shares = abs(difference), tuple(float(share) for share in shares)
    _check(spread, shares, cost_query, cost_gold)
    if spread.model is not None and studies < MIN_STUDIES:
        raise BadInput.at("the simulated studies", expected=f"{MIN_STUDIES} or more", found=str(studies))
    needed = queries_needed(difference, spread.sd, power=power, alpha=alpha)
    asked = _Asked(difference, spread, power, alpha, studies, seed, on_study)
    by_share = _shares(asked, shares, cost_query, cost_gold)
    enough = None if spread.queries is None or spread.queries < 2 else spread.queries
    detectable = None if enough is None else smallest_difference(enough, spread.sd, power=power, alpha=alpha)
    return PowerPlan(
        difference=difference,
        spread=spread,
        power=power,
        alpha=alpha,
        queries=needed,
        curve=_curve(difference, spread.sd, needed, power, alpha, cost_query),
        shares=by_share,
        finding=_finding(asked, needed, by_share, detectable),
        detectable=detectable,
        notes=tuple(_notes(asked, by_share)),
    )


def count_simulated_studies(
    spread: PilotVariance, shares: Sequence[float] = (), *, priced: bool = False, studies: int = STUDIES
) -> int:
    """How many studies `plan_power` will simulate, for a progress bar; 0 where a formula will do.

    >>> count_simulated_studies(PilotVariance(0.2))
    0

    Args:
        spread: What the plan rests on.
        shares: The shares of gold labels asked for.
        priced: Whether both costs are given, so that one more share is looked at.
        studies: Simulated studies for each share.

    Returns:
        The number of studies.
    """
    if spread.model is None:
        return 0
    rows = len(set(shares)) if shares else len(SIMULATED_SHARES) + priced
    return rows * (FIRST_STUDIES + studies) + studies


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is to be detected, from which pilot, and how power is simulated."""

    difference: float
    spread: PilotVariance
    power: float
    alpha: float
    studies: int
    seed: int
    on_study: Callable[[], None] | None

    def simulate(self, model: PilotModel, queries: int, gold_labels: int, studies: int) -> SimulatedErrors:
        """Errors of studies of this size, or of the largest that is simulated with the same share of gold labels."""
        if queries > MAX_SIMULATED_QUERIES:
            gold_labels = round(gold_labels * MAX_SIMULATED_QUERIES / queries)
            queries = MAX_SIMULATED_QUERIES
        return model.simulate(
            queries,
            max(gold_labels, MIN_GOLD_LABELS),
            studies=studies,
            alpha=self.alpha,
            seed=self.seed,
            on_study=self.on_study,
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
            expected="the gold variance with it",
            found="nothing",
            remedy=advise(
                "give a pilot with --gold, or --gold-variance",
                "give gold= to pilot_variance, or gold_variance= to PilotVariance",
            ),
        )
    if cost_gold is not None and spread.pool is None:
        raise BadInput.at(
            "the cost of a gold label",
            expected="how many documents of a query matter with it",
            found="nothing",
            remedy=advise("give --pool", "give pool= to PilotVariance"),
        )


def _shares(asked: _Asked, shares: Sequence[float], cost_query: float | None, cost_gold: float | None) -> pl.DataFrame:
    """Queries, gold labels, power and cost for each share of gold labels."""
    spread = asked.spread
    if spread.gold_variance is None:
        return pl.DataFrame(schema=SHARE_ROWS)
    looked_at = set(shares or (SHARES if spread.model is None else SIMULATED_SHARES))
    priced = cost_query is not None and cost_gold is not None
    if priced and not shares:
        looked_at.add(_best_share(spread, cost_query or 0.0, cost_gold or 0.0))
    rows: list[dict[str, Any]] = []
    for share in sorted(looked_at):
        row = _by_formula(asked, share) if spread.model is None else _by_simulation(asked, spread.model, share)
        cost = None
        if priced and row["gold_labels"] is not None:
            cost = row["queries"] * (cost_query or 0.0) + row["gold_labels"] * (cost_gold or 0.0)
        rows.append({**row, "cost": cost, "cheapest": None})
    if priced:
        least = min(rows, key=lambda row: float(row["cost"]))
        for row in rows:
            row["cheapest"] = row is least
    return pl.DataFrame(rows, schema=SHARE_ROWS).unique(["queries", "gold_labels", "gold_share"], maintain_order=True)


def _by_formula(asked: _Asked, share: float) -> dict[str, Any]:
    """Queries and gold labels for one share by the noncentral t distribution."""
    spread, difference, alpha = asked.spread, asked.difference, asked.alpha
    queries = queries_needed(difference, spread.at(share), power=asked.power, alpha=alpha)
    queries, gold, share = _with_enough_gold(queries, spread.pool, share)
    power = float(paired_power(difference, spread.at(share), queries, alpha=alpha))
    return {"gold_share": share, "queries": queries, "gold_labels": gold, "power": power, "power_error": None}


def _by_simulation(asked: _Asked, model: PilotModel, share: float) -> dict[str, Any]:
    """Queries and gold labels for one share from simulated studies: a few near the formula's, then at that size."""
    spread = asked.spread
    queries = queries_needed(asked.difference, spread.at(share), power=asked.power, alpha=asked.alpha)
    errors = None
    for studies in (FIRST_STUDIES, asked.studies):
        queries, gold, share = _with_enough_gold(max(queries, MIN_QUERIES), spread.pool, share)
        errors = asked.simulate(model, queries, gold or MIN_GOLD_LABELS, studies)
        queries = errors.queries_needed(asked.difference, asked.power)
    queries, gold, share = _with_enough_gold(queries, spread.pool, share)
    assert errors is not None
    power, error = errors.power(asked.difference, queries)
    return {"gold_share": share, "queries": queries, "gold_labels": gold, "power": power, "power_error": error}


def _with_enough_gold(queries: int, pool: float | None, share: float) -> tuple[int, int | None, float]:
    """The queries, the gold labels of this share and the share, raised to what `compare` needs."""
    if pool is None:
        return queries, None, share
    gold = math.ceil(queries * pool * share - 1e-9)
    if gold >= MIN_GOLD_LABELS:
        return queries, gold, share
    queries = max(queries, math.ceil(MIN_GOLD_LABELS / pool - 1e-9))
    return queries, MIN_GOLD_LABELS, min(MIN_GOLD_LABELS / (queries * pool), 1.0)


def _best_share(spread: PilotVariance, cost_query: float, cost_gold: float) -> float:
    """The share, in percent, at which variance times the cost of a query and its gold labels is smallest."""
    shares = [percent / 100 for percent in range(round(100 * LEAST_SHARE), 101)]
    return min(
        shares, key=lambda share: spread.at(share) ** 2 * (cost_query + cost_gold * (spread.pool or 0.0) * share)
    )


def _curve(
    difference: float, sd: float, needed: int, power: float, alpha: float, cost_query: float | None
) -> pl.DataFrame:
    """The power and the smallest detectable difference for round numbers of queries around the one needed."""
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


def _finding(asked: _Asked, needed: int, by_share: pl.DataFrame, detectable: float | None) -> str:
    spread = asked.spread
    of = f" in {spread.measure}" if spread.measure else ""
    start = f"To detect a difference of {asked.difference:g}{of} with {100 * asked.power:g}% power you need "
    end = ""
    if detectable is not None and detectable > asked.difference and (spread.queries or 0) >= FEW:
        end = (
            f" Your {count(spread.queries or 0, 'query', 'queries')} cannot detect {asked.difference:g}, whatever you "
            f"label: with every document labelled correctly, the smallest difference they detect is {detectable:.2g}."
        )
    if not by_share.height:
        interval = ""
        if not math.isnan(spread.low):
            low, high = (
                queries_needed(asked.difference, sd, power=asked.power, alpha=asked.alpha)
                for sd in (spread.low, spread.high)
            )
            interval = f" (95% CI [{low:,}, {high:,}])"
        return f"{start}{count(needed, 'query', 'queries')}{interval}.{end}"
    cheapest = by_share.filter(pl.col("cheapest").fill_null(False))
    if cheapest.height:
        row = cheapest.row(0, named=True)
        return f"{start}{_with_gold(row)}: the cheapest plan of those below, at {row['cost']:,.0f}.{end}"
    least, most = by_share.row(0, named=True), by_share.row(-1, named=True)
    if by_share.height == 1:
        return f"{start}{_with_gold(least)}.{end}"
    return f"{start}{_with_gold(most)}, or {_with_gold(least)}.{end}"


def _with_gold(row: dict[str, Any]) -> str:
    share = f"{100 * row['gold_share']:.3g}% of the documents that matter"
    queries = count(row["queries"], "query", "queries")
    if row["gold_labels"] is None:
        return f"{queries} with gold labels for {share}"
    return f"{queries} and {count(row['gold_labels'], 'gold label')} ({share})"


def _notes(asked: _Asked, by_share: pl.DataFrame) -> list[str]:
    spread, gold = asked.spread, asked.spread.gold
    known = ""
    there = "" if spread.queries is None else count(spread.queries, "query", "queries")
    if gold is not None:
        there += f" and {count(gold.labels, 'gold label')}"
        known = f", estimated from {there}"
    elif spread.queries is not None:
        known = f", estimated from the labels of {there}"
    sd = f"{spread.sd:g}" if spread.queries is None else f"{spread.sd:.3g}"
    notes = [f"Paired t test at {asked.alpha:g}; the standard deviation of a query's difference is {sd}{known}."]
    if spread.queries is not None:
        notes.append(f"The {there} you have detect a difference of {_detectable_now(asked):.2g} with that power.")
    if spread.model is not None:
        error = max([row or 0.0 for row in by_share["power_error"]], default=0.0)
        analysis = advise("karat compare --gold", "compare with gold=")
        notes.append(
            f"Power is simulated: {count(asked.studies, 'study', 'studies')} per row, drawn from the pilot and "
            f"analysed as in {analysis} (seed {asked.seed}; Monte-Carlo standard error of power {error:.2f})."
        )
    elif gold is not None:
        notes.append(
            advise(
                "Gold labels are sampled as karat plan gold does it, and differences corrected as in karat compare.",
                "Gold labels are sampled as plan_gold does it, and differences corrected as in compare.",
            )
        )
    elif spread.gold_variance is not None:
        notes.append(
            "Gold labels are sampled uniformly from the documents that count for one system more than for the other. "
            "karat plan gold needs as many or fewer."
        )
    elif spread.queries is not None:
        notes.append(
            f"Without gold labels, {asked.difference:g} is a difference as the judges see it; because of their errors "
            "the true one may be smaller or larger."
        )
    if by_share.height and (by_share["gold_labels"] == MIN_GOLD_LABELS).any():
        notes.append(f"No plan has fewer than {MIN_GOLD_LABELS} gold labels: karat compare needs them to calibrate.")
    return [*notes, *spread.notes]


def _detectable_now(asked: _Asked) -> float:
    """The smallest difference that the pilot's own queries and gold labels detect."""
    spread, gold = asked.spread, asked.spread.gold
    queries = spread.queries or 0
    if spread.model is not None and gold is not None:
        errors = asked.simulate(spread.model, queries, gold.labels, asked.studies)
        return errors.smallest_difference(asked.power, queries)
    sd = math.sqrt(spread.sd**2 + (0.0 if gold is None else gold.now))
    return smallest_difference(queries, sd, power=asked.power, alpha=asked.alpha)
