"""Clicks as gold: do the labels prefer what users click?

Reference: Kazai, Craswell, Yilmaz and Tahaghoghi, An Analysis of Systematic Judging Errors in Information Retrieval
(CIKM 2012), section 6.1: Figure 2 and Table 3.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.clicked import Clicked, in_percent, shares
from karat.labels import ALL, Panel
from karat.records import ClickLog, Clicks, FrameLike, LabelsLike, Result
from karat.records.base import count
from karat.records.blocks import pairs_within
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Ints
from karat.stats.totals import place_within

Pairs = Literal["all", "top two", "both"]
OUTCOMES = ("correct", "incorrect", "insensitive")
#: The value of a pair whose documents are of different kinds.
DIFFERENT = "different"


def against_clicks(
    labels: Panel | LabelsLike,
    clicks: Clicks | ClickLog | FrameLike,
    *,
    by: str | None = None,
    pairs: Pairs = "all",
    minimum_clicks: int = 10,
    least_difference: float | None = None,
    most_pairs: int = 2_000_000,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often labels prefer the document that users click more: correct, incorrect, or the same label for both.

    >>> clicks = Clicks.of({"query": ["q"] * 3, "doc": list("abc"), "clicks": [90, 50, 40]})
    >>> result = against_clicks({"q": {"a": 2, "b": 2, "c": 0}}, clicks)
    >>> result.frame.select("correct", "incorrect", "insensitive", "n_pairs").row(0)
    (0.5, 0.0, 0.5, 2)

    Documents of a query with labels and `minimum_clicks` form pairs; those whose clicks differ by at least the median
    difference over all pairs, or by `least_difference`, say what users prefer. `pairs` takes all of them, the two most
    clicked documents of each query ("top two"), or both one after the other. Each group has one label for a document,
    the median: it keeps the scale's grades, so that "insensitive" is about the scale as it is used. The figures are of
    these judges. `by` names a column of the judgments: the rows then tell whether one, both or none of the two
    documents has the feature (WP1, WP2 and nWP for the values WP and nWP), or which value or slice they share.
    Intervals are bootstrap intervals over queries.

    Long lists have too many pairs: beyond `most_pairs` in all, documents of the longest lists are drawn at random, and
    a note says so. Clicks follow what was shown first as well as what was good; they are users' word, not the truth.
    """
    if pairs not in ("all", "top two", "both"):
        raise BadInput.at("pairs", expected="all, top two or both", found=repr(pairs))
    if least_difference is not None and not least_difference > 0:
        raise BadInput.at("least_difference", expected="a number above 0", found=f"{least_difference:g}")
    data = Clicked.of(labels, clicks, by, minimum_clicks)
    notes = list(data.notes)
    rows = np.flatnonzero(data.clicks > 0)
    kept = _thinned(rows, data, most_pairs, seed, notes)
    one, other = pairs_within(data.query[kept])
    two = {"all": (kept[one], kept[other]), "top two": _top_two(rows, data.query)}
    gaps = data.clicks[two["all"][0]] - data.clicks[two["all"][1]]
    if not gaps.any():
        raise Undefined("no two documents of a query have labels and different numbers of clicks")
    least = float(np.median(gaps)) if least_difference is None else least_difference
    how = "the median" if least_difference is None else f"{(gaps >= least).mean() * 100:.0f} %"
    notes.append(f"a click difference of {least:g} or more ({how} of {count(len(gaps), 'pair')}) is a preference")
    _note_ties(rows, data, pairs, notes)
    cells, counts = list[tuple[str, ...]](), []
    for kind in ("all", "top two") if pairs == "both" else (pairs,):
        more, less = two[kind]
        gap = data.clicks[more] - data.clicks[less]
        # Equal clicks prefer nothing, whatever the least difference.
        told = (gap >= least) & (gap > 0)
        more, less = more[told], less[told]
        value, values = _pair_values(data, more, less)
        # +1, -1 and 0 for correct, incorrect and insensitive; NaN where the group did not label both.
        sign = np.sign(data.label[:, more] - data.label[:, less])
        for place, name in enumerate(values):
            for group, signs in zip(data.panel.groups, sign, strict=True):
                cells.append((group, kind, name))
                mine = value == place
                counts.append(
                    [np.bincount(data.query[more[mine & (signs == s)]], minlength=data.queries) for s in (1, -1, 0)]
                )
    table = np.array(counts, dtype=np.float64)  # cells x outcomes x queries
    size = table.sum(axis=1)
    share, low, high = shares(table, size[:, None], Resampling(level, draws, seed))
    names = ["group", "pairs", "value"] if by is not None else ["group", "pairs"]
    frame = pl.DataFrame([cell[: len(names)] for cell in cells], schema=names, orient="row").with_columns(
        *(pl.Series(name, share[:, n]) for n, name in enumerate(OUTCOMES)),
        *(
            pl.Series(f"{name}_{end}", ends[:, n])
            for n, name in enumerate(OUTCOMES)
            for end, ends in (("low", low), ("high", high))
        ),
        *(pl.Series(f"n_{name}", table[:, n].sum(axis=1).astype(np.int64)) for n, name in enumerate(OUTCOMES)),
        pl.Series("n_pairs", size.sum(axis=1).astype(np.int64)),
        pl.Series("n_queries", (size > 0).sum(axis=1)),
    )
    if draws and np.isnan(low).any():
        notes.append(f"no interval where fewer than {FEWEST} queries have pairs, or all of them agree")
    shown = (*names, "correct", "incorrect", "insensitive", "n_pairs")
    return Result(frame, _preference_finding(frame, level), tuple(notes), columns=shown)


