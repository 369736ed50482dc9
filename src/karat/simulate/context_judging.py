"""How judges grade pages alone and in context, aspect by aspect, and what they are asked to judge."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
import polars as pl

from karat.labels import selection
from karat.simulate.judges import steps_until
from karat.stats.arrays import Bools, Floats, Ints

ASPECTS = (selection.OVERALL, "topicality", "novelty", "freshness", "authority", "quality")
OVERALL, TOPICALITY, NOVELTY, FRESHNESS, AUTHORITY, QUALITY = range(6)
LEVELS = 5
#: What overall is made of.
OF_TOPICALITY, OF_AUTHORITY = 0.6, 0.4
#: How much judges differ in opinion, and one judge from one day to the next, in grades. Some of the latter is common to
#: overall, topicality and novelty, and some to freshness, authority and quality, as a judge's mood is.
OPINION, MOOD, SLIP = 0.35, 0.15, 0.15
MOOD_OF = np.array([0, 0, 0, 1, 1, 1])
START = datetime(2024, 3, 4, 9)
#: Judges who cannot tell one aspect often cannot tell another: the correlation behind it.
SILENT_TOGETHER = 0.3


def true_worth(source: Ints, rng: np.random.Generator) -> Floats:
    """What pages are worth in each aspect (overall is left to the judges): queries x docs x aspects, about 0 to 4.

    Near copies are as much on the topic and as new as their source, but stand elsewhere, with other authority.
    """
    shape = source.shape
    topicality = rng.normal(2.2, 1.3, shape)
    topicality = np.take_along_axis(topicality, source, axis=1) + rng.normal(0, 0.1, shape)
    novelty = 0.6 + 0.7 * topicality + rng.normal(0, 0.5, shape)
    authority = rng.normal(2.0, 1.2, shape)
    freshness, quality = (2 + 0.5 * (authority - 2) + rng.normal(0, 0.8, shape) for _ in range(2))
    return np.stack([np.zeros(shape), topicality, novelty, freshness, authority, quality], axis=-1)


def opinions(worth: Floats, rng: np.random.Generator) -> Floats:
    """How judges see the pages: each aspect with an error of their own, and overall made of two of them."""
    seen = worth + rng.normal(0, OPINION, worth.shape)
    seen[..., OVERALL] = overall_of(seen) + rng.normal(0, 0.1, worth.shape[:-1])
    return seen


def overall_of(worth: Floats) -> Floats:
    """What topicality and authority make of a page."""
    overall: Floats = 2 + OF_TOPICALITY * (worth[..., TOPICALITY] - 2) + OF_AUTHORITY * (worth[..., AUTHORITY] - 2)
    return overall


def in_turn(sheet: Ints, rng: np.random.Generator) -> Ints:
    """The rows of sheets one sheet after the other, each in a random order of its own.

    >>> in_turn(np.array([0, 0, 1, 1, 1]), np.random.default_rng(1)).tolist()
    [0, 1, 2, 4, 3]
    """
    order: Ints = np.lexsort((rng.random(len(sheet)), sheet))
    return order


def primed(
    asked: Bools, order: Ints, worth: Floats, judge: Ints, opinion: Floats, priming: float
) -> tuple[Floats, float]:
    """How far opinions move by the page that the judge had just before, and the slope that labels have for it.

    `asked` are sheets x pages, `order` their rows in turn, `worth` what pages are worth, `judge` that of each sheet.
    """
    sheet, page = (index[order] for index in np.nonzero(asked))
    rows = pl.DataFrame({"judge": judge[sheet], "worth": worth[sheet, page]})
    before = rows.select(pl.col("worth").shift(1).over("judge")).to_series().to_numpy()
    known, push = ~np.isnan(before), np.zeros(opinion.shape)
    # From what pages are worth on average: else alone would be lenient, and every change in context off by that.
    push[sheet, page, OVERALL] = priming * np.nan_to_num(before - (before[known].mean() if known.any() else 0.0))
    moved = (mean_label(opinion + push) - mean_label(opinion))[sheet, page, OVERALL]
    slope = np.polyfit(before[known], moved[known], 1)[0] if known.sum() > 1 else 0.0
    return push, float(slope)


def given_labels(opinion: Floats, rng: np.random.Generator) -> Ints:
    """The grades that judges write down for what they see."""
    mood = rng.normal(0, MOOD, (*opinion.shape[:-1], 2))[..., MOOD_OF]
    labels: Ints = np.clip(np.rint(opinion + mood + rng.normal(0, SLIP, opinion.shape)), 0, LEVELS - 1).astype(np.int64)
    return labels


def mean_label(opinion: Floats) -> Floats:
    """The mean of the grades that a judge with this opinion would write down.

    >>> mean_label(np.array([-3.0, 1.0, 1.5, 9.0])).round(2).tolist()
    [0.0, 1.0, 1.5, 4.0]
    """
    from scipy.special import ndtr

    spread = np.hypot(MOOD, SLIP)
    mean: Floats = sum((ndtr((opinion - (k - 0.5)) / spread) for k in range(1, LEVELS)), np.zeros_like(opinion))
    return mean


def steps_to(opinion: Floats, change: float) -> float:
    """How far to move opinions so that the mean label changes by `change`, or the furthest that the scale allows.

    >>> round(steps_to(np.array([2.0, 3.0]), -1.0), 2)
    -1.0
    """
    if not len(opinion) or not change:
        return 0.0
    before = mean_label(opinion).mean()
    return steps_until(change, LEVELS, lambda steps: mean_label(opinion + steps).mean() - before)


def no_answer(
    opinion: Floats, spam: Bools, coverage: Mapping[str, tuple[float, float]], setting: int, rng: np.random.Generator
) -> tuple[Bools, Floats]:
    """Which aspects judges answer with N/A, page by page, and how often they are expected to: pages x aspects, both.

    Authority is answered with N/A more often where there is little of it. Spam has no overall grade and
    hardly any other.
    """
    from scipy.special import ndtr

    chance = np.tile([1 - coverage[name][setting] for name in ASPECTS], (len(opinion), 1))
    little = 4.5 - np.clip(opinion[:, AUTHORITY], 0, LEVELS - 1)
    if (~spam).any():
        chance[:, AUTHORITY] = np.minimum(chance[:, AUTHORITY] * little / little[~spam].mean(), 1)
    chance[spam] = 0.8
    chance[spam, OVERALL] = 1.0
    common, own = rng.normal(size=(len(opinion), 1)), rng.normal(size=opinion.shape)
    silent: Bools = ndtr(np.sqrt(SILENT_TOGETHER) * common + np.sqrt(1 - SILENT_TOGETHER) * own) < chance
    return silent, chance


def judged(queries: int, docs: int, scheme: str, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Which ranks are judged alone, and which after which: queries x docs, and queries x docs x docs read before.

    >>> alone, after = judged(5, 10, "paper", np.random.default_rng(0))
    >>> sorted(alone.sum(axis=1).tolist()), after.sum(axis=(1, 2)).tolist()
    ([5, 5, 5, 10, 10], [8, 8, 8, 8, 8])
    """
    alone, after = np.ones((queries, docs), bool), np.zeros((queries, docs, docs), bool)
    rank = np.arange(docs)
    if scheme == "pairs":
        after[:] = ~np.eye(docs, dtype=bool)
    elif scheme == "adjacent":
        after[:, rank[1:], rank[:-1]] = True
    else:
        last = min(5, docs) - 1
        deep = np.zeros(queries, bool)
        deep[rng.permutation(queries)[: round(queries * 2 / 5)]] = True
        alone[~deep, 5:] = False
        after[:, 1:5, 0] = True
        after[:, :last, last] |= ~deep[:, None]
        if docs > 6:
            after[:, 6:10, 5] |= deep[:, None]
        alone[:, 10:] = False
    return alone, after


def written(seen: pl.DataFrame, labels: Ints, silent: Bools, day: int) -> pl.DataFrame:
    """Answers to pages with columns query, doc, judge, context, as rows: a page's aspects one below the other."""
    row = np.repeat(np.arange(seen.height), len(ASPECTS))
    passed = pl.duration(minutes=pl.lit(pl.Series(2 * row)), days=day)
    return seen[row].select(
        "query",
        "doc",
        pl.Series("label", np.where(silent, np.nan, labels).ravel()).fill_nan(None),
        "judge",
        pl.Series("aspect", ASPECTS * seen.height),
        "context",
        time=(pl.lit(START) + passed).dt.strftime("%FT%T"),
    )
