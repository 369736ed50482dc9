"""What should be judged next? Tasks for judges, with their number and cost before anyone starts."""

from karat.plan.gold import GoldPlan, plan_gold, plan_gold_queries
from karat.plan.power import PowerPlan, plan_power
from karat.plan.spread import Spread, spread_of

__all__ = ["GoldPlan", "PowerPlan", "Spread", "plan_gold", "plan_gold_queries", "plan_power", "spread_of"]
