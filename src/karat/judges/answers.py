"""Labels laid out by number, for error models and the judge table: which document, which judge, which grade.

Every label counts, also those that a judge gave to the same document again: how steady a judge is shows there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Judgments, Scale
from karat.records.base import count
from karat.records.scale import refuse_many_grades
from karat.stats import totals

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Labels of different judges are comparable when they are about the same thing.
ITEM = ("query", "doc", "subtopic", "context", "aspect", "surface")
#: Labels of this group are known truth.
GOLD = "gold"
#: Confusion matrices are grades x grades: a scale of 0 to 100 is the largest that makes sense.
MOST_GRADES = 101


@dataclass(frozen=True, eq=False)
class Answers:
    """Row i says that `judge[i]` gave `grade[i]` to `item[i]`; rows stand item by item, most labelled items first.

    >>> answers = Answers.of(Judgments.of([
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "eve"},
    ...     {"query": "q", "doc": "d", "label": 0, "judge": "bob"}]))
    >>> answers.item.tolist(), answers.judge.tolist(), answers.grade.tolist(), answers.grades.tolist()
    ([0, 0], [1, 0], [1, 0], [0.0, 2.0])
    """

    items: pl.DataFrame
    #: `judge`, and `group` before it where there are groups; sorted.
    judges: pl.DataFrame
    #: The grades there are, lowest first.
    grades: Floats
    item: Ints
    judge: Ints
    grade: Ints
    #: The row of the judgments from which each label is.
    row: Ints
    #: The number of each item's true grade, -1 where it is not known.
    known: Ints
    #: Who could not tell how often: `judge`, `group` where there is one, and `silent`.
    silent: pl.DataFrame
    scale: Scale | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, judgments: Judgments, gold: Judgments | None = None) -> Answers:
        """The labels of the judges; those of `gold`, or of a group of that name, are the known truth."""
        if not judgments.has("group"):
            judgments.need("judge", "telling the judges apart")
        notes: list[str] = []
        frame, truth = _apart(judgments, gold, notes)
        frame = _comparable(frame, notes)
        who = [name for name in ("group", "judge") if name in frame.columns]
        no_label = frame["label"].null_count()
        silent = frame.filter(pl.col("label").is_null()).group_by(who).len("silent")
        if no_label:
            notes.append(f"{count(no_label, 'answer')} without a label (can't tell) left aside")
            frame = frame.drop_nulls("label")
        if not frame.height:
            raise Undefined("there is no label to learn from: every judge could not tell, or only gold is there")
        nameless = frame["judge"].null_count()
        if nameless:
            where = "one judge in each group" if "group" in frame.columns else "one judge"
            notes.append(f"{count(nameless, 'label')} without a judge's name: taken for those of {where}")
        key = [name for name in ITEM if name in frame.columns]
        items, item = _numbered(frame, key)
        # Items with many labels first, so that those with at least so many are always the first ones.
        sizes = np.bincount(item)
        by_size = np.argsort(-sizes, kind="stable")
        item = _inverse(by_size)[item]
        if (np.diff(item) < 0).any():
            order = np.argsort(item, kind="stable")
            item, frame = item[order], frame[order]
        items = items[by_size]
        judges, number = _numbered(frame, who)
        by_name = judges.with_row_index("number").sort(who)
        place = _inverse(by_name["number"].to_numpy())
        known, truth_grades = _known(items, truth, notes)
        grades = _grades(frame["label"], truth_grades, judgments.scale)
        return cls(
            items=items,
            judges=by_name.select(who),
            grades=grades,
            item=item,
            judge=place[number],
            grade=np.searchsorted(grades, frame["label"].to_numpy()),
            row=frame["row"].to_numpy().astype(np.int64),
            known=np.where(np.isnan(known), -1, np.searchsorted(grades, known)),
            silent=silent,
            scale=judgments.scale,
            notes=(*judgments.notes, *notes),
        )

    @property
    def levels(self) -> int:
        """How many grades there are."""
        return len(self.grades)

    @cached_property
    def per_item(self) -> Floats:
        """How many labels of each grade each item has: grades x items."""
        cells = self.grade * self.items.height + self.item
        return totals(cells, np.ones(len(cells)), self.levels * self.items.height).reshape(self.levels, -1)

    @cached_property
    def cell(self) -> Ints:
        """The number of each label's grade and judge together."""
        return self.grade * self.judges.height + self.judge

    @cached_property
    def table(self) -> csr_matrix[Any]:
        """Items x cells as a sparse matrix of ones."""
        from scipy.sparse import csr_matrix

        ends = np.append(0, np.cumsum(self.sizes)).astype(np.int32)
        shape = (self.items.height, self.levels * self.judges.height)
        return csr_matrix((np.ones(len(self.cell)), self.cell.astype(np.int32), ends), shape=shape)

    @cached_property
    def turned(self) -> csr_matrix[Any]:
        """Cells x items."""
        return self.table.T.tocsr()

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each item has; the most first."""
        return np.bincount(self.item, minlength=self.items.height)

    @cached_property
    def rounds(self) -> list[Ints]:
        """The cells of the first label of each item, then of the second of those that have two, and so on."""
        starts = np.cumsum(self.sizes) - self.sizes
        more = [np.count_nonzero(self.sizes > done) for done in range(int(self.sizes[0]))]
        return [self.cell[starts[:items] + done] for done, items in enumerate(more)]

    @cached_property
    def appeared(self) -> Ints:
        """The items in the order in which they first come in the judgments."""
        first = np.full(self.items.height, len(self.item))
        np.minimum.at(first, self.item, self.row)
        return np.argsort(first, kind="stable")

    @cached_property
    def shared(self) -> Flags:
        """Which rows are about an item that another judge labelled too, or whose grade is known."""
        first = np.append(True, np.diff(self.item) > 0)
        differs = totals(self.item, self.judge != self.judge[first][self.item], self.items.height) > 0
        shared: Flags = (differs | (self.known >= 0))[self.item]
        return shared

    def shares(self) -> Floats:
        """How the labels of each item are spread, grades x items; all on the true grade where it is known."""
        return self.clamped(self.per_item / self.per_item.sum(axis=0))

    def clamped(self, posterior: Floats) -> Floats:
        """The same probabilities, certain where the grade is known; changes them in place."""
        known = np.flatnonzero(self.known >= 0)
        posterior[:, known] = 0.0
        posterior[self.known[known], known] = 1.0
        return posterior


def _apart(judgments: Judgments, gold: Judgments | None, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The labels of judges with the row they come from, and those that are known truth."""
    columns = [name for name in (*ITEM, "label") if name in judgments.frame.columns]
    if judgments.has("group"):
        columns.append("group")
    judge = pl.col("judge") if "judge" in judgments.frame.columns else pl.lit(None, pl.String).alias("judge")
    frame = judgments.frame.select(*columns, judge).with_row_index("row")
    if not judgments.has("group"):
        return frame, None if gold is None else gold.frame
    trusted = (frame["group"] == GOLD).fill_null(False)
    if not trusted.any():
        return frame, None if gold is None else gold.frame
    if gold is not None:
        raise BadInput.at(
            "the judgments",
            expected="gold labels in one place",
            found="a group gold beside other gold labels",
            remedy="leave one of them out",
        )
    notes.append(f"{count(int(trusted.sum()), 'label')} of the group gold taken for the truth")
    return frame.filter(~trusted), frame.filter(trusted)


