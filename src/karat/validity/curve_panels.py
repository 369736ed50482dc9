"""Curves of agreement as the paper draws them: Jaccard and kappa side by side, weak preferences above strong ones."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.records import Result
from karat.records.base import count
from karat.records.chart import Panels
from karat.validity.label_sources import GIVEN

#: The figures, and what stands along the panels of each kind of curve.
FIGURES = {"jaccard": "Jaccard coefficient", "kappa": "Cohen's kappa"}
ALONG = {"ties": ("asked", "share of ties"), "context": ("context", "weight of context")}


def panels_of(frame: pl.DataFrame, columns: tuple[str, ...]) -> dict[str, Result]:
    """A figure for the curve along shares of ties, and one along context weights for each condition, by its title.

    Of several sources of labels each has figures of its own. The dashed lines are where curves begin: the fewest ties
    that there can be, or no weight of context.
    """
    found: dict[str, Result] = {}
    several = frame["source"].n_unique() > 1
    keys = ["curve", "condition", "source"]
    for key, rows in frame.group_by(keys, maintain_order=True):
        curve, condition, source = (str(part) for part in key)
        x, x_title = ALONG[curve]
        rows = rows.filter(pl.col(x).is_not_nan())
        if rows[x].n_unique() < 2:
            continue
        where = "Ties" if curve == "ties" else f"Context, {condition}"
        title = f"{where}, {source}" if several else where
        drawn = Panels(_long(rows, x), x, "measure", x_title, _how(curve, condition, source, rows))
        found[title] = Result(rows, _said(rows, curve, condition, source), columns=columns, drawing=drawn)
    return found


def _long(rows: pl.DataFrame, x: str) -> pl.DataFrame:
    """A row for each point of each panel."""
    parts = [
        rows.select(
            x,
            "measure",
            "n",
            down=pl.col("preference") + " preference",
            across=pl.lit(title),
            value=name,
            low=f"{name}_low",
            high=f"{name}_high",
        )
        for name, title in FIGURES.items()
    ]
    series = ["down", "across", "measure"]
    return pl.concat(parts).with_columns(reference=pl.col("value").sort_by(x).first().over(series))


def _said(rows: pl.DataFrame, curve: str, condition: str, source: str) -> str:
    """The finding of one figure: where the highest kappa is, and what the curve begins with."""
    with_labels = "" if source == GIVEN else f", with labels {'judged only' if source == 'judged' else source}"
    under = "" if curve == "ties" else f", ties as in {condition}"
    weak = rows.filter((pl.col("preference") == "weak") & pl.col("kappa").is_not_nan())
    known = weak if weak.height else rows.filter(pl.col("kappa").is_not_nan())
    if not known.height:
        return f"Nothing varies{under}{with_labels}."
    best: dict[str, Any] = known.sort("kappa", descending=True, maintain_order=True).row(0, named=True)
    at = f"{best['ties']:.0%} ties" if curve == "ties" else f"context weight {best['context']:g}"
    return (
        f"{best['measure']} has the highest kappa with {best['preference']} preferences, {best['kappa']:.2f} with {at}"
        f"{under}{with_labels}."
    )


def _how(curve: str, condition: str, source: str, rows: pl.DataFrame) -> str:
    along = {"ties": "Fig. 6", "weak": "Fig. 7", "strong": "Fig. 8", "both": "Fig. 9"}
    figure = along.get("ties" if curve == "ties" else condition)
    if source == "backed off":
        figure = "Fig. 10" if condition == "both" and curve != "ties" else None
    paper = f" (as Golbus et al. 2014, {figure})" if figure and source in ("predicted", "backed off") else ""
    return (
        f"Agreement of signs over {count(rows['n'][0], 'pair')} with intervals over queries; dashed: where the curve "
        f"begins{paper}"
    )
