"""What should be judged next? Tasks for judges, with their number and cost before anyone starts."""

from karat.plan.comparisons import comparison_tasks
from karat.plan.gold import GoldPlan, plan_gold, plan_gold_queries
from karat.plan.pairs import PairSelection, select_pairs
from karat.plan.power import PowerPlan, plan_power
from karat.plan.spread import Spread, spread_of

__all__ = [
    "GoldPlan",
    "PairSelection",
    "PowerPlan",
    "Spread",
    "comparison_tasks",
    "plan_gold",
    "plan_gold_queries",
    "plan_power",
    "select_pairs",
    "spread_of",
]