def _thinned(rows: Ints, data: Clicked, most_pairs: int, seed: int, notes: list[str]) -> Ints:
    """The rows, or so many drawn from each longer list that all pairs stay within bounds."""
    size = np.bincount(data.query[rows], minlength=data.queries)
    low, high = 2, int(size.max())
    if _n_pairs(size, high) <= most_pairs:
        return rows
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _n_pairs(size, middle) <= most_pairs else (low, middle - 1)
    shuffled = np.argsort(np.random.default_rng(seed).random(len(rows)))
    notes.append(f"{low:,} documents drawn from each longer list, so as not to have more than {most_pairs:,} pairs")
    kept = shuffled[place_within(data.query[rows[shuffled]]) < low]
    return rows[np.sort(kept)]


def _n_pairs(size: Ints, at_most: int) -> int:
    cut = np.minimum(size, at_most)
    return int((cut * (cut - 1) // 2).sum())


def _top_two(rows: Ints, query: Ints) -> tuple[Ints, Ints]:
    """The first two rows of each query that has two."""
    of_row = query[rows]
    first = np.searchsorted(of_row, np.unique(of_row))
    first = first[(first + 1 < len(rows)) & (of_row[np.minimum(first + 1, len(rows) - 1)] == of_row[first])]
    return rows[first], rows[first + 1]


def _note_ties(rows: Ints, data: Clicked, pairs: Pairs, notes: list[str]) -> None:
    if pairs == "all":
        return
    second = _top_two(rows, data.query)[1]
    second = second[second + 1 < len(data.query)]
    tied = (data.query[second] == data.query[second + 1]) & (data.clicks[second] == data.clicks[second + 1])
    if tied.any():
        where = count(int(tied.sum()), "query", "queries")
        notes.append(f"in {where} the second and third most clicked are clicked equally often: doc ids decided")


def _pair_values(data: Clicked, more: Ints, less: Ints) -> tuple[Ints, list[str]]:
    """The number of each pair's value, -1 where unknown, and the values: how many have it, or what they share."""
    one, other = data.kind[more], data.kind[less]
    if data.had:
        # 0 is having it: one, both, none.
        value = np.array([1, 0, 2])[np.abs(one) + np.abs(other)]
        has, has_not = data.kinds
        names = ["one", "both", "none"] if has == "true" else [f"{has}1", f"{has}2", has_not]
    else:
        value, names = np.where(one == other, one, len(data.kinds)), data.kinds
    value = np.where((one < 0) | (other < 0), -1, value)
    return value, [*names, DIFFERENT] if (value == len(names)).any() else names


def _preference_finding(frame: pl.DataFrame, level: float) -> str:
    """The group that agrees best with clicks, and the others; by feature, where a group agrees least and best."""
    known = frame.filter(pl.col("correct").is_not_nan() & (pl.col("pairs") == frame["pairs"][0]))
    if not known.height:
        return "No group labelled both documents of a pair that clicks tell apart."
    if "value" in frame.columns:
        return _by_value_finding(known, level)
    ranked = known.sort("correct", descending=True, maintain_order=True)
    first = ranked.row(0, named=True)
    pairs = count(first["n_pairs"], "click preference")
    who = "Labels" if first["group"] == ALL else f"Labels of {first['group']}"
    text = (
        f"{who} agree with {in_percent(first, 'correct', level)} of {pairs}, "
        f"contradict {first['incorrect'] * 100:.0f} % and are equal in {first['insensitive'] * 100:.0f} %"
    )
    rest = [f"{row['group']} agrees with {row['correct'] * 100:.0f} %" for row in ranked[1:].iter_rows(named=True)]
    return "; ".join([text, *rest]) + "."


def _by_value_finding(known: pl.DataFrame, level: float) -> str:
    """Where a group agrees least and best with clicks: the widest gap between intervals, or else that there is none."""
    sure = known.filter(pl.col("n_queries") >= FEWEST).sort("correct", maintain_order=True)
    gaps = sure.group_by("group", maintain_order=True).agg(
        apart=pl.col("correct_low").last() - pl.col("correct_high").first(),
        gap=pl.col("correct").last() - pl.col("correct").first(),
        n=pl.len(),
    )
    gaps = gaps.filter(pl.col("n") > 1).with_columns(pl.col("apart").fill_nan(-1.0)).sort("apart", descending=True)
    if not gaps.height:
        return "Too few queries to tell where labels agree with clicks."
    mine = sure.filter(pl.col("group") == gaps["group"][0])
    worst, best = mine.row(0, named=True), mine.row(-1, named=True)
    text = (
        f"abels of {worst['group']} agree with {in_percent(worst, 'correct', level)} of click preferences for "
        f"{worst['value']} ({count(worst['n_pairs'], 'pair')}) and with {in_percent(best, 'correct', level)} for "
        f"{best['value']} ({count(best['n_pairs'], 'pair')})."
    )
    return f"L{text}" if gaps["apart"][0] > 0 else f"No group differs clearly: l{text}"
