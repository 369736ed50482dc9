"""Scores corrected with gold labels, or with published error rates of the judges."""

from karat.correction.corrected_scores import score

__all__ = ["score"]