def _comparable(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """The judgments of pages as a whole where there are any."""
    for column, whole in (("aspect", "overall"), ("surface", "page")):
        if column not in frame.columns:
            continue
        kept = frame.filter(pl.col(column).fill_null(whole) == whole).drop(column)
        if frame.height and not kept.height:
            notes.append(f"a document counts once for each {column}, as none was judged for {column} {whole}")
            continue
        if kept.height < frame.height:
            notes.append(f"{count(frame.height - kept.height, 'judgment')} of another {column} than {whole} left aside")
        frame = kept
    return frame


def _numbered(frame: pl.DataFrame, key: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
    """The different keys in the order in which they come, and the key of each row by number."""
    # Rows of one key often stand together: then only the first of each stretch is looked up.
    new = np.zeros(frame.height, bool)
    new[0] = True
    for name in key:
        new[1:] |= frame[name][1:].ne_missing(frame[name][:-1]).to_numpy()
    starts = np.flatnonzero(new)
    stretches = frame.select(key)[starts] if len(starts) < frame.height else frame.select(key)
    groups = stretches.with_row_index("at").group_by(key, maintain_order=True).agg("at")
    number = np.empty(len(starts), np.int64)
    number[groups["at"].explode().to_numpy()] = np.repeat(np.arange(groups.height), groups["at"].list.len().to_numpy())
    return groups.select(key), np.repeat(number, np.diff(np.append(starts, frame.height)))


def _inverse(order: npt.NDArray[np.integer]) -> Ints:
    """Where each one went."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _known(items: pl.DataFrame, truth: pl.DataFrame | None, notes: list[str]) -> tuple[Floats, Floats]:
    """The true grade of each item, NaN where it is not known, and the grades among them."""
    if truth is None:
        return np.full(items.height, np.nan), np.empty(0)
    truth = _comparable(truth.drop_nulls("label"), [])
    key = [name for name in items.columns if name in truth.columns]
    votes = truth.group_by(*key, "label").len("votes")
    votes = votes.filter(pl.col("votes") == pl.col("votes").max().over(key))
    one = votes.group_by(key).agg(pl.col("label").min(), pl.len().alias("tied"))
    if one["tied"].max() not in (None, 1):
        torn = one.filter(pl.col("tied") > 1).height
        notes.append(f"gold contradicts itself on {count(torn, 'document')}: the lower grade stands")
    found = items.join(one.drop("tied"), on=key, how="left", nulls_equal=True, maintain_order="left")["label"]
    known = found.cast(pl.Float64).fill_null(np.nan).to_numpy()
    used = int((~np.isnan(known)).sum())
    notes.append(f"the grade of {count(used, 'document')} of {items.height:,} is known from gold")
    apart = one.height - items.select(key).unique().join(one, on=key, how="semi", nulls_equal=True).height
    if apart:
        notes.append(f"{count(apart, 'gold label')} of documents that nobody else judged left aside")
    return known, np.unique(known[~np.isnan(known)])


def _grades(labels: pl.Series, truth: Floats, scale: Scale | None) -> Floats:
    """All grades there are: of the scale, of the labels, of gold."""
    named = np.array([] if scale is None else scale.grades)
    # Adding 0 makes -0 the same as 0, also in print.
    grades: Floats = np.unique(np.concatenate([labels.unique().to_numpy(), truth, named])) + 0.0
    refuse_many_grades(len(grades), MOST_GRADES)
    return grades
