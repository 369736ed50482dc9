"""The score corrected: what it would be by gold labels, with its error."""

from karat.correction.corrected_scores import score

__all__ = ["score"]
