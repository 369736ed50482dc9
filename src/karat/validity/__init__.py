"""Do measures agree with users, and what do labels do to the rankers trained on them?"""

from karat.validity.agreement import Agreement, agreement, agreement_of
from karat.validity.bradley_terry import SystemRanking, rank_systems
from karat.validity.compared import Compared, compare
from karat.validity.counts import agreement_from_counts
from karat.validity.measure_correlation import matrix, measure_correlation
from karat.validity.paper_tables import agreement_tables
from karat.validity.robustness import robustness
from karat.validity.training import Training, train
from karat.validity.votes import preferred, trusted, votes

__all__ = [
    "Agreement",
    "Compared",
    "SystemRanking",
    "Training",
    "agreement",
    "agreement_from_counts",
    "agreement_of",
    "agreement_tables",
    "compare",
    "matrix",
    "measure_correlation",
    "preferred",
    "rank_systems",
    "robustness",
    "train",
    "trusted",
    "votes",
]
