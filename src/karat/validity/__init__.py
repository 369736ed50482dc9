"""Do measures agree with users, and what do labels do to the rankers trained on them?"""

from karat.validity.robustness import robustness
from karat.validity.training import Training, train

__all__ = ["Training", "robustness", "train"]
