"""Labels laid out by number for fitting: what an error model needs of them, here or on a worker of a cluster."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.stats import totals
from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Layout:
    """Labels that stand item by item, most labelled items first: `judge` gave `grade` to `item`, all by number."""

    item: Ints
    judge: Ints
    grade: Ints
    #: The number of each item's true grade, -1 where it is not known.
    known: Ints

    @property
    def levels(self) -> int:
        """How many grades there are."""
        raise NotImplementedError

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.known)

    @property
    def n_judges(self) -> int:
        """How many judges there are."""
        raise NotImplementedError

    @cached_property
    def per_item(self) -> Floats:
        """How many labels of each grade each item has: grades x items."""
        cells = self.grade * self.n_items + self.item
        return totals(cells, np.ones(len(cells)), self.levels * self.n_items).reshape(self.levels, -1)

    @cached_property
    def cell(self) -> Ints:
        """The number of each label's grade and judge together."""
        return self.grade * self.n_judges + self.judge

    @cached_property
    def table(self) -> csr_matrix[Any]:
        """Items x cells as a sparse matrix of ones."""
        from scipy.sparse import csr_matrix

        ends = np.append(0, np.cumsum(self.sizes)).astype(np.int32)
        shape = (self.n_items, self.levels * self.n_judges)
        return csr_matrix((np.ones(len(self.cell)), self.cell.astype(np.int32), ends), shape=shape)

    @cached_property
    def turned(self) -> csr_matrix[Any]:
        """Cells x items."""
        return self.table.T.tocsr()

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each item has; the most first."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def rounds(self) -> list[Ints]:
        """The cells of the first label of each item, then of the second of those that have two, and so on."""
        starts = np.cumsum(self.sizes) - self.sizes
        more = [np.count_nonzero(self.sizes > done) for done in range(int(self.sizes[0]))]
        return [self.cell[starts[:items] + done] for done, items in enumerate(more)]

    def shares(self) -> Floats:
        """How the labels of each item are spread, grades x items; all on the true grade where it is known."""
        return self.clamped(self.per_item / self.per_item.sum(axis=0))

    def clamped(self, posterior: Floats) -> Floats:
        """The same probabilities, certain where the grade is known; changes them in place."""
        known = np.flatnonzero(self.known >= 0)
        posterior[:, known] = 0.0
        posterior[self.known[known], known] = 1.0
        return posterior
