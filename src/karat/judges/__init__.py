"""Can we trust them? Agreement, errors and habits of judges and of groups of judges."""

from karat.judges.agreement import agreement
from karat.judges.combined import combined_weights
from karat.judges.conditions import disagreement_by, resampled_p
from karat.judges.consistency import consistency
from karat.judges.disagreement import Disagreement, disagreement
from karat.judges.pairwise import pairwise

__all__ = [
    "Disagreement",
    "agreement",
    "combined_weights",
    "consistency",
    "disagreement",
    "disagreement_by",
    "pairwise",
    "resampled_p",
]
