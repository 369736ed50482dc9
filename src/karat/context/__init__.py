"""What is a document worth after the one just read? Judged labels in context, and those that nobody judged."""

from karat.context.labelling import SOURCES, context_sources, label_in_context
from karat.context.prediction_accuracy import context_accuracy
from karat.context.predictors import PREDICTORS

__all__ = [
    "PREDICTORS",
    "SOURCES",
    "context_accuracy",
    "context_sources",
    "label_in_context",
]
