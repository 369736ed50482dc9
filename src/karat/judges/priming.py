"""Does the document judged just before move a label?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.labels import GOLD
from karat.labels.gathered import gathered
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats, Ints
from karat.stats.many import holm
from karat.stats.regression import clustered_ols

#: What may move a label: how good the document before was, and how many the judge had judged before, in hundreds.
EFFECTS = ("document before", "100 documents more")


def priming(judgments: LabelsLike, gold: LabelsLike | None = None, *, level: float = 0.95) -> Result:
    """By how much a label rises for each grade that the document judged just before it was better, and with time.

    >>> rows = [{"query": "q" + str(i % 5), "doc": f"d{i}", "judge": judge, "label": (i * 7 + (judge == "b") * i) % 4,
    ...          "time": i if judge == "a" else 40 - i} for i in range(20) for judge in "ab"]
    >>> priming(rows).frame.select("group", "effect", "n").rows()
    [('all', 'document before', 38), ('all', '100 documents more', 38)]

    A judge who has just seen a bad document may be kind to the next one (a negative effect: contrast), or go on as
    before (a positive one). A label is taken less what is known of its document without this judge: the gold label,
    else the mean of the others' labels; likewise the quality of the document before is what others say of it, so that
    neither a judge's mood nor their habits look like an effect: each judge is compared with their own mean, and the
    document before with the others of its query; how good the document itself is, is allowed for. The order is that of
    the times (`time`), else of the file. Errors allow for labels of one query and of one judge (where five or more have
    names), `p_holm` for the number of rows.

    Where judges had the documents in the same order, the one before moves them all alike, and only gold tells it.
    Others' labels are rough measures of the document before: the effect is found nearer to 0 than it is.

    Reference: Scholer, Kelly, Wu, Lee and Webber, The effect of threshold priming (SIGIR 2013).
    """
    found = gathered(judgments, gold)
    notes = [*found.notes]
    if not found.timed:
        notes.append("no times: the order of the labels is taken for that in which they were given")
    frame = _sequence(found.frame, list(found.key))
    known = frame.drop_nulls(["apart", "before"])
    if not known.height:
        raise Undefined(
            "no label stands beside another judge's, or a gold one, and after one that does: what the document before "
            "does cannot be told"
        )
    lost = frame.height - known.height
    if lost:
        notes.append(f"{count(lost, 'label')} left out: the first of a judge, or of a document that nobody else judged")
    query = known["query"].rank("dense").cast(pl.Int64).to_numpy()
    judge = known.select(pl.struct("group", "who").rank("dense").cast(pl.Int64)).to_series().to_numpy()
    groups = known["group"].unique().sort().to_list()
    rows = []
    for group in [*(["all"] if len(groups) != 1 else []), *groups]:
        these = (
            np.ones(known.height, bool) if len(groups) > 1 and group == "all" else (known["group"] == group).to_numpy()
        )
        rows += _effects(known.filter(pl.Series(these)), query[these], judge[these], str(group), level)
    table = pl.DataFrame(rows, infer_schema_length=None)
    table = table.insert_column(table.columns.index("p") + 1, pl.Series("p_holm", holm(table["p"].to_numpy())))
    return Result(table, _said(table, level), tuple(notes))


def _sequence(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Each label less what others say of the document, what others say of the one before, and its place in line."""
    trusted = frame.filter(pl.col("group") == GOLD).group_by(key).agg(pl.col("label").mean().alias("gold"))
    frame = frame.filter(pl.col("group") != GOLD).join(
        trusted, on=key, how="left", maintain_order="left", nulls_equal=True
    )
    others = (pl.col("label").sum() - pl.col("label")).over(key) / (pl.len() - 1).over(key)
    alone = pl.len().over(key) == 1
    quality = pl.coalesce("gold", pl.when(~alone).then(others))
    who = ["group", "who"]
    mine = [*who, "query"]
    frame = frame.with_columns(quality=quality).with_columns(
        total=pl.col("quality").sum().over(mine), known=pl.col("quality").count().over(mine)
    )
    last = {name: pl.col(name).shift(1).over(who) for name in ("quality", "total", "known", "query")}
    # What others think of a whole query is in what they say of both documents: the one before is held against the
    # query's other documents, and not against the one that is judged, whose chance errors would stand on both sides.
    itself = pl.when(last["query"] == pl.col("query")).then(pl.col("quality").fill_null(0.0)).otherwise(0.0)
    counted = (
        pl.when(last["query"] == pl.col("query")).then(pl.col("quality").is_not_null().cast(pl.Int64)).otherwise(0)
    )
    rest = last["known"] - counted
    usual = pl.when(rest > 0).then((last["total"] - itself) / rest)
    frame = frame.with_columns(
        apart=pl.col("label") - pl.col("quality"),
        before=last["quality"] - usual,
        place=pl.int_range(pl.len()).over(who) / 100,
    )
    return frame.filter(pl.col("judge").is_not_null())


def _effects(rows: pl.DataFrame, query: Ints, judge: Ints, group: str, level: float) -> list[dict[str, Any]]:
    """The effects on the labels of a group, each judge compared with their own mean."""
    y, *columns = (_centred(rows[name].to_numpy(), judge) for name in ("apart", "before", "place", "quality"))
    queries, judges = len(np.unique(query)), len(np.unique(judge))
    number = {"n": rows.height, "n_queries": queries, "n_judges": judges}
    if queries < FEWEST:
        return [
            {"group": group, "effect": name, "change": np.nan, "low": np.nan, "high": np.nan, "p": np.nan} | number
            for name in EFFECTS
        ]
    fit = clustered_ols(y, np.column_stack(columns), query, judge=judge if judges >= FEWEST else None)
    low, high = fit.intervals(level)
    return [
        {
            "group": group,
            "effect": name,
            "change": float(fit.coefficients[place]),
            "low": float(low[place]),
            "high": float(high[place]),
            "p": float(fit.p[place]),
        }
        | number
        for place, name in enumerate(EFFECTS, start=1)
    ]


def _centred(values: Floats, judge: Ints) -> Floats:
    """The values less the judge's own mean."""
    _, code = np.unique(judge, return_inverse=True)
    means = np.bincount(code, values) / np.bincount(code)
    centred: Floats = values - means[code]
    return centred


def _said(table: pl.DataFrame, level: float) -> str:
    row = table.row(0, named=True)
    ends = "" if np.isnan(row["low"]) else f" ({100 * level:g} % interval {row['low']:+.2f} to {row['high']:+.2f})"
    figure = f"{row['change']:+.2f} of a grade for each grade that it is better{ends}"
    over = f"over {count(row['n'], 'label')} of {count(row['n_judges'], 'judge')}"
    if np.isnan(row["change"]):
        return f"Too few queries to tell what the document judged just before does, {over}."
    if row["p_holm"] <= 0.05:
        how = "draws the next label to itself" if row["change"] > 0 else "pushes the next label away"
        return f"The document judged just before {how}: {figure}, {over}."
    return f"The document judged just before is not shown to move a label: {figure}, {over}."
