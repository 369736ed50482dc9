"""How good is each system? Scores with intervals, the corrected ones beside those of the labels as they are."""

from __future__ import annotations

import math

import polars as pl

from karat.comparison import Comparison
from karat.estimate import Scores
from karat.records.number_format import decimals
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Section, Table

#: Scores that differ by less are equal but for rounding.
EQUAL = 1e-12
AS_THEY_ARE, CORRECTED = "as they are", "corrected with gold labels"


def scores_section(scores: Scores, found: Comparison | None) -> Section:
    """Every system's scores with intervals, and the corrected ones beside them where gold labels allow."""
    first = scores.measures[0]
    plain = scores.means.filter(pl.col("measure") == first).select("system", "value", "low", "high", "n")
    rows = plain.with_columns(labels=pl.lit(AS_THEY_ARE))
    corrected = _corrected(found, first)
    order, said = scores.best_first(), scores.finding
    if corrected is not None:
        order = corrected["system"].to_list()
        rows = pl.concat([rows, corrected.with_columns(pl.col("n").cast(rows.schema["n"])).select(rows.columns)])
        said = _both(scores, corrected)
    rows = rows.sort(
        pl.col("system").replace_strict({name: place for place, name in enumerate(order)}),
        pl.col("labels") != AS_THEY_ARE,
    )
    figure = _figure(rows, scores, corrected, said)
    tables = [Table("All measures, by the labels as they are", _wide(scores))]
    if found is not None and found.ranks.height:
        tables.append(Table("The places that each system may have", found.ranks, True))
    return Section((said,), (figure,), tuple(tables), scores.notes)


def _corrected(found: Comparison | None, measure: str) -> pl.DataFrame | None:
    """The scores that gold labels correct, best first; none where labels are taken as they are."""
    if found is None or found.method == "plain" or found.measure != measure or not found.ranks.height:
        return None
    kept = found.ranks.sort("rank").select("system", pl.col("score").alias("value"), "low", "high")
    return kept.with_columns(n=pl.lit(found.by_query.height), labels=pl.lit(CORRECTED))


def _both(scores: Scores, corrected: pl.DataFrame) -> str:
    """The highest score, by the labels as they are and corrected, in words."""
    measure, naive = scores.measures[0], scores.best_first()[0]
    row = scores.means.filter((pl.col("measure") == measure) & (pl.col("system") == naive)).row(0, named=True)
    best = corrected.row(0, named=True)
    if corrected.filter(pl.col("value") > best["value"] - EQUAL).height > 1:
        return f"Corrected with gold labels, several systems share the highest {measure}: {_said(best)}."
    if best["system"] == naive:
        return (
            f"{naive} has the highest {measure}: {_said(row)} by the labels as they are, {_said(best)} corrected with "
            "gold labels."
        )
    return (
        f"Corrected with gold labels, {best['system']} has the highest {measure}: {_said(best)}. By the labels as they "
        f"are, {naive} would have it: {_said(row)}."
    )


def _said(row: dict[str, float]) -> str:
    if math.isnan(row["low"]):
        return f"{row['value']:.3f}"
    places = decimals(row["low"], row["high"])
    return f"{row['value']:.{places}f} ({row['low']:.{places}f} to {row['high']:.{places}f})"


def _figure(rows: pl.DataFrame, scores: Scores, corrected: pl.DataFrame | None, said: str) -> Figure:
    measure = scores.measures[0]
    how = f"Mean over queries with {scores.level * 100:g} % intervals; "
    if corrected is None:
        look_at, row = pl.col("system") == scores.best_first()[0], pl.col("system")
        how += "gold: the highest."
    else:
        look_at = pl.col("labels") != AS_THEY_ARE
        short = pl.col("labels").replace_strict({AS_THEY_ARE: AS_THEY_ARE, CORRECTED: "corrected"})
        row = pl.col("system") + ", " + short
        how += "grey: labels as they are, gold: corrected with gold labels."
        if corrected["low"].is_nan().all():
            how += " The gold labels were drawn to tell the systems apart: their own scores have no intervals then."
    title = f"{scores.systems[0]} by {measure}" if len(scores.systems) == 1 else said.split(":")[0].rstrip(".")
    drawn = rows.with_columns(row=row, look_at=look_at)
    chart = charts.dots(drawn, value="value", x_title=measure)
    return Figure("scores", title, how, chart, rows)


def _wide(scores: Scores) -> pl.DataFrame:
    """A row for each system, a figure with its interval for each measure."""
    wide = pl.DataFrame({"system": scores.best_first()})
    for measure in scores.measures:
        mine = scores.means.filter(pl.col("measure") == measure).select(
            "system",
            pl.col("value").alias(measure),
            pl.col("low").alias(f"{measure}_low"),
            pl.col("high").alias(f"{measure}_high"),
        )
        wide = wide.join(mine, on="system", how="left", maintain_order="left")
    counts = scores.means.group_by("system").agg(queries=pl.col("n").max())
    return wide.join(counts, on="system", how="left", maintain_order="left")
