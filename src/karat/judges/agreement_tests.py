"""Does one group agree more than another, or on some documents more than on others? Differences with tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, KaratError, Undefined
from karat.judges.agreement import population, table_of, told_by
from karat.judges.agreement_sums import FIGURES, By, Sums, overall_name
from karat.judges.jackknife import Judges, LeftOut, all_left_out
from karat.labels import GOLD, Panel
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats
from karat.stats.bootstrap import check_level
from karat.stats.multiple_testing import holm
from karat.stats.rogan_gladen import half_width, two_sided

#: More values than these make more comparisons than anybody reads.
MOST_VALUES = 10
#: What is tested unless other figures are named.
TESTED = ("fleiss", "alpha_ordinal")


def agreement_tests(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None = None,
    *,
    by: str | None = None,
    figures: Sequence[str] = TESTED,
    judges: Judges = "sample",
    level: float = 0.95,
) -> Result:
    """Whether two groups agree differently within, or with gold; with `by`, whether a group does on two values of it.

    >>> rng = np.random.default_rng(1)
    >>> rows = [{"query": f"q{q}", "doc": "d", "judge": f"{group}{j}", "group": group,
    ...          "label": q % 3 if rng.random() < right else int(rng.integers(3))}
    ...         for group, right in {"crowd": 0.5, "staff": 0.9}.items() for j in range(6) for q in range(40)]
    >>> print(agreement_tests(rows).finding)
    2 of 2 differences are clear (Holm, 5 %); the largest: crowd less than staff, ordinal alpha 0.26 and 0.81.

    A row for each figure and comparison: `first` and `second` are the figures, `difference` the first less the second
    with its interval, `p`, and `p_holm`, which allows for the number of comparisons of that figure. `agreement` says
    what is compared: "within" groups (on the first labels where a further one had to be earned), or "with gold".

    Figures of the same queries go up and down together, and so do those of the same judges: both are left out in turn
    from both sides at once, queries, judges, and what is in both. Groups with fewer than five named judges are taken
    as they are. Student's t with the smaller number of queries or judges less 1 (of two groups, as Welch has it): with
    five judges the tests are careful.

    Reference: Cameron, Gelbach and Miller, Robust Inference With Multiway Clustering (JBES 2011).
    """
    panel, by = told_by(labels, gold, by, judges)
    check_level(level)
    _check(panel, by, figures)
    return _tests_of(panel, by, figures, judges, level, all_left_out(panel, by, panel.top, judges))


def agreement_with_tests(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None = None,
    *,
    by: str | None = None,
    judges: Judges = "sample",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[Result, Result | None]:
    """`agreement`, and `agreement_tests` where there is something to test: what both are made of is made once."""
    panel, by = told_by(labels, gold, by, judges)
    resampling = Resampling(level, draws, seed)
    found = all_left_out(panel, by, panel.top, judges)
    try:
        _check(panel, by, TESTED)
        tests = _tests_of(panel, by, TESTED, judges, level, found)
    except KaratError:  # one group alone has nothing to differ from, and a column of many values is not tested
        tests = None
    return table_of(panel, by, panel.top, judges, resampling, found), tests


def _check(panel: Panel, by: str | None, figures: Sequence[str]) -> None:
    """Refuse figures that nobody knows, and more values than anybody reads about."""
    unknown = [name for name in figures if name not in FIGURES]
    if unknown or not figures:
        raise BadInput.at("the figures", expected=" or ".join(FIGURES), found=", ".join(unknown) or "none")
    told = By.of_panel(panel, by)
    if len(told.values) > MOST_VALUES:
        values = count(len(told.values), "value")
        raise BadInput.at("agreement by a column", expected=f"up to {MOST_VALUES} values", found=f"{by} with {values}")


def _tests_of(
    panel: Panel,
    by: str | None,
    figures: Sequence[str],
    judges: Judges,
    level: float,
    left_out: tuple[list[Sums], LeftOut],
) -> Result:
    """The table of differences from what figures are with clusters left out."""
    (parts, found), told = left_out, By.of_panel(panel, by)
    rows = pl.concat([sums.rows for sums in parts]).with_row_index("row")
    rows = rows.with_columns(sample=pl.Series([found.sampled(row) for row in range(rows.height)], dtype=pl.Boolean))
    rows = rows.filter(pl.col("against").is_null() | (pl.col("against") == GOLD), pl.col("n_queries") >= FEWEST)
    # Where some labels had to be earned, those that were asked of all alike are compared.
    rows = rows.sort("labels").unique(["group", "against", "value"], keep="last").sort("against", "group", "value")
    compared = _compared(rows, by, panel)
    if not compared:
        what = "two groups" if by is None else f"two values of {by}"
        raise Undefined(f"there are no {what} with {FEWEST} queries each to compare")
    errors = [found.error(one["row"], other["row"]) for one, other in compared]  # of all figures at once
    frame = pl.concat(
        [
            _tested(found, name, pair, error, level)
            for name in dict.fromkeys(figures)
            for pair, error in zip(compared, errors, strict=True)
        ]
    )
    adjusted = [holm(part["p"]) for part in frame.partition_by("figure", maintain_order=True)]
    frame = frame.with_columns(p_holm=np.concatenate(adjusted))
    used = rows.filter(pl.col("row").is_in([row["row"] for pair in compared for row in pair]))
    notes = (*panel.notes, population(used, judges))
    told_apart = ["group", "against", "agreement"] if by is None else ["group", "agreement", by, f"{by}_against"]
    shown = (*told_apart, "labels", "figure", "first", "second", "difference", "p_holm")
    finding = _finding(frame, by, told)
    return Result(_shown(frame, by, told), finding, tuple(note for note in notes if note), columns=shown)


Row = dict[str, Any]


def _compared(rows: pl.DataFrame, by: str | None, panel: Panel) -> list[tuple[Row, Row]]:
    """Every two groups, or with `by` every two values in each group; within, and with gold."""
    rows = rows.filter(pl.col("group") != GOLD, (pl.col("value") < 0) == (by is None))
    if by is None:
        rows = rows.filter(pl.col("group") != overall_name(panel))
    parts = rows.partition_by("against", *([] if by is None else ["group"]), maintain_order=True)
    return [pair for part in parts for pair in combinations(part.to_dicts(), 2)]


def _tested(
    found: LeftOut, figure: str, pair: tuple[Row, Row], errors: tuple[Floats, Floats], level: float
) -> pl.DataFrame:
    """A row about a difference."""
    (one, other), place = pair, list(FIGURES).index(figure)
    first, second = (float(found.whole[place, row["row"]]) for row in (one, other))
    error, df = (float(values[place]) for values in errors)
    difference = first - second
    half = half_width(error, level, df)
    return pl.DataFrame(
        {
            "group": one["group"],
            "against": other["group"],
            "agreement": "within" if one["against"] is None else f"with {GOLD}",
            "value": one["value"],
            "value_against": other["value"],
            "labels": ", ".join(dict.fromkeys((one["labels"], other["labels"]))),
            "figure": figure,
            "first": first,
            "second": second,
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "p": two_sided(difference, error, df),
        }
    )


def _shown(frame: pl.DataFrame, by: str | None, told: By) -> pl.DataFrame:
    """The table with the two groups, or with the group and the two values under the column's name."""
    if by is None:
        return frame.drop("value", "value_against")
    names = {"value": by, "value_against": f"{by}_against"}
    named = [told.values.gather(frame[old]).alias(new) for old, new in names.items()]
    return frame.select("group", "agreement", *named, pl.exclude("group", "against", "agreement", *names))


def _finding(frame: pl.DataFrame, by: str | None, told: By) -> str:
    """How many differences are clear, and the largest of them."""
    clear = frame.filter(pl.col("p_holm") <= 0.05)
    number = count(frame.height, "difference")
    if not clear.height:
        return f"None of {number} is clear (Holm, 5 %)."
    row = clear.row(int(clear["difference"].abs().arg_max() or 0), named=True)
    way = "more" if row["difference"] > 0 else "less"
    if by is None:
        said = f"{row['group']} {way} than {row['against']}"
    else:
        one, other = (told.values[row[name]] for name in ("value", "value_against"))
        said = f"{row['group']} {way} for {by} {one} than for {other}"
    figure = row["figure"].replace("_", " ")
    figure = " ".join(reversed(figure.split())) if figure.startswith("alpha") else figure
    gold = " with gold" if row["agreement"] != "within" else ""
    are = "is" if clear.height == 1 else "are"
    return (
        f"{clear.height} of {number} {are} clear (Holm, 5 %); the largest: {said}{gold}, {figure} {row['first']:.2f} "
        f"and {row['second']:.2f}."
    )
