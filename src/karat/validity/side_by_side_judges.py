"""Who answers with care? What each judge of preferences did: sides, speed, traps, and agreement with the others."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.records import FrameLike, Preferences, Result
from karat.records.base import count
from karat.stats import check_level
from karat.stats.many import holm
from karat.stats.signs import binomial_p, share_interval
from karat.validity.votes import counted, failures_allowed, for_side, rejected_judges, trusted

#: Nobody compares two lists in less than so many seconds; who does so in most answers did not look.
FAST, MOSTLY = 2.0, 0.5
#: So improbable must it be that a lot put the systems on their sides, to believe that none did.
NO_LOT = 0.001


def preference_judges(preferences: Preferences | FrameLike, *, level: float = 0.95) -> Result:
    """What each judge of preferences did: how often left, how fast, traps failed, and agreement with the others.

    >>> rows = [{"query": f"q{n}", "left": "ab"[n % 2], "right": "ba"[n % 2], "judge": judge, "choice": choice}
    ...         for n in range(12) for judge, choice in (("ann", "left" if n % 2 else "right"), ("bob", "left"))]
    >>> preference_judges(rows).frame.select("judge", "n", "left", "agreement", "flag").rows()
    [('bob', 12, 1.0, 0.5, 'always left'), ('ann', 12, 0.5, 0.5, None)]

    `left` is the share of left among answers for a side, with Wilson's interval: where sides were drawn by lot, a judge
    who looks has about one half. `seconds` is the median time of an answer, `fast` the share in less than 2 seconds.
    `agreement` is the share of answers for a side that go with the majority of the others who saw the same two lists
    (`compared` of them): one half is chance. `flag` says what is suspicious: a side taken too often for a fair coin
    (binomial, Holm; only where sides were drawn by lot), most answers in no time, a trap failed (more than the study's
    rules allow, where they are known).

    Of a judge's answers to the same question the first counts, in every column. Traps are in `traps`, `traps_failed`
    and the times; each time that a trap is met counts.
    """
    preferences = Preferences.of(preferences)
    check_level(level)
    preferences.need("judge", "a table of judges")
    trusted(preferences)  # it refuses traps that nobody could check
    frame = preferences.frame.with_columns(
        trap=pl.col("trap").fill_null(False) if preferences.has("trap") else pl.lit(False)
    )
    named = frame.drop_nulls("judge")
    if named.height == named["trap"].sum():
        raise Undefined("no judge with a name answered anything but traps")
    told = counted(Preferences(named.filter(~pl.col("trap")), (*preferences.notes, *rejected_judges(preferences))))
    notes = [*told.notes]
    if named.height < frame.height:
        notes.append(f"{count(frame.height - named.height, 'answer')} without a judge's name left aside")
    table = _sides(told.frame, level)
    once = pl.concat([told.frame, named.filter("trap")], how="diagonal_relaxed")
    for part in (_majority(told.frame), _pace(once), _traps(named)):
        table = table.join(part, on="judge", how="left", maintain_order="left")
    by_lot = _drawn_by_lot(told.frame)
    if not by_lot:
        notes.append("sides were not drawn by lot, a system stands mostly on one of them: shares of left say nothing")
    table = _flagged(table, by_lot, level, failures_allowed(preferences)).sort(
        pl.col("flag").is_null(), pl.col("left_p"), "judge", nulls_last=True
    )
    suspect = table.drop_nulls("flag")
    finding = (
        f"None of {count(table.height, 'judge')} stands out by side, speed or traps."
        if not suspect.height
        else f"{suspect.height:,} of {count(table.height, 'judge')} to look at: "
        + "; ".join(f"{row['judge']} ({row['flag']})" for row in suspect.head(5).iter_rows(named=True))
        + (", and others." if suspect.height > 5 else ".")
    )
    return Result(table, finding, tuple(notes))


def _sides(frame: pl.DataFrame, level: float) -> pl.DataFrame:
    """How often each judge answered, and the share of left among answers for a side."""
    sided = pl.col("choice").is_in(["left", "right"]).sum()
    table = frame.group_by("judge").agg(
        n=pl.len().cast(pl.Int64), sided=sided.cast(pl.Int64), left=(pl.col("choice") == "left").sum()
    )
    table = table.sort("judge")
    counts = table.select("left", "sided").rows()
    ends = np.array([share_interval(left, n, level) for left, n in counts])
    p = [binomial_p(left, n - left) for left, n in counts]
    # 0 / 0 is NaN: no share where no answer was for a side.
    return table.with_columns(
        pl.col("left") / pl.col("sided"),
        left_low=ends[:, 0],
        left_high=ends[:, 1],
        left_p=holm(np.array(p)),
    )


def _majority(frame: pl.DataFrame) -> pl.DataFrame:
    """How often each judge's answer for a side goes with the majority of the others who saw the same two lists."""
    rows = frame.with_columns(vote=for_side("a").cast(pl.Int64) - for_side("b").cast(pl.Int64))
    others = pl.col("vote").sum().over("query", "subtopic", "a", "b") - pl.col("vote")
    told = rows.with_columns(others=others.sign()).filter((pl.col("others") != 0) & (pl.col("vote") != 0))
    return told.group_by("judge").agg(
        agreement=(pl.col("vote") == pl.col("others")).mean(), compared=pl.len().cast(pl.Int64)
    )


def _pace(frame: pl.DataFrame) -> pl.DataFrame:
    if "seconds" not in frame.columns:
        return frame.select("judge", seconds=pl.lit(None, pl.Float64), fast=pl.lit(None, pl.Float64)).unique()
    seconds = pl.col("seconds")
    return frame.group_by("judge").agg(seconds.median(), fast=(seconds.drop_nulls() < FAST).mean())


def _traps(frame: pl.DataFrame) -> pl.DataFrame:
    failed = (pl.col("choice") != pl.col("expected")) if "expected" in frame.columns else pl.lit(False)
    return frame.group_by("judge").agg(
        traps=pl.col("trap").sum().cast(pl.Int64), traps_failed=(pl.col("trap") & failed).sum().cast(pl.Int64)
    )


def _drawn_by_lot(frame: pl.DataFrame) -> bool:
    """Whether every two systems changed sides about as often as a coin would have them."""
    from scipy.special import chdtrc

    pairs = frame.group_by("a", "b").agg(turned=(pl.col("left") > pl.col("right")).sum(), n=pl.len())
    far = (pairs["turned"] - pairs["n"] / 2) ** 2 / (pairs["n"] / 4)
    return float(chdtrc(pairs.height, float(far.sum()))) > NO_LOT


def _flagged(table: pl.DataFrame, by_lot: bool, level: float, allowed: int) -> pl.DataFrame:
    side = pl.when(pl.col("left") > 0.5).then(pl.lit("left")).otherwise(pl.lit("right"))
    always = pl.when(pl.col("left").is_in([0.0, 1.0])).then(pl.lit("always ")).otherwise(pl.lit("mostly "))
    share = (100 * pl.col("fast")).round(0).cast(pl.Int64)
    reasons = [
        pl.when(pl.lit(by_lot) & (pl.col("left_p").fill_nan(1) < 1 - level)).then(always + side),
        pl.when(pl.col("fast") >= MOSTLY).then(pl.format("{} % of answers in less than 2 seconds", share)),
        pl.when(pl.col("traps_failed") > allowed).then(pl.format("failed {} of {} traps", "traps_failed", "traps")),
    ]
    text = pl.concat_str(reasons, separator=", ", ignore_nulls=True)
    return table.with_columns(flag=pl.when(text != "").then(text))
