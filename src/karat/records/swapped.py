"""Labels and runs given in each other's place, told apart by their numbers where no column says which is which.

`{query: {doc: number}}` and tables whose numbers stand in a column `score` may hold either. They are refused only if
both sides look wrong: the labels are as fine-grained as scores, and the scores as coarse as grades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.errors import BadInput
from karat.records.table import ORDER

if TYPE_CHECKING:
    from karat.records.judgments import Judgments
    from karat.records.runs import Runs

#: The lowest and highest numbers that people use as grades, and how many different ones.
LOWEST_GRADE, HIGHEST_GRADE, MAX_GRADES = -2, 10, 11
#: Scores of this share of documents at most stand in their list more than once, grades of this share at least.
MAX_TIED_SCORES, MIN_TIED_GRADES = 0.05, 0.5
#: Continuous numbers: at least this many different ones, and this share of all.
MIN_DIFFERENT_SCORES, MIN_SHARE_DIFFERENT = 6, 0.5
#: Lists in the order of their numbers by chance alone with less than this probability are in that order on purpose.
MAX_CHANCE_OF_ORDER = 1e-3
#: Numbers that a message shows.
SHOWN = 4


def refuse_swapped(labels: Judgments, runs: Runs) -> None:
    """Refuse labels that look like scores beside a run that looks like labels, where no column says which is which.

    >>> from karat.records import Judgments, Runs
    >>> labels = Judgments.of({"q": {doc: 31.5 - place for place, doc in enumerate("abcdefgh")}})
    >>> run = Runs.of({"q": {doc: place % 3 for place, doc in enumerate("abcdefgh")}})
    >>> refuse_swapped(labels, run)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    karat.errors.BadInput: the labels: expected grades, found what looks like scores (24.5, 25.5, 26.5, 27.5, ...)...
    """
    if labels.is_unnamed:
        refuse_swapped_rows(labels.frame, runs)


def refuse_swapped_rows(labels: pl.DataFrame, runs: Runs) -> None:
    """Refuse unnamed labels that look like scores beside a run that looks like labels; rows are in given order."""
    shown = runs.frame
    if "rank" in shown.columns:
        return
    given = labels.select("query", value=pl.col("label").cast(pl.Float64)).drop_nulls("value")
    scores = shown.select("query", "system", value="score")
    if not _look_like_grades(scores) or not _look_like_scores(given):
        return
    raise BadInput.at(
        "the labels",
        expected="grades",
        found=f"what looks like scores ({_examples(given)}), and what looks like grades as scores of the run "
        f"{runs.systems[0]} ({_examples(scores)})",
        remedy=f"{ORDER}. If nothing is swapped, give tables with a column label and a column score",
    )


def _look_like_grades(rows: pl.DataFrame) -> bool:
    """Whether the numbers are a few whole ones, most of which several documents of a list share."""
    value = rows["value"]
    whole = (value == value.round(0)) & value.is_between(LOWEST_GRADE, HIGHEST_GRADE)
    if not len(rows) or not whole.all() or value.n_unique() > MAX_GRADES:
        return False
    return _tied_share(rows) >= MIN_TIED_GRADES


def _look_like_scores(rows: pl.DataFrame) -> bool:
    """Whether hardly two documents of a query share a number, and the numbers cannot be those of a scale.

    Labels may be continuous, too. They are not taken for scores unless some lie outside of any scale, or the documents
    come in the order of their numbers, as those of a ranking do.
    """
    value = rows["value"]
    longest = int(rows.group_by("query").len()["len"].to_numpy().max(initial=0))
    if longest < 3 or _tied_share(rows) > MAX_TIED_SCORES:
        return False
    different = value.n_unique()
    is_continuous = different >= max(MIN_DIFFERENT_SCORES, MIN_SHARE_DIFFERENT * len(rows))
    exhausts_scale = longest > MAX_GRADES
    if not is_continuous and not exhausts_scale and not _are_consecutive(rows):
        return False
    outside = (value > HIGHEST_GRADE) | ((value < 0) & (value != value.round(0))) | (value < LOWEST_GRADE)
    return bool(outside.any()) or _are_ordered(rows)


def _tied_share(rows: pl.DataFrame) -> float:
    """The share of documents whose number another document of the same list has, too."""
    keys = [name for name in ("system", "query", "value") if name in rows.columns]
    return float(rows.select(pl.struct(keys).is_duplicated().mean()).item())


def _are_consecutive(rows: pl.DataFrame) -> bool:
    """Whether the numbers of each query, of three documents or more, are consecutive whole ones: ranks."""
    value = pl.col("value")
    each = rows.group_by("query").agg(
        (value == value.round(0)).all().alias("whole"),
        (value.max() - value.min() + 1 == pl.len()).alias("dense"),
        pl.len().alias("size"),
    )
    large = each.filter(pl.col("size") >= 3)
    return large.height >= 3 and bool((large["whole"] & large["dense"]).all())


def _are_ordered(rows: pl.DataFrame) -> bool:
    """Whether the documents of every query come in the order of their numbers, which is no chance."""
    step = pl.col("value").diff()
    each = rows.group_by("query", maintain_order=True).agg(
        (step < 0).sum().alias("falls"), (step > 0).sum().alias("rises"), pl.len().alias("size")
    )
    falling = bool((each["rises"] == 0).all())
    rising = bool((each["falls"] == 0).all())
    chance = 1.0
    for size in each["size"].to_list():
        for n in range(2, size + 1):
            chance /= n
            if chance < MAX_CHANCE_OF_ORDER:
                return falling or rising
    return False


def _examples(rows: pl.DataFrame) -> str:
    values = rows["value"].unique().sort().to_list()
    return ", ".join(f"{value:g}" for value in values[:SHOWN]) + (", ..." if len(values) > SHOWN else "")
