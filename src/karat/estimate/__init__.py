"""The score, with its error."""

from karat.estimate.plain import Scorer, score
from karat.estimate.scores import Scores

__all__ = ["Scorer", "Scores", "score"]
