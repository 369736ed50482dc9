"""The colours of a report: one accent for what to look at, greys for the rest, Okabe and Ito's for groups."""

from __future__ import annotations

from typing import Any

#: What to look at, and what stands beside it.
ACCENT, QUIET = "#9a6b00", "#7a7a7a"
#: Lines that carry no figure: zero, chance, the planted truth.
RULE, TRUTH = "#8c8c8c", "#d55e00"
#: Groups of judges, measures, levels: Okabe and Ito's set, told apart by people who see few colours.
GROUPS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#4d4d4d")
#: What each colour of a light page becomes on a dark one.
DARK = {
    ACCENT: "#e0b84c",
    QUIET: "#9d9d9d",
    RULE: "#767676",
    TRUTH: "#f08a4b",
    "#0072b2": "#4aa8e0",
    "#009e73": "#2fc598",
    "#cc79a7": "#dd96bd",
    "#56b4e9": "#8fd0f5",
    "#8a6d00": "#f0e442",
    "#4d4d4d": "#c4c4c4",
    # Letters on the gold of a heat map.
    "#fffdf8": "#1b1710",
    "#2a2620": "#eee8dc",
    "#f7f0df": "#2b2517",
}
LETTERS, ON_GOLD, PAPER = "#2a2620", "#fffdf8", "#f7f0df"


def config(text: str = "#2a2620", faint: str = "#e4dfd4", font: str = "system-ui, sans-serif") -> dict[str, Any]:
    """Vega-Lite's settings for a quiet chart: no frame, faint grid, letters of the page.

    >>> config()["view"]
    {'stroke': None}
    """
    return {
        "background": None,
        "font": font,
        "view": {"stroke": None},
        "axis": {
            "labelColor": text,
            "titleColor": text,
            "gridColor": faint,
            "domainColor": faint,
            "tickColor": faint,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 230,
            "labelSeparation": 5,
        },
        "legend": {"labelColor": text, "titleColor": text, "labelFontSize": 12, "orient": "top", "title": None},
        "text": {"color": text, "fontSize": 12},
        "title": {"color": text, "subtitleColor": text, "anchor": "start", "fontSize": 16, "subtitleFontSize": 12},
    }
