"""A click log by number: which result was shown at which rank, how often, and clicked how often."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

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
#: What is made of a log here; the rest of it need not be kept.
COLUMNS = ("query", "doc", "rank", "clicked", "session", "dwell")
NO_RANK = BadInput.at("the click log", expected="a rank for every result shown", found="none for some")

Small = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Known:
    """What is true of a whole log, of which the rest of this folder may see a part at a time."""

    rows: int
    columns: tuple[str, ...]
    #: How many rows have a rank, a session, a stay.
    filled: dict[str, int]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Known:
        """What is true of this log, or this part of it."""
        filled = {name: frame.height - frame[name].null_count() for name in COLUMNS[2:] if name in frame.columns}
        return cls(frame.height, tuple(frame.columns), filled)

    def __add__(self, other: Known) -> Known:
        filled = {name: self.filled.get(name, 0) + other.filled.get(name, 0) for name in COLUMNS[2:]}
        return Known(self.rows + other.rows, tuple(dict.fromkeys(self.columns + other.columns)), filled)

    @property
    def sessions(self) -> bool:
        """Whether every row names its session."""
        return self.filled.get("session", 0) == self.rows

    def check(self, satisfied_after: float | None) -> Known:
        """The same; an error where nothing can be told from such a log, or not what is asked."""
        if not self.rows:
            raise Undefined("the log has no result shown: nothing can be told from clicks")
        alike = ClickLog(pl.DataFrame(schema=dict.fromkeys(self.columns, pl.Null)))
        if not self.filled.get("rank"):
            alike.need("rank", "telling what a rank does to clicks")
        if self.filled["rank"] < self.rows:
            raise NO_RANK
        if satisfied_after is not None and not self.filled.get("dwell"):
            alike.need("dwell", "telling how long users stayed")
        return self


@dataclass(frozen=True, eq=False)
class Shown:
    """One row for each result shown, by number: `item` is a document of a query, `rank` the place where it stood.

    All rows of an item are here; those of a session, or of a rank, may go on elsewhere.
    """

    items: pl.DataFrame  # query, doc
    ranks: Ints  # the ranks that there are, in order
    item: Small
    rank: Small
    clicked: Bools
    #: A number for each session, equal for equal sessions; none where rows are all that is known.
    session: npt.NDArray[np.uint64] | None

    @classmethod
    def of(cls, log: ClickLog, known: Known, satisfied_after: float | None = None) -> Shown:
        """The log by number; a click counts if the user stayed `satisfied_after` seconds, where that is asked."""
        place = log.frame["rank"]
        if place.null_count():
            raise NO_RANK
        ranks = place.unique().sort().to_numpy()
        items, item = _items(log.frame)
        session = log.frame["session"].hash().to_numpy() if known.sessions else None
        rank = np.searchsorted(ranks, place.to_numpy()).astype(np.int32)
        return cls(items, ranks, item, rank, log.counted(satisfied_after).to_numpy(), session)

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def cells(self) -> Cells:
        """How often each item was shown and clicked at each rank."""
        known, place = self._cells
        shown, clicks = np.bincount(place), np.bincount(place[self.clicked], minlength=len(known))
        item, rank = np.divmod(known, len(self.ranks))
        return Cells(item, rank, shown.astype(np.float64), clicks.astype(np.float64), self.items.height)

    @property
    def cell(self) -> Small:
        """The cell of each row."""
        return self._cells[1]

    @cached_property
    def _cells(self) -> tuple[Ints, Small]:
        key = self.item.astype(np.int64) * len(self.ranks) + self.rank
        known = pl.Series(key).unique().sort().to_numpy()
        return known, np.searchsorted(known, key).astype(np.int32)

    def among(self, ranks: Ints) -> Cells:
        """The cells, with ranks numbered as in the whole log, whose ranks these are."""
        return replace(self.cells, rank=np.searchsorted(ranks, self.ranks)[self.cells.rank])

    @property
    def group(self) -> Ints:
        """The group of each row: sessions stay together."""
        assert self.session is not None
        return (self.session % np.uint64(GROUPS)).astype(np.int64)

    def squares(self, expected: Floats) -> tuple[float, float]:
        """The squares of what clicks differ by from the chance in each cell: row by row, and summed by session first.

        Where clicks of one session on an item hang together, the second are larger.
        """
        left = self.clicked - expected[self.cell]
        alone = float(left @ left)
        if self.session is None:
            return alone, alone
        key = self.session ^ (self.item.astype(np.uint64) * SPREAD)
        # Hardly any item is shown twice in a session, so those that are can be looked for alone.
        again = np.sort(key)
        again = np.unique(again[1:][again[1:] == again[:-1]])
        if not len(again):
            return alone, alone
        place = np.searchsorted(again, key).clip(max=len(again) - 1)
        several = again[place] == key
        together = totals(place[several].astype(np.int64), left[several], len(again))
        return alone, alone - float(left[several] @ left[several]) + float(together @ together)


@dataclass(frozen=True, eq=False)
class Cells:
    """An item at a rank: how often it was shown there, and clicked; cells come by item, then rank."""

    item: Ints
    rank: Ints
    shown: Floats
    clicks: Floats
    items: int

    def by_item(self, values: Floats) -> Floats:
        """The sum of the cells' values for each item."""
        return totals(self.item, values, self.items)

    def by_rank(self, values: Floats, ranks: int) -> Floats:
        """The sum of the cells' values for each rank."""
        return totals(self.rank, values, ranks)

    @property
    def telling(self) -> Bools:
        """Which items were shown at several ranks and clicked: without a click there is nothing to compare."""
        at_several: Bools = np.bincount(self.item, minlength=self.items) > 1
        return at_several & (self.by_item(self.clicks) > 0)

    def kept(self, rows: Bools) -> Cells:
        """Some of the cells; items keep their numbers."""
        some = {name: getattr(self, name)[rows] for name in ("item", "rank", "shown", "clicks")}
        return replace(self, **some)


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


