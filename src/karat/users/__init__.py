"""Users: preferences, clicks, interleaving and ranker training. Do measures agree with them?"""

from karat.users.agreement_curves import PreferenceCurves, preference_curves
from karat.users.click_rates import against_click_rates, click_labels
from karat.users.document_preferences import document_agreement, preferred_documents
from karat.users.fitted_measure import FittedMeasure, fit_measure
from karat.users.human_ceiling import human_ceiling
from karat.users.interleaving import Interleaving, interleave
from karat.users.measure_agreement import Agreement, agreement
from karat.users.measure_correlation import matrix, measure_correlation
from karat.users.measure_robustness import robustness
from karat.users.paper_tables import agreement_tables, as_printed
from karat.users.pool_reuse import reuse
from karat.users.preference_judges import preference_judges, preference_work
from karat.users.ranker_training import Training, train
from karat.users.ranking_agreement import compare_rankings
from karat.users.ratings import against_ratings
from karat.users.reasons import ReasonModel, learn_reasons, reason_table, reasons_by_rules
from karat.users.system_ranking import SystemRanking, rank_systems
from karat.users.votes import preferred, trusted, votes

__all__ = [
    "Agreement",
    "FittedMeasure",
    "Interleaving",
    "PreferenceCurves",
    "ReasonModel",
    "SystemRanking",
    "Training",
    "against_click_rates",
    "against_ratings",
    "agreement",
    "agreement_tables",
    "as_printed",
    "click_labels",
    "compare_rankings",
    "document_agreement",
    "fit_measure",
    "human_ceiling",
    "interleave",
    "learn_reasons",
    "matrix",
    "measure_correlation",
    "preference_curves",
    "preference_judges",
    "preference_work",
    "preferred",
    "preferred_documents",
    "rank_systems",
    "reason_table",
    "reasons_by_rules",
    "reuse",
    "robustness",
    "train",
    "trusted",
    "votes",
]
from karat.users.click_models import ClickLabels, click_labels_by_rank
from karat.users.click_preferences import against_clicks, most_clicked

__all__ += ["ClickLabels", "against_clicks", "click_labels_by_rank", "most_clicked"]
