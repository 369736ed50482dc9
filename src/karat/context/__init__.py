"""Relevance in context and by aspect."""

from karat.context.labelling import SOURCES, context_accuracy, context_sources, label_in_context
from karat.context.predictors import PREDICTORS

__all__ = [
    "PREDICTORS",
    "SOURCES",
    "context_accuracy",
    "context_sources",
    "label_in_context",
]
from karat.context.aspect_correlation import change_correlation, overall_correlation, predict_overall
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import grade_change, mean_change
from karat.context.setting_agreement import setting_agreement

__all__ += [
    "aspect_coverage",
    "aspect_distribution",
    "change_correlation",
    "grade_change",
    "mean_change",
    "overall_correlation",
    "predict_overall",
    "setting_agreement",
]