#: A table of patterns.
PATTERNS = {"pattern": pl.String, "items": pl.Int64}


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of a log as cells: each stands for so many items, whose counts are added up."""

    ranks: Ints
    cells: Cells
    #: How many items have each pattern.
    items: Ints

    @classmethod
    def of(cls, counted: pl.DataFrame) -> Patterns:
        """The patterns from a table of pattern and items."""
        counted = counted.sort("pattern")
        parts = counted["pattern"].str.split("|").explode().str.split_exact(":", 2).struct.unnest()
        place, shown, clicks = (parts[name].cast(pl.Int64).to_numpy() for name in parts.columns)
        items = counted["items"].to_numpy()
        sizes = counted["pattern"].str.count_matches("|", literal=True).to_numpy() + 1
        item = np.repeat(np.arange(counted.height), sizes)
        ranks, rank = np.unique(place, return_inverse=True)
        times = items[item].astype(np.float64)
        return cls(ranks, Cells(item, rank, shown * times, clicks * times, counted.height), items)


def patterns_of(shown: Shown) -> pl.DataFrame:
    """The patterns of a bucket: pattern, and how many items have it."""
    cells = shown.cells
    frame = pl.DataFrame(
        {
            "item": cells.item,
            "rank": shown.ranks[cells.rank],
            "shown": cells.shown.astype(np.int64),
            "clicks": cells.clicks.astype(np.int64),
        }
    )
    texts = frame.select("item", pattern=pl.concat_str("rank", "shown", "clicks", separator=":"))
    # Cells come by item, so that an item's texts stand together.
    each = texts.group_by("item", maintain_order=True).agg(pl.col("pattern").str.join("|"))
    return each.group_by("pattern").agg(items=pl.len().cast(pl.Int64))


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
