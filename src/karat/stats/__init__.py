"""Numerical methods without domain knowledge."""

from karat.stats.arrays import totals
from karat.stats.bootstrap import FEWEST, Resampling, check_level, mean_intervals, ratio, ratio_intervals, resampled

__all__ = ["FEWEST", "Resampling", "check_level", "mean_intervals", "ratio", "ratio_intervals", "resampled", "totals"]
