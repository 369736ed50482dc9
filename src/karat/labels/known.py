"""What gold says of items: one grade each, and for how many documents it stands."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.labels.consensus import reduced
from karat.labels.gold import GOLD
from karat.labels.one_scale import other_scale
from karat.labels.sampling_probability import read_sampling_probabilities
from karat.records.base import count
from karat.stats.arrays import Floats, Ints


def gold_of_items(frame: pl.DataFrame, item: Ints, grades: Floats, notes: list[str]) -> tuple[Ints, Floats]:
    """The gold grade of each item by number, -1 where there is none, and its weight."""
    rows = frame.select("group", "label", item=pl.Series(item))
    trusted = rows.filter(pl.col("group") == GOLD)
    judged = rows.filter(pl.col("group") != GOLD)["item"].unique()
    made = reduced(trusted, ["item"])
    torn = int(made.frame["tied"].sum())
    if torn:
        notes.append(f"gold labels of {count(torn, 'document')} split evenly: the lower grade counts")
    items = int(item.max()) + 1
    shared = made.frame.filter(pl.col("item").is_in(judged.implode()))
    notes.append(f"{count(shared.height, 'document')} of {len(judged):,} judged ones have a gold label")
    if shared.height < made.frame.height:
        notes.append(f"gold labels of {count(made.frame.height - shared.height, 'document')} that nobody else judged")
    is_gold = frame["group"] == GOLD
    strange = other_scale(frame["label"].filter(~is_gold), frame["label"].filter(is_gold))
    notes += [strange] if strange else []
    known, weights = np.full(items, -1), np.ones(items)
    known[made.frame["item"].to_numpy()] = np.searchsorted(grades, made.frame["label"].to_numpy())
    sampled = read_sampling_probabilities(
        frame.with_columns(item=pl.Series(item)).filter(is_gold), ("item", "query", "doc")
    )
    if sampled is not None:
        weights[sampled["item"].to_numpy()] = 1 / sampled["probability"].to_numpy()
    return known, weights
