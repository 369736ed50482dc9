"""Tables of tasks, as `karat plan` writes them and the folder of a study holds them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from karat.formats.format import FORMATS, format_ending
from karat.formats.open_files import File
from karat.formats.said_columns import said_of
from karat.records import Column, Schema, Source, names

#: The ids of tasks; the ids of rows (`_id`, `id`) are no documents here.
IDS = Schema(
    "tasks",
    (
        Column("query", pl.String, "the query's id", aliases=names.QUERY),
        Column("doc", pl.String, "the document's id", aliases=tuple(n for n in names.DOC if n not in ("_id", "id"))),
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
