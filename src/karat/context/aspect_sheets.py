"""What judges wrote down about a document, all aspects of it in one row, alone or read after another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels import GOLD
from karat.labels.cache import made_once
from karat.labels.consensus import given_again
from karat.labels.label_table import Gathered, gathered
from karat.labels.panel import numbered
from karat.labels.selection import ASKED, OVERALL
from karat.records import Judgments
from karat.records.scale import refuse_many_grades
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Bools, Floats, Ints, distinct, summed
from karat.stats.paired_statistics import Cells

#: The aspects of Golbus et al., in the order of their tables; others follow by name.
KNOWN = (OVERALL, "topicality", "novelty", "authority", "freshness", "quality")
#: Figures come from tables of grades x grades.
MOST_GRADES = 25
#: What makes one sheet of several labels, and two of one document.
SETTINGS = ("aspect", "context")
#: So many judges who never gave a grade are named one by one.
MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Sheets:
    """A row for each document that a judge judged, alone or after another: its grades in all aspects.

    >>> rows = [{"query": "q", "doc": "a", "label": label, "aspect": aspect, "context": context, "judge": "ann"}
    ...         for aspect, label, context in [("overall", 3, None), ("novelty", None, None), ("overall", 1, "b")]]
    >>> sheets = Sheets.of(Judgments.of(rows))
    >>> sheets.aspects, sheets.labels.tolist(), sheets.alone.tolist(), sheets.change.tolist()
    (('overall', 'novelty'), [[3.0, nan], [1.0, nan]], [True, False], [[-2.0, nan]])
    """

    #: What each row is about, group, judge (`who` has a name for everybody), and the column asked for.
    keys: pl.DataFrame
    #: Overall first.
    aspects: tuple[str, ...]
    #: Rows x aspects; NaN is N/A, or not asked.
    labels: Floats
    asked: Bools
    #: What the same judge said more or less when asked again in the same setting, NaN where nobody was.
    retest: Floats
    #: The query and the judge of each row, by number, and the number of the two together.
    query: Ints
    judge: Ints
    cell: Ints
    alone: Bools
    #: For each row in context, the row of the same judge and document alone; -1 for none.
    alone_row: Ints
    grades: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, data: Any, *, by: str | None = None) -> Sheets:
        """The labels by document and judge, with the column `by` beside them, and what judges said when asked again.

        Which labels count, and in which order, is the door's (`karat.labels.label_table`); N/A is an answer here, and
        labels without a name are one judge's: those of several people could not be put into sheets.
        """
        judgments = Judgments.of(data)
        return made_once(judgments, ("sheets", by), lambda: cls._made(judgments, by))

    @classmethod
    def _made(cls, judgments: Judgments, by: str | None) -> Sheets:
        if not len(judgments):
            raise BadInput.at("the judgments", expected="at least one judgment", found="none")
        if by is not None:
            judgments.need(by, "a comparison by its values")
        apart = [*SETTINGS, *([by] if by in ASKED else [])]
        found = gathered(judgments, apart=apart, repeats="all", nameless="one", unsaid=True)
        frame, notes = _plain(found)
        key = [*dict.fromkeys([*found.key, *SETTINGS])]
        sheet = [*(name for name in key if name != "aspect"), "group", "who"]
        frame = frame.with_columns(
            pl.Series("_row", numbered(frame.select(sheet))[1]),
            _time=pl.int_range(pl.len()).over(*key, "group", "who"),
        )
        once, later = frame.filter(pl.col("_time") == 0), frame.filter(pl.col("_time") > 0)
        nameless = later["judge"].null_count()
        if later.height > nameless:
            notes.append(given_again(later.height - nameless))
        if nameless:
            notes.append(f"{count(nameless, 'label')} without a name beside another of the same document left aside")
        there = once["aspect"].unique().to_list()
        aspects = [name for name in KNOWN if name in there] + sorted(set(there) - set(KNOWN))
        if OVERALL not in aspects:
            raise BadInput.at(
                "the judgments",
                expected=f"the aspect {OVERALL} among others",
                found=", ".join(aspects) or "none",
                remedy=f"call the judgment of a document as a whole {OVERALL}",
            )
        keys = once.unique("_row", keep="first", maintain_order=True).sort("_row")
        labels, asked = _wide(once, keys.height, aspects)
        grades = _grades(labels)
        # Who has no name may be somebody else the second time.
        again = _wide(later.filter((pl.col("_time") == 1) & pl.col("judge").is_not_null()), keys.height, aspects)[0]
        alone = keys["context"].is_null()
        page = [name for name in sheet if name != "context"]
        number = keys.select(page).with_row_index("_at").with_columns(pl.col("_at").cast(pl.Int64))
        before = keys.filter(~alone).join(
            number.filter(alone), on=page, how="left", nulls_equal=True, maintain_order="left"
        )
        missing = int(before["_at"].null_count())
        if missing:
            notes.append(
                f"{count(missing, 'document')} judged in context but not alone by the same judge: no change to tell"
            )
        query, judge = numbered(keys.select("query"))[1], numbered(keys.select("group", "who"))[1]
        return cls(
            keys=keys.select(*dict.fromkeys([*sheet, "judge", *([by] if by is not None else [])])),
            aspects=tuple(aspects),
            labels=labels,
            asked=asked,
            retest=again - labels,
            query=query,
            judge=judge,
            cell=distinct(query * (int(judge.max(initial=0)) + 1) + judge)[1],
            alone=alone.to_numpy(),
            alone_row=before["_at"].fill_null(-1).to_numpy(),
            grades=grades,
            notes=tuple(notes),
        )

    @property
    def rated(self) -> Bools:
        """Which rows have an overall grade: the others, mostly spam, are left out of nearly all that is told."""
        return ~np.isnan(self.labels[:, 0])

    @property
    def complete(self) -> Bools:
        """Which rows have a grade in every aspect."""
        complete: Bools = np.asarray(~np.isnan(self.labels).any(axis=1), dtype=np.bool_)
        return complete

    def sampled(self, rows: Bools | Ints) -> bool:
        """Whether the judges of these rows stand for others like them: five or more, all with names."""
        named = self.keys["judge"].is_not_null().to_numpy()[rows].all()
        return bool(named) and len(np.unique(self.judge[rows])) >= FEWEST

    def cells(self, rows: Bools) -> Cells:
        """The cells of query and judge, for figures of these rows."""
        return self._cells[self.sampled(rows)]

    @cached_property
    def _cells(self) -> tuple[Cells, Cells]:
        """The cells where judges do not stand for others, and where they do."""
        number = int(self.cell.max(initial=-1)) + 1
        query, judge = np.zeros((2, number), np.int64)
        query[self.cell], judge[self.cell] = self.query, self.judge
        return Cells(query), Cells(query, (np.arange(number), judge))

    def sums(self, rows: Bools | Ints, values: Floats | Bools) -> Floats:
        """The sums of the values of these rows, one for each of them, by cell."""
        return summed(self.cell[rows], values.astype(np.float64, copy=False), int(self.cell.max(initial=-1)) + 1)

    @property
    def change(self) -> Floats:
        """The grade in context less the grade alone, for each row in context: rows x aspects, NaN where unknown."""
        before = np.full((int((~self.alone).sum()), len(self.aspects)), np.nan)
        known = self.alone_row >= 0
        before[known] = self.labels[self.alone_row[known]]
        change: Floats = self.labels[~self.alone] - before
        return change

    @property
    def setting_notes(self) -> list[str]:
        """What to know when one of the two settings is missing."""
        if not len(self.alone) or (self.alone.any() and not self.alone.all()):
            return []
        return ["no document was judged " + ("in context: nothing to compare" if self.alone.all() else "alone")]


def _plain(found: Gathered) -> tuple[pl.DataFrame, list[str]]:
    """What judges answered, with aspect and context filled in, without gold, and without who never gave a grade."""
    frame, notes = found.frame, list(found.notes)
    if found.gold is not None:
        judged = frame.filter(pl.col("group") != GOLD)
        notes.append(f"{count(frame.height - judged.height, 'gold label')} left aside: gold is no judge's opinion")
        frame = judged
    fill = {"aspect": pl.lit(OVERALL), "context": pl.lit(None, pl.String)}
    frame = frame.with_columns(value.alias(name) for name, value in fill.items() if name not in frame.columns)
    itself = frame["context"].eq_missing(frame["doc"])
    if itself.any():
        example = frame.filter(itself).row(0, named=True)
        notes.append(
            f"{count(int(itself.sum()), 'judgment')} of a document read after itself left aside (document "
            f"{example['doc']} of query {example['query']})"
        )
        frame = frame.filter(~itself)
    frame, silent = _without_silent(frame)
    return frame, [*notes, *silent]


def _wide(rows: pl.DataFrame, sheets: int, aspects: list[str]) -> tuple[Floats, Bools]:
    """The labels of rows as sheets x aspects, NaN for N/A and for what was not asked; and what was asked."""
    labels = np.full((sheets, len(aspects)), np.nan)
    asked = np.zeros(labels.shape, bool)
    place = rows["aspect"].replace_strict(aspects, list(range(len(aspects))), default=-1, return_dtype=pl.Int64)
    row, column = rows["_row"].to_numpy(), place.to_numpy()
    labels[row, column] = rows["label"].fill_null(np.nan).to_numpy()
    asked[row, column] = True
    return labels, asked


def _without_silent(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The answers without those of judges who never gave a grade, and who they are; all of them if nobody did."""
    nothing = pl.col("judge").is_not_null() & pl.col("label").is_null().all().over("group", "who")
    silent = frame.filter(nothing)
    if not silent.height or frame["label"].null_count() == frame.height:
        return frame, []
    pages = [name for name in ("query", "doc", "subtopic", "context") if name in frame.columns]
    names = (
        silent.group_by("judge")
        .agg(pl.struct(pages).n_unique().alias("n"))
        .sort("n", "judge", descending=[True, False])
    )
    notes = [
        f"{judge} answered N/A throughout ({count(n, 'document')}): left out"
        for judge, n in names.head(MOST_NAMED).iter_rows()
    ]
    if names.height > MOST_NAMED:
        more = names[MOST_NAMED:]
        who_else = count(more.height, "more judge")
        notes.append(f"{who_else} answered N/A throughout ({count(int(more['n'].sum()), 'document')}): left out")
    return frame.filter(~nothing), notes


def _grades(labels: Floats) -> Floats:
    grades: Floats = np.unique(labels[~np.isnan(labels)])
    if not len(grades):
        raise Undefined("No judgment has a grade: every answer is N/A.")
    refuse_many_grades(len(grades), MOST_GRADES)
    return grades
