"""Results: each begins with its finding in words, has its figures in a frame, and says how it was made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from karat.records.number_format import in_words, written
from karat.records.scale import Scale
from karat.records.table import pandas_of


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines along `x`, one for each of the `series`; columns low and high are a band, `points` markers beside them.

    Columns points_low and points_high are the bars of the markers; `how` says how it was made.
    """

    frame: pl.DataFrame
    x: str
    value: str
    series: str
    x_title: str
    y_title: str
    points: str | None = None
    whole: bool = False
    how: str = ""


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each value was drawn, one histogram for each of the `series`: columns series and value.

    `truth` is a line where the values should be; `how` says what was drawn.
    """

    frame: pl.DataFrame
    x_title: str
    truth: float | None = None
    how: str = ""


@dataclass(frozen=True, eq=False)
class Grid:
    """What each of `first` (down) said of each of `second` (across): columns first, second, value from 0 to 1, said."""

    frame: pl.DataFrame
    x_title: str
    y_title: str
    how: str = ""


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences around 0, each on its interval: columns row, difference, low, high; rows to `look_at` stand out."""

    frame: pl.DataFrame
    x_title: str
    how: str = ""


@dataclass(frozen=True, eq=False)
class Panels:
    """Lines along `x` in panels: columns `down` and `across` say in which, value, low and high are drawn by `series`.

    A column `reference` is a dashed line of the same colour, where the curve begins.
    """

    frame: pl.DataFrame
    x: str
    series: str
    x_title: str
    how: str = ""


#: What a result may say of its chart.
Drawing = Lines | Histograms | Grid | Differences | Panels


#: What a notebook shows of a table whose columns of interest nobody has named; `to_frame()` has all of it.
MOST_ROWS, MOST_COLUMNS = 40, 8


class Caution(str):
    """A note that may change the verdict: few queries, few gold labels, errors that favour a system.

    >>> notes = ("ties in score", Caution("9 queries only"))
    >>> [note for note in notes if isinstance(note, Caution)]
    ['9 queries only']
    """

    __slots__ = ()


class VerdictWarning(Caution):
    """A warning that bears on the verdict and is printed right under it."""

    __slots__ = ()


class ResultBase:
    """What all results offer: `finding`, `notes`, `to_frame()` and its like, `plot()`, and a table in a notebook."""

    #: The columns that people look at, in notebooks and terminals; all of them where none are named.
    columns: tuple[str, ...] = ()
    #: The scale of the grades in it, whose names stand for them where people read; frames and JSON keep the numbers.
    scale: Scale | None = None

    if TYPE_CHECKING:  # fields in some results, worked out in others

        @property
        def finding(self) -> str:
            """What was found, in a sentence."""

        @property
        def notes(self) -> tuple[str, ...]:
            """What a reader should know about the figures."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that stand right under the finding."""
        return tuple(note for note in self.notes if isinstance(note, VerdictWarning))

    def to_frame(self) -> pl.DataFrame:
        """The figures as a Polars frame; what is undefined is NaN or null."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The figures as a pandas frame, column by column, so that pandas is needed and Arrow is not."""
        return pandas_of(self.to_frame())

    def to_dict(self) -> dict[str, Any]:
        """The result as one document: `finding`, `rows`, `notes`; what is undefined is None."""
        return {"finding": self.finding, "rows": rows_of(self.to_frame()), "notes": list(self.notes)}

    def shown(self) -> pl.DataFrame:
        """The table that a notebook shows, of which it takes `columns`."""
        return self.to_frame()

    def plot(self) -> Any:
        """The figures as an Altair chart, under the finding; `Undefined` where there is nothing to draw.

        A dot on its interval for each row, unless the result has a chart of its own. Notebooks draw it;
        `plot().save("chart.svg")` writes it.
        """
        # By name and when asked for: records stand below the charts and must not load them.
        return import_module("karat.reports.plots").plot(self)

    def to_latex(self) -> str:
        """The figures as a LaTeX table (booktabs): finding, n and method in words, marks where there are p values."""
        return str(import_module("karat.reports.tables").to_latex(self))

    def to_markdown(self) -> str:
        """The figures as a Markdown table under the finding, the notes below."""
        return str(import_module("karat.reports.tables").to_markdown(self))

    def __repr__(self) -> str:
        warnings = "".join(f"\nWarning: {warning}." for warning in self.warnings)
        return self.finding + warnings + "".join(f"\n- {note}" for note in self.notes if note not in self.warnings)

    def _repr_html_(self) -> str:
        frame = in_words(self.shown(), self.scale)
        told = written(frame.head(MOST_ROWS), self.columns)
        most = len(self.columns) or MOST_COLUMNS
        heads, more = told.heads[:most], told.heads[most:]
        notes = [note for note in self.notes if note not in self.warnings]
        if more:
            notes.append(f"more columns in to_frame(): {', '.join(more)}")
        if frame.height > MOST_ROWS:
            notes.append(f"{frame.height - MOST_ROWS:,} more rows in to_frame()")
        table = _row("th", heads, told.lead) + "".join(_row("td", row[:most], told.lead) for row in told.rows)
        warnings = "".join(f"<p><strong>Warning:</strong> {escape(warning)}.</p>" for warning in self.warnings)
        listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
        return (
            f"<p>{escape(self.finding)}</p>{warnings}{f'<table>{table}</table>' if heads else ''}"
            f"{f'<ul>{listed}</ul>' if listed else ''}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Result(ResultBase):
    """A finding: the sentence first, then the figures, then what a reader should know about them.

    >>> Result(pl.DataFrame({"group": ["crowd"], "kappa": [math.nan]}), "The crowd agrees by chance only.")
    The crowd agrees by chance only.
    """

    frame: pl.DataFrame
    finding: str
    notes: tuple[str, ...] = ()
    scale: Scale | None = field(default=None, kw_only=True)
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    #: How it is drawn, if not as dots on intervals.
    drawing: Drawing | None = field(default=None, kw_only=True)

    #: What else of the result stands in the document, by the names of its fields.
    beside: ClassVar[tuple[str, ...]] = ()

    def to_frame(self) -> pl.DataFrame:
        """The figures as a Polars frame; what is undefined is NaN or null."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The result as one document: `finding`, `rows`, what is `beside` them, `notes`; what is undefined is None."""
        document = super().to_dict()
        notes = document.pop("notes")
        for name in self.beside:
            part = getattr(self, name)
            plain = part if isinstance(part, bool | int | float) else str(part)
            document[name] = rows_of(part) if isinstance(part, pl.DataFrame) else plain
        return document | {"notes": notes}


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries for JSON, NaN as None.

    >>> rows_of(pl.DataFrame({"a": [1.5, math.nan]}))
    [{'a': 1.5}, {'a': None}]
    """
    return [{name: _plain(value) for name, value in row.items()} for row in frame.iter_rows(named=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _row(kind: str, cells: list[str], lead: int) -> str:
    """A row of an HTML table, escaped: names of systems and judges are other people's text."""
    side = ["left" if place < lead else "right" for place in range(len(cells))]
    joined = "".join(
        f'<{kind} style="text-align:{a}">{escape(text)}</{kind}>' for text, a in zip(cells, side, strict=True)
    )
    return f"<tr>{joined}</tr>"
