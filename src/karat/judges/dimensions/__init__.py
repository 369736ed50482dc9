"""Relevance by dimension: what judges say about each aspect of a document, alone and in context."""

from karat.judges.dimensions.agreement import setting_agreement
from karat.judges.dimensions.change import grade_change, mean_change
from karat.judges.dimensions.correlation import change_correlation, overall_correlation
from karat.judges.dimensions.coverage import aspect_coverage
from karat.judges.dimensions.distribution import aspect_distribution
from karat.judges.dimensions.prediction import predict_overall

__all__ = [
    "aspect_coverage",
    "aspect_distribution",
    "change_correlation",
    "grade_change",
    "mean_change",
    "overall_correlation",
    "predict_overall",
    "setting_agreement",
]
