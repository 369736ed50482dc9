"""The parts of `karat validate`, under the names that people type."""

from karat.cli.validate.against_preferences import agreement, correlation, fit, tables
from karat.cli.validate.curves import curves
from karat.cli.validate.other_signs import clicks, ratings, reasons
from karat.cli.validate.preferences_alone import documents, judges, ranking, votes

__all__ = [
    "agreement",
    "clicks",
    "correlation",
    "curves",
    "documents",
    "fit",
    "judges",
    "ranking",
    "ratings",
    "reasons",
    "tables",
    "votes",
]
