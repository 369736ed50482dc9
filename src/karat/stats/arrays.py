"""Names for the arrays that figures are worked out in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, sparray


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


#: Numbers are counted out where the largest is no more than so many times as large as there are numbers: further ones
#: are sooner sorted than counted.
DENSE = 1


def distinct(keys: npt.NDArray[np.integer]) -> tuple[Ints, Ints, Ints]:
    """The different keys, sorted; which of them each key is; and how often each comes.

    >>> [part.tolist() for part in distinct(np.array([5, 3, 5, 9]))]
    [[3, 5, 9], [1, 0, 1, 2], [1, 2, 1]]

    The answer is `np.unique`'s. Ids and their pairs are small numbers from 0, so that most can be counted in one go,
    where sorting a million takes ten times as long.
    """
    if not len(keys) or keys.min() < 0 or keys.max() > DENSE * len(keys):
        found, place, size = np.unique(keys, return_inverse=True, return_counts=True)
        return found.astype(np.int64), place, size
    size = np.bincount(keys)
    found = np.flatnonzero(size)
    number = np.zeros(len(size), np.int64)
    number[found] = np.arange(len(found))
    return found, number[keys], size[found]


def totals(group: npt.NDArray[np.integer], values: npt.NDArray[np.floating | np.bool_], groups: int) -> Floats:
    """The sum of the values of each group, 0 for a group without any.

    >>> totals(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    summed: Floats = np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)
    return summed


def centred(group: Ints, values: Floats) -> Floats:
    """Each value less the mean of its group.

    >>> centred(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0])).tolist()
    [0.0, -0.5, 0.5]
    """
    size = np.maximum(np.bincount(group), 1)
    rest: Floats = values - (totals(group, values, len(size)) / size)[group]
    return rest


def place_within(group: Ints) -> Ints:
    """The place of each row among those of its group, from 0, in the order of the rows.

    >>> place_within(np.array([0, 1, 0, 0])).tolist()
    [0, 0, 1, 2]
    """
    order, size = np.argsort(group, kind="stable"), np.bincount(group)
    place = np.empty(len(group), np.int64)
    place[order] = np.arange(len(group)) - (np.cumsum(size) - size)[group[order]]
    return place


def variance_components(group: Ints, values: Floats) -> tuple[float, float]:
    """The variance of values within groups, and that of the groups, by the analysis of variance.

    >>> variance_components(np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 4.0, 6.0]))
    (2.0, 7.0)
    """
    size = np.bincount(np.unique(group, return_inverse=True)[1])
    rows, within = len(values), float(np.square(centred(group, values)).sum())
    between = float(np.square(values - values.mean()).sum()) - within
    within /= rows - len(size)
    beyond = (between - (len(size) - 1) * within) / (rows - float((size**2).sum()) / rows)
    return within, max(beyond, 0.0)


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts by cell of which most are 0, as of levels that met: what `compared` takes in place of a large array."""

    #: Cells x whatever a cell counts.
    matrix: csr_array
    #: How the counts of a cell are laid out: figures x whatever a figure needs.
    shape: tuple[int, ...]

    @classmethod
    def of(cls, cell: Ints, place: Ints, cells: int, shape: tuple[int, ...], weight: float = 1.0) -> Counts:
        """Counts from a row for each thing that is counted: its cell, and its place among the cell's counts.

        >>> Counts.of(np.array([1, 1]), np.array([3, 3]), 2, (2, 2)).whole.tolist()
        [[0.0, 0.0], [0.0, 2.0]]
        """
        from scipy.sparse import csr_array

        given = np.full(len(cell), weight)
        return cls(csr_array((given, (cell, place)), shape=(cells, math.prod(shape))), shape)

    @property
    def whole(self) -> Floats:
        """What all cells add up to."""
        summed: Floats = self.matrix.sum(axis=0).reshape(self.shape)
        return summed

    def rows(self, some: slice) -> Floats:
        """The counts of some cells."""
        counts: Floats = self.matrix[some].toarray()
        return counts

    def added(self, clusters: sparray) -> Floats:
        """The sums of the clusters' cells."""
        sums: Floats = (clusters @ self.matrix).toarray()
        return sums


@dataclass(frozen=True, eq=False)
class Dense:
    """Sums by cell in an array, as `Counts` has them."""

    sums: Floats

    @property
    def whole(self) -> Floats:
        """What all cells add up to."""
        summed: Floats = self.sums.sum(axis=0)
        return summed

    @property
    def _flat(self) -> Floats:
        return self.sums.reshape(len(self.sums), -1)

    def rows(self, some: slice) -> Floats:
        """The sums of some cells."""
        return self._flat[some]

    def added(self, clusters: sparray) -> Floats:
        """The sums of the clusters' cells."""
        sums: Floats = clusters @ self._flat
        return sums


#: What `karat.stats.paired_statistics` makes figures of.
Sums: TypeAlias = Counts | Dense


def membership(cluster: Ints, clusters: int) -> csc_array:
    """Which cell belongs to which cluster: clusters x cells, so that products with it are sums."""
    from scipy.sparse import csc_array

    ones, ends = np.ones(len(cluster)), np.arange(len(cluster) + 1)
    return csc_array((ones, cluster, ends), shape=(clusters, len(cluster)))


def summed(cell: Ints, values: Floats, cells: int) -> Floats:
    """The sums of each cell: cells x columns.

    >>> summed(np.array([1, 1]), np.array([[1.0, 0.0], [2.0, 5.0]]), 2).tolist()
    [[0.0, 0.0], [3.0, 5.0]]
    """
    columns = values.shape[1:]
    sums: Floats = membership(cell, cells) @ values.reshape(len(cell), math.prod(columns))
    return sums.reshape(cells, *columns)
