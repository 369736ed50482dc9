"""What all record types share: a checked frame, what was noticed on entry, and how they show themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from html import escape
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, MissingExtra
from karat.records.source import Source

if TYPE_CHECKING:
    from karat.records.schema import Schema


#: The order of arguments in every function and command.
ORDER = "labels come first, then the runs"


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """A frame whose columns were checked once, on entry. Nothing later checks it again or changes it."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    schema: ClassVar[Schema]

    @classmethod
    def of(cls, data: Any) -> Self:
        """The records in a frame or rows."""
        return data if isinstance(data, cls) else cls.check(frame_of(data, f"the {cls.schema.name}"))

    @classmethod
    def of_optional(cls, data: Any) -> Self | None:
        """The records in a frame or rows, none where there is none."""
        return None if data is None else cls.of(data)

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None) -> Self:
        """The records in a frame; `BadInput` names the first row that breaks a rule."""
        source = source or Source(f"the {cls.schema.name}")
        notes = [*source.notes]
        frame = cls.schema.conform(frame, source, notes=notes)
        cls._refuse(frame, source)
        return cls(frame, tuple(notes))

    @classmethod
    def _refuse(cls, frame: pl.DataFrame, source: Source) -> None:
        """Refuse what breaks a rule that the schema cannot say."""

    def __len__(self) -> int:
        return self.frame.height

    def to_frame(self) -> pl.DataFrame:
        """The rows as a Polars frame."""
        return self.frame

    def to_pandas(self) -> Any:
        """The rows as a pandas frame, column by column, so that pandas is needed and Arrow is not."""
        return pandas_of(self.frame)

    def has(self, column: str) -> bool:
        """Whether the data brought this column, with something in it."""
        return column in self.frame.columns and self.frame[column].null_count() < self.frame.height

    def need(self, column: str, purpose: str) -> pl.Series:
        """The column, or an error that says what it would have been for."""
        if not self.has(column):
            raise BadInput.at(
                f"these {self.schema.name}",
                expected=f"the column {column} for {purpose}",
                found=", ".join(self.frame.columns),
            )
        return self.frame[column]

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<p>{escape(repr(self))}</p>{f'<ul>{notes}</ul>' if notes else ''}{self.frame.head(10)._repr_html_()}"


