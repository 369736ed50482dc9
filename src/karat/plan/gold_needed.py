"""How many gold labels a judge needs beside its own: to see a difference, or for a mean grade known so well."""

from __future__ import annotations

import math
from dataclasses import dataclass

from karat.errors import BadInput
from karat.estimate.calibration import FEWEST as MIN_GOLD_LABELS
from karat.plan.variance import PilotVariance
from karat.records.base import count
from karat.stats.power import queries_needed, smallest_difference

#: Where even gold labels for everything cannot show the difference, so much more than they can is taken for as good.
NEARLY = 1.1


@dataclass(frozen=True)
class Needed:
    """`gold` labels, drawn at random, and what they are enough for in words."""

    gold: int
    purpose: str
    #: Whether the queries there are can show what was asked for at all.
    reachable: bool = True


def for_difference(
    spread: PilotVariance, difference: float, systems: tuple[str, str], *, power: float = 0.8, alpha: float = 0.05
) -> Needed:
    """The gold labels with which these queries show a difference between two systems.

    >>> for_difference(PilotVariance(0.1, 0.002, 8.0, "P@10", 400), 0.02, ("A", "B"))
    Needed(gold=521, purpose='show a difference of 0.02 in P@10 between A and B', reachable=True)

    The share of the documents that matter is solved from sd^2 + R (1/share - 1), what the variance of a query's
    difference may be. Where the queries are too few, whatever the gold labels, it is the share with which they show
    nearly as small a difference as they can. Never fewer than `compare` needs to calibrate the judge.
    """
    if not difference > 0:
        raise BadInput.at("the difference", expected="a number above 0", found=f"{difference:g}")
    queries, pool, added = spread.queries or 0, spread.pool or 0.0, spread.gold_variance or 0.0
    seen = smallest_difference(queries, spread.sd, power=power, alpha=alpha)
    reachable = seen <= difference
    target = difference if reachable else seen * NEARLY
    # The difference seen grows with the standard deviation, and what is not drawn adds R (1/share - 1) to its square.
    allowed = spread.sd**2 * ((target / seen) ** 2 - 1)
    share = added / (added + allowed) if added > 0 else 0.0
    between = f" in {spread.measure} between {' and '.join(systems)}"
    gold = max(math.ceil(share * pool * queries - 1e-6), MIN_GOLD_LABELS)
    if reachable:
        return Needed(gold, f"show a difference of {difference:g}{between}")
    more = queries_needed(difference, spread.sd, power=power, alpha=alpha)
    there = f"these {count(queries, 'query', 'queries')} (for {difference:g}, {more:,} queries are needed)"
    return Needed(gold, f"show a difference of {target:.2g}{between}, about the smallest for {there}", False)


def for_width(left: float, width: float, level: float) -> Needed:
    """The gold labels with which a mean grade is known to within `width`, from what is `left` of a grade's spread.

    >>> for_width(0.6, 0.1, 0.95)
    Needed(gold=139, purpose='know a mean grade to within 0.1', reachable=True)
    """
    from scipy.special import ndtri

    if not width > 0:
        raise BadInput.at("the width", expected="a number of grades above 0", found=f"{width:g}")
    reach = float(ndtri((1 + level) / 2))
    return Needed(max(math.ceil((reach * left / width) ** 2), 1), f"know a mean grade to within {width:g}")
