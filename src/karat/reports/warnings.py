"""What may change the verdict, and so stands beside it."""

from __future__ import annotations

from karat.comparison import Comparison
from karat.records.result import Caution


def warnings_of(found: Comparison) -> tuple[str, ...]:
    """The notes that may change the verdict, as sentences."""
    return tuple(f"{note}." for note in found.notes if isinstance(note, Caution))
