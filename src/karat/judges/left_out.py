"""Judges are a sample, as queries are: how far figures move when a query, a judge, or both are left out.

The variance of a figure is that over queries, plus that over judges, less what is counted in both: that of the labels
of one judge for one query. Reference: Cameron, Gelbach and Miller, Robust Inference With Multiway Clustering (Journal
of Business and Economic Statistics 2011), here with the jackknife for each of the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.judges.agreement_figures import figures_of
from karat.judges.population import FEWEST_JUDGES, Judges
from karat.judges.sums import EVERYBODY, Labels, Sums
from karat.labels import GOLD, Panel
from karat.stats import FEWEST
from karat.stats.arrays import Bools, Floats, Ints

#: How many numbers of tables to hold at once.
AT_ONCE = 4_000_000
#: What is left out: a query, a judge, or a judge's labels of a query.
QUERY, JUDGE, BOTH = range(3)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Figures (figures x rows of a table), and the same with one cluster of a row's labels left out (x clusters)."""

    whole: Floats
    #: Of each cluster: what was left out of which row, and its number, the same in every row.
    kind: Ints
    row: Ints
    key: Ints
    #: The group from which a judge is a draw.
    stratum: Ints
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        """Several tables one below the other."""
        starts = np.cumsum([0, *(part.whole.shape[1] for part in parts[:-1])])
        rows = [part.row + start for part, start in zip(parts, starts, strict=True)]
        whole, kind, key, stratum, values = (
            np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("whole", "kind", "key", "stratum", "values")
        )
        return cls(whole, kind, np.concatenate(rows), key, stratum, values)

    def sampled(self, row: int) -> bool:
        """Whether the judges of this row are taken for a sample."""
        return bool(((self.kind == JUDGE) & (self.row == row)).any())

    def error(self, *rows: int) -> tuple[Floats, Floats]:
        """The standard error of the figures of a row, or of the difference of two, and its degrees of freedom.

        Those are the smaller number of queries or judges less 1; of judges of two groups, what Welch's test has.
        """
        _, moved = self._moved(QUERY, rows)
        by_query, df = _jackknife(moved), np.full(len(moved), moved.shape[1] - 1.0)
        stratum, moved = self._moved(JUDGE, rows)
        if not len(stratum):
            return _root(by_query), df
        drawn = [stratum == number for number in np.unique(stratum)]
        parts = np.stack([_jackknife(moved[:, mine]) for mine in drawn])
        by_judge, each = parts.sum(axis=0), np.array([[mine.sum() - 1.0] for mine in drawn])
        welch = by_judge**2 / np.maximum((parts**2 / each).sum(axis=0), 1e-300)
        both = _jackknife(self._moved(BOTH, rows)[1])
        # Judges cannot make a figure surer than it is with these judges for good.
        variance = np.maximum(by_query + by_judge - both, by_query)
        return _root(variance), np.clip(welch, each.min(), df)

    def _moved(self, kind: int, rows: Sequence[int]) -> tuple[Ints, Floats]:
        """The strata of clusters, and how leaving them out moves the first row's figures, less the second's."""
        places = [np.flatnonzero((self.kind == kind) & (self.row == row)) for row in rows]
        change = [
            sign * (self.values[:, place] - self.whole[:, [row]])
            for sign, place, row in zip((1, -1), places, rows, strict=False)
        ]
        at = np.concatenate(places)
        keys, first, where = np.unique(self.key[at], return_index=True, return_inverse=True)
        moved = np.zeros((len(keys), len(self.whole)))
        np.add.at(moved, where, np.concatenate(change, axis=1).T)
        return self.stratum[at][first], moved.T


def left_out(panel: Panel, sums: Sums, at: float, judges: Judges) -> LeftOut:
    """The figures of each row with each of its queries left out, and, where judges are a sample, each of its judges."""
    tables, grades = sums.of_rows(sums.tables), panel.grades
    given = sums.given
    wide_enough = (sums.rows["n_queries"].to_numpy() >= FEWEST)[given.row]
    used = np.flatnonzero(wide_enough & _drawn(panel, given)) if judges == "sample" else np.zeros(0, np.int64)
    order = used[np.lexsort((given.query[used], given.judge[used], given.row[used]))]
    row, judge, query, stratum = (values[order] for values in (given.row, given.judge, given.query, given.stratum))
    new = np.append(True, (np.diff(row) != 0) | (np.diff(judge) != 0))[: len(order)]
    of_judge = np.flatnonzero(new)
    cells = np.flatnonzero(new | np.append(True, np.diff(query) != 0)[: len(order)])
    without = np.zeros((len(of_judge), *tables.shape[1:]))
    parts = []
    # Cells of labels, so many at a time that their tables fit.
    width = max(1, AT_ONCE // int(np.prod(tables.shape[1:])))
    ends = np.append(cells, len(order))
    start = 0
    while start < len(cells):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + width, "right")) - 1)
        shrunk = np.add.reduceat(given.less(order[ends[start] : ends[stop]]), ends[start:stop] - ends[start], axis=0)
        np.add.at(without, np.searchsorted(of_judge, cells[start:stop], "right") - 1, shrunk)
        parts.append(figures_of(tables[row[cells[start:stop]]] - shrunk, grades, at))
        start = stop
    return LeftOut(
        figures_of(tables, grades, at),
        np.repeat([QUERY, JUDGE, BOTH], [len(sums.row), len(of_judge), len(cells)]),
        np.concatenate([sums.row, row[of_judge], row[cells]]),
        np.concatenate([sums.query, judge[of_judge], judge[cells] * (panel.n_queries + 1) + query[cells]]),
        np.concatenate([np.zeros_like(sums.row), stratum[of_judge], stratum[cells]]),
        np.concatenate(
            [
                figures_of(tables[sums.row] - sums.tables, grades, at),
                figures_of(tables[row[of_judge]] - without, grades, at),
                *parts,
            ],
            axis=1,
        ),
    )


def _drawn(panel: Panel, given: Labels) -> Bools:
    """Which labels are of judges who are a sample: at least five of a group, all with names, and not gold."""
    width = panel.judges.height
    mine = given.row * (len(panel.groups) + 1) + given.stratum + 1
    people = np.unique(mine * width + given.judge)
    size = np.bincount(people // width, minlength=1)
    nameless = np.bincount(people // width, panel.nameless[people % width], len(size)) > 0
    golden = panel.groups.index(GOLD) if GOLD in panel.groups else EVERYBODY - 1
    drawn: Bools = (size >= FEWEST_JUDGES)[mine] & ~nameless[mine] & (given.stratum != golden)
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
