"""Which system wins? Paired tests, many systems, and the verdict that holds when labels are wrong sometimes."""

from karat.comparison.comparison import Comparison
from karat.comparison.verdict import compare

__all__ = ["Comparison", "compare"]
