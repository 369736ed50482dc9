"""Several measures at once: each one's verdict, with p values that allow for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.comparison.comparison import Comparison
from karat.records import Result
from karat.records.base import count
from karat.stats.many import holm


def by_measure(every: Sequence[Comparison]) -> Result:
    """A row for each measure: the difference of the first two systems, or of the leader and the next, and Holm's p."""
    rows = []
    for found in every:
        row = {"low": np.nan, "high": np.nan, "p": np.nan, "difference": np.nan, "a": None, "b": None}
        if found.pairs.height:
            leader = found.ranks["system"][:2].to_list() if len(found.systems) > 2 else list(found.systems)
            mine = pl.col("a").is_in(leader) & pl.col("b").is_in(leader)
            row = found.pairs.row(by_predicate=mine, named=True)
        names = ("a", "b", "difference", "low", "high", "p")
        rows.append(
            (
                found.measure,
                *(row[name] for name in names),
                found.method,
                found.verdict,
                found.reason if found.verdict == "cannot say" else "",
            )
        )
    schema = ["measure", "a", "b", "difference", "low", "high", "p", "method", "verdict", "reason"]
    frame = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
    frame = frame.with_columns(holm=pl.Series(holm(frame["p"].cast(pl.Float64).to_numpy())))
    level = every[0].level
    agree = frame.filter((pl.col("holm") <= 1 - level) & (pl.col("difference") != 0))
    told = f"{count(agree.height, 'measure')} of {frame.height} show a difference, allowing for all of them"
    shown = frame.select("measure", "a", "b", "difference", "low", "high", "p", "holm", "method", "verdict", "reason")
    notes = ["the verdict of each measure is its own; holm allows for all of them"]
    notes += [f"{row['measure']} cannot say: {row['reason']}" for row in shown.iter_rows(named=True) if row["reason"]]
    columns = tuple(name for name in shown.columns if name != "reason")
    return Result(shown, f"{told}.", tuple(notes), columns=columns)
