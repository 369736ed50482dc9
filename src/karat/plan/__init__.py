"""Planning: sample sizes, gold samples, and the pairs and contexts to judge."""

from karat.plan.disagreement_power import plan_disagreement
from karat.plan.gold_selection import GoldPlan, plan_gold, plan_gold_queries
from karat.plan.pilot import PilotVariance, pilot_variance
from karat.plan.power import PowerPlan, plan_power
from karat.plan.preference_pairs import PairSelection, next_pairs, pairs_of_documents, select_pairs
from karat.plan.preference_power import plan_preferences
from karat.plan.preference_tasks import comparison_tasks

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
