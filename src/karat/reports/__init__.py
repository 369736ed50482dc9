"""Charts, tables, the HTML report, LaTeX and Markdown."""

from karat.reports.figure import Figure
from karat.reports.report import Report, report

__all__ = ["Figure", "Report", "report"]
