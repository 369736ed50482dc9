"""The score, with its error."""

from karat.estimate.score import score
from karat.estimate.scores import Scores
from karat.estimate.scoring import Scorer

__all__ = ["Scorer", "Scores", "score"]
