"""How good the labels are while they come in: agreement, distributions, judges, disagreements to look at."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import KaratError
from karat.judges import agreement, judge_table
from karat.records import Judgments, Scale
from karat.records.base import count
from karat.records.result import rows_of

#: What makes labels comparable; whether a judge opened the page is no part of it.
ITEM = ["query", "doc", "context", "group"]
#: Draws of the bootstrap: enough for an interval that is looked at while it moves.
DRAWS = 500
#: How many disagreements are listed.
MOST = 20


def first_two(labels: pl.DataFrame) -> pl.DataFrame:
    """The first two labels of every document in each group, those that stood before a third was asked.

    >>> said = pl.DataFrame({"query": "q", "doc": "d", "context": None, "group": "g", "label": [1.0, 2.0, 2.0]})
    >>> first_two(said)["label"].to_list()
    [1.0, 2.0]

    Rows come in the order in which they were said. A third label is asked only where the first two differ, so figures
    on all labels would come out too high.
    """
    graded = labels.filter(pl.col("label").is_not_null())
    return graded.filter(pl.int_range(pl.len()).over(ITEM) < 2)


def agreement_now(labels: pl.DataFrame, *, seed: int = 0) -> dict[str, Any]:
    """How far the judges agree so far on the first two labels of a document, for each group, with an interval."""
    two = first_two(labels)
    if two.filter(pl.len().over(ITEM) > 1).is_empty():
        return {"finding": "No document has two labels yet.", "rows": [], "notes": []}
    single = two["group"].unique().to_list() if two["group"].n_unique() == 1 else None
    asked = two.drop("time", *(["group"] if single else []), strict=False)
    try:
        found = agreement(Judgments.of(asked), draws=DRAWS, seed=seed)
    except KaratError as reason:
        return {"finding": str(reason), "rows": [], "notes": []}
    names = {"alpha_ordinal": "alpha", "raw": "same"}
    frame = found.frame.filter(pl.col("against").is_null() & (pl.col("labels") == "all") & (pl.col("n_pairs") > 0))
    columns = [
        pl.col(f"{name}{end}").alias(f"{new}{end}") for name, new in names.items() for end in ("", "_low", "_high")
    ]
    group = pl.lit(single[0]).alias("group") if single else pl.col("group")
    frame = frame.select(group, "n_queries", "n_pairs", "n_judges", *columns)
    notes = ["ordinal alpha on the first two labels of a document: 1 is full agreement, 0 what chance would do"]
    notes += [note for note in found.notes if "jaccard" not in note]
    return {"finding": found.finding, "rows": rows_of(frame), "notes": notes}


def distribution_now(labels: pl.DataFrame, scale: Scale) -> list[dict[str, Any]]:
    """How often each group gave each grade, and could not tell."""
    grades = list(scale.grades)
    rows = []
    for (group,), part in labels.group_by(["group"], maintain_order=True):
        many = dict(part.group_by("label").len().iter_rows())
        counts = [int(many.get(grade, 0)) for grade in grades]
        rows.append({"group": group, "counts": counts, "cant_tell": int(many.get(None, 0)), "n": part.height})
    return sorted(rows, key=lambda row: str(row["group"]))


def judges_now(labels: pl.DataFrame, gold: pl.DataFrame) -> tuple[str, dict[str, dict[str, Any]]]:
    """What is known about each judge: pace, agreement with the others, gold, drift; and the finding in a sentence."""
    if labels.filter(pl.col("label").is_not_null()).is_empty():
        return "No labels yet.", {}
    known = Judgments.of(gold) if gold.height else None
    try:
        found = judge_table(Judgments.of(labels), gold=known)
    except KaratError as reason:
        return str(reason), {}
    names = ["judge", "n", "cant_tell", "agreement", "agreement_low", "agreement_high", "n_compared"]
    names += ["n_gold", "accuracy", "accuracy_low", "accuracy_high", "seconds", "leniency", "leniency_low"]
    names += ["leniency_high", "drift", "drift_p", "likely_spammer"]
    return found.finding, {row["judge"]: row for row in rows_of(found.frame.select(names))}


def disagreements_now(labels: pl.DataFrame) -> list[dict[str, Any]]:
    """The documents on which judges differ most, the widest first."""
    graded = labels.filter(pl.col("label").is_not_null())
    key = ["query", "doc", "context"]
    wide = (
        graded.group_by(key, maintain_order=True)
        .agg(
            (pl.col("label").max() - pl.col("label").min()).alias("apart"),
            pl.struct("judge", "group", "label", "comment").alias("labels"),
            pl.len().alias("n"),
        )
        .filter((pl.col("n") > 1) & (pl.col("apart") > 0))
    )
    order = wide.sort("apart", "n", descending=[True, True], maintain_order=True).head(MOST)
    return rows_of(order)


def split_finding(labels: pl.DataFrame) -> str:
    """In how many of the documents with two labels the two differ."""
    two = first_two(labels).group_by(ITEM).agg(pl.col("label").n_unique().alias("kinds"), pl.len().alias("n"))
    both = two.filter(pl.col("n") == 2)
    if both.is_empty():
        return "No document has two labels yet."
    differ = both.filter(pl.col("kinds") > 1).height
    share = f"{100 * differ / both.height:.0f} %"
    return f"The first two labels differ on {differ:,} of {count(both.height, 'document')} ({share})."
