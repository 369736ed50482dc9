"""Which system is better: tests, many systems, query groups, interim looks and the CI gate."""

from karat.comparison.comparer import Comparer, compare, compare_scores
from karat.comparison.comparison import Comparison
from karat.comparison.gate import gate
from karat.comparison.live_verdict import Live, live_verdict
from karat.comparison.many_measures import by_measure
from karat.comparison.query_deltas import moved
from karat.comparison.query_groups import GroupComparison, by_group, groups_of

__all__ = [
    "Comparer",
    "Comparison",
    "GroupComparison",
    "Live",
    "by_group",
    "by_measure",
    "compare",
    "compare_scores",
    "gate",
    "groups_of",
    "live_verdict",
    "moved",
]
