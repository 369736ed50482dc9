"""Pairs of labels added up by query: all that figures of agreement need, for every row of a table at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.judges.panel import ALL, GOLD, Panel
from karat.stats.agreement import cross_table, label_counts, pair_sums

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sums:
    """Rows of a table of agreement, and for each row and query what its pairs of labels add up to."""

    #: group, against, value (by number, -1 for all), labels, n_queries, n_pairs, n_labels, n_judges, n_single.
    rows: pl.DataFrame
    #: The row of each cell; cells are in the order of rows, then queries.
    row: Ints
    by_item: Floats
    by_label: Floats
    #: Two sides, one in rows and one in columns; zeros where there are not two.
    table: Floats
    spread: Floats

    @classmethod
    def joined(cls, parts: Sequence[Sums]) -> Sums:
        """Several tables one below the other."""
        starts = np.cumsum([0, *(part.rows.height for part in parts)])
        return cls(
            pl.concat([part.rows for part in parts]),
            np.concatenate([part.row + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.by_item for part in parts]),
            np.concatenate([part.by_label for part in parts]),
            np.concatenate([part.table for part in parts]),
            np.concatenate([part.spread for part in parts]),
        )

    def of_rows(self, cells: Floats) -> Floats:
        """What the cells of each row add up to."""
        whole = np.zeros((self.rows.height, *cells.shape[1:]))
        np.add.at(whole, self.row, cells)
        return whole


def within_groups(panel: Panel, groups: Sequence[str], labels: str = "all") -> Sums:
    """The labels of each of these groups among themselves, and of all groups but gold where there are several.

    A row for each group, and for each value of `by` in it. Two judges are two sides as well.
    """
    names = [*panel.groups, overall_name(panel)]
    own = np.isin(panel.group, [panel.groups.index(name) for name in groups])
    ungilded = [number for number, name in enumerate(panel.groups) if name != GOLD]
    pooled = np.isin(panel.group, ungilded) & (len(ungilded) > 1)
    whole, valued = np.ones(len(own), bool), panel.value >= 0
    # A label stands in up to four rows: of its group and of all groups, for its value of `by` and for all values.
    spots = [np.flatnonzero(who & what) for who in (own, pooled) for what in (whole, valued)]
    spot = np.concatenate(spots)
    kind = np.repeat(np.arange(4), [len(some) for some in spots])
    group = np.where(kind < 2, panel.group[spot], len(panel.groups))
    value = np.where(kind % 2 == 0, -1, panel.value[spot])
    rows, row = np.unique(group * (len(panel.values) + 1) + value + 1, return_inverse=True)
    items, place, size = _different(row, panel.item[spot])
    single = np.bincount(items[size < 2, 0], minlength=len(rows))
    paired = size[place] >= 2
    spot, row = spot[paired], row[paired]
    level, judge = panel.level[spot], panel.judge[spot]
    items, place, _ = _different(row, panel.item[spot])
    cells, query, _ = _different(row, panel.query[spot])
    cell = np.zeros(len(items), np.int64)
    cell[place] = query
    sums = pair_sums(label_counts(place, level, len(items), panel.levels), cell, len(cells))
    judges = _different(row, judge)[0]
    n_judges = np.bincount(judges[:, 0], minlength=len(rows))
    unknown = np.bincount(judges[:, 0], panel.nameless[judges[:, 1]], len(rows)) > 0
    # Of two judges, each has one label on every pair: sorted by judge, they come in turns.
    duo = np.flatnonzero((n_judges == 2)[row] & ~unknown[row])
    duo = duo[np.lexsort((judge[duo], place[duo]))]
    table = cross_table(query[duo[::2]], level[duo[::2]], level[duo[1::2]], len(cells), panel.levels)
    frame = pl.DataFrame(
        {
            "group": [names[number] for number in rows // (len(panel.values) + 1)],
            "against": pl.Series([None] * len(rows), dtype=pl.String),
            "value": rows % (len(panel.values) + 1) - 1,
            "labels": [labels] * len(rows),
            "n_queries": np.bincount(cells[:, 0], minlength=len(rows)),
            "n_pairs": np.bincount(items[:, 0], minlength=len(rows)),
            "n_labels": np.bincount(row, minlength=len(rows)),
            "n_judges": pl.Series(n_judges).set(pl.Series(unknown), None),
            "n_single": single,
        },
    )
    return Sums(frame, cells[:, 0], sums.by_item, sums.by_label, table, sums.spread)


def between_groups(panel: Panel) -> list[Sums]:
    """Every two groups as two sides, each with one label per pair: its majority, of grades tied the lower.

    A row for each two groups, gold always as the second, and for each value of `by` on pairs that both have judged.
    """
    if len(panel.groups) < 2:
        return []
    query_of = np.zeros(int(panel.item.max()) + 1, np.int64)
    query_of[panel.item] = panel.query
    scopes = [np.full(len(panel.item), -1)] + ([panel.value] if len(panel.values) else [])
    found = []
    for value in scopes:
        sides = [_Side.of(panel, number, value) for number in range(len(panel.groups))]
        found += [_two_sides(panel, a, b, query_of) for a, b in combinations(sides, 2)]
    return [sums for sums in found if sums.rows.height]


@dataclass(frozen=True, eq=False)
class _Side:
    """One group's labels by pair (value of `by` and item as one number), and its majority on each."""

    group: str
    pair: Ints
    judge: Ints
    pairs: Ints
    level: Ints
    #: Whether all values of `by` are taken together.
    whole: bool

    @classmethod
    def of(cls, panel: Panel, number: int, value: Ints) -> _Side:
        whole = bool((value < 0).all())
        mine = (panel.group == number) & (whole | (value >= 0))
        pair = (value[mine] + 1) * (panel.item.max() + 1) + panel.item[mine]
        pairs, place = np.unique(pair, return_inverse=True)
        counts = label_counts(place, panel.level[mine], len(pairs), panel.levels)
        return cls(panel.groups[number], pair, panel.judge[mine], pairs, counts.argmax(axis=1), whole)


