"""What is a document worth after the one just read? Judged labels in context, and those that nobody judged."""

from karat.context.company import add_company
from karat.context.labelling import SOURCES, context_sources, label_in_context
from karat.context.prediction_accuracy import compare_predictors, context_accuracy
from karat.context.predictors import PREDICTORS

__all__ = [
    "PREDICTORS",
    "SOURCES",
    "add_company",
    "compare_predictors",
    "context_accuracy",
    "context_sources",
    "label_in_context",
]
