"""Pairs of labels added up by query: all that figures of agreement need, and what each label adds to it.

A figure with a query, or a judge, left out comes from the same tables less what goes with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import ALL, GOLD, Panel
from karat.labels.consensus import reduced
from karat.labels.panel import ALL_LABELS
from karat.stats.agreement_coefficients import (
    cohen_kappa,
    cross_table,
    fleiss_kappa,
    jaccard,
    krippendorff_alpha,
    label_counts,
    pair_sums,
    raw_agreement,
    within_agreement,
)
from karat.stats.arrays import Floats, Ints, distinct

#: The stratum of a judge who is drawn from all groups together.
EVERYBODY = -1


@dataclass(frozen=True, eq=False)
class By:
    """A column by whose values agreement is told: the different ones, and which each label has (-1: none)."""

    values: pl.Series
    of: Ints

    @classmethod
    def of_panel(cls, panel: Panel, name: str | None, values: pl.Series | None = None) -> By:
        """The values of this column (or these ones), or no values."""
        if name is None:
            return cls(pl.Series("value", [], pl.Null), np.full(len(panel.item), -1))
        column = panel.feature(name)
        values = column.drop_nulls().unique().sort() if values is None else values
        of = column.replace_strict(values, range(len(values)), default=-1, return_dtype=pl.Int64)
        return cls(values, of.fill_null(-1).to_numpy())


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels behind the sums, a row for each row of the table in which a label counts."""

    row: Ints
    query: Ints
    judge: Ints
    #: The group from which the judge is a draw.
    stratum: Ints
    #: By how much the tables (by item, by label, two sides) shrink without these labels, one by one.
    less: Callable[[Ints], Floats]
    #: Labels with the same number here shrink the tables alike.
    alike: Ints


@dataclass(frozen=True, eq=False)
class Sums:
    """Rows of a table of agreement, and for each row and query what its pairs of labels add up to."""

    #: group, against, value (by number, -1 for all), labels, n_queries, n_pairs, n_labels, n_judges, n_single.
    rows: pl.DataFrame
    #: The row and the query of each cell; cells are in the order of rows, then queries.
    row: Ints
    query: Ints
    #: Cells x 3 x grades x grades: pairs by item, pairs by label, and two sides (zeros where there are not two).
    tables: Floats
    spread: Floats
    #: None once it is known how figures move without them: they are many.
    given: Labels | None

    def of_rows(self, cells: Floats) -> Floats:
        """What the cells of each row add up to."""
        whole = np.zeros((self.rows.height, *cells.shape[1:]))
        np.add.at(whole, self.row, cells)
        return whole


def all_sums(panel: Panel, name: str | None, by: By) -> list[Sums]:
    """The rows of a table of agreement: within groups on all labels, on those asked of all alike, and between them."""
    if panel.repeated:
        raise BadInput('agreement is between judges: make the panel with repeats="first", not "all"')
    parts = [within_groups(panel, by, panel.groups)]
    if panel.third_rules:
        first = panel.asked_of_all()
        ruled = [rule.group for rule in panel.third_rules]
        parts.append(within_groups(first, By.of_panel(first, name, by.values), ruled))
    return [*parts, *between_groups(panel, by)]


