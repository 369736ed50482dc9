"""What a study of preferences took: judges, those rejected, comments and their length, minutes for a block."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels.order import in_order
from karat.records import FrameLike, Preferences, Result
from karat.records.base import count
from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.signs import share_interval
from karat.validity.votes import counted, failures_allowed, trusted

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
