"""Rows that belong together: files come in stretches of one query, so millions of rows have few keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The different keys of a frame in the order in which they come, and the key of each row, by number.

    >>> blocks = Blocks.of(pl.DataFrame({"query": ["b", "b", "a", "b"]}), ["query"])
    >>> blocks.keys["query"].to_list(), blocks.of_row.tolist(), blocks.together
    (['b', 'a'], [0, 0, 1, 0], False)
    """

    keys: pl.DataFrame
    of_row: npt.NDArray[np.int32]
    #: Whether the rows of each key stand together, in the order of `keys`.
    together: bool

    @classmethod
    def of(cls, frame: pl.DataFrame, key: list[str]) -> Blocks:
        """The blocks of a frame: rows are compared with the row before only, not with all."""
        if not frame.height:
            return cls(frame.select(key), np.zeros(0, np.int32), True)
        differs = pl.Series(np.zeros(frame.height - 1, bool))
        for name in key:
            values = frame[name]
            differs |= values[1:] != values[:-1]
        starts = np.append(0, differs.arg_true().to_numpy().astype(np.int64) + 1)
        stretches = frame.select(key)[starts]
        keys = stretches.unique(maintain_order=True)
        together = keys.height == stretches.height
        number = np.arange(keys.height, dtype=np.int32)
        if not together:
            numbered = keys.with_columns(number=pl.Series(number))
            number = stretches.join(numbered, on=key, how="left", maintain_order="left")["number"].to_numpy()
        return cls(keys, np.repeat(number, np.diff(np.append(starts, frame.height))), together)

    @cached_property
    def sizes(self) -> Ints:
        """How many rows each key has."""
        if self.together:
            return np.diff(np.searchsorted(self.of_row, np.arange(self.keys.height + 1)))
        return np.bincount(self.of_row, minlength=self.keys.height)


def pairs_within(block: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Every two rows of one block, the earlier one first; the blocks' numbers rise from row to row.

    >>> [side.tolist() for side in pairs_within(np.array([0, 0, 0, 1, 2, 2]))]
    [[0, 0, 1, 4], [1, 2, 2, 5]]
    """
    rows = np.arange(len(block))
    partners = np.searchsorted(block, block, side="right") - rows - 1
    one = np.repeat(rows, partners)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(partners) - partners, partners)
    return one, other
