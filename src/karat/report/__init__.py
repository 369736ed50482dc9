"""Show it: pictures that need nothing but a browser."""

from karat.report.heat_map import heat_map

__all__ = ["heat_map"]
