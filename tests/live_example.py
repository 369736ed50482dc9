"""A live verdict as the server gives it, for tests of the pages."""

from __future__ import annotations

from typing import Any

LIVE: dict[str, Any] = {
    "finding": "Go on: it is not clear yet.",
    "state": "go on",
    "systems": ["old", "new"],
    "drawn": 100,
    "margin": 0.05,
    "looks": [{"labels": n, "difference": 0.1, "low": 0.1 - 9 / n, "high": 0.1 + 9 / n} for n in (20, 40, 60)],
    "ahead": [{"labels": 100, "difference": 0.1, "low": 0.01, "high": 0.19}],
    "notes": ["looked at once, the interval would be narrower"],
}