def pandas_of(frame: pl.DataFrame) -> Any:
    """The same rows in a pandas frame."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise MissingExtra("to_pandas needs pandas: pip install pandas") from None
    return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns}, columns=frame.columns)


def is_table(data: Any) -> bool:
    """Whether this is a table by itself, in any form, and not a row or a column of one.

    >>> is_table([{"query": "q", "doc": "d"}]), is_table({"q": {"d": 1}}), is_table({"d": 1}), is_table(["d", "e"])
    (True, True, False, False)
    """
    if isinstance(data, Mapping):
        return any(isinstance(value, Mapping) for value in data.values())
    if isinstance(data, list | tuple):
        return bool(data) and (isinstance(data[0], Mapping) or hasattr(data[0], "_fields"))
    if _library(data) in ("ranx", "datasets"):
        return True
    of_arrow = hasattr(data, "__arrow_c_stream__") and not isinstance(data, pl.Series)
    return isinstance(data, Records | pl.LazyFrame) or of_arrow or hasattr(data, "columns")


def plain_data(data: Any, name: str) -> Any:
    """A ranx object as nested dictionaries and a Hugging Face dataset as a frame; anything else as it is.

    Neither library is loaded.
    """
    library = _library(data)
    if library == "ranx" and hasattr(data, "to_dict"):
        return data.to_dict()
    if library != "datasets":
        return data
    if isinstance(data, Mapping):
        splits = ", ".join(map(str, data))
        found = f"{type(data).__name__} with {splits}"
        raise BadInput.at(name, expected="one split of a dataset", found=found, remedy='choose it, as data["test"]')
    return data.to_polars() if hasattr(data, "to_polars") else list(data)


def _library(data: Any) -> str:
    """The name of the package that an object comes from."""
    return type(data).__module__.partition(".")[0]


def frame_of(data: Any, name: str) -> pl.DataFrame:
    """A Polars frame from what people have at hand: Polars, pandas, Arrow, Hugging Face, a list of rows, columns."""
    data = plain_data(data, name)
    if isinstance(data, pl.DataFrame):
        return data
    first = data[0] if isinstance(data, list | tuple) and data else data
    if isinstance(first, Records):
        raise BadInput.at(name, expected="rows or columns", found=f"{type(first).__name__} ({first!r})", remedy=ORDER)
    if isinstance(data, str | PathLike):
        raise BadInput.at(name, expected="rows or columns", found=f"the path {data}", remedy="read it with kt.read_...")
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if type(data).__module__.startswith("pyspark."):
        found, remedy = (
            "a DataFrame of Spark",
            "use it where it lies with karat.spark.score, clicks or judges, or bring it by toPandas()",
        )
        raise BadInput.at(name, expected="a frame on this machine", found=found, remedy=remedy)
    try:
        if _library(data) == "pandas":
            return _from_pandas(data, name)
        return pl.DataFrame(data, strict=False, infer_schema_length=None)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise BadInput.at(name, expected="a frame, rows or columns", found=f"{type(data).__name__} ({error})") from None


def _from_pandas(data: Any, name: str) -> pl.DataFrame:
    """A pandas frame column by column, because pandas may be there without Arrow; its NaN and NA are missing values."""
    if not hasattr(data, "columns"):
        raise BadInput.at(name, expected="a data frame", found="a Series", remedy="give reset_index() of it")
    headers = [str(header) for header in data.columns]
    again = next((header for header in headers if headers.count(header) > 1), None)
    if again is not None:
        raise BadInput.at(name, expected="each column once", found=f"two columns {again}", remedy="rename one of them")
    columns = {}
    for place, header in enumerate(headers):
        column = data.iloc[:, place]
        given = zip(column.tolist(), column.isna().tolist(), strict=True)
        columns[header] = [None if missing else value for value, missing in given]
    return pl.DataFrame(columns, strict=False)


def from_nested(data: Any, value: str) -> Any:
    """`{query: {doc: number}}`, as pytrec_eval takes it, as columns; anything else as it is.

    >>> from_nested({"q": {"d": 1, "e": 0}}, "label")
    {'query': ['q', 'q'], 'doc': ['d', 'e'], 'label': [1, 0]}
    """
    if not (isinstance(data, Mapping) and all(isinstance(docs, Mapping) for docs in data.values())):
        return data
    rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
    return {name: [row[place] for row in rows] for place, name in enumerate(("query", "doc", value))}


def repeats(frame: pl.DataFrame, key: Sequence[str]) -> pl.Series:
    """Which rows have the key of an earlier row.

    Equal keys have equal hashes, so the keys themselves are compared only of rows whose hash is not alone.

    >>> repeats(pl.DataFrame({"query": ["q", "q", "q"], "doc": ["a", "b", "a"]}), ["query", "doc"]).to_list()
    [False, False, True]
    """
    hashes, found = _hashes(frame, key), np.zeros(frame.height, bool)
    if _twice(hashes):
        doubtful = np.flatnonzero(hashes.is_duplicated().to_numpy())
        found[doubtful] = frame[doubtful].select(~pl.struct(key).is_first_distinct()).to_series().to_numpy()
    return pl.Series(found)


def may_repeat(frame: pl.DataFrame, key: Sequence[str]) -> bool:
    """Whether two rows seem to have the same key: sure of a no, and sooner told than which rows they are.

    >>> may_repeat(pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"]}), ["query", "doc"])
    False
    """
    return _twice(_hashes(frame, key))


def _twice(hashes: pl.Series) -> bool:
    """Whether one is there twice: numbers are sorted sooner than different ones are counted."""
    ordered = np.sort(hashes.to_numpy())
    return bool((ordered[1:] == ordered[:-1]).any())


def _hashes(frame: pl.DataFrame, key: Sequence[str]) -> pl.Series:
    return frame.select(reduce(pl.Expr.xor, (pl.col(name).hash(seed=n) for n, name in enumerate(key)))).to_series()


def count(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun, as people write it.

    >>> count(1, "query", "queries"), count(12000, "label")
    ('1 query', '12,000 labels')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


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
