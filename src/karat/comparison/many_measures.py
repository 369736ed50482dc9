"""Several measures at once: each one's verdict, with p values that allow for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.comparison.comparison import Comparison
from karat.comparison.many_systems import family_p
from karat.comparison.verdict import IN_WORDS, missing_in, with_missing
from karat.records import Result
from karat.records.result import Differences
from karat.records.table import count
from karat.stats.multiple_testing import holm


def by_measure(every: Sequence[Comparison]) -> Result:
    """A row for each measure: the difference b - a, and Holm's p among the measures.

    >>> import karat as kt
    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> every = [kt.compare(labels, {"a": a, "b": b}, measure) for measure in ("P@1", "P@2")]
    >>> by_measure(every).finding
    '1 measure of 2 shows a difference, allowing for all of them: b is better by P@1.'

    Of two systems, b is the second; of more, b is the leader and a the next, or b is the best of the others and a the
    baseline, where one is named; p allows for all pairs.
    """
    rows = []
    names = ("a", "b", "difference", "low", "high", "p")
    for found in every:
        row = _pair(found)
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
    show = "shows" if agree.height == 1 else "show"
    told = f"{count(agree.height, 'measure')} of {frame.height} {show} a difference, allowing for all of them"
    better = pl.when(pl.col("difference") > 0).then("b").otherwise("a")
    by = agree.group_by(better.alias("better"), maintain_order=True).agg("measure")
    told += "".join(
        f"{'; ' if place else ': '}{system} is better by {', '.join(names)}"
        for place, (system, names) in enumerate(by.iter_rows())
    )
    shown = frame.select("measure", "a", "b", "difference", "low", "high", "p", "holm", "method", "verdict", "reason")
    notes = ["differences are b less a; the verdict of each measure is its own, and holm allows for all of them"]
    notes += [f"{row['measure']} cannot say: {row['reason']}" for row in shown.iter_rows(named=True) if row["reason"]]
    if len(every[0].systems) > 2:
        who = "the leading system and a the next" if every[0].baseline is None else "the best of those compared with a"
        notes.append(f"b is {who}, by each measure; p allows for all pairs")
    columns = tuple(name for name in shown.columns if name != "reason")
    two = len(every[0].systems) == 2
    named = pl.col("measure") if two else pl.col("measure") + ", " + pl.col("b") + " less " + pl.col("a")
    drawn = frame.filter(pl.col("low").is_not_nan()).select(
        "difference", "low", "high", "p", "holm", row=named, look_at=pl.col("holm") <= 1 - level
    )
    less = f", {every[0].systems[1]} less {every[0].systems[0]}" if two else ""
    how = f"Differences with {level * 100:g} % intervals, {IN_WORDS[every[0].method]}; gold: shown, allowing for all."
    drawing = Differences(drawn, f"difference{less}", how) if drawn.height else None
    return Result(shown, f"{with_missing(told, missing_in(every[0]))}.", tuple(notes), columns=columns, drawing=drawing)


def _pair(found: Comparison) -> dict[str, Any]:
    """The two systems that a measure is told by, with their difference."""
    if not found.pairs.height:
        return {"low": np.nan, "high": np.nan, "p": np.nan, "difference": np.nan, "a": None, "b": None}
    if len(found.systems) == 2:
        return found.pairs.row(0, named=True)
    pairs = found.pairs.with_columns(p=pl.Series(family_p(found.pairs)))
    if found.baseline is not None:
        return pairs.row(int(pairs["difference"].arg_max() or 0), named=True)
    leader, second = found.ranks["system"][:2]
    row = pairs.row(by_predicate=pl.col("a").is_in([leader, second]) & pl.col("b").is_in([leader, second]), named=True)
    if row["b"] == leader:
        return row
    return row | {
        "a": second,
        "b": leader,
        "difference": 0.0 - row["difference"],
        "low": -row["high"],
        "high": -row["low"],
    }