def _two_sides(panel: Panel, a: _Side, b: _Side, query_of: Ints) -> Sums:
    pairs, in_a, in_b = np.intersect1d(a.pairs, b.pairs, assume_unique=True, return_indices=True)
    items = len(query_of)
    rows, row = np.unique(pairs // items, return_inverse=True)
    if a.whole:
        rows = np.zeros(1, np.int64)
    cells, cell, _ = _different(row, query_of[pairs % items])
    table = cross_table(cell, a.level[in_a], b.level[in_b], len(cells), panel.levels)
    both_ways = table + np.swapaxes(table, 1, 2)
    pair, judge = (np.concatenate([x, y]) for x, y in ((a.pair, b.pair), (a.judge, b.judge)))
    shared = np.isin(pair, pairs)
    of_label = np.searchsorted(rows, pair[shared] // items)
    judges = _different(of_label, judge[shared])[0]
    unknown = np.bincount(judges[:, 0], panel.nameless[judges[:, 1]], len(rows)) > 0
    frame = pl.DataFrame(
        {
            "group": [a.group] * len(rows),
            "against": [b.group] * len(rows),
            "value": rows - 1,
            "labels": ["all"] * len(rows),
            "n_queries": np.bincount(cells[:, 0], minlength=len(rows)),
            "n_pairs": np.bincount(row, minlength=len(rows)),
            "n_labels": np.bincount(of_label, minlength=len(rows)),
            "n_judges": pl.Series(np.bincount(judges[:, 0], minlength=len(rows))).set(pl.Series(unknown), None),
            "n_single": np.zeros(len(rows), np.int64),
        },
    )
    # With two labels each, an item's pairs weigh 2/(2(2-1)) = 1.
    return Sums(frame, cells[:, 0], both_ways / 2, both_ways, table, table.sum(axis=(1, 2)))


def overall_name(panel: Panel) -> str:
    """What the row of all groups is called: not like one of them."""
    return ALL if ALL not in panel.groups else "all groups"


def _different(row: Ints, thing: Ints) -> tuple[Ints, Ints, Ints]:
    """The different (row, thing), sorted; which of them each entry is; and how often each comes."""
    width = int(thing.max()) + 1 if len(thing) else 1
    keys, place, size = np.unique(row * width + thing, return_inverse=True, return_counts=True)
    return np.stack([keys // width, keys % width], axis=1), place, size
