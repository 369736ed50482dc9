"""Judges are a sample, as queries are: how far figures move when a query, a judge, or both are left out.

The variance of a figure is that over queries, plus that over judges, less what is counted in both: what judges would
differ by if each query had another judge. Reference: Cameron, Gelbach and Miller, Robust Inference With Multiway
Clustering (Journal of Business and Economic Statistics 2011), here with the jackknife.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.judges.agreement_sums import EVERYBODY, By, Labels, Sums, all_sums, figures_of
from karat.labels import GOLD, Panel
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints, distinct, summed, totals, variance_components
from karat.stats.cluster_robust import Variance, combined


@dataclass(frozen=True, eq=False)
class Others:
    """For each label: how many labels other judges gave to the item, how they spread, and what they mean.

    >>> others = Others.of(Panel.of([{"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...                              {"query": "q", "doc": "d", "label": 0, "judge": "bob"},
    ...                              {"query": "q", "doc": "d", "label": 2, "judge": "eve"}]))
    >>> others.mean.tolist(), others.agree.tolist()
    ([1.0, 2.0, 1.0], [0.5, 0.0, 0.5])
    """

    n: Floats
    #: The mean grade of the others' labels, NaN without any.
    mean: Floats
    #: Whether the label is the others' most frequent one; shared out where several are, NaN without others.
    agree: Floats

    @classmethod
    def of(cls, panel: Panel) -> Others:
        """All labels of the item but the judge's own, the repeated ones too."""
        key = panel.judge * panel.items.height + panel.item
        _, first, pair = np.unique(key, return_index=True, return_inverse=True)
        own = label_counts(pair, panel.grade, len(first), panel.levels)
        votes = panel.counts()[panel.item[first]] - own
        n = votes.sum(axis=1)
        somebody = n > 0
        mean = np.divide(votes @ panel.grades, n, out=np.full(len(n), np.nan), where=somebody)
        most = votes == votes.max(axis=1, keepdims=True)
        credit = np.where(somebody[:, None], most / most.sum(axis=1, keepdims=True), np.nan)
        return cls(n[pair], mean[pair], credit[pair, panel.grade])


def reliability(panel: Panel) -> float:
    """How much of the spread of labels is between documents, not between judges of one: the intraclass correlation.

    0 when labels have nothing to do with the documents, 1 when all judges agree; NaN when nothing can be compared.
    """
    if not 1 < len(np.unique(panel.item)) < len(panel.item):
        return float("nan")
    within, between = variance_components(panel.item, panel.value)
    return between / (between + within) if between + within > 0 else float("nan")


#: Judges are a sample of judges like them, or the only ones that matter.
Judges = Literal["sample", "fixed"]
#: So few judges cannot tell how much others like them would differ.
FEWEST_JUDGES = 5
THESE = "intervals are for these judges, not for others like them"


def check_judges(judges: str) -> None:
    """Refuse what is no way to take judges."""
    if judges not in get_args(Judges):
        raise BadInput.at("judges", expected=" or ".join(get_args(Judges)), found=str(judges))


def sampled_groups(panel: Panel, judges: Judges = "sample") -> tuple[frozenset[str], list[str]]:
    """The groups whose judges stand for others like them, and notes that say whom figures are about.

    >>> rows = [{"query": "q", "doc": f"d{n}", "label": 1, "judge": f"w{n}", "group": "crowd"} for n in range(6)]
    >>> sampled_groups(Panel.of(rows))[0], sampled_groups(Panel.of(rows[:4]))[1]
    (frozenset({'crowd'}), ['crowd has 4 judges: intervals are for these judges, not for others like them'])

    Judges who have names and are five or more are a sample, unless `fixed` is asked for. Gold is nobody's habit.
    """
    check_judges(judges)
    people = panel.judges[np.unique(panel.judge)].filter(pl.col("group") != GOLD)
    groups = people.group_by("group").agg(n=pl.len(), nameless=pl.col("judge").null_count()).sort("group")
    if judges == "fixed":
        return frozenset(), [THESE] if groups.height else []
    sampled, notes = set[str](), list[str]()
    for name, number, nameless in groups.iter_rows():
        who = name if panel.has_groups else "the study"
        if nameless and number > 1:
            notes.append(f"{who} has judges without names: {THESE}")
        elif not nameless and number < FEWEST_JUDGES:
            notes.append(f"{who} has {count(number, 'judge')}: {THESE}")
        elif not nameless:
            sampled.add(name)
    if sampled:
        whose = f" ({', '.join(sorted(sampled))})" if len(sampled) < groups.height else ""
        notes.insert(0, f"intervals are for judges like these{whose}: errors are clustered by query and judge")
    return frozenset(sampled), notes


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
    #: Which column of the values is the cluster's: many clusters are alike, as where a judge has one label of a query.
    at: Ints
    values: Floats
    #: The key of a judge's labels of a query is the judge's number times this, and the query's number.
    width: int

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        """Several tables one below the other."""
        starts = np.cumsum([0, *(part.whole.shape[1] for part in parts[:-1])])
        rows = [part.row + start for part, start in zip(parts, starts, strict=True)]
        columns = np.cumsum([0, *(part.values.shape[1] for part in parts[:-1])])
        at = [part.at + start for part, start in zip(parts, columns, strict=True)]
        whole, kind, key, stratum, values = (
            np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("whole", "kind", "key", "stratum", "values")
        )
        return cls(whole, kind, np.concatenate(rows), key, stratum, np.concatenate(at), values, parts[0].width)

    def sampled(self, row: int) -> bool:
        """Whether the judges of this row are taken for a sample."""
        return len(self._places(JUDGE, row)) > 0

    def error(self, *rows: int) -> tuple[Floats, Floats]:
        """The standard error of the figures of a row, or of the difference of two, and its degrees of freedom.

        Judges of a group are a draw from it; of two groups, their degrees of freedom are what Welch's test has.
        """
        _, _, moved = self._moved(QUERY, rows)
        by_query = Variance(_jackknife(moved), np.full(len(moved), moved.shape[1] - 1.0))
        judge, stratum, moved = self._moved(JUDGE, rows)
        if not len(judge):
            return _root(by_query.variance), by_query.df
        pair, _, cells = self._moved(BOTH, rows)
        whose, query = np.divmod(pair, self.width)
        parts, both, number = [], np.zeros(len(moved)), []
        for group in np.unique(stratum):
            mine = stratum == group
            theirs = np.isin(whose, judge[mine])
            parts.append(_jackknife(moved[:, mine]))
            number.append(mine.sum())
            moves = cells if theirs.all() else cells[:, theirs]
            both += parts[-1] * _by_chance(moves, whose[theirs], query[theirs], number[-1])
        by_judge = np.sum(parts, axis=0)
        each = np.array(number)[:, None] - 1.0
        welch = by_judge**2 / np.maximum((np.square(parts) / each).sum(axis=0), 1e-300)
        df = np.maximum(welch, each.min())
        # The same judges on both sides: their habits cancel, and queries tell what little is left.
        if len(rows) > 1 and all(np.isin(judge, self.key[self._places(JUDGE, row)]).all() for row in rows):
            by_judge, both = np.maximum(by_judge - both, 0.0), np.zeros_like(both)
        found = combined(by_query, Variance(by_judge, df), both)
        return _root(found.variance), found.df

    def _places(self, kind: int, row: int) -> Ints:
        order, starts = self._by_row
        place = kind * self.whole.shape[1] + row
        return order[starts[place] : starts[place + 1]]

    @cached_property
    def _by_row(self) -> tuple[Ints, Ints]:
        """The clusters in the order of what was left out of which row, and where each kind and row begins."""
        place = self.kind * self.whole.shape[1] + self.row
        number = np.bincount(place, minlength=3 * self.whole.shape[1])
        return np.argsort(place, kind="stable"), np.append(0, np.cumsum(number))

    def _moved(self, kind: int, rows: Sequence[int]) -> tuple[Ints, Ints, Floats]:
        """The clusters, their strata, and how leaving them out moves the first row's figures, less the second's."""
        places = [self._places(kind, row) for row in rows]
        change = [
            sign * (self.values[:, self.at[place]] - self.whole[:, [row]])
            for sign, place, row in zip((1, -1), places, rows, strict=False)
        ]
        if len(rows) == 1:
            return self.key[places[0]], self.stratum[places[0]], change[0]
        at = np.concatenate(places)
        keys, first, where = np.unique(self.key[at], return_index=True, return_inverse=True)
        return keys, self.stratum[at][first], summed(where, np.concatenate(change, axis=1).T, len(keys)).T


def all_left_out(panel: Panel, by: str | None, at: float, judges: Judges) -> tuple[list[Sums], LeftOut]:
    """The parts of a table of agreement, and the figures of all their rows."""
    parts, found = all_sums(panel, by, By.of_panel(panel, by)), []
    for place, sums in enumerate(parts):
        found.append(left_out(panel, sums, at, judges))
        parts[place] = replace(sums, given=None)
    return parts, LeftOut.joined(found)


def left_out(panel: Panel, sums: Sums, at: float, judges: Judges) -> LeftOut:
    """The figures of each row with each of its queries left out, and, where judges are a sample, each of its judges."""
    from scipy.sparse import csr_array

    tables, grades = sums.of_rows(sums.tables), panel.grades
    given = sums.given
    assert given is not None
    wide_enough = (sums.rows["n_queries"].to_numpy() >= FEWEST)[given.row]
    used = np.flatnonzero(wide_enough & _drawn(panel, given)) if judges == "sample" else np.zeros(0, np.int64)
    order = used[np.lexsort((given.query[used], given.judge[used], given.row[used]))]
    row, judge, query, stratum = (values[order] for values in (given.row, given.judge, given.query, given.stratum))
    new = np.append(True, (np.diff(row) != 0) | (np.diff(judge) != 0))[: len(order)]
    of_judge = np.flatnonzero(new)
    cells = np.flatnonzero(new | np.append(True, np.diff(query) != 0)[: len(order)])
    ends = np.append(cells, len(order))
    first, alike = _alike_cells(row[cells], given.alike[order], cells)
    # How many cells of each kind each judge has.
    times = csr_array(
        (np.ones(len(cells)), (np.searchsorted(of_judge, cells, "right") - 1, alike)), shape=(len(of_judge), len(first))
    ).tocsc()
    without = np.zeros((len(of_judge), *tables.shape[1:]))
    parts = []
    # So many cells at a time that the tables of their labels fit.
    width = max(1, AT_ONCE // int(np.prod(tables.shape[1:])))
    size = np.diff(ends)[first]
    reach, start = np.append(0, np.cumsum(size)), 0
    while start < len(first):
        stop = max(start + 1, int(np.searchsorted(reach, reach[start] + width, "right")) - 1)
        begins = reach[start:stop] - reach[start]
        mine = np.repeat(ends[first[start:stop]] - begins, size[start:stop]) + np.arange(reach[stop] - reach[start])
        shrunk = np.add.reduceat(given.less(order[mine]), begins, axis=0)
        without += (times[:, start:stop] @ shrunk.reshape(len(shrunk), -1)).reshape(without.shape)
        parts.append(figures_of(tables[row[cells[first[start:stop]]]] - shrunk, grades, at))
        start = stop
    queries, judged = len(sums.row), len(of_judge)
    of_query = panel.n_queries + 1
    return LeftOut(
        figures_of(tables, grades, at),
        np.repeat([QUERY, JUDGE, BOTH], [queries, judged, len(cells)]),
        np.concatenate([sums.row, row[of_judge], row[cells]]),
        np.concatenate([sums.query, judge[of_judge], judge[cells] * of_query + query[cells]]),
        np.concatenate([np.zeros_like(sums.row), stratum[of_judge], stratum[cells]]),
        np.concatenate([np.arange(queries + judged), queries + judged + alike]),
        np.concatenate(
            [
                figures_of(tables[sums.row] - sums.tables, grades, at),
                figures_of(tables[row[of_judge]] - without, grades, at),
                *parts,
            ],
            axis=1,
        ),
        of_query,
    )


def _alike_cells(row: Ints, alike: Ints, cells: Ints) -> tuple[Ints, Ints]:
    """Cells that shrink the tables of their row alike: the first of each kind, and which kind each cell is.

    A cell is known by the sum of numbers drawn for its labels: that two different ones have the same happens once in
    10^19 / cells^2.
    """
    if not len(cells):
        return cells, cells
    kinds, rows = int(alike.max()) + 1, int(row.max()) + 1
    drawn = np.random.default_rng(0).integers(0, 2**64, kinds + rows, dtype=np.uint64)
    sums = np.add.reduceat(drawn[alike], cells) + drawn[kinds + row]
    first, kind = np.unique(sums, return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)  # in the order in which they come, whatever was drawn
    return first[order], np.argsort(order)[kind]


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


def _by_chance(cells: Floats, judge: Ints, query: Ints, judges: int) -> Floats:
    """The share of judges' spread that there would be if a judge's queries had nothing in common.

    `cells` (figures x cells) tell how figures move without a judge's labels of a query. Judges of one document move
    them against each other, or together: so the spread is around the mean of judges, query by query as over all.
    """

    def squares(key: Ints) -> Floats:
        different, place, _ = distinct(key)
        return np.array([np.square(totals(place, figure, len(different))).sum() for figure in cells])

    # Without a copy of the cells, which are many.
    single = np.einsum("fc,fc->f", cells, cells) - squares(query) / judges
    together = squares(judge) - np.square(cells.sum(axis=1)) / judges
    share: Floats = np.divide(single, together, out=np.ones_like(single), where=together > 1e-18)
    return share


def _jackknife(moved: Floats) -> Floats:
    """The variance of each figure from how it moves when one of its clusters is left out."""
    number = moved.shape[1]
    if not number:
        return np.zeros(len(moved))
    variance: Floats = (number - 1) * moved.var(axis=1)
    return variance
