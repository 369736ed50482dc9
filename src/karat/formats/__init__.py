"""Readers and writers, one module per format family."""

from karat.formats.format_registry import FORMATS, register_format
from karat.formats.karat_tables import read_confusion
from karat.formats.read import (
    read_clicks,
    read_comments,
    read_documents,
    read_judgments,
    read_preferences,
    read_queries,
    read_ratings,
    read_runs,
    read_session_lists,
    read_subtopics,
    read_user_weights,
)
from karat.formats.write import write

__all__ = [
    "FORMATS",
    "read_clicks",
    "read_comments",
    "read_confusion",
    "read_documents",
    "read_judgments",
    "read_preferences",
    "read_queries",
    "read_ratings",
    "read_runs",
    "read_session_lists",
    "read_subtopics",
    "read_user_weights",
    "register_format",
    "write",
]
