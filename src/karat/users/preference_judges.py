"""Who answers with care? What each judge of preferences did: sides, speed, traps, and agreement with the others."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.order import in_order
from karat.records import FrameLike, Preferences, Result
from karat.records.table import count
from karat.stats import check_level
from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.hypothesis_tests import binomial_p, share_interval
from karat.stats.multiple_testing import holm
from karat.users.votes import counted, failures_allowed, for_side, rejected_judges, trusted

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


#: The figures, in the order of the paper.
JUDGES, REJECTED, ANSWERS, MINUTES, COMMENTED, WORDS = (
    "judges",
    "judges rejected, share",
    "answers that count",
    "minutes for a block, median",
    "answers with a comment, share",
    "words in a comment, mean",
)


def preference_work(
    preferences: Preferences | FrameLike, *, block: int = 5, level: float = 0.95, draws: int = 1000, seed: int = 0
) -> Result:
    """Judges and who of them was rejected, how long they took for a block, how many comments they wrote, how long.

    >>> said = [{"query": f"q{n}", "left": "a", "right": "b", "choice": "left", "judge": "ann", "seconds": 60.0,
    ...          "reason": "more relevant"} for n in range(5)]
    >>> preference_work(said).frame.select("figure", "value").rows()[3:]
    [('minutes for a block, median', 5.0), ('answers with a comment, share', 1.0), ('words in a comment, mean', 2.0)]

    A judge who failed a trap is rejected (more than the study's rules allow, where they are known); judges whom the app
    rejected are counted with them. A block is so many answers of a judge in a row, traps with them; where the answers
    have a column `block`, what it says. Shorter blocks are left out and noted; where all are shorter, the longest
    count. Of a judge's answers to the same question the first counts; repeats count only as time spent. Figures that
    the answers cannot give are left out. Shares have Wilson's interval, the others a bootstrap over judges.

    Reference: Sanderson et al. (SIGIR 2010), sections 3.4, 4.3 and 5.1.
    """
    preferences, resampling = Preferences.of(preferences), Resampling(level, draws, seed)
    if block < 1:
        raise BadInput.at("a block", expected="1 answer or more", found=str(block))
    kept = trusted(preferences)
    notes = list(preferences.notes)
    if len(kept):
        once = counted(kept)
        notes += once.notes[len(kept.notes) :]
        kept = once
    frame = in_order(preferences.frame)
    rows = list[tuple[str, float, float, float, int]]()
    if preferences.has("judge"):
        before = int(frame["rejected"].max() or 0) if preferences.has("rejected") else 0  # type: ignore[arg-type]
        judges, failed = frame["judge"].drop_nulls().n_unique() + before, _failed(preferences) + before
        rows.append((JUDGES, judges, np.nan, np.nan, judges))
        rows.append((REJECTED, failed / judges, *share_interval(failed, judges, level), judges))
    rows.append((ANSWERS, len(kept), np.nan, np.nan, len(kept)))
    if preferences.has("seconds") and preferences.has("judge"):
        minutes, left_out = _minutes(frame, block)
        notes += left_out
        rows += _of_judges(MINUTES, minutes, resampling, middle=True)
    if preferences.has("reason"):
        said = kept.frame.with_columns(words=pl.col("reason").str.strip_chars().str.extract_all(r"\S+").list.len())
        written = said.filter(pl.col("words").fill_null(0) > 0)
        share = written.height / max(said.height, 1)
        rows.append((COMMENTED, share, *share_interval(written.height, said.height, level), said.height))
        who = pl.col("judge") if kept.has("judge") else pl.int_range(pl.len()).cast(pl.String)
        rows += _of_judges(WORDS, written.select(judge=who, value=pl.col("words").cast(pl.Float64)), resampling)
    table = pl.DataFrame(rows, schema=["figure", "value", "low", "high", "n"], orient="row")
    return Result(table, _sentence(table, len(kept)), tuple(notes))


def _failed(preferences: Preferences) -> int:
    """How many judges failed more traps than they may."""
    if not (preferences.has("trap") and preferences.has("expected")):
        return 0
    wrong = preferences.frame.filter(pl.col("trap").fill_null(False), pl.col("choice") != pl.col("expected"))
    return (
        wrong.drop_nulls("judge").group_by("judge").len().filter(pl.col("len") > failures_allowed(preferences)).height
    )


def _minutes(frame: pl.DataFrame, block: int) -> tuple[pl.DataFrame, list[str]]:
    """The minutes of each whole block of each judge (judge, value), and notes on the blocks left out."""
    frame = frame.drop_nulls("judge")
    place = pl.int_range(pl.len()).over("judge") // block
    named = pl.col("block").cast(pl.String) if "block" in frame.columns else place.cast(pl.String)
    blocks = frame.with_columns(_block=named).group_by("judge", "_block", maintain_order=True)
    whole = blocks.agg(value=pl.col("seconds").sum() / 60, known=pl.col("seconds").count(), n=pl.len())
    least = min(block, int(whole["n"].max() or 0))  # type: ignore[arg-type]
    long_enough = whole.filter(pl.col("n") >= least)
    timed = long_enough.filter(pl.col("known") == pl.col("n"))
    notes = _blocks_left_out(whole.height - long_enough.height, long_enough.height - timed.height, least, block)
    return timed.select("judge", "value"), notes


def _blocks_left_out(short: int, untimed: int, least: int, block: int) -> list[str]:
    """Notes on blocks that are too short, or of which a time is unknown."""
    left_out, notes = "left out of the minutes", list[str]()
    if least < block:
        shorter = f", {count(short, 'shorter block')} {left_out}" if short else ""
        notes.append(f"no block has {block} answers: blocks of {least} count{shorter}")
    elif short:
        notes.append(f"{count(short, 'block')} of fewer than {block} answers {left_out}")
    if untimed:
        notes.append(f"{count(untimed, 'block')} with an answer of unknown time {left_out}")
    return notes


def _of_judges(
    name: str, values: pl.DataFrame, resampling: Resampling, middle: bool = False
) -> list[tuple[str, float, float, float, int]]:
    """A mean or median with its interval, judges drawn again with all that is theirs."""
    if not values.height:
        return []
    own = [part["value"].to_numpy() for _, part in values.group_by("judge", maintain_order=True)]
    low = high = np.nan
    if len(own) >= FEWEST and resampling.draws:
        drawn = np.concatenate([_figures(own, times, middle) for times in resampling.times(len(own))])
        low, high = resampling.ends(drawn, len(own))
    every = values["value"]
    return [(name, float((every.median() if middle else every.mean()) or 0.0), low, high, values.height)]  # type: ignore[arg-type]


def _figures(own: list[Floats], times: Ints, middle: bool) -> Floats:
    if not middle:
        sums, sizes = np.array([part.sum() for part in own]), np.array([len(part) for part in own])
        found: Floats = (times @ sums) / (times @ sizes)
        return found
    judge, value = np.repeat(np.arange(len(own)), [len(part) for part in own]), np.concatenate(own)
    order = np.argsort(value)
    running = np.cumsum(times[:, judge[order]], axis=1)
    middles: Floats = value[order][(running >= running[:, -1:] / 2).argmax(axis=1)]
    return middles


def _sentence(table: pl.DataFrame, answers: int) -> str:
    known = dict(table.select("figure", "value").rows())
    parts = [f"{count(answers, 'answer')} count"]
    if JUDGES in known:
        rejected = f"{100 * known[REJECTED]:.0f} % were" if known[REJECTED] else "none was"
        parts.append(f"of {int(known[JUDGES]):,} judges {rejected} rejected")
    if MINUTES in known:
        parts.append(f"a block took {known[MINUTES]:.1f} minutes")
    if COMMENTED in known:
        parts.append(f"{100 * known[COMMENTED]:.0f} % of answers have a comment")
    if WORDS in known:
        parts[-1] += f" of {known[WORDS]:.1f} words"
    return "; ".join(parts) + "."
