"""How far coders agree on the reasons in a comment: class by class, and on whole sets of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Result
from karat.records.base import count, frame_of
from karat.records.number_format import interval_said
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.kappas import cohen_kappa, cross_table, fleiss_kappa, pair_sums
from karat.validity.reason_classes import NAMES
from karat.validity.reasons import codes_of

#: What tells one comment from another where there is no column `item`.
KEYS = ("query", "subtopic", "left", "right", "judge", "reason")


def masi_distance(one: Bools, other: Bools) -> Floats:
    """How far sets of classes (rows of true and false) lie apart, 0 for equal ones, 1 for those with nothing in common.

    >>> a, b = np.array([[True, True, False]]), np.array([[True, False, False], [False, True, True]])
    >>> masi_distance(a, b).round(3).tolist()
    [[0.667, 0.889]]

    It is 1 - shared / either x 2/3 where one set holds the other, x 1/3 where each has something of its own, so that
    leaving a class out is a smaller disagreement than exchanging it.
    Reference: Passonneau, Measuring Agreement on Set-valued Items (LREC 2006).
    """
    x, y = one.astype(np.float64), other.astype(np.float64)
    both = x @ y.T
    sizes = x.sum(axis=1)[:, None], y.sum(axis=1)[None, :]
    either = sizes[0] + sizes[1] - both
    share = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    holds = (both == sizes[0]) | (both == sizes[1])
    equal = holds & (sizes[0] == sizes[1])
    return 1 - share * np.where(equal, 1.0, np.where(holds, 2 / 3, 1 / 3))


def coder_agreement(coded: Any, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Kappa of each class, and Krippendorff's alpha on whole sets of classes, of two coders or more.

    >>> coded = [{"item": i, "coder": c, "codes": k} for i, (a, b) in enumerate([("number", "number"),
    ...     ("position", "position; number"), ("language", "language")]) for c, k in (("ann", a), ("bob", b))]
    >>> coder_agreement(coded, draws=0).frame.filter(pl.col("class") == "all classes")["agreement"].round(3).to_list()
    [0.722]

    `coded` has a row for each comment and coder, with the columns `coder`, `codes`, and `item` (or what tells comments
    apart: query, judge, reason). The kappa of a class is Cohen's for two coders and Fleiss' for more, and NaN where all
    or none of the comments have it. `all classes` is alpha with the MASI distance of sets, so that codes that share a
    class count as partly agreeing. Intervals: bootstrap over comments. Comments of a single coder count nowhere.
    """
    resampling = Resampling(level, draws, seed)
    frame, flags, notes = _by_item(coded)
    item = frame["item"].to_numpy().astype(np.int64)
    coder = frame["coder"].rank("dense").to_numpy().astype(np.int64) - 1
    number, coders = int(item.max()) + 1, int(coder.max()) + 1
    drawn = resampling.times(number) if number >= FEWEST else ()
    weights = np.concatenate([np.ones((1, number)), *drawn])
    rows = []
    for name, said in zip(NAMES, flags.T, strict=True):
        values = _kappa(item, coder, said, number, coders, weights)
        rows.append((name, "kappa", *_told(values, number, resampling), int(said.sum())))
    values = _alpha(item, flags, number, weights)
    rows.append(("all classes", "alpha (masi)", *_told(values, number, resampling), frame.height))
    table = pl.DataFrame(rows, schema=["class", "figure", "agreement", "low", "high", "codes"], orient="row")
    alpha, low, high = rows[-1][2:5]
    finding = (
        f"{count(coders, 'coder')} agree on the reasons of {count(number, 'comment')} with an alpha of "
        f"{alpha:.2f}{interval_said(low, high, level)}, where 1 is always and 0 as by chance."
    )
    if np.isnan(alpha):
        finding = "All codes are alike: agreement beyond chance cannot be told."
    return Result(table, finding, tuple(notes))


def _by_item(coded: Any) -> tuple[pl.DataFrame, Bools, list[str]]:
    """The codes of comments with two coders or more: frame with item and coder as numbers, and flags."""
    frame = frame_of(coded, "the coded comments")
    if "reason" not in frame.columns and "comment" not in frame.columns and "item" in frame.columns:
        frame = frame.with_columns(reason=pl.col("item").cast(pl.String))
    known, flags = codes_of(frame)
    if "coder" not in known.columns or known["coder"].null_count():
        raise BadInput.at("the coded comments", expected="a column coder, filled", found=", ".join(known.columns))
    key = ["item"] if "item" in known.columns else [name for name in KEYS if name in known.columns]
    known = known.with_columns(
        item=pl.struct(key).rank("dense").cast(pl.Int64) - 1, coder=pl.col("coder").cast(pl.String)
    ).with_row_index("row")
    again = known.select(pl.struct("item", "coder").is_duplicated()).to_series()
    if again.any():
        row = known.filter(again).row(0, named=True)
        raise BadInput.at(
            "the coded comments",
            expected="one row for a comment and coder",
            found=f'{row["coder"]} twice on "{str(row["reason"])[:40]}"',
            remedy="divide several codes of a comment by ;, or add a column item",
        )
    several = known.with_columns(pl.len().over("item").alias("coders")).filter(pl.col("coders") > 1)
    if not several.height:
        raise Undefined("no comment has codes of two coders")
    lost = known["item"].n_unique() - several["item"].n_unique()
    notes = [f"{count(lost, 'comment')} of one coder only left out"] if lost else []
    kept = flags[several["row"].to_numpy()]
    return several.with_columns(item=pl.col("item").rank("dense").cast(pl.Int64) - 1), kept, notes


def _kappa(item: Ints, coder: Ints, said: Bools, number: int, coders: int, weights: Floats) -> Floats:
    level = said.astype(np.int64)
    if coders == 2:
        answers = np.full((number, 2), -1)
        answers[item, coder] = level
        tables = cross_table(np.arange(number), answers[:, 0], answers[:, 1], number, 2)
        return cohen_kappa((weights @ tables.reshape(number, 4)).reshape(-1, 2, 2))
    counts = np.bincount(item * 2 + level, minlength=2 * number).reshape(number, 2).astype(np.float64)
    sums = pair_sums(counts, np.arange(number), number).by_item
    return fleiss_kappa((weights @ sums.reshape(number, 4)).reshape(-1, 2, 2))


def _alpha(item: Ints, flags: Bools, number: int, weights: Floats) -> Floats:
    """Krippendorff's alpha with a distance of sets: one less disagreement within comments by that among all codes."""
    sets, which = np.unique(flags, axis=0, return_inverse=True)
    apart = masi_distance(sets, sets)
    counts = np.bincount(item * len(sets) + which.ravel(), minlength=number * len(sets)).reshape(number, len(sets))
    labels = counts.sum(axis=1)
    within = np.einsum("ns,st,nt->n", counts, apart, counts) / (labels - 1)
    total, used = weights @ labels, weights @ counts
    by_chance = np.einsum("ds,ds->d", used @ apart, used)
    known = by_chance > 1e-12
    return np.where(known, 1 - (total - 1) * (weights @ within) / np.where(known, by_chance, 1.0), np.nan)


def _told(values: Floats, number: int, resampling: Resampling) -> tuple[float, float, float]:
    if np.isnan(values[0]):
        return np.nan, np.nan, np.nan
    return float(values[0]), *resampling.ends(values[1:], number)
