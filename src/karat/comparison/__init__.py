"""Which system wins?"""

from karat.comparison.by_group import GroupComparison, by_group, groups_of
from karat.comparison.comparer import Comparer, compare
from karat.comparison.comparison import Comparison
from karat.comparison.gate import gate
from karat.comparison.live import Live
from karat.comparison.live_verdict import live_verdict
from karat.comparison.many_measures import by_measure
from karat.comparison.moved import moved
from karat.comparison.scored import compare_scores

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