def within_groups(panel: Panel, by: By, groups: Sequence[str]) -> Sums:
    """The labels of each of these groups among themselves, and of all groups but gold where there are several.

    A row for each group, and for each value of `by` in it. Two judges are two sides as well.
    """
    names = [*panel.groups, overall_name(panel)]
    own = np.isin(panel.group, [panel.groups.index(name) for name in groups])
    ungilded = [number for number, name in enumerate(panel.groups) if name != GOLD]
    pooled = np.isin(panel.group, ungilded) & (len(ungilded) > 1)
    whole, valued = np.ones(len(own), bool), by.of >= 0
    # A label stands in up to four rows: of its group and of all groups, for its value of `by` and for all values.
    spots = [np.flatnonzero(who & what) for who in (own, pooled) for what in (whole, valued)]
    spot = np.concatenate(spots)
    kind = np.repeat(np.arange(4), [len(some) for some in spots])
    group = np.where(kind < 2, panel.group[spot], len(panel.groups))
    value = np.where(kind % 2 == 0, -1, by.of[spot])
    rows, row, _ = distinct(group * (len(by.values) + 1) + value + 1)
    items, place, size = _different(row, panel.item[spot])
    single = np.bincount(items[size < 2, 0], minlength=len(rows))
    paired = size[place] >= 2
    spot, row, group = spot[paired], row[paired], group[paired]
    grade, judge = panel.grade[spot], panel.judge[spot]
    items, place, _ = _different(row, panel.item[spot])
    cells, query, _ = _different(row, panel.query[spot])
    cell = np.zeros(len(items), np.int64)
    cell[place] = query
    counts = label_counts(place, grade, len(items), panel.levels)
    sums = pair_sums(counts, cell, len(cells))
    frame = pl.DataFrame(
        {
            "group": [names[number] for number in rows // (len(by.values) + 1)],
            "against": pl.Series([None] * len(rows), dtype=pl.String),
            "value": rows % (len(by.values) + 1) - 1,
            "labels": [panel.labels] * len(rows),
            **_counted(panel, len(rows), cells[:, 0], items[:, 0], row, judge),
            "n_single": single,
        },
    )
    # Of two judges, each has one label on every pair: sorted by judge, they come in turns.
    duo = np.flatnonzero((frame["n_judges"] == 2).fill_null(False).to_numpy()[row])
    duo = duo[np.lexsort((judge[duo], place[duo]))]
    table = cross_table(query[duo[::2]], grade[duo[::2]], grade[duo[1::2]], len(cells), panel.levels)

    def less(some: Ints) -> Floats:
        return _without_one(counts[place[some]], grade[some])

    stratum = np.where(group == len(panel.groups), EVERYBODY, group)
    like = _alike(counts)[place]
    given = Labels(row, panel.query[spot], judge, stratum, less, like * panel.levels + grade)
    tables = np.stack([sums.by_item, sums.by_label, table], axis=1)
    return Sums(frame, cells[:, 0], cells[:, 1], tables, sums.spread, given)


def _without_one(counts: Floats, grade: Ints) -> Floats:
    """By how much the pairs of an item with these labels shrink without one of this grade."""
    number, levels = counts.sum(axis=1)[:, None, None], counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(levels), np.arange(levels)] -= counts
    one = np.eye(levels)[grade]
    rest = counts - one
    left = pairs - one[:, :, None] * rest[:, None, :] - rest[:, :, None] * one[:, None, :]
    # Of two labels none is left to pair with.
    left /= np.where(number > 2, number - 2, np.inf)
    pairs /= number - 1
    return np.stack([pairs / number - left / (number - 1), pairs - left, np.zeros_like(pairs)], axis=1)


def between_groups(panel: Panel, by: By) -> list[Sums]:
    """Every two groups as two sides, each with one label per pair: its consensus, the median.

    A row for each two groups, gold always as the second, and for each value of `by` on pairs that both have judged.
    """
    if len(panel.groups) < 2:
        return []
    scopes = [np.full(len(panel.item), -1)] + ([by.of] if len(by.values) else [])
    found = []
    for value in scopes:
        sides = [_Side.of(panel, number, value) for number in range(len(panel.groups))]
        found += [_two_sides(panel, a, b) for a, b in combinations(sides, 2)]
    return [sums for sums in found if sums.rows.height]


@dataclass(frozen=True, eq=False)
class _Side:
    """One group's labels by pair (value of `by` and item as one number), and its consensus on each."""

    group: int
    #: Of each label; `without` is the consensus of the other labels, -1 where it is the only one.
    pair: Ints
    judge: Ints
    without: Ints
    pairs: Ints
    grade: Ints
    #: Whether all values of `by` are taken together.
    whole: bool

    @classmethod
    def of(cls, panel: Panel, number: int, value: Ints) -> _Side:
        whole = bool((value < 0).all())
        mine = (panel.group == number) & (whole | (value >= 0))
        pair, grade = (value[mine] + 1) * panel.items.height + panel.item[mine], panel.grade[mine]
        order = np.lexsort((grade, pair))
        pair, grade = pair[order], grade[order]
        made = reduced(pl.DataFrame({"pair": pair, "label": grade}), ["pair"]).frame.sort("pair")
        pairs = made["pair"].to_numpy()
        return cls(
            number,
            pair,
            panel.judge[mine][order],
            _median_without_each(np.searchsorted(pairs, pair), grade),
            pairs,
            made["label"].to_numpy().astype(np.int64),
            whole,
        )


def _median_without_each(place: Ints, grade: Ints) -> Ints:
    """The lower median of the other labels of the same place, -1 without any; sorted by place, then grade.

    >>> _median_without_each(np.array([0, 0, 0, 1]), np.array([0, 1, 3, 2])).tolist()
    [1, 0, 0, -1]
    """
    size = np.bincount(place)
    start = (np.cumsum(size) - size)[place]
    middle = (size[place] - 2) // 2
    at = start + middle + (np.arange(len(place)) - start <= middle)
    alone = size[place] == 1
    found: Ints = np.where(alone, -1, grade[np.where(alone, 0, at)])
    return found


