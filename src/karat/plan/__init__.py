"""What should be judged next?"""

from karat.plan.comparisons import comparison_tasks
from karat.plan.pairs import PairSelection, select_pairs

__all__ = ["PairSelection", "comparison_tasks", "select_pairs"]
