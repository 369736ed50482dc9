"""Show it: a study on one page, its pictures and tables, with nothing but a browser needed."""

from karat.reports.figure import Figure
from karat.reports.report import Report, report

__all__ = ["Figure", "Report", "report"]
