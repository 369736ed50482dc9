"""How judges confuse grades, as a picture: a square for each judge, probable grade and label."""

from __future__ import annotations

import math

import polars as pl

from karat.records import Scale
from karat.records.base import count
from karat.records.chart import Grid

#: More judges than these are not drawn: a square of each takes as many lines as there are grades.
MOST_JUDGES = 8


def confusion_grid(confusion: pl.DataFrame, scale: Scale | None) -> Grid:
    """The matrices of an error model one below the other, those of the judges with the most labels.

    >>> frame = pl.DataFrame({"judge": ["ann"] * 4, "truth": [0.0, 0.0, 1.0, 1.0], "label": [0.0, 1.0] * 2,
    ...                       "probability": [0.9, 0.1, 0.3, 0.7], "n": [9.0, 1.0, 3.0, 7.0]})
    >>> confusion_grid(frame, Scale.parse("bad, good")).frame.row(1)
    ('ann: bad', 'good', 0.1, '0.10')
    """
    who = confusion.columns[: confusion.columns.index("truth")]
    labels = confusion.group_by(who, maintain_order=True).agg(pl.col("n").sum())
    most = labels.sort("n", descending=True, maintain_order=True).head(MOST_JUDGES).select(who)
    shown = confusion.join(most, on=who, how="semi", nulls_equal=True, maintain_order="left")
    rows = []
    for row in shown.iter_rows(named=True):
        judge = ", ".join(str(row[name]) for name in reversed(who) if row[name] is not None) or "no name"
        truth, label = (f"{row[name]:g}" if scale is None else scale.name(row[name]) for name in ("truth", "label"))
        met = not math.isnan(row["probability"])  # a grade that a judge never met has no shares
        share = row["probability"] if met else 0.0
        rows.append((f"{judge}: {truth}", label, share, f"{share:.2f}" if met else "-"))
    frame = pl.DataFrame(rows, schema=["first", "second", "value", "said"], orient="row")
    how = "Shares of each judge's labels (across) of documents of each probable grade (down)"
    if labels.height > MOST_JUDGES:
        how += f"; the {MOST_JUDGES} with the most labels of {count(labels.height, 'judge')}"
    return Grid(frame, "label", "judge: probable grade", how)
