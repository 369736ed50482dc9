"""Altair charts that notebooks show without the network.

Altair's own HTML loads Vega from a content delivery network. These charts show themselves as SVG, and save HTML with
Vega in the file.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from karat.reports.figure import vega_lite

#: The renderer that is active unless the user enables another, which then decides.
ALTAIRS_DEFAULT = "default"


class OfflineChart:
    """What is different about an Altair chart that needs no network; a base class beside the chart's own."""

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """The chart as SVG for notebooks; by Altair's renderer where the user has enabled one."""
        import altair

        if altair.renderers.active != ALTAIRS_DEFAULT:
            return super()._repr_mimebundle_(*args, **options)  # type: ignore[misc]
        return {"image/svg+xml": self._svg(), "text/plain": f"<{type(self).__name__} of karat>"}

    def to_html(self, *args: Any, **options: Any) -> str:
        """The chart as an HTML page with Vega in it."""
        return str(super().to_html(*args, **{"inline": True, **options}))  # type: ignore[misc]

    def save(self, fp: Any, format: str | None = None, **options: Any) -> None:
        """Write the chart to a file, a page with Vega in it where that is HTML."""
        ends_in_html = str(getattr(fp, "name", fp)).endswith((".html", ".htm"))
        if format == "html" or (format is None and ends_in_html):
            options = {"inline": True, **options}
        super().save(fp, format=format, **options)  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return _from_spec, (self.to_dict(),)  # type: ignore[attr-defined]

    def _svg(self) -> str:
        import vl_convert

        spec = json.dumps(self.to_dict())  # type: ignore[attr-defined]
        return str(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite()))


def offline(chart: Any) -> Any:
    """The same Altair chart, shown and saved without the network, and so are the charts made of it by its methods."""
    # Altair takes what is set on a chart for a part of its specification.
    kind: type = type(chart)
    object.__setattr__(chart, "__class__", _offline_class(kind))
    return chart


@lru_cache(maxsize=16)
def _offline_class(kind: type) -> type:
    return kind if issubclass(kind, OfflineChart) else type(kind.__name__, (OfflineChart, kind), {})


def _from_spec(spec: dict[str, Any]) -> Any:
    import altair

    return offline(altair.Chart.from_dict(spec))
