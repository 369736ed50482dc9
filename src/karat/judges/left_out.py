"""Judges are a sample, as queries are: how far figures move when a query, a judge, or both are left out.

The variance of a figure is that over queries, plus that over judges, less what is counted in both: that of the labels
of one judge for one query. Reference: Cameron, Gelbach and Miller, Robust Inference With Multiway Clustering (Journal
of Business and Economic Statistics 2011), here with the jackknife for each of the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from karat.judges.agreement_figures import figures_of
from karat.judges.sums import EVERYBODY, Labels, Sums
from karat.labels import GOLD, Panel
from karat.labels.panel import Flags, Floats, Ints
from karat.stats import FEWEST

#: Whether figures are about judges like these, of whom these are a sample, or about these judges only.
Judges = Literal["sample", "fixed"]
#: How many numbers of tables to hold at once.
AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Clusters:
    """The figures (figures x clusters) of rows of a table, each with one cluster of labels left out."""

    row: Ints
    #: Which cluster: the same number in another row is the same cluster.
    key: Ints
    stratum: Ints
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence[Clusters], starts: Sequence[int]) -> Clusters:
        """Several tables one below the other, each from the row where it starts."""
        return cls(
            np.concatenate([part.row + start for part, start in zip(parts, starts, strict=True)]),
            np.concatenate([part.key for part in parts]),
            np.concatenate([part.stratum for part in parts]),
            np.concatenate([part.values for part in parts], axis=1),
        )

    def moved(self, rows: Sequence[int], whole: Floats) -> tuple[Ints, Ints, Floats]:
        """Clusters, their strata, and how leaving them out moves the first row's figures, less the second's."""
        parts = [(sign, np.flatnonzero(self.row == row), row) for sign, row in zip((1, -1), rows, strict=False)]
        at = np.concatenate([place for _, place, _ in parts])
        change = [sign * (self.values[:, place] - whole[:, [row]]) for sign, place, row in parts]
        keys, first, where = np.unique(self.key[at], return_index=True, return_inverse=True)
        moved = np.zeros((len(keys), len(whole)))
        np.add.at(moved, where, np.concatenate(change, axis=1).T)
        return keys, self.stratum[at][first], moved.T


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Figures (figures x rows), and the same with a query, a judge, or a judge's labels of a query left out."""

    whole: Floats
    queries: Clusters
    judges: Clusters
    both: Clusters

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        """Several tables one below the other."""
        starts = np.cumsum([0, *(part.whole.shape[1] for part in parts[:-1])]).tolist()
        return cls(
            np.concatenate([part.whole for part in parts], axis=1),
            Clusters.joined([part.queries for part in parts], starts),
            Clusters.joined([part.judges for part in parts], starts),
            Clusters.joined([part.both for part in parts], starts),
        )

    def sampled(self, row: int) -> bool:
        """Whether the judges of this row are taken for a sample."""
        return bool((self.judges.row == row).any())

    def error(self, *rows: int) -> tuple[Floats, Floats]:
        """The standard error of the figures of a row, or of the difference of two, and its degrees of freedom.

        Those are the smaller number of queries or judges less 1; of judges of two groups, what Welch's test has.
        """
        keys, _, moved = self.queries.moved(rows, self.whole)
        by_query, df = _jackknife(moved), np.full(len(moved), len(keys) - 1.0)
        keys, stratum, moved = self.judges.moved(rows, self.whole)
        if not len(keys):
            return _root(by_query), df
        drawn = [stratum == number for number in np.unique(stratum)]
        parts = np.stack([_jackknife(moved[:, mine]) for mine in drawn])
        by_judge, each = parts.sum(axis=0), np.array([[mine.sum() - 1.0] for mine in drawn])
        welch = by_judge**2 / np.maximum((parts**2 / each).sum(axis=0), 1e-300)
        both = _jackknife(self.both.moved(rows, self.whole)[2])
        # Judges cannot make a figure surer than it is with these judges for good.
        variance = np.maximum(by_query + by_judge - both, by_query)
        return _root(variance), np.clip(welch, each.min(), df)


def left_out(panel: Panel, sums: Sums, at: float, judges: Judges) -> LeftOut:
    """The figures of each row with each of its queries left out, and, where judges are a sample, each of its judges."""
    tables, grades = sums.of_rows(sums.tables), panel.grades
    whole = _figures(tables, grades, at)
    queries = Clusters(
        sums.row,
        sums.query,
        np.zeros(len(sums.row), np.int64),
        _figures(tables[sums.row] - sums.tables, grades, at),
    )
    given = sums.given
    wide_enough = (sums.rows["n_queries"].to_numpy() >= FEWEST)[given.row]
    used = np.flatnonzero(wide_enough & _drawn(panel, given)) if judges == "sample" else np.zeros(0, np.int64)
    order = used[np.lexsort((given.query[used], given.judge[used], given.row[used]))]
    row, judge, query = given.row[order], given.judge[order], given.query[order]
    new = np.append(True, (np.diff(row) != 0) | (np.diff(judge) != 0))[: len(order)]
    of_judge = np.flatnonzero(new)
    cells = np.flatnonzero(new | np.append(True, np.diff(query) != 0)[: len(order)])
    without = np.zeros((len(of_judge), *tables.shape[1:]))
    values = np.zeros((len(whole), len(cells)))
    # Cells of labels, so many at a time that their tables fit.
    width = max(1, AT_ONCE // int(np.prod(tables.shape[1:])))
    ends = np.append(cells, len(order))
    start = 0
    while start < len(cells):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + width, "right")) - 1)
        shrunk = np.add.reduceat(given.less(order[ends[start] : ends[stop]]), ends[start:stop] - ends[start], axis=0)
        owner = np.searchsorted(of_judge, cells[start:stop], "right") - 1
        np.add.at(without, owner, shrunk)
        values[:, start:stop] = _figures(tables[row[cells[start:stop]]] - shrunk, grades, at)
        start = stop
    stratum = given.stratum[order]
    return LeftOut(
        whole,
        queries,
        Clusters(
            row[of_judge], judge[of_judge], stratum[of_judge], _figures(tables[row[of_judge]] - without, grades, at)
        ),
        Clusters(row[cells], judge[cells] * (panel.n_queries + 1) + query[cells], stratum[cells], values),
    )


def _figures(tables: Floats, grades: Floats, at: float) -> Floats:
    return figures_of(tables[:, 0], tables[:, 1], tables[:, 2], grades, at)


def _drawn(panel: Panel, given: Labels) -> Flags:
    """Which labels are of judges who are a sample: at least five of a group, all with names, and not gold."""
    width = panel.judges.height
    people = np.unique((given.row * (len(panel.groups) + 1) + given.stratum + 1) * width + given.judge)
    part, judge = people // width, people % width
    size = np.bincount(part, minlength=1)
    nameless = np.bincount(part, panel.nameless[judge], len(size)) > 0
    golden = panel.groups.index(GOLD) if GOLD in panel.groups else EVERYBODY - 1
    mine = given.row * (len(panel.groups) + 1) + given.stratum + 1
    drawn: Flags = (size >= FEWEST)[mine] & ~nameless[mine] & (given.stratum != golden)
    return drawn


def _root(variance: Floats) -> Floats:
    """The standard error, NaN where nothing moved."""
    error: Floats = np.sqrt(np.where(variance > 1e-18, variance, np.nan))
    return error


def _jackknife(moved: Floats) -> Floats:
    """The variance of each figure from how it moves when one of its clusters is left out."""
    number = moved.shape[1]
    if not number:
        return np.zeros(len(moved))
    variance: Floats = (number - 1) * moved.var(axis=1)
    return variance