def _two_sides(panel: Panel, a: _Side, b: _Side) -> Sums:
    pairs, in_a, in_b = np.intersect1d(a.pairs, b.pairs, assume_unique=True, return_indices=True)
    items, levels = panel.items.height, panel.levels
    rows, row, _ = distinct(pairs // items)
    if a.whole:
        rows = np.zeros(1, np.int64)
    query = panel.query_of_item[pairs % items]
    cells, cell, _ = _different(row, query)
    said = np.stack([a.grade[in_a], b.grade[in_b]])
    table = cross_table(cell, said[0], said[1], len(cells), levels)
    pair, judge, without = (
        np.concatenate([x, y]) for x, y in ((a.pair, b.pair), (a.judge, b.judge), (a.without, b.without))
    )
    side = np.repeat([0, 1], [len(a.pair), len(b.pair)])
    shared = np.isin(pair, pairs)
    place, judge, without, side = np.searchsorted(pairs, pair[shared]), judge[shared], without[shared], side[shared]
    frame = pl.DataFrame(
        {
            "group": [panel.groups[a.group]] * len(rows),
            "against": [panel.groups[b.group]] * len(rows),
            "value": rows - 1,
            "labels": [ALL_LABELS] * len(rows),
            **_counted(panel, len(rows), cells[:, 0], row, row[place], judge),
            "n_single": np.zeros(len(rows), np.int64),
        },
    )

    def less(some: Ints) -> Floats:
        before, at = said[:, place[some]], np.arange(len(some))
        after = np.where(side[some] == np.array([[0], [1]]), without[some], before)
        shrunk = np.zeros((len(some), levels, levels))
        np.add.at(shrunk, (at, *before), 1.0)
        stays = np.flatnonzero(without[some] >= 0)
        np.add.at(shrunk, (stays, *after[:, stays]), -1.0)
        return _of_two(shrunk)

    stratum = np.array([a.group, b.group])[side]
    alike = ((side * levels + said[0, place]) * levels + said[1, place]) * (levels + 1) + without + 1
    given = Labels(row[place], query[place], judge, stratum, less, alike)
    return Sums(frame, cells[:, 0], cells[:, 1], _of_two(table), table.sum(axis=(1, 2)), given)


def _of_two(table: Floats) -> Floats:
    """All tables of two sides. With two labels each, an item's pairs weigh 2/(2(2-1)) = 1."""
    both_ways = table + np.swapaxes(table, 1, 2)
    return np.stack([both_ways / 2, both_ways, table], axis=1)


def _counted(panel: Panel, rows: int, query: Ints, pair: Ints, label: Ints, judge: Ints) -> dict[str, pl.Series]:
    """How many queries, pairs, labels and judges each row has, from the rows of each; null where judges lack names."""
    people = _different(label, judge)[0]
    unknown = np.bincount(people[:, 0], panel.nameless[people[:, 1]], rows) > 0
    of = {"n_queries": query, "n_pairs": pair, "n_labels": label, "n_judges": people[:, 0]}
    counts = {name: pl.Series(np.bincount(row, minlength=rows)) for name, row in of.items()}
    return counts | {"n_judges": counts["n_judges"].set(pl.Series(unknown), None)}


def overall_name(panel: Panel) -> str:
    """What the row of all groups is called: not like one of them."""
    return ALL if ALL not in panel.groups else "all groups"


def _alike(counts: Floats) -> Ints:
    """A number for each row of counts, the same where they are the same (else once in 10^19 / rows^2).

    >>> len(set(_alike(np.array([[1, 0], [0, 2], [1, 0]])).tolist()))
    2
    """
    drawn = np.random.default_rng(0).integers(0, 2**64, counts.shape[1], dtype=np.uint64)
    number: Ints = np.unique(counts.astype(np.uint64) @ drawn, return_inverse=True)[1]
    return number


def _different(row: Ints, thing: Ints) -> tuple[Ints, Ints, Ints]:
    """The different (row, thing), sorted; which of them each entry is; and how often each comes."""
    width = int(thing.max()) + 1 if len(thing) else 1
    keys, place, size = distinct(row * width + thing)
    return np.stack([keys // width, keys % width], axis=1), place, size


#: The figures with intervals, in the order of the columns: of pairs by item, pairs by label, and two sides.
FIGURES: dict[str, Callable[[Floats, Floats, Floats, Floats, float], Floats]] = {
    "raw": lambda items, labels, sides, grades, at: raw_agreement(items),
    "within_one": lambda items, labels, sides, grades, at: within_agreement(items, grades),
    "cohen": lambda items, labels, sides, grades, at: cohen_kappa(sides),
    "cohen_linear": lambda items, labels, sides, grades, at: cohen_kappa(sides, grades, "linear"),
    "cohen_quadratic": lambda items, labels, sides, grades, at: cohen_kappa(sides, grades, "quadratic"),
    "fleiss": lambda items, labels, sides, grades, at: fleiss_kappa(items),
    "alpha_nominal": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "nominal"),
    "alpha_ordinal": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "ordinal"),
    "alpha_interval": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "interval"),
    "jaccard": lambda items, labels, sides, grades, at: jaccard(items, grades, at),
}
#: Those that are shares; the others are agreement beyond chance, which may be below 0.
SHARES = ("raw", "within_one", "jaccard")


def figures_of(tables: Floats, grades: Floats, at: float) -> Floats:
    """All figures (figures x tables) of tables x 3 x grades x grades: by item, by label, two sides."""
    items, labels, sides = np.moveaxis(tables, 1, 0)
    return np.stack([figure(items, labels, sides, grades, at) for figure in FIGURES.values()])
