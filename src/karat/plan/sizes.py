"""How much a document tells the systems apart: gold labels are drawn, and planned, in proportion to it."""

from __future__ import annotations

import numpy as np

from karat.estimate.gold_pool import in_the_best_list
from karat.estimate.pool import Pool
from karat.measures import ERR, RR, Measure, nDCG
from karat.stats.arrays import Floats

#: No document that counts is less likely to be drawn than this share of the average: a rare one would weigh too much.
FLOOR = 0.2
#: For one system's nDCG a document of the best list counts this share of what it counts in the system's own list.
IDEAL = 0.5
#: A document at the same rank of all lists counts this share of its weight for measures of users who stop.
SAME_RANK = 0.3


def sizes(pool: Pool, measure: Measure) -> Floats:
    """How differently the systems weigh each document; for one system alone, what the document weighs.

    0 where it counts alike for all, or too little to be worth a label.
    """
    apart = pool.weight - pool.weight.mean(axis=1, keepdims=True) if len(pool.systems) > 1 else pool.weight
    size = np.sqrt((apart**2).sum(axis=1))
    if isinstance(measure, nDCG) and len(pool.systems) == 1:
        # Its own score also asks for the best list there could be; a score is below 1, so that counts less.
        size = np.maximum(size, IDEAL * in_the_best_list(pool, measure))
    if isinstance(measure, ERR | RR):
        # What stands at the same rank counts otherwise where better documents stand above it in one of the lists.
        size = np.maximum(size, SAME_RANK * pool.weight.max(axis=1))
    return np.where(pool.counting(size), size, 0.0)
