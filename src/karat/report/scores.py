"""How good is each system? Scores with intervals, the corrected ones beside them where gold labels allow."""

from __future__ import annotations

import polars as pl

from karat.compare import Comparison
from karat.estimate import Scores
from karat.report import charts
from karat.report.figure import Figure
from karat.report.section import Section, Table


def scores_section(scores: Scores, found: Comparison | None) -> Section:
    """Every system's scores with intervals, and the corrected ones beside them where gold labels allow."""
    first = scores.measures[0]
    plain = scores.means.filter(pl.col("measure") == first).select("system", "value", "low", "high", "n")
    rows = plain.with_columns(labels=pl.lit("as they are"))
    corrected = found is not None and found.method != "plain" and found.measure == first and found.ranks.height > 0
    if corrected and found is not None:
        kept = found.ranks.select("system", pl.col("score").alias("value"), "low", "high")
        kept = kept.with_columns(
            n=pl.lit(found.by_query.height, dtype=rows.schema["n"]), labels=pl.lit("corrected with gold labels")
        )
        rows = pl.concat([rows, kept.select(rows.columns)])
    order = {name: place for place, name in enumerate(scores.best_first())}
    rows = rows.sort(pl.col("system").replace_strict(order), pl.col("labels") != "as they are")
    rows = rows.with_columns(
        row=pl.col("system")
        + (
            pl.when(pl.col("labels") == "as they are").then(pl.lit(", as they are")).otherwise(pl.lit(", corrected"))
            if corrected
            else pl.lit("")
        ),
        look_at=(pl.col("labels") != "as they are") if corrected else pl.col("system") == scores.best_first()[0],
    )
    how = f"Mean over queries with {scores.level * 100:g} % intervals; "
    how += "grey: labels as they are, gold: corrected with gold labels." if corrected else "gold: the highest."
    figure = Figure(
        "scores",
        scores.sentence().split(":")[0].rstrip(".") if len(scores.systems) > 1 else f"{scores.systems[0]} by {first}",
        how,
        charts.dots(rows, row="row", value="value", x_title=first, look_at="look_at"),
        rows.drop("row", "look_at"),
    )
    table = scores.means.select("system", "measure", "value", "low", "high", "n")
    tables = [Table("All measures, by the labels as they are", _wide(table, scores))]
    if found is not None and found.ranks.height:
        tables.append(Table("The places that each system may have", found.ranks, True))
    return Section("scores", "How good is each system?", (scores.sentence(),), (figure,), tuple(tables), scores.notes)


def _wide(means: pl.DataFrame, scores: Scores) -> pl.DataFrame:
    """A row for each system, a figure with its interval for each measure."""
    wide = pl.DataFrame({"system": scores.best_first()})
    for measure in scores.measures:
        mine = means.filter(pl.col("measure") == measure).select(
            "system",
            pl.col("value").alias(measure),
            pl.col("low").alias(f"{measure}_low"),
            pl.col("high").alias(f"{measure}_high"),
        )
        wide = wide.join(mine, on="system", how="left", maintain_order="left")
    counts = means.group_by("system").agg(queries=pl.col("n").max())
    return wide.join(counts, on="system", how="left", maintain_order="left")
