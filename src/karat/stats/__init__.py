"""Numbers only: resampling, intervals and tests that know nothing of queries or judges."""

from karat.stats.bootstrap import FEWEST, mean_intervals, outside_share, resampled
from karat.stats.totals import totals

__all__ = ["FEWEST", "mean_intervals", "outside_share", "resampled", "totals"]
