"""What gold labels of some documents leave to chance in a corrected difference, as a pilot of gold labels shows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import BadInput, Undefined
from karat.estimate.calibration import FEWEST
from karat.estimate.evidence import Evidence
from karat.estimate.one_step import gold_changes
from karat.estimate.pool import Pool
from karat.estimate.ppi import check_gold, never_wrong, weighed
from karat.estimate.with_gold import calibrated_gain
from karat.measures import is_linear
from karat.plan.sizes import FLOOR, sizes
from karat.records import Runs
from karat.scoring.scorer import Scorer
from karat.stats.arrays import Floats, Ints
from karat.stats.draw import inclusion_probabilities


@dataclass(frozen=True, eq=False)
class GoldSpread:
    """What each gold document would add to the variance of a query's difference, had it been left out or drawn rarely.

    `size` is how differently the systems weigh each document that matters, `gold` the places among them of those with
    a gold label, and `squares` what a query's variance gains by these times (1/p - 1), p being the chance of each.
    `now` is what it has gained in the pilot.
    """

    size: Floats
    gold: Ints
    squares: Floats
    now: float
    labels: int

    @property
    def variance(self) -> float:
        """What the variance gains, times (1/share - 1), where all documents that matter are drawn alike."""
        return float(self.squares.sum())

    def adds(self, share: float) -> float:
        """What the variance gains where `plan_gold` draws this share of the documents that matter.

        >>> alike = GoldSpread(np.ones(4), np.array([0, 2]), np.array([0.01, 0.03]), 0.0, 2)
        >>> round(alike.adds(0.25), 3)
        0.12
        """
        if not 0 < share <= 1:
            raise BadInput.at("the share of gold labels", expected="above 0, at most 1", found=f"{share:g}")
        chance = inclusion_probabilities(self.size, share * len(self.size), floor=FLOOR * share)
        return float((self.squares * (1 / chance[self.gold] - 1)).sum())


def gold_spread(runs: Runs, scorer: Scorer, pool: Pool, evidence: Evidence | None) -> GoldSpread:
    """What the gold labels of a pilot show: how each changes the difference, as often as it stands for others.

    Without `evidence` the judge is not calibrated but weighed, so that its errors are smallest.
    """
    check_gold(pool)
    measure, drawn = scorer.measures[0], pool.drawn
    if evidence is not None and not is_linear(measure):
        change = gold_changes(runs, scorer, pool, evidence)
    elif is_linear(measure):
        # The plan draws by other chances than the pilot: each gold document is as heavy as it stands for others.
        learned = evidence and pool.with_predicted(calibrated_gain(pool, measure, evidence, scorer))
        predicted = weighed(learned, pool, pool.inverse) if learned else weighed(pool, None, pool.inverse)
        change = (pool.truth - predicted)[drawn, None] * pool.weight[drawn]
    else:
        raise Undefined(
            f"{measure} is no sum over documents: to plan with gold labels of single documents takes {FEWEST} or more "
            "of them, of more than one grade, and a calibrated judge; P, DCG and RBP can be planned without"
        )
    square = np.where(pool.matters[drawn], (change[:, 1] - change[:, 0]) ** 2 + _unseen(pool), 0.0)
    inverse, size = pool.inverse[drawn], sizes(pool, measure)
    here = size > 0
    place, kept = np.cumsum(here) - 1, here[drawn]
    squares = square * inverse / len(pool.queries)
    now = float((squares * (inverse - 1)).sum())
    labels = int((drawn & pool.matters).sum())
    return GoldSpread(size[here], place[drawn][kept].astype(np.int64), squares[kept], now, labels)


def _unseen(pool: Pool) -> Floats:
    """What each gold document might have changed, squared, where none contradicts the judge: one might have.

    As in `powered`, by the rule of succession.
    """
    if not never_wrong(pool):
        return np.zeros(int(pool.drawn.sum()))
    gains = np.concatenate([pool.predicted, pool.gold[pool.drawn], [0.0]])
    widest = float(np.ptp(gains)) * (pool.weight[pool.drawn, 1] - pool.weight[pool.drawn, 0])
    return np.asarray(widest**2 / (int((pool.drawn & pool.matters).sum()) + 2))
