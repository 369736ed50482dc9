"""Both orders of a pair of lists: does the LLM prefer a list, or a side?

Reference: Zheng et al., Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena (NeurIPS 2023), section 3.3.
"""

from __future__ import annotations

import polars as pl

from karat.judges.llm.figure import Figure, mean
from karat.labels.selection import LLM
from karat.records import Preferences
from karat.records.base import count


def _of(preferences: Preferences, judge: str) -> pl.DataFrame:
    """The judge's own preferences; without names, those of a group llm, or of a table that says in which order."""
    frame = preferences.frame
    if preferences.has("judge"):
        return frame.filter(pl.col("judge") == judge)
    if preferences.has("group"):
        return frame.filter(pl.col("group").str.contains(rf"(?i)\b{LLM}\b").fill_null(False))
    return frame if "order" in frame.columns else frame.clear()


def both_orders(preferences: Preferences, judge: str, notes: list[str], *, level: float) -> list[Figure]:
    """How often the preferred list changes with the sides, of pairs that were shown in both orders.

    A flip is the first side both times, or the second; it counts as equal wherever preferences are counted. Pairs
    with a tie in one order only stand apart. Of answers that name a side, half name the first where sides do not
    matter.
    """
    mine = _of(preferences, judge)
    subtopic = pl.col("subtopic") if "subtopic" in mine.columns else pl.lit(None, pl.String)
    mine = mine.with_columns(
        subtopic=subtopic, a=pl.min_horizontal("left", "right"), b=pl.max_horizontal("left", "right")
    )
    key = ["query", "subtopic", "a", "b"]
    once = mine.unique([*key, "left"], keep="first", maintain_order=True)
    both = once.filter(pl.len().over(key) == 2).sort(*key, "left")
    if both.height < once.height:
        notes.append(f"{count(once.height - both.height, 'preference')} of pairs shown in one order only left aside")
    if not both.height:
        return []
    a_side = both.with_columns(sided=pl.col("choice").is_in(["left", "right"]), first=pl.col("choice") == "left")
    pairs = a_side.group_by(key).agg(pl.col("sided").sum(), pl.col("first").sum()).sort(key)
    decided, named = pairs.filter(pl.col("sided") == 2), a_side.filter("sided")
    flips, half = (decided["first"] != 1).to_numpy(), (pairs["sided"] == 1).to_numpy()
    return [
        mean("orders", "flips", flips, decided["query"], "share", level=level),
        mean("orders", "a tie in one order only", half, pairs["query"], "share", level=level),
        mean("orders", "first side", named["first"].to_numpy(), named["query"], "share", level=level),
    ]
