"""The score corrected: what it would be by gold labels, with its error."""

from karat.estimate.score import score

__all__ = ["score"]
