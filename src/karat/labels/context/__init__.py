"""What is a document worth after the one just read? Judged labels in context, and those that nobody judged."""

from karat.labels.context.labelling import SOURCES, context_sources, label_in_context

__all__ = ["SOURCES", "context_sources", "label_in_context"]
