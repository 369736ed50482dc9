"""What people have at hand, as types: every public function says with these what it takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import polars as pl

from karat.records.judgments import Judgments
from karat.records.runs import Runs


class ArrowTable(Protocol):
    """A table of pandas, Arrow, DuckDB or another library that hands its columns over by Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as a stream of Arrow batches."""


class RanxObject(Protocol):
    """Qrels or a run of ranx."""

    name: Any

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The numbers by query and document."""


class HuggingFaceDataset(Protocol):
    """One split of a Hugging Face dataset."""

    @property
    def column_names(self) -> Any:
        """The names of its columns."""

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""


#: A file or folder.
PathLike: TypeAlias = str | os.PathLike[str]
#: A table: of Polars, pandas or Arrow, rows as dictionaries, or columns by name.
FrameLike: TypeAlias = (
    pl.DataFrame
    | pl.LazyFrame
    | ArrowTable
    | HuggingFaceDataset
    | Sequence[Mapping[str, Any]]
    | Mapping[str, Sequence[Any]]
)
#: Labels: as karat read them, as a table with query, doc and label, or as pytrec_eval or ranx takes them.
LabelsLike: TypeAlias = Judgments | FrameLike | RanxObject | Mapping[str, Mapping[str, float]]
#: One run: as karat read it, as a table with query, doc and score or rank, or as pytrec_eval or ranx takes it.
RunLike: TypeAlias = Runs | FrameLike | RanxObject | Mapping[str, Mapping[str, float]]
#: One run or several: a list of runs, runs by the name of their system, or a table with a column system.
RunsLike: TypeAlias = RunLike | Sequence[RunLike] | Mapping[str, RunLike]
