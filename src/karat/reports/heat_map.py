"""A square table as a picture: one SVG file, readable in black and white, nothing else needed."""

from __future__ import annotations

import math
from html import escape
from textwrap import wrap

import polars as pl

from karat.errors import BadInput

CELL, TEXT, TOP = 72, 14, 64
#: Letters in a line of the title.
WIDEST = 60
#: From white to gold, as far as a figure goes from 0 to 1; below 0 it is grey.
LIGHT, GOLD, GREY = (255, 255, 255), (154, 107, 0), (120, 120, 120)


def heat_map(table: pl.DataFrame, *, title: str, subtitle: str = "") -> str:
    """A square of figures between -1 and 1 as an SVG picture, each cell with its figure.

    >>> square = pl.DataFrame({"measure": ["AP", "RR"], "AP": [1.0, 0.5], "RR": [0.5, 1.0]})
    >>> heat_map(square, title="AP and RR rank alike").count("<rect")
    5

    The first column names the rows, the others are named like them. Undefined figures are empty cells. Use it for
    correlations of measures or judges; a picture of more than some thirty of them is hard to read.
    """
    names = table.columns[1:]
    if table.width < 2 or table[table.columns[0]].cast(pl.String).to_list() != names:
        raise BadInput.at(
            "the table of a heat map", expected="rows and columns of the same names", found=", ".join(table.columns)
        )
    said = wrap(title, WIDEST) or [""]
    top = TOP + 22 * (len(said) - 1)
    left = 24 + max(len(name) for name in names) * 8
    width = max(left + CELL * len(names) + 16, 10 * max(len(line) for line in said) + 32)
    height = top + 32 + CELL * len(names) + 16
    shapes = [f'<rect width="{width}" height="{height}" fill="#fff"/>']
    shapes += [_text(16, 28 + 22 * place, line, size=18, weight="bold") for place, line in enumerate(said)]
    shapes.append(_text(16, top - 14, subtitle, colour="#555"))
    for place, name in enumerate(names):
        middle = top + 32 + CELL * (place + 0.5)
        shapes.append(_text(left - 8, middle + 5, name, anchor="end"))
        shapes.append(_text(left + CELL * (place + 0.5), top + 22, _short(name), anchor="middle"))
        for column, other in enumerate(names):
            value = table[other][place]
            if value is None or math.isnan(value):
                continue
            fill, ink = _colours(float(value))
            x, y = left + CELL * column, top + 32 + CELL * place
            shapes.append(f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" fill="{fill}"/>')
            shapes.append(_text(x + CELL / 2 - 1, y + CELL / 2 + 4, f"{value:.2f}", anchor="middle", colour=ink))
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif">\n{body}\n</svg>\n'
    )


def _colours(value: float) -> tuple[str, str]:
    share = min(abs(value), 1.0)
    end = GOLD if value >= 0 else GREY
    mixed = [round(light + (full - light) * share) for light, full in zip(LIGHT, end, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed), "#fff" if share > 0.6 else "#222"


def _short(name: str) -> str:
    return name if len(name) <= 9 else name[:8] + "…"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = TEXT,
    weight: str = "normal",
    colour: str = "#222",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="{colour}">{escape(text)}</text>'
    )
