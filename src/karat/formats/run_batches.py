"""Runs in batches of whole lists: what is larger than memory is read a few megabytes at a time.

Most files have the rows of a list together. A part of the file ends where its last list begins, which then begins the
next part. Where a list turns up again further down, its rows are scattered: then the file is dealt by query into the
files of a temporary folder, each of which fits into memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import polars as pl

from karat.errors import BadInput
from karat.formats.column_mapping import said_of
from karat.formats.decompression import VARIABLE, most_bytes
from karat.formats.format_registry import format_of
from karat.formats.open_files import NEWLINE, File
from karat.formats.parquet import count_rows, read_slice
from karat.formats.partitions import BYTES, Piles, buckets_for
from karat.formats.read import empty_run, read_runs
from karat.formats.whitespace_columns import newlines
from karat.records import PathLike, Runs, Source
from karat.records.list_order import with_given_scores

#: As many rows as are read at a time.
ROWS = 1 << 18
#: How many bytes each of the files should have into which scattered rows are dealt.
BUCKET = 1 << 26

Made = TypeVar("Made")
Given = TypeVar("Given")


class Scattered(Exception):
    """The rows of a list stand in several places of a file."""


def by_batches(path: PathLike, use: Callable[[Iterator[Runs]], Made], *, ranks: bool = True, threads: int = 1) -> Made:
    """What `use` makes of the runs in a file, which it is given in batches: every list is whole in one of them.

    `use` is called again, with other batches, where the rows of a list turn out to be scattered. TREC's lines, packed
    or not, and Parquet come in batches; files in other formats are read at once. Lines are read by so many threads.
    """
    file = File(str(path))
    parts = parts_of(file, ranks, threads)
    if parts is None:
        return use(iter([read_runs(path, ranks=ranks)]))
    try:
        return use(_refuse_scattered(parts))
    except Scattered:
        with TemporaryDirectory(prefix="karat-") as folder:
            return use(one_ahead(_dealt(file, ranks, Path(folder))))


def parts_of(file: File, ranks: bool, threads: int = 1) -> Iterator[Runs] | None:
    """The runs of a file in parts that end where a list ends; None where the file has to be read at once."""
    format = format_of(file, Runs.schema)
    if format.name == "parquet" and file.on_disk:
        return one_ahead(_of_parquet(file))
    if follows_scores(file):
        read = format.records[Runs].read
        assert read is not None
        return ahead(one_ahead(whole_lists(file)), lambda part: read(part, ranks), threads)
    return None


def follows_scores(file: File) -> bool:
    """Whether the scores of a file order its lists, whatever its positions say: in TREC run files."""
    return format_of(file, Runs.schema).name == "trec" and not said_of(None).may_be_in(file, Runs.schema)


def whole_lists(file: File) -> Iterator[File]:
    """The lines of a file in parts: the query of a part's last line is not that of the next part's first line."""
    kept: list[bytes] = []  # of lists whose end has not come
    above, is_empty = 0, True
    for part in file.parts(BYTES):
        if not kept and part.isspace():  # blank lines are only counted
            above += newlines(part)
            continue
        cut = _last_query(part)
        if cut:
            lines = b"".join([*kept, memoryview(part)[:cut]])
            yield File(file.path, lines, above)
            kept, above, is_empty = [], above + newlines(lines), False
        kept.append(part[cut:])
        if sum(map(len, kept)) > most_bytes():
            raise BadInput.at(
                file.name,
                expected=f"at most {most_bytes():,} bytes about a query",
                found="more",
                remedy=f"is this the file that you meant? Set {VARIABLE} to allow more",
            )
    lines = b"".join(kept)
    if lines or is_empty:
        yield File(file.path, lines, above)


def _last_query(part: bytes) -> int:
    """Where the lines of the last query begin; 0 where there is one query only. The first line may not be whole."""
    start, query = part.rfind(NEWLINE) + 1, None
    while start > 0 and (above := part.rfind(NEWLINE, 0, start - 1) + 1):
        first = part[above:start].split(None, 1)[:1]
        if query and first and first != query:
            return start
        query, start = query or first, above if first else _skip_blank_lines(part, above)
    return 0


def _skip_blank_lines(part: bytes, end: int) -> int:
    """Where the blank lines begin that end here: looked for in ever larger windows, so that millions take no time."""
    size = 64
    while end > 0:
        window = part[max(0, end - size) : end]
        if not window.isspace():
            newline = window.find(NEWLINE, len(window.rstrip()))
            return end if newline < 0 else end - len(window) + newline + 1
        end, size = end - len(window), 2 * size
    return 0


def _of_parquet(file: File) -> Iterator[Runs]:
    """The rows of a Parquet file, cut as lines are."""
    rest: pl.DataFrame | None = None
    rows, start = count_rows(file), 0
    if not rows:
        raise empty_run(file)
    while start < rows or rest is None:
        size = max(ROWS, 0 if rest is None else 2 * rest.height)
        named = said_of(None).named_in((read_slice(file, start, size), Source(file.name)), Runs.schema)
        part = Runs.schema.conform(*named)
        data = part if rest is None else pl.concat([rest, part])
        others = (data["query"] != data["query"][-1]).arg_true() if data.height else pl.Series([0])
        cut = data.height if start + size >= rows else int(others[-1]) + 1 if len(others) else 0
        if cut:
            yield Runs.check(data[:cut], system=file.stem, source=Source(file.name))
        rest, start = data[cut:], start + size


def _refuse_scattered(parts: Iterator[Runs]) -> Iterator[Runs]:
    """The parts as they are, as long as no list goes on in a later one."""
    seen: set[int] = set()
    for runs in parts:
        lists = set(runs.blocks.keys.hash_rows().to_list())
        if not seen.isdisjoint(lists):
            raise Scattered
        seen |= lists
        yield runs


def _dealt(file: File, ranks: bool, folder: Path) -> Iterator[Runs]:
    """Batches of a file whose lists are scattered: its rows are dealt into files by query first."""
    number = buckets_for(file, BUCKET)
    with Piles(folder, number) as piles:
        for runs in parts_of(file, ranks) or ():
            piles.add(with_given_scores(runs.frame))  # parts of lists are not to be ordered each by itself
    for bucket in range(number):
        frame, lines = piles.taken(bucket)
        if frame.height:
            yield Runs.check(frame, source=Source(file.name, lines=lines), follow_scores=follows_scores(file))


def one_ahead(things: Iterator[Made]) -> Iterator[Made]:
    """The things one by one; while one is used, the next is made."""
    context = copy_context()

    def following() -> Made | None:
        return context.run(next, things, None)

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(following)
        while (thing := coming.result()) is not None:
            coming = pool.submit(following)
            yield thing


def ahead(things: Iterator[Given], make: Callable[[Given], Made], threads: int) -> Iterator[Made]:
    """What is made of the things, in their order; while one is used, each thread makes another."""
    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Made]] = deque()
        for thing in things:
            coming.append(pool.submit(copy_context().run, make, thing))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
