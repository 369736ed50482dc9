"""The page: one HTML file that needs no network, light and dark, with charts, tables and their numbers."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import polars as pl

from karat.records.number_format import cell, column_decimals
from karat.reports.figure import DARK, Figure, config, vega_lite
from karat.reports.section import MISSING, Section, Table

#: Nothing may be loaded from anywhere, whatever names and texts the study holds.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
#: A longer table is cut on the page, and said to be; the CSV has all of it.
MOST_ROWS = 60
#: A column with more letters than these in a cell has texts, which take room.
LONG = 28
#: What columns are called on the page, where their names in a frame are short.
HEADS = {
    "p_bh": "p, adjusted",
    "p_holm": "p, adjusted",
    "p_adjusted": "p, adjusted",
    "holm": "p, Holm",
    "bh": "p, false discovery",
    "max_t": "p, max-T",
    "n": "number",
    "n_pairs": "documents",
    "n_queries": "queries",
    "n_gold": "gold labels",
    "n_labels": "labels",
}


#: Letters that are none, which would steer a terminal that shows the page.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def escape(text: str) -> str:
    r"""A text that can do nothing in a page, nor in a terminal.

    >>> escape("<b>\x1b[2J")
    '&lt;b&gt;\ufffd[2J'
    """
    return html.escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def page(
    title: str,
    verdict: str,
    reason: str,
    about: str,
    simulated: str,
    sections: tuple[Section, ...],
    warnings: tuple[str, ...] = (),
) -> str:
    """The report as one HTML document.

    >>> page("Mine", "a is better", "by 0.1", "", "", ()).startswith("<!doctype html>")
    True
    """
    # A question that the data cannot answer is a line at the end, not a section of its own.
    shown = [section for section in sections if not section.missing]
    figures = [figure for section in shown for figure in section.figures]
    links = "".join(f'<li><a href="#{section.name}">{escape(section.title)}</a></li>' for section in shown)
    warned = f'<p class="simulated"><strong>Simulated:</strong> {escape(simulated)}</p>' if simulated else ""
    grave = "".join(f'<p class="warning"><strong>Beware:</strong> {_text(text)}</p>' for text in warnings)
    specs = {figure.name: figure.spec for figure in figures}
    look = {"dark": DARK, "config": config()}
    scripts = ""
    if figures:
        scripts = (
            f'<script type="application/json" id="figures">{_inside(specs)}</script>\n'
            f'<script type="application/json" id="look">{_inside(look)}</script>\n'
            f"<script>{_libraries()}</script>\n<script>{_part('page.js')}</script>\n"
        )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(title)}: {escape(verdict)}</title>
<link rel="icon" href="data:,">
<style>{_part("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="verdict">{escape(verdict)}</p>
{f'<p class="reason">{_text(reason)}</p>' if reason else ""}
{grave}
<p class="about">{escape(about)}</p>
{warned}
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main>
{"".join(_section(section) for section in shown)}{_missing(sections)}
</main>
<footer>Made by karat {version("karat")}. Every chart has its numbers as CSV; the page needs no network.</footer>
{scripts}</body>
</html>
"""


def _text(text: str) -> str:
    """A text of the study's or the report's: safe, and no line ends before a percent sign."""
    return escape(text).replace(" %", "\u00a0%")


def _command(command: str) -> str:
    """A command in which no line ends within an option's name."""
    words = (escape(word) for word in command.split(" "))
    return " ".join(f'<span class="whole">{word}</span>' if word.startswith("-") else word for word in words)


def _section(section: Section) -> str:
    said = "".join(f"<p>{_text(text)}</p>" for text in section.said)
    notes = "".join(f"<li>{_text(note)}</li>" for note in section.notes)
    if notes:
        notes = f'<details class="notes"><summary>What to know about these figures</summary><ul>{notes}</ul></details>'
    commands = "".join(f"<li><code>{_command(command)}</code></li>" for command in section.commands)
    commands = f"<p>To type:</p><ul>{commands}</ul>" if commands else ""
    return (
        f'<section id="{section.name}"><h2>{escape(section.title)}</h2>{said}'
        + "".join(_figure(figure) for figure in section.figures)
        + "".join(_table(table) for table in section.tables)
        + f"{commands}{notes}</section>\n"
    )


