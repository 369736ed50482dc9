"""Tables of tasks, as `karat plan` writes them and the folder of a study holds them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from statistics import NormalDist

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.formats.column_mapping import said_of
from karat.formats.format_registry import FORMATS, format_ending
from karat.formats.json_files import load_json
from karat.formats.open_files import File
from karat.formats.read_errors import unbroken
from karat.records import Column, PathLike, Schema, Source, column_names
from karat.stats.arrays import Floats

#: The ids of tasks; the ids of rows (`_id`, `id`) are no documents here.
IDS = Schema(
    "tasks",
    (
        Column("query", pl.String, "the query's id", aliases=column_names.QUERY),
        Column(
            "doc", pl.String, "the document's id", aliases=tuple(n for n in column_names.DOC if n not in ("_id", "id"))
        ),
    ),
)


@dataclass(frozen=True, eq=False)
class TaskTable:
    """Rows of tasks, and where each of them stands."""

    frame: pl.DataFrame
    source: Source

    def without_repeats(self) -> tuple[TaskTable, int]:
        """The tasks with rows that are the same in every column kept once, and how many were left out.

        How often a document is judged is said by the study's rules or the column labels, not by repeating its row.
        Reasons to code stay: two people may have written the same.

        >>> twice = TaskTable(pl.DataFrame({"query": ["q", "q"], "doc": ["d", "d"]}), Source("the tasks"))
        >>> once, left_out = twice.without_repeats()
        >>> once.frame.height, left_out
        (1, 1)
        """
        frame = self.frame
        said = pl.col("reason").is_not_null() if "reason" in frame.columns else pl.lit(False)
        kept = frame.select((pl.struct(pl.all()).is_first_distinct() | said).alias("kept"))["kept"]
        return TaskTable(frame.filter(kept), self.source.keep(kept)), int((~kept).sum())


def read_tasks(path: str) -> TaskTable:
    """A table of tasks; names as in judgments and preferences. What a task needs is for its kind to say (`store`)."""
    file = File(path)
    frame, source = (format_ending(file.ending) or FORMATS["csv"]).rows(file, "tasks")
    frame, source = said_of(None).named_in((frame, source), IDS)
    return TaskTable(frame.rename(IDS.rename(frame.columns, source.columns)), source)


#: The level of the intervals in such a file.
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class UserWeightsTable:
    """The worth of each level for M of N users, and how sure it is where the file has intervals."""

    name: str
    frame: pl.DataFrame

    def __call__(self, at_least: int, of: int) -> dict[float, float]:
        """The weight of each level."""
        mine = self._rows(at_least, of)
        return dict(zip(mine["level"].to_list(), mine["weight"].to_list(), strict=True))

    def errors(self, at_least: int, of: int) -> tuple[list[float], Floats]:
        """The levels and the covariance of their weights, taken to be independent: a file has no more."""
        mine = self._rows(at_least, of)
        if not {"low", "high"} <= {*mine.columns}:
            return mine["level"].to_list(), np.zeros((mine.height, mine.height))
        half = ((mine["high"] - mine["low"]) / 2).fill_null(0.0).fill_nan(0.0).to_numpy()
        return mine["level"].to_list(), np.diag((half / NormalDist().inv_cdf(0.5 + LEVEL / 2)) ** 2)

    def _rows(self, at_least: int, of: int) -> pl.DataFrame:
        mine = self.frame.filter((pl.col("at_least") == at_least) & (pl.col("of") == of)).sort("level")
        if not mine.height:
            known = sorted(
                {f"{m}/{n}" if n else _told(m, n) for m, n in self.frame.select("at_least", "of").iter_rows()}
            )
            raise BadInput.at(self.name, expected=f"weights for {_told(at_least, of)}", found=", ".join(known))
        return mine


def _told(at_least: int, of: int) -> str:
    """Of which users weights are; one who is not the judge is written as 1 of 0."""
    return (
        f"{at_least} of {of} users"
        if of
        else "a user who is not the judge" + advise(" (karat disagree users --weights-out)", " (judges.users)")
    )


SHARES = Schema(
    "confusion matrix",
    (
        Column("grade", pl.Float64, "the true grade", True, ("truth", "gold")),
        Column("label", pl.Float64, "the label given", True),
        Column("share", pl.Float64, "the share of the grade's documents with this label", True, ("probability",)),
        Column("n", pl.Float64, "the gold labels of the grade"),
        Column("effective", pl.Float64, "as how many independent gold labels they count"),
    ),
)
#: More gold labels than people have given.
MOST_LABELS = 1e12
SQUARE = "a square: true grades down the first column, labels across the first line; shares, or counts of gold labels"


def read_confusion(path: PathLike) -> pl.DataFrame:
    """How often each true grade gets each label: a table of grade, label, share and, where known, n.

    From what `karat judges confusion` writes with --out or --json, or from CSV as a square with true grades down and
    labels across, of shares or of counts; counts tell how sure the shares are, too.
    """
    file = File(str(path))
    frame = unbroken(_matrix)(file)
    for name in {"n", "effective"} & {*frame.columns}:
        most = frame[name].max()
        if isinstance(most, float) and MOST_LABELS < most < inf:
            raise BadInput.at(file.name, expected=f"a number of gold labels up to {MOST_LABELS:g}", found=f"{most:g}")
    return frame


def _matrix(file: File) -> pl.DataFrame:
    if file.head.lstrip()[:1] == b"{":
        return _of_document(file)
    frame, source = FORMATS["csv"].rows(file, "a confusion matrix")
    if "share" in frame.rename(SHARES.rename(frame.columns)).columns:
        return SHARES.conform(frame, source)
    return _of_square(file, frame)


def _of_document(file: File) -> pl.DataFrame:
    try:
        rows = load_json(file)["rows"]
        return pl.DataFrame(rows, infer_schema_length=None).select(
            pl.col(name).cast(pl.Float64) for name in ("grade", "label", "share", "effective")
        )
    except (KeyError, TypeError, pl.exceptions.PolarsError):
        raise BadInput.at(
            file.name,
            expected="the JSON of a confusion table (karat judges confusion, confusion(...).to_dict())",
            found="another document",
        ) from None


def _of_square(file: File, frame: pl.DataFrame) -> pl.DataFrame:
    first, *labels = frame.columns
    try:
        long = frame.unpivot(index=first, variable_name="label", value_name="share").select(
            grade=pl.col(first).cast(pl.Float64),
            label=pl.col("label").cast(pl.Float64),
            share=pl.col("share").cast(pl.Float64),
        )
    except pl.exceptions.PolarsError:
        raise BadInput.at(file.name, expected=SQUARE, found=f"columns {', '.join(frame.columns)}") from None
    if not labels or long.height == 0 or long["share"].null_count() or (long["share"] < 0).any():
        raise BadInput.at(file.name, expected=SQUARE, found="a cell without a number from 0, or no cells")
    totals = long.group_by("grade").agg(n=pl.col("share").sum())
    if (totals["n"] <= 1.5).all():
        return long
    if (long["share"] != long["share"].round()).any() or (totals["n"] == 0).any():
        raise BadInput.at(file.name, expected=SQUARE, found="rows that add up to neither 1 nor a count of labels")
    return long.join(totals, on="grade").with_columns(pl.col("share") / pl.col("n"))
