"""Do measures agree with users, and what do labels do to the rankers trained on them?"""

from karat.validity.agreement_curves import PreferenceCurves, preference_curves
from karat.validity.bradley_terry import SystemRanking, rank_systems
from karat.validity.click_rates import against_click_rates, click_labels
from karat.validity.document_preferences import document_agreement, preferred_documents
from karat.validity.fitted_measure import FittedMeasure, fit_measure
from karat.validity.human_ceiling import human_ceiling
from karat.validity.interleaving import Interleaving, interleave
from karat.validity.measure_correlation import matrix, measure_correlation
from karat.validity.paper_layout import as_printed
from karat.validity.paper_tables import agreement_tables
from karat.validity.ranking_agreement import compare_rankings
from karat.validity.ratings import against_ratings
from karat.validity.reason_model import ReasonModel, learn_reasons
from karat.validity.reasons import reason_table, reasons_by_rules
from karat.validity.reuse import reuse
from karat.validity.robustness import robustness
from karat.validity.side_by_side_judges import preference_judges
from karat.validity.side_by_side_work import preference_work
from karat.validity.training import Training, train
from karat.validity.user_agreement import Agreement, agreement
from karat.validity.votes import preferred, trusted, votes

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
