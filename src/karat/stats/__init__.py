"""Numbers only: resampling, intervals and tests that know nothing of queries or judges."""

from karat.stats.bootstrap import mean_intervals
from karat.stats.totals import totals

__all__ = ["mean_intervals", "totals"]
