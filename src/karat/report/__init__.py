"""Show it: a study on one page, its pictures and tables, with nothing but a browser needed."""

from karat.report.figure import Figure
from karat.report.heat_map import heat_map
from karat.report.report import Report, make_report

__all__ = ["Figure", "Report", "heat_map", "make_report"]
