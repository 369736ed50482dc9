"""A figure: a chart whose title says the finding, how it was made, and the numbers that are drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import guarded
from karat.formats.open_files import write_bytes

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


#: The width of a picture, and letters in a line of its title.
WIDTH, LINE = 680, 76


def vega_lite() -> str:
    """The version of Vega-Lite that the installed Altair writes for, as vl-convert names it.

    >>> vega_lite().startswith("v")
    True
    """
    import altair

    return "_".join(altair.SCHEMA_VERSION.split(".")[:2])


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its finding as title, how it was made as subtitle, and its numbers.

    `name` is the name of its files; `spec` a Vega-Lite chart as wide as its place, without title.
    """

    name: str
    title: str
    subtitle: str
    spec: dict[str, Any]
    data: pl.DataFrame
    #: What stands above the figure on the page: the finding in full.
    said: str = ""

    @property
    def height(self) -> int:
        """The height of the drawing in pixels, known before it is drawn so that the page does not jump."""
        height = self.spec.get("height", 300)
        return int(height) if isinstance(height, int | float) else 300

    def csv(self) -> str:
        """The numbers as comma-separated values, safe to open in a spreadsheet."""
        nested = [
            pl.col(name).cast(pl.List(pl.String)).list.join(" ")
            for name, kind in self.data.schema.items()
            if kind == pl.List
        ]
        return guarded(self.data.with_columns(nested)).write_csv(float_precision=6)

    def picture(self) -> dict[str, Any]:
        """The chart as a picture of its own: with title, on white, of a fixed width."""
        title = {"text": wrap(self.title, LINE - 14) or "", "subtitle": wrap(self.subtitle, LINE + 16), "offset": 14}
        # Panels have widths of their own.
        wide = {} if "vconcat" in self.spec else {"width": WIDTH}
        return {**self.spec, **wide, "title": title, "config": config() | {"background": "#ffffff"}}

    def svg(self) -> str:
        """The picture as SVG."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(json.dumps(self.picture()), vl_version=vega_lite()))

    def _repr_svg_(self) -> str:
        return self.svg()

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, two pixels for one unless asked otherwise."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(json.dumps(self.picture()), vl_version=vega_lite(), scale=scale))

    def drawn(self, ending: str) -> bytes:
        """The picture as a file of this ending: .svg, .png, .pdf, or .html, a page that needs nothing else."""
        import vl_convert

        spec, version = json.dumps(self.picture()), vega_lite()
        if ending == ".svg":
            return self.svg().encode()
        if ending == ".png":
            return self.png()
        if ending == ".pdf":
            return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=version))
        if ending == ".html":
            return str(vl_convert.vegalite_to_html(spec, vl_version=version, bundle=True)).encode()
        raise BadInput.at("the chart", expected="a name that ends in .svg, .png, .pdf or .html", found=f'"{ending}"')

    def write(self, folder: Path) -> list[Path]:
        """Write the picture as SVG and PNG and the numbers as CSV, and tell where."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}.{ending}" for ending in ("svg", "png", "csv")]
        write_bytes(str(paths[0]), self.svg().encode())
        write_bytes(str(paths[1]), self.png())
        write_bytes(str(paths[2]), self.csv().encode())
        return paths
