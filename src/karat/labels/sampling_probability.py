"""The probability with which each gold document was sampled: read and checked in one place."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.records.base import count
from karat.records.schema import CHANCE, LEAST_CHANCE


def read_sampling_probabilities(gold: pl.DataFrame, item: Sequence[str] = ("query", "doc")) -> pl.DataFrame | None:
    """Read the sampling probability of each item with a gold label, or None where no gold label has one.

    >>> gold = pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [1.0], "probability": [0.25]})
    >>> read_sampling_probabilities(gold).rows()
    [('q', 'd', 0.25)]

    Args:
        gold: Gold labels with `query`, `doc`, `label` and perhaps `probability`; rows without a label were sampled
            and are still to be labelled.
        item: The columns that tell items apart.

    Returns:
        The columns of `item` and `probability`, a row for each labelled item.

    Raises:
        BadInput: Some gold labels have a probability and others have none, one is not a probability, or an item has
            two.
    """
    if "probability" not in gold.columns or gold["probability"].null_count() == gold.height:
        return None
    key = list(item)
    labelled = gold.drop_nulls("label").select(*key, "probability").unique(maintain_order=True)
    bad = labelled.filter(~pl.col("probability").is_between(LEAST_CHANCE, 1).fill_null(False))
    if bad.height:
        row = bad.row(0, named=True)
        found = "none" if row["probability"] is None else f"{row['probability']:g}"
        raise BadInput.at(
            f"the gold label of document {row['doc']} of query {row['query']}",
            expected=CHANCE,
            found=f"{found} ({count(bad.height, 'such label')})",
            remedy="fill in the sampling probability of each gold label, remove gold labels that were not sampled, or "
            "drop the column if all were sampled with the same probability",
        )
    # An item that was sampled twice needs one probability for both rounds, even if only one row has a label.
    sampled = gold.select(*key, "probability").drop_nulls("probability").unique(maintain_order=True)
    twice = sampled.filter(sampled.select(key).is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise BadInput.at(
            f"the gold label of document {row['doc']} of query {row['query']}",
            expected="one probability",
            found=", ".join(f"{p:.17g}" for p in twice["probability"].head(2)),
            remedy="two rounds need one sampling probability for both together: "
            + advise(
                "karat plan gold --gold FIRST samples and writes it", "plan_gold(..., pilot=FIRST) samples and has it"
            ),
        )
    return labelled
