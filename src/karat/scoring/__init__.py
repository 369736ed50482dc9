"""The score of each system, with its interval: labels taken as they are."""

from karat.scoring.scorer import Scorer
from karat.scoring.scores import Scores

__all__ = ["Scorer", "Scores"]
