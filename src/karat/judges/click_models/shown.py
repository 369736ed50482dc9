"""A click log by number: which result was shown at which rank, how often, and clicked how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import ClickLog
from karat.records.runs import SPREAD
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints

#: Sessions are drawn together in so many groups: more would tell no more about how figures vary.
GROUPS = 200


#: Logs of millions of rows are worked on in parts of this size.
AT_ONCE = 1_000_000

Small = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shown:
    """One row for each result shown, by number: `item` is a document of a query, `rank` the place where it stood."""

    items: pl.DataFrame  # query, doc
    ranks: Ints  # the ranks that there are, in order
    item: Small
    rank: Small
    clicked: Bools
    #: A number for each session, equal for equal sessions; none where rows are all that is known.
    session: npt.NDArray[np.uint64] | None

    @classmethod
    def of(cls, log: ClickLog, satisfied_after: float | None = None) -> Shown:
        """The log by number; a click counts if the user stayed `satisfied_after` seconds, where that is asked."""
        if not len(log):
            raise Undefined("the log has no result shown: nothing can be told from clicks")
        place = log.need("rank", "telling what a rank does to clicks")
        if place.null_count():
            raise BadInput.at("the click log", expected="a rank for every result shown", found="none for some")
        ranks = place.unique().sort().to_numpy()
        items, item = _items(log.frame)
        known = log.has("session") and not log.frame["session"].null_count()
        session = log.frame["session"].hash().to_numpy() if known else None
        rank = np.searchsorted(ranks, place.to_numpy()).astype(np.int32)
        return cls(items, ranks, item, rank, log.counted(satisfied_after).to_numpy(), session)

    def __len__(self) -> int:
        return len(self.item)

    def parts(self) -> Iterator[slice]:
        """The rows, so many at once."""
        return (slice(start, start + AT_ONCE) for start in range(0, len(self), AT_ONCE))

    @cached_property
    def cells(self) -> Cells:
        """How often each item was shown and clicked at each rank."""
        key = self.item.astype(np.int64) * len(self.ranks) + self.rank
        known = pl.Series(key).unique().sort().to_numpy()
        place = np.searchsorted(known, key).astype(np.int32)
        shown, clicks = np.bincount(place), np.bincount(place[self.clicked], minlength=len(known))
        item, rank = np.divmod(known, len(self.ranks))
        return Cells(item, rank, shown.astype(np.float64), clicks.astype(np.float64), self.items.height, place)

    def group(self, rows: slice) -> Ints:
        """The group of each of these rows: sessions stay together; without them, rows are on their own."""
        if self.session is None:
            return np.arange(rows.start, min(rows.stop, len(self))) % GROUPS
        return (self.session[rows] % np.uint64(GROUPS)).astype(np.int64)

    def clustering(self, expected: Floats) -> float:
        """By how much the variance of an item's clicks grows because those of one session hang together; at least 1.

        `expected` is the chance of a click in each cell.
        """
        if self.session is None:
            return 1.0
        chance = expected.astype(np.float32)
        left = self.clicked - chance[self.cells.of_row]
        key = self.session ^ (self.item.astype(np.uint64) * SPREAD)
        # Hardly any item is shown twice in a session, so those that are can be looked for alone.
        again = np.sort(key)
        again = np.unique(again[1:][again[1:] == again[:-1]])
        if not len(again):
            return 1.0
        place = np.searchsorted(again, key).clip(max=len(again) - 1)
        several = again[place] == key
        together = totals(place[several].astype(np.int64), left[several].astype(np.float64), len(again))
        alone, apart = float(left @ left), float(left[several] @ left[several])
        return max(1.0, (alone - apart + float(together @ together)) / alone) if alone else 1.0


@dataclass(frozen=True, eq=False)
class Cells:
    """An item at a rank: how often it was shown there, and clicked; cells come by item, then rank."""

    item: Ints
    rank: Ints
    shown: Floats
    clicks: Floats
    items: int
    #: The cell of each row of the log.
    of_row: Small

    def by_item(self, values: Floats) -> Floats:
        """The sum of the cells' values for each item."""
        return totals(self.item, values, self.items)

    def by_rank(self, values: Floats, ranks: int) -> Floats:
        """The sum of the cells' values for each rank."""
        return totals(self.rank, values, ranks)


def _items(frame: pl.DataFrame) -> tuple[pl.DataFrame, Small]:
    """The pairs of query and document that there are, and the number of each row's."""
    codes = [frame[name].cast(pl.Categorical).to_physical() for name in ("query", "doc")]
    key = codes[0].to_numpy().astype(np.int64) << 32 | codes[1].to_numpy()
    # Numbered in the order in which they come, so that the order of categories changes nothing.
    first = pl.Series(key).arg_unique().sort().to_numpy()
    known = key[first]
    order = np.argsort(known)
    item = order.astype(np.int32)[np.searchsorted(known[order], key)]
    return frame.select("query", "doc")[first], item
