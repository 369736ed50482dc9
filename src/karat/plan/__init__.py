"""What should be judged next? Tasks for judges, with their number and cost before anyone starts."""

from karat.plan.comparisons import comparison_tasks
from karat.plan.disagreement import plan_disagreement
from karat.plan.gold import GoldPlan, plan_gold, plan_gold_queries
from karat.plan.next_pairs import next_pairs, pairs_of_documents
from karat.plan.pairs import PairSelection, select_pairs
from karat.plan.power import PowerPlan, plan_power
from karat.plan.preferences import plan_preferences
from karat.plan.variance import PilotVariance, pilot_variance

__all__ = [
    "GoldPlan",
    "PairSelection",
    "PilotVariance",
    "PowerPlan",
    "comparison_tasks",
    "next_pairs",
    "pairs_of_documents",
    "pilot_variance",
    "plan_disagreement",
    "plan_gold",
    "plan_gold_queries",
    "plan_power",
    "plan_preferences",
    "select_pairs",
]
