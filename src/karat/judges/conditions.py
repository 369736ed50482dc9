"""Where users disagree more: p(T|i) by kind of query, quality of the list, rank, group of judges, or any column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.level_votes import (
    FEW_LABELS,
    Votes,
    level_of,
    levels_of,
    need_labels,
    panel_of_users,
    top_level_notes,
    used,
    votes,
    with_names,
)
from karat.labels import Panel
from karat.labels.panel import numbered
from karat.labels.selection import ASKED
from karat.records import LabelsLike, Result
from karat.records.result import Lines
from karat.records.table import count
from karat.stats import Resampling, ratio, ratio_intervals, totals
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.multiple_testing import holm
from karat.stats.rogan_gladen import half_width, two_sided

#: A condition's name, p's numerator and denominator for queries x levels, and the number of each query.
Condition = tuple[str, Floats, Floats, Ints]


def condition_tests(conditions: Sequence[Condition], levels: Sequence[float], *, level: float = 0.95) -> Result:
    """The difference in p(T|i) between every two conditions, level by level, with its interval, p and Holm's p.

    p(T|i) is a ratio of sums over queries, told / asked; a query moves it by (told - p asked) / asked of all. The
    difference is moved by what its query moves one less what it moves the other, so that conditions of the same
    queries, such as ranks, are compared within them, and conditions of different queries, such as their kind, as two
    samples. Student's t with as many degrees of freedom as the condition of fewer queries has, less 1.
    """
    rows, n = [], 1 + max((int(query.max()) for _, _, _, query in conditions if len(query)), default=0)
    for place, grade in enumerate(levels):
        moved = {}
        for name, told, asked, query in conditions:
            whole = asked[:, place].sum()
            if whole <= 0:
                continue
            p = told[:, place].sum() / whole
            # By as many queries as have such a label: with few of them the sum of squares is too small.
            number = int((asked[:, place] > 0).sum())
            move = np.zeros(n)
            move[query] = (told[:, place] - p * asked[:, place]) / whole * np.sqrt(number / max(number - 1, 1))
            moved[name] = (p, move, number)
        for one, two in combinations(moved, 2):
            (p_one, move_one, n_one), (p_two, move_two, n_two) = moved[one], moved[two]
            freedom, difference = min(n_one, n_two) - 1, p_two - p_one
            error = float(np.sqrt(((move_two - move_one) ** 2).sum())) if freedom > 1 else np.nan
            half = half_width(error, level, freedom) if error > 0 else np.nan
            ends = (difference - half, difference + half)
            p_value = two_sided(difference, error, freedom)
            rows.append((one, two, float(grade), p_one, p_two, difference, *ends, p_value, min(n_one, n_two)))
    figures = ["first_p", "second_p", "difference", "difference_low", "difference_high", "p_value", "queries"]
    frame = pl.DataFrame(rows, schema=["first", "second", "level", *figures], orient="row")
    frame = frame.with_columns(p_holm=pl.Series(holm(frame["p_value"].cast(pl.Float64).to_numpy())))
    clear = frame.filter(pl.col("p_holm") <= 1 - level)
    said = (
        f"{clear.height} of {frame.height} differences between conditions are clear (Holm, {100 - 100 * level:.0f} %)"
    )
    if clear.height:
        row = clear.sort("p_holm", (-pl.col("difference").abs())).row(0, named=True)
        said += f"; the clearest: {row['first']} {row['first_p']:.3f}, {row['second']} {row['second_p']:.3f}"
    shown = ("first", "second", "level", "difference", "p_holm")
    return Result(frame, f"{said}.", columns=shown)


#: The condition that says whether the list was any good, and the columns that say whose list it was.
LIST_QUALITY, LISTS = "list_quality", ("engine", "system")
#: The same as in the paper: by the labels of the judge whose label is given.
LIST_HAS_TOP = "list_has_top"


@dataclass(frozen=True, eq=False, repr=False)
class DisagreementBy(Result):
    """p(T|i) by condition, and the tests between conditions, `tests`."""

    tests: Result = field(default_factory=lambda: Result(pl.DataFrame(), ""), kw_only=True)


def disagreement_by(
    labels: Panel | LabelsLike,
    by: str | Sequence[str],
    top: float | None = None,
    *,
    min_labels: int = 2,
    most_labels: int | None = None,
    all_labels: bool = False,
    count_repeats: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> DisagreementBy:
    """p(T|i) for every value of a column, or of several crossed (the paper's Table 3), with tests between them.

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j), "kind": kind}
    ...         for d, kind, given in [("a", "faceted", [2, 2]), ("b", "ambiguous", [2, 1])]
    ...         for j, n in enumerate(given)]
    >>> disagreement_by(rows, "kind").frame.select("kind", "level", "p").rows()
    [('ambiguous', 1.0, 1.0), ('ambiguous', 2.0, 0.0), ('faceted', 1.0, nan), ('faceted', 2.0, 1.0)]

    Two conditions need no column of their own: `top5`, `top10`, ... (the column rank is at most that), and
    `list_quality`: was anything top in the list that was shown, of the query and, where a column engine or system says
    it, of that engine? For what one user says given another, this is told from labels other than these two: another
    document of the list was called top by anybody, or this one by a third judge. `list_has_top` is nearer to the paper:
    did the judge whose label is given call anything in the list top, this document among the rest? Which labels are
    used is as in `disagreement`. `tests` has the difference between every two conditions (`condition_tests`).
    """
    columns = [by] if isinstance(by, str) else list(by)
    by = " x ".join(columns)
    panel = panel_of_users(labels, count_repeats, apart=[name for name in columns if name in ASKED])
    need_labels(panel, min_labels)
    levels = levels_of(panel, top)
    of_lists = [name for name in (LIST_QUALITY, LIST_HAS_TOP) if name in columns and name not in panel.frame.columns]
    if len(of_lists) > 1:
        raise BadInput.at("the conditions", expected=f"one of {LIST_QUALITY} and {LIST_HAS_TOP}", found="both")
    if LIST_HAS_TOP in of_lists:
        panel = with_names(panel, LIST_HAS_TOP)
    panel = used(panel, min_labels, most_labels, all_labels)
    notes, rows = [*panel.notes, *top_level_notes(panel, levels[-1])], []
    parts = list(_by_value(panel, columns, levels, min_labels, notes, next(iter(of_lists), None)))
    whose = " and ".join(_list_columns(panel))
    if LIST_QUALITY in of_lists:
        notes.append(f"lists are of {whose}; told from labels other than the two compared")
    if LIST_HAS_TOP in of_lists:
        notes.append(f"lists are of {whose}; with top: if the judge whose label is given calls something in it top")
    for name, told, asked, n, _ in parts:
        p = ratio(told.sum(axis=0), asked.sum(axis=0))
        low, high = ratio_intervals(told, asked, Resampling(level, draws, seed))
        for i, grade in enumerate(levels):
            figures = (float(p[i]), float(low[i]), float(high[i]), int(n[i]), bool(n[i] < FEW_LABELS), len(told))
            rows.append((name, grade, *figures))
    names = [by, "level", "p", "p_low", "p_high", "n", "few", "n_queries"]
    types = [pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Float64, pl.Int64, pl.Boolean, pl.Int64]
    table = pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")
    tests = condition_tests([(name, told, asked, query) for name, told, asked, _, query in parts], levels, level=level)
    tests = replace(tests, scale=panel.scale)
    said = _finding(table, by, panel, levels[-1])
    return DisagreementBy(table, said, tuple(notes), scale=panel.scale, tests=tests)


#: The name of a condition, p's numerator and denominator for queries x levels, how many labels of each level, and the
#: numbers of the queries.
Part = tuple[str, Floats, Floats, Ints, Ints]


def _by_value(
    panel: Panel, columns: Sequence[str], levels: list[float], min_labels: int, notes: list[str], of_list: str | None
) -> Iterator[Part]:
    """The parts of every combination of values; the quality of lists, where it is asked for, within each."""
    elsewhere = _top_elsewhere(panel, levels[-1]) if of_list == LIST_QUALITY else None
    top_given = _top_in_list(panel, levels[-1]) if of_list == LIST_HAS_TOP else None
    named = [name for name in columns if name != of_list]
    values = pl.DataFrame({name: _condition(panel, name) for name in named})
    kinds, place = numbered(values) if named else (pl.DataFrame(), np.zeros(panel.frame.height, np.int64))
    every = kinds.with_row_index("number").sort(named, nulls_last=False).to_dicts() if named else [{"number": 0}]
    for kind in every:
        name, mask = ", ".join(_value_said(kind[one]) for one in named), place == kind["number"]
        try:
            mine = votes(panel.kept(mask), levels, min_labels)
        except Undefined:
            notes.append(f"{' x '.join(columns)} {name}: no document has {min_labels} labels")
            continue
        if elsewhere is not None:
            qualities = _by_list(mine, elsewhere)
        elif top_given is not None:
            qualities = _by_given_judge(mine, top_given[mask])
        else:
            yield name, *mine.sums, mine.counts.sum(axis=0), mine.queries
            continue
        for quality, *part in qualities:
            yield ", ".join([name, quality] if name else [quality]), *part  # type: ignore[misc]


def _value_said(value: object) -> str:
    return "none" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def _condition(panel: Panel, by: str) -> pl.Series:
    """The value of each row."""
    if by in panel.frame.columns:
        return panel.feature(by)
    cutoff = re.fullmatch(r"top(\d+)", by)
    if cutoff:
        inside = panel.feature("rank").cast(pl.Float64) <= int(cutoff[1])
        return inside.fill_null(False).replace_strict({True: "yes", False: "no"}, return_dtype=pl.String)
    known = ", ".join(panel.frame.columns)
    expected = f"a column ({known}), {LIST_HAS_TOP}, {LIST_QUALITY}, or top5"
    raise BadInput.at("the condition", expected=expected, found=f'"{by}"')


def _list_columns(panel: Panel) -> list[str]:
    return ["query", *[name for name in LISTS if name in panel.frame.columns][:1]]


def _by_list(v: Votes, top_elsewhere: Bools) -> Iterator[Part]:
    """The p of good lists and of others; a pair of labels goes to one or the other by the other labels there are."""
    elsewhere, last = top_elsewhere[v.item], len(v.levels) - 1
    said, other = np.arange(last + 1), np.arange(last + 1)[:, None, None]
    # Of each document (rows) and level said (columns): ordered pairs with each other level, as a share of all pairs.
    pairs = v.counts * (v.counts.T[:, :, None] - (other == said))
    pairs = np.maximum(pairs, 0) / (v.size * (v.size - 1))[:, None]
    third = v.counts[:, [last]] - (said == last) - (other == last) > 0
    good = elsewhere[:, None] | third
    for name, mine in (("with top", good), ("without top", ~good)):
        share = pairs * mine
        asked, told = share.sum(axis=0), share[last]
        kept = (asked > 0).any(axis=1)
        if kept.any():
            part = v.where(kept)
            n = (v.counts * (asked > 0)).sum(axis=0)
            yield name, part.by_query(told[kept]), part.by_query(asked[kept]), n, part.queries


def _by_given_judge(v: Votes, top_given: Bools) -> Iterator[Part]:
    """The p of lists with a top result and without, by the labels of the judge whose label is given.

    `top_given` says of each row of the votes' panel whether its judge calls anything in its list top.
    """
    level, last = level_of(v.panel, v.levels), len(v.levels) - 1
    others_top = v.counts[:, [last]] - (np.arange(last + 1) == last)
    for name, rows in (("with top", top_given), ("without top", ~top_given)):
        given = label_counts(v.panel.item[rows], level[rows], v.panel.items.height, last + 1)[v.item]
        asked = given / v.size[:, None]
        told = asked * others_top / (v.size - 1)[:, None]
        kept = given.sum(axis=1) > 0
        if kept.any():
            part = v.where(kept)
            n = given.sum(axis=0).astype(np.int64)
            yield name, part.by_query(told[kept]), part.by_query(asked[kept]), n, part.queries


def _top_in_list(panel: Panel, top: float) -> Bools:
    """For each row: does its judge call anything in the list of the row top?"""
    lists = numbered(panel.frame.select(_list_columns(panel)))[1]
    rows = pl.DataFrame({"list": lists, "judge": panel.judge, "top": panel.value >= top})
    found: Bools = rows.select(pl.col("top").any().over("list", "judge")).to_series().to_numpy()
    return found


def _top_elsewhere(panel: Panel, top: float) -> Bools:
    """For each item of the panel: was another document, in a list that it was shown in, called top by anybody?"""
    lists = numbered(panel.frame.select(_list_columns(panel)))[1]
    docs = numbered(panel.frame.select("query", "doc"))[1]
    rows = pl.DataFrame({"list": lists, "doc": docs, "item": panel.item, "top": panel.value >= top})
    tops = rows.filter("top").group_by("list").agg(n=pl.col("doc").n_unique())
    mine = rows.group_by("list", "doc").agg(mine=pl.col("top").any())
    near = rows.select("list", "doc", "item").unique().join(mine, on=["list", "doc"]).join(tops, on="list")
    found = np.zeros(panel.items.height, bool)
    found[near.filter(pl.col("n") > pl.col("mine").cast(pl.Int64))["item"].to_numpy()] = True
    return found


def _finding(table: pl.DataFrame, by: str, panel: Panel, top: float) -> str:
    below = table.filter((pl.col("level") < top) & pl.col("p").is_not_nan())
    if not below.height:
        return f"Nothing can be said of {by}: too few documents have two labels."
    level = max(below["level"].to_list())
    row = below.filter(pl.col("level") == level).sort("p", by)
    low, high = row.row(0, named=True), row.row(-1, named=True)
    p = f"p({panel.said(top)}|{panel.said(level)})"
    return (
        f"{p} goes from {low['p']:.3f} for {by} {low[by]} to {high['p']:.3f} for {by} {high[by]}."
        if row.height > 1
        else f"{p} is {low['p']:.3f} ({by} {low[by]})."
    )


def resampled_p(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    min_labels: int = 6,
    all_labels: bool = False,
    count_repeats: bool = False,
    repeats: int = 50,
    seed: int = 0,
) -> Result:
    """p(T|i) from one label and n others drawn at random, repeated: mean and sd (the paper's Fig. 1).

    It shows that two labels per document suffice: the means hardly depend on n, only their scatter does. Which labels
    are used is as in `disagreement`.
    """
    panel = panel_of_users(labels, count_repeats)
    need_labels(panel, min_labels)
    levels = levels_of(panel, top)
    v = votes(used(panel, min_labels, all_labels=all_labels), levels, min_labels)
    rng = np.random.default_rng(seed)
    share = np.cumsum(v.counts / v.size[:, None], axis=1)
    rows = []
    for n in range(1, min_labels):
        found = np.full((repeats, len(levels)), np.nan)
        for repeat in range(repeats):
            drawn = (rng.random((len(share), 1)) > share).sum(axis=1).clip(max=len(levels) - 1)
            good = v.counts[:, -1] - (drawn == len(levels) - 1)
            tops = rng.hypergeometric(good, v.size - 1 - good, n) / n
            found[repeat] = ratio(*(totals(drawn, each, len(levels)) for each in (tops, np.ones(len(tops)))))
        for grade, values in zip(levels, found.T, strict=True):
            known = values[~np.isnan(values)]
            mean, sd = (known.mean(), known.std(ddof=1)) if len(known) > 1 else (np.nan, np.nan)
            rows.append((n, grade, float(mean), float(sd)))
    table = pl.DataFrame(rows, schema=["others", "level", "mean", "sd"], orient="row")
    known = table.filter(pl.col("level") < levels[-1], pl.col("mean").is_not_nan())
    notes = (*v.panel.notes, f"{count(len(v.counts), 'document')}, {repeats} repeats, seed {seed}")
    if not known.height:
        raise Undefined(f"every document with {min_labels} labels was called {panel.said(levels[-1])} by everybody")
    level = max(known["level"].to_list())
    of = known.filter(pl.col("level") == level).sort("others")
    first, last = of.row(0, named=True), of.row(-1, named=True)
    finding = (
        f"p({panel.said(levels[-1])}|{panel.said(level)}) is {first['mean']:.3f} (sd {first['sd']:.3f}) from "
        f"{count(first['others'], 'other label')} and {last['mean']:.3f} (sd {last['sd']:.3f}) from {last['others']}."
    )
    words = [f"said {panel.said(grade)}" for grade in table["level"].to_list()]
    band = table.with_columns(
        said=pl.Series(words, dtype=pl.String),
        low=(pl.col("mean") - pl.col("sd")).clip(lower_bound=0.0),
        high=(pl.col("mean") + pl.col("sd")).clip(upper_bound=1.0),
    ).sort(-pl.col("level"), "others")
    y_title = f"p({panel.said(levels[-1])} | said)"
    documents = count(len(v.counts), "document")
    how = f"Mean and one standard deviation of {repeats} repeats, {documents} (Demeester et al. 2014, Fig. 1)"
    drawing = Lines(band, "others", "mean", "said", "other labels of a document", y_title, whole=True, how=how)
    return Result(table, finding, notes, scale=panel.scale, drawing=drawing)
