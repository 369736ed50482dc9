"""Judges: agreement, error models, bias, and disagreement between users."""

from karat.judges.agreement import agreement
from karat.judges.agreement_tests import agreement_tests
from karat.judges.bias import find_bias
from karat.judges.combined_levels import combined_weights
from karat.judges.conditions import disagreement_by, resampled_p
from karat.judges.consistency import consistency, overlap
from karat.judges.dawid_skene import dawid_skene
from karat.judges.disagreement import Disagreement, disagreement
from karat.judges.distribution import distribution, distribution_tests
from karat.judges.document_gains import (
    DocumentGains,
    combined_gains,
    document_gains,
    one_users_weights,
    random_user,
    soft_relevance,
    user_gains,
)
from karat.judges.em import Answers, Errors, Fit, fit_em, tally
from karat.judges.error_models import MODELS, ErrorModel, described, majority_posterior, one_coin, register_error_model
from karat.judges.features import FEATURES, add_features
from karat.judges.gold_errors import against_gold, error_distribution, gold_regression
from karat.judges.judge_table import judge_table
from karat.judges.opinions import opinions
from karat.judges.order_effects import order_effects
from karat.judges.ordinal_model import ordinal

__all__ = [
    "FEATURES",
    "MODELS",
    "Answers",
    "Disagreement",
    "DocumentGains",
    "ErrorModel",
    "Errors",
    "Fit",
    "add_features",
    "against_gold",
    "agreement",
    "agreement_tests",
    "combined_gains",
    "combined_weights",
    "consistency",
    "dawid_skene",
    "described",
    "disagreement",
    "disagreement_by",
    "distribution",
    "distribution_tests",
    "document_gains",
    "error_distribution",
    "find_bias",
    "fit_em",
    "gold_regression",
    "judge_table",
    "majority_posterior",
    "one_coin",
    "one_users_weights",
    "opinions",
    "order_effects",
    "ordinal",
    "overlap",
    "random_user",
    "register_error_model",
    "resampled_p",
    "soft_relevance",
    "tally",
    "user_gains",
]
