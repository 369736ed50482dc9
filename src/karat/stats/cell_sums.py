"""What adds up over cells: an array, or counts of which most are 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, sparray


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


#: What `karat.stats.paired_figures` makes figures of.
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
