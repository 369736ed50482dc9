"""Items that were shown and clicked alike, counted together: all that a log says about ranks, whoever was shown there.

A pattern is an item's ranks with how often it was shown and clicked at each: `1:30:4|2:10:1`. Items of one pattern are
equally attractive to any model, so that their cells added up are one item to it. Most documents of a log are shown
hardly ever, and so in few ways: the patterns are far fewer than the documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.judges.click_models.shown import Cells, Shown
from karat.stats.arrays import Ints

#: A table of patterns.
PATTERNS = {"pattern": pl.String, "items": pl.Int64}


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of a log as cells: each stands for so many items, whose counts are added up."""

    ranks: Ints
    cells: Cells
    #: How many items have each pattern.
    items: Ints

    @classmethod
    def of(cls, counted: pl.DataFrame) -> Patterns:
        """The patterns from a table of pattern and items."""
        counted = counted.sort("pattern")
        parts = counted["pattern"].str.split("|").explode().str.split_exact(":", 2).struct.unnest()
        place, shown, clicks = (parts[name].cast(pl.Int64).to_numpy() for name in parts.columns)
        items = counted["items"].to_numpy()
        sizes = counted["pattern"].str.count_matches("|", literal=True).to_numpy() + 1
        item = np.repeat(np.arange(counted.height), sizes)
        ranks, rank = np.unique(place, return_inverse=True)
        times = items[item].astype(np.float64)
        return cls(ranks, Cells(item, rank, shown * times, clicks * times, counted.height), items)


def patterns_of(shown: Shown) -> pl.DataFrame:
    """The patterns of a bucket: pattern, and how many items have it."""
    cells = shown.cells
    frame = pl.DataFrame(
        {
            "item": cells.item,
            "rank": shown.ranks[cells.rank],
            "shown": cells.shown.astype(np.int64),
            "clicks": cells.clicks.astype(np.int64),
        }
    )
    texts = frame.select("item", pattern=pl.concat_str("rank", "shown", "clicks", separator=":"))
    # Cells come by item, so that an item's texts stand together.
    each = texts.group_by("item", maintain_order=True).agg(pl.col("pattern").str.join("|"))
    return each.group_by("pattern").agg(items=pl.len().cast(pl.Int64))
