"""How good is each system? Scores with intervals, the corrected ones beside those of the labels as they are."""

from __future__ import annotations

import math

import polars as pl

from karat.comparison import Comparison
from karat.measures.scores import Scores
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
    plain = scores.uncorrected_means.filter(pl.col("measure") == first).select("system", "value", "low", "high", "n")
    rows = plain.with_columns(labels=pl.lit(AS_THEY_ARE))
    corrected = corrected_scores(scores, first)
    order, said = scores.best_first(), [scores.finding]
    if scores.has_gold:  # and the measure that decides cannot be: the verdict above may say otherwise
        said = [f"By the labels as they are: {scores.finding}"]
    if corrected is not None:
        order = corrected["system"].to_list()
        theirs = corrected.with_columns(pl.col("n").cast(rows.schema["n"]), labels=pl.lit(CORRECTED))
        rows = pl.concat([rows, theirs.select(rows.columns)])
        said = [_both(scores, corrected)]
    elif found is not None and found.method != "plain" and found.ranks.height and found.ranks["system"][0] != order[0]:
        said.append(f"The differences can be corrected: by them {found.ranks['system'][0]} leads, not {order[0]}.")
    if found is not None and found.refusal == "unjudged documents":
        said = [scores.finding]  # neither score calls a system the best
    rows = rows.sort(
        pl.col("system").replace_strict({name: place for place, name in enumerate(order)}),
        pl.col("labels") != AS_THEY_ARE,
    )
    figure = _figure(rows, scores, corrected, said[0])
    tables, notes = (
        [Table("All measures, by the labels as they are", _wide(scores.uncorrected_means, scores))],
        list(scores.notes),
    )
    if scores.has_gold:
        known = scores.means.filter(pl.col("value").is_not_nan() & (pl.col("n_gold") > 0))
        if known.height:
            tables.append(Table("The measures that gold labels correct", _wide(known, scores)))
        silent = scores.means.filter((pl.col("reason") != "") & (pl.col("measure") != first))
        for (why,), mine in silent.group_by(["reason"], maintain_order=True):
            names = ", ".join(mine["measure"].unique(maintain_order=True))
            notes.append(f"not corrected with gold labels: {names}: {why}")
    if found is not None and found.ranks.height:
        own = [] if found.ranks["score"].is_not_nan().any() else ["score", "low", "high"]
        tables.append(Table("The places that each system may have", found.ranks.drop(own), True))
    return Section(tuple(said), (figure,), tuple(tables), tuple(notes))


def corrected_scores(scores: Scores, measure: str) -> pl.DataFrame | None:
    """The scores that gold labels correct, best first; none where there are no gold labels, or these cannot."""
    if not scores.has_gold:
        return None
    mine = scores.means.filter((pl.col("measure") == measure) & (pl.col("n_gold") > 0) & pl.col("value").is_not_nan())
    return mine.sort("value", descending=True, maintain_order=True) if mine.height else None


def _both(scores: Scores, corrected: pl.DataFrame) -> str:
    """The highest score, by the labels as they are and corrected, in words."""
    measure, naive = scores.measures[0], scores.best_first(uncorrected=True)[0]
    row = scores.uncorrected_means.filter((pl.col("measure") == measure) & (pl.col("system") == naive)).row(
        0, named=True
    )
    best = corrected.row(0, named=True)
    if corrected.filter(pl.col("value") > best["value"] - EQUAL).height > 1:
        return f"Corrected with gold labels, several systems share the highest {measure}: {_said(best)}."
    if len(scores.systems) == 1:
        return (
            f"{naive} has {measure} {_said(row)} by the labels as they are, {_said(best)} corrected with gold labels."
        )
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
        # Gold is for what the verdict rests on: scores that gold labels do not correct are none of it.
        naive = scores.has_gold
        look_at, row = (pl.col("system") == scores.best_first()[0]) & (not naive), pl.col("system")
        how += "labels as they are." if naive else "gold: the highest."
    else:
        look_at = pl.col("labels") != AS_THEY_ARE
        short = pl.col("labels").replace_strict({AS_THEY_ARE: AS_THEY_ARE, CORRECTED: "corrected"})
        row = pl.col("system") + ", " + short
        how += "grey: labels as they are, gold: corrected with gold labels."
    title = said.split(":")[0].rstrip(".")
    if len(scores.systems) == 1:
        top = rows.row(-1, named=True)  # the corrected one, where there is one
        places = decimals(top["low"], top["high"])
        title = f"{top['system']} has {measure} {top['value']:.{places}f}"
        title += ", corrected with gold labels" if corrected is not None else ""
    if corrected is None and scores.has_gold:
        title = f"{scores.finding.split(':')[0].rstrip('.')}, by the labels as they are"
    drawn = rows.with_columns(row=row, look_at=look_at)
    chart = charts.dots(drawn, value="value", x_title=measure)
    return Figure("scores", title, how, chart, rows)


def _wide(means: pl.DataFrame, scores: Scores) -> pl.DataFrame:
    """A row for each system, a figure with its interval for each measure of these means."""
    wide = pl.DataFrame({"system": scores.best_first()})
    for measure in means["measure"].unique(maintain_order=True):
        mine = means.filter(pl.col("measure") == measure).select(
            "system",
            pl.col("value").alias(measure),
            pl.col("low").alias(f"{measure}_low"),
            pl.col("high").alias(f"{measure}_high"),
        )
        wide = wide.join(mine, on="system", how="left", maintain_order="left")
    counts = means.group_by("system").agg(queries=pl.col("n").max())
    return wide.join(counts, on="system", how="left", maintain_order="left")