def _missing(sections: tuple[Section, ...]) -> str:
    """What the data does not allow, and why."""
    rows = [
        f"<li>{_text(section.title.rstrip('?'))}: {_text(section.said[0].removeprefix(MISSING))}</li>"
        for section in sections
        if section.missing
    ]
    return f'<section id="missing"><h2>Not in this report</h2><ul>{"".join(rows)}</ul></section>' if rows else ""


def _figure(figure: Figure) -> str:
    name = figure.name
    data = b64encode(figure.csv().encode()).decode()
    numbers = _rows(figure.data, f"The numbers of: {figure.title}")
    return (
        f"{f'<p>{_text(figure.said)}</p>' if figure.said else ''}"
        f'<figure id="figure-{name}"><figcaption><strong>{_text(figure.title)}</strong> '
        f"<span>{_text(figure.subtitle)}</span></figcaption>"
        f'<div class="chart" id="chart-{name}" style="min-height:{figure.height + 50}px" role="img" '
        f'aria-label="{escape(figure.title)}"></div>'
        f'<div class="files"><a download="{name}.csv" href="data:text/csv;base64,{data}">CSV</a>'
        f'<button type="button" data-save="svg" data-figure="{name}">SVG</button>'
        f'<button type="button" data-save="png" data-figure="{name}">PNG</button></div>'
        f"<details><summary>Numbers</summary>{numbers}</details></figure>"
    )


def _table(table: Table) -> str:
    rows = _rows(table.frame, table.caption)
    if not table.folded:
        return rows
    return f'<details class="table"><summary>{escape(table.caption)}</summary>{rows}</details>'


def _rows(frame: pl.DataFrame, caption: str) -> str:
    """A table: words to the left, numbers to the right, intervals beside their figures."""
    if {"low", "high"} <= {*frame.columns}:
        before = frame.columns[: frame.columns.index("low")]
        numeric = [name for name in before if frame[name].dtype.is_float()]
        if numeric:
            frame = frame.rename({"low": f"{numeric[-1]}_low", "high": f"{numeric[-1]}_high"})
    names = [
        name
        for name, kind in frame.schema.items()
        if kind != pl.List and not name.endswith(("_low", "_high")) and frame[name].null_count() < max(frame.height, 1)
    ]
    places = {name: column_decimals(frame, name) for name in names}
    word = {name: _word(frame[name]) for name in names}
    heads = "".join(f'<th scope="col"{word[name]}>{escape(_head(name))}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td{word[name]}>{_cell(row, name, places[name])}</td>" for name in names) + "</tr>"
        for row in frame.head(MOST_ROWS).iter_rows(named=True)
    )
    more = f"<p>{frame.height - MOST_ROWS:,} more rows.</p>" if frame.height > MOST_ROWS else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption><span>{escape(caption)}</span></caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _head(name: str) -> str:
    """What a column is called; a name of several words has a system's in it, which stays as it is.

    >>> _head("n_gold"), _head("n_times"), _head("rank in bm25_v2")
    ('gold labels', 'n times', 'rank in bm25_v2')
    """
    return HEADS.get(name, name if " " in name else name.replace("_", " "))


def _word(column: pl.Series) -> str:
    """How a column stands: numbers to the right, words to the left, texts with room to be read."""
    if column.dtype.is_numeric():
        return ""
    longest = column.cast(pl.String).str.len_chars().max() if column.dtype != pl.List else 0
    return ' class="word text"' if (longest or 0) > LONG else ' class="word"'  # type: ignore[operator]


def _cell(row: dict[str, Any], name: str, places: int) -> str:
    value, interval = cell(row, name, places)
    return escape(value) + (f' <span class="interval">{interval}</span>' if interval else "")


def _inside(value: object) -> str:
    """JSON that may stand in a script: no text of a study can end it."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e")


def _part(name: str) -> str:
    return files("karat.reports").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vegaEmbed`."""
    import vl_convert

    made: Callable[..., str] = vl_convert.javascript_bundle  # its stub asks for a snippet that may be left out
    bundle = made(vl_version=vega_lite())
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
