"""The score, with its error."""

from karat.estimate.scores import Scores
from karat.estimate.scoring import Scorer, score

__all__ = ["Scorer", "Scores", "score"]
