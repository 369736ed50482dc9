"""What judges wrote down about a document, all aspects of it in one row, alone or read after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Judgments
from karat.records.base import count
from karat.records.scale import refuse_many_grades

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

OVERALL = "overall"
#: The aspects of Golbus et al., in the order of their tables; others follow by name.
KNOWN = (OVERALL, "topicality", "novelty", "authority", "freshness", "quality")
#: Figures come from tables of grades x grades.
MOST_GRADES = 25
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

    #: Query, doc, subtopic, context, group and judge of each row, as far as they are there, and the column asked for.
    keys: pl.DataFrame
    #: Overall first.
    aspects: tuple[str, ...]
    #: Rows x aspects; NaN is N/A, or not asked.
    labels: Floats
    asked: Bools
    #: The query of each row, by number.
    query: Ints
    alone: Bools
    #: For each row in context, the row of the same judge and document alone; -1 for none.
    alone_row: Ints
    grades: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, data: Any, *, by: str | None = None) -> Sheets:
        """The judgments (or what `Judgments.of` takes) by document and judge, with the column `by` beside them."""
        judgments = Judgments.of(data)
        if by is not None:
            judgments.need(by, "a comparison by its values")
        frame, notes = _plain(judgments)
        frame, silent = _without_silent(frame)
        notes += silent
        who = [name for name in ("group", "judge") if name in frame.columns]
        page = ["query", "doc", *(["subtopic"] if "subtopic" in frame.columns else [])]
        key = [*page, "context", *who]
        frame = frame.with_columns(_row=pl.struct(key).rank("dense").cast(pl.Int64) - 1)
        once = frame.unique(["_row", "aspect"], keep="first", maintain_order=True)
        notes += _repeated(frame, once)
        there = once["aspect"].unique().to_list()
        aspects = [name for name in KNOWN if name in there] + sorted(set(there) - set(KNOWN))
        if OVERALL not in aspects:
            raise BadInput.at(
                "the judgments",
                expected=f"the aspect {OVERALL} among others",
                found=", ".join(aspects) or "none",
                remedy=f"call the judgment of a document as a whole {OVERALL}",
            )
        keys = once.unique("_row", keep="first").sort("_row")
        labels = np.full((keys.height, len(aspects)), np.nan)
        asked = np.zeros(labels.shape, bool)
        row = once["_row"].to_numpy()
        column = once["aspect"].replace_strict(aspects, list(range(len(aspects))), return_dtype=pl.Int64).to_numpy()
        labels[row, column] = once["label"].fill_null(np.nan).to_numpy()
        asked[row, column] = True
        alone = keys["context"].is_null()
        number = keys.select(*page, *who).with_row_index("_at").with_columns(pl.col("_at").cast(pl.Int64))
        found = keys.filter(~alone).join(
            number.filter(alone), on=[*page, *who], how="left", nulls_equal=True, maintain_order="left"
        )
        missing = int(found["_at"].null_count())
        if missing:
            notes.append(
                f"{count(missing, 'document')} judged in context but not alone by the same judge: no change to tell"
            )
        return cls(
            keys=keys.select(*dict.fromkeys([*key, *([by] if by is not None else [])])),
            aspects=tuple(aspects),
            labels=labels,
            asked=asked,
            query=(keys["query"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
            alone=alone.to_numpy(),
            alone_row=found["_at"].fill_null(-1).to_numpy(),
            grades=_grades(labels),
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

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return int(self.query.max()) + 1 if len(self.query) else 0

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


def _plain(judgments: Judgments) -> tuple[pl.DataFrame, list[str]]:
    """The judgments of pages, with aspect and context filled in, in the order in which they were given."""
    frame, notes = judgments.frame, list(judgments.notes)
    for name in ("aspect", "context"):
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(None, pl.String).alias(name))
    text = pl.col("aspect").str.strip_chars().str.to_lowercase()
    before = pl.col("context").str.strip_chars()
    frame = frame.with_columns(
        aspect=pl.when(text == "").then(None).otherwise(text).fill_null(OVERALL),
        context=pl.when(before == "").then(None).otherwise(before),
    )
    if "surface" in frame.columns:
        pages = frame.filter(pl.col("surface").fill_null("page") == "page")
        if 0 < pages.height < frame.height:
            notes.append(f"{count(frame.height - pages.height, 'judgment')} of another surface than page left aside")
            frame = pages
    itself = frame["context"].eq_missing(frame["doc"])
    if itself.any():
        example = frame.filter(itself).row(0, named=True)
        notes.append(
            f"{count(int(itself.sum()), 'judgment')} of a document read after itself left aside (document "
            f"{example['doc']} of query {example['query']})"
        )
        frame = frame.filter(~itself)
    if not frame.height:
        raise BadInput.at("the judgments", expected="at least one judgment", found="none")
    if "time" in frame.columns:
        frame = frame.sort("time", nulls_last=True, maintain_order=True)
    return frame, notes


def _without_silent(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The answers without those of judges who never gave a grade, and who they are; all of them if nobody did."""
    if "judge" not in frame.columns or frame["label"].null_count() == frame.height:
        return frame, []
    who = [name for name in ("group", "judge") if name in frame.columns]
    nothing = pl.col("judge").is_not_null() & pl.col("label").is_null().all().over(who)
    silent = frame.filter(nothing)
    if not silent.height:
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


def _repeated(frame: pl.DataFrame, once: pl.DataFrame) -> list[str]:
    """What to say of answers to a question that was answered before."""
    named = [part["judge"].count() if "judge" in part.columns else 0 for part in (frame, once)]
    again = {" of the same judge": named[0] - named[1], "": (frame.height - named[0]) - (once.height - named[1])}
    return [
        f"{count(n, 'further answer')}{whose} to the same question left aside: the first counts"
        for whose, n in again.items()
        if n
    ]


def _grades(labels: Floats) -> Floats:
    grades: Floats = np.unique(labels[~np.isnan(labels)])
    if not len(grades):
        raise Undefined("No judgment has a grade: every answer is N/A.")
    refuse_many_grades(len(grades), MOST_GRADES)
    return grades
