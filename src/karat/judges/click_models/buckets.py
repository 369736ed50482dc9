"""Logs in buckets of items: each is worked on by itself, in memory, from a file of its own, or on another machine.

All that is told of ranks is a sum over items, and all that is told of an item needs its own rows and what is known of
the ranks. So a log of any size is looked through bucket by bucket: once for what was shown how often, once for how
much that varies between sessions, once for the figures of each document.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import polars as pl

from karat.judges.click_models.shown import COLUMNS, Known, Shown
from karat.records import ClickLog

#: What is made of one bucket.
Kernel = Callable[[Shown], pl.DataFrame]
#: How many rows a bucket should have, and how many buckets there are at most.
ROWS, MOST = 1 << 21, 512


#: The columns of what it is made, and their types.
Columns = Mapping[str, type[pl.DataType]]


class Buckets(Protocol):
    """A log, some items at a time."""

    def summed(self, kernel: Kernel, columns: Columns, by: list[str]) -> pl.DataFrame:
        """What the kernel makes of every bucket, rows that agree on some columns added up."""
        ...


@dataclass(frozen=True, eq=False)
class Here:
    """Buckets on this machine: each is made, or read from its file, when it is wanted."""

    buckets: Iterable[Callable[[], Shown]]

    def each(self, kernel: Kernel) -> pl.DataFrame:
        """What the kernel makes of every bucket, one under the other."""
        return pl.concat([kernel(bucket()) for bucket in self.buckets])

    def summed(self, kernel: Kernel, columns: Columns, by: list[str]) -> pl.DataFrame:
        """The same, with the rows that agree on some columns added up."""
        found: pl.DataFrame | None = None
        for bucket in self.buckets:
            part = kernel(bucket()).select(list(columns))
            both = part if found is None else pl.concat([found, part])
            found = both.group_by(by, maintain_order=True).agg(pl.all().sum())
        assert found is not None
        return found


@dataclass(eq=False)
class Dealing:
    """A log that comes in parts, dealt by item into the files of a temporary folder where it is large."""

    folder: Path
    buckets: int
    known: Known | None = None
    notes: dict[str, None] = field(default_factory=dict)

    def deal(self, parts: Iterable[ClickLog]) -> None:
        """Put the rows of each part where the others of their items are."""
        for number, log in enumerate(parts):
            seen = Known.of(log.frame)
            self.known = seen if self.known is None else self.known + seen
            self.notes |= dict.fromkeys(log.notes)
            frame = log.frame.select(name for name in COLUMNS if name in log.frame.columns)
            pile = (pl.struct("query", "doc").hash() % self.buckets).alias("\0pile")
            for (bucket,), rows in frame.with_columns(pile).partition_by("\0pile", as_dict=True).items():
                place = self.folder / f"pile-{bucket}"
                place.mkdir(exist_ok=True)
                rows.drop("\0pile").write_ipc(place / f"{number:06}", compression="lz4")

    def dealt(self, satisfied_after: float | None) -> Here:
        """The buckets, laid out by number once."""
        assert self.known is not None
        files = []
        for place in sorted(self.folder.glob("pile-*")):
            parts = [pl.read_ipc(path) for path in sorted(place.iterdir())]
            shown = Shown.of(ClickLog(pl.concat(parts, how="diagonal")), self.known, satisfied_after)
            _ = shown.cells  # counted once, for all that comes
            for path in place.iterdir():
                path.unlink()
            files.append(self.folder / f"bucket-{place.name}")
            with files[-1].open("wb") as stream:
                pickle.dump(shown, stream, protocol=5)
        return Here([partial(_loaded, path) for path in files])


def _loaded(path: Path) -> Shown:
    with path.open("rb") as stream:  # written above, into a folder of this process
        shown: Shown = pickle.load(stream)
    return shown


@contextmanager
def dealing(rows: int) -> Iterator[Dealing]:
    """A place to deal a log of about so many rows into, which is gone afterwards."""
    with TemporaryDirectory(prefix="karat-") as folder:
        yield Dealing(Path(folder), min(max(rows // ROWS, 1), MOST))
