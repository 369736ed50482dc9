"""A further label only where the first two differed: the rule seen in the data, and what is left without it.

Documents that got a third label were picked for being contested, so all labels together tell wrongly how users
disagree, while the first two were asked of every document alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.records import Judgments
from karat.records.base import count
from karat.stats.agreement import label_counts, pair_sums, raw_agreement

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Labels are comparable when they are about the same thing.
ITEM = ("query", "doc", "subtopic", "context", "aspect", "surface")
#: Figures come from tables of grades x grades: a scale of 0 to 100 is the largest that makes sense.
MOST_GRADES = 101
#: So few documents with a third label show no rule, and so large a share may break it: slips happen.
FEWEST_MORE, SLIPS = 5, 0.02


def ruled_groups(item: Ints, group: Ints, level: Ints, groups: int, levels: int) -> list[int]:
    """The groups, by number, in which a further label was asked only where the first two differed.

    >>> item = np.repeat(np.arange(24), [2] * 18 + [3] * 6)
    >>> level = np.array([0, 0] * 18 + [0, 1, 1] * 6)
    >>> ruled_groups(item, np.zeros_like(item), level, 1, 2)
    [0]

    It shows in the data: items with two labels always agree, items with more never do, and so many of the former
    cannot be chance if the latter's labels are anything to go by. One in fifty may break the rule, as happens.
    """
    found = []
    for number in range(groups):
        mine = group == number
        items, place = np.unique(item[mine], return_inverse=True)
        counts = label_counts(place, level[mine], len(items), levels)
        size, alike = counts.sum(axis=1), counts.max(axis=1, initial=0) == counts.sum(axis=1)
        two, more = size == 2, size > 2
        if more.sum() < FEWEST_MORE or not two.any() or alike[two].mean() < 1 - SLIPS or alike[more].mean() > SLIPS:
            continue
        agreement = raw_agreement(pair_sums(counts[more], np.zeros(int(more.sum()), np.int64), 1).by_item)[0]
        if agreement ** int(two.sum()) < 0.001:
            found.append(number)
    return found


def first_two_rows(item: Ints, group: Ints, level: Ints, ruled: Sequence[int]) -> Flags:
    """Which rows, in the order in which labels were given, stood before more were asked in the ruled groups.

    As more were asked only where the first two differed, the second is the next one that differs from the first, also
    where the order was lost on the way.
    """
    frame = pl.DataFrame({"item": item, "group": group, "level": level}).with_row_index("row")
    pair = ["item", "group"]
    frame = frame.with_columns(first=pl.col("row").first().over(pair), differs=pl.col("level").first().over(pair))
    other = pl.col("row").filter(pl.col("level") != pl.col("differs")).first().over(pair)
    following = pl.col("row").filter(pl.col("row") != pl.col("first")).first().over(pair)
    keep = ~pl.col("group").is_in(list(ruled)) | (pl.col("row") == pl.col("first"))
    keep |= pl.col("row") == pl.coalesce(other, following)
    rows: Flags = frame.select(keep.fill_null(False)).to_series().to_numpy()
    return rows


def without_rule(judgments: Judgments, *, repeats: bool = False) -> tuple[Judgments, str]:
    """The judgments with the first two labels of each document where the rule is seen, and what a reader should know.

    >>> rows = [{"query": f"q{d}", "doc": "d", "judge": str(j), "label": label}
    ...         for d in range(24) for j, label in enumerate([0, 0] if d < 18 else [0, 1, 1])]
    >>> kept, note = without_rule(Judgments.of(rows))
    >>> len(rows), len(kept)
    (54, 48)

    The text is empty, and the judgments are the same, where no group follows the rule. First is by time where it is
    known, else by row. A judge counts once for a document; with `repeats` those who are among the first two
    keep all their labels of it.
    """
    frame = judgments.frame.with_row_index("row").drop_nulls("label")
    if not frame.height or frame["label"].n_unique() > MOST_GRADES:
        return judgments, ""
    if "time" in frame.columns:
        frame = frame.sort("time", nulls_last=True, maintain_order=True)
    name = pl.col("judge") if "judge" in frame.columns else pl.lit(None, pl.String)
    whole = {"aspect": "overall", "surface": "page"}
    about = [pl.col(c).fill_null(whole[c]) if c in whole else pl.col(c) for c in ITEM if c in frame.columns]
    keyed = frame.select(
        "row",
        pl.struct(about).rank("dense").cast(pl.Int64).alias("item"),
        (pl.col("group").fill_null("unnamed") if "group" in frame.columns else pl.lit("")).alias("group"),
        name.alias("judge"),
        # A nameless judge is somebody else in every row.
        pl.when(name.is_null()).then(pl.int_range(pl.len())).alias("nobody"),
        (pl.col("label").rank("dense").cast(pl.Int64) - 1).alias("level"),
    )
    who = ["item", "group", "judge", "nobody"]
    once = keyed.unique(who, keep="first", maintain_order=True)
    names = once["group"].unique().sort().to_list()
    place = once["group"].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
    item, level = once["item"].to_numpy(), once["level"].to_numpy()
    ruled = ruled_groups(item, place, level, len(names), int(level.max()) + 1)
    if not ruled:
        return judgments, ""
    kept = once.filter(pl.Series(first_two_rows(item, place, level, ruled)))
    groups = [names[number] for number in ruled]
    rest = keyed.filter(pl.col("group").is_in(groups))
    rest = rest.join(kept, on=who, how="anti", nulls_equal=True) if repeats else rest.join(kept, on="row", how="anti")
    left = judgments.frame.with_row_index("row").join(rest, on="row", how="anti", maintain_order="left").drop("row")
    whose = f"{', '.join(groups)}: " if groups != [""] else ""
    note = (
        f"{whose}more than two labels only where the first two differed, so the first two of each document are used "
        f"and {count(rest.height, 'label')} left aside (--all-labels takes them in)"
    )
    return replace(judgments, frame=left), note
