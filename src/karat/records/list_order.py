"""Whether the positions or the scores of a run order its lists, where a table has both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.records.result import Caution
from karat.records.table import Blocks, count

if TYPE_CHECKING:
    from karat.records.runs import Runs

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

#: The scores of lists that are ordered by position; `score` then follows the positions.
SCORE_NOT_USED = "score_not_used"
#: Marks rows of TREC run files, whose scores decide, where files of several formats are scored together.
FOLLOWS_SCORE = "karat_follows_score"
#: Scores that contradict the positions in no more lists than this are not worth a warning.
MAX_CONTRADICTED_SHARE = 0.01


def order_by_position(frame: pl.DataFrame, blocks: Blocks, follow_scores: bool | pl.Series) -> pl.DataFrame:
    """The rows of runs with scores that put each list in its order.

    Where all scores of a list are equal, its positions decide. Where scores and positions contradict each other,
    positions decide, except in the lists in which to `follow_scores` (TREC run files): a mask of rows, or all of them.
    The scores that do not count are in the column `score_not_used`.
    """
    contradicted, tied = _compare_orders(frame, blocks)
    if not isinstance(follow_scores, bool):
        followed = np.zeros(len(tied), bool)
        followed[blocks.of_row[follow_scores.to_numpy()]] = True
        contradicted &= ~followed
    elif follow_scores:
        contradicted[:] = False
    lists = contradicted | tied
    if not lists.any():
        return frame
    rows, score = pl.Series(lists[blocks.of_row]), pl.col("score")
    before = pl.col(SCORE_NOT_USED) if SCORE_NOT_USED in frame.columns else pl.lit(None, pl.Float64)
    return frame.with_columns(
        pl.when(rows).then(-pl.col("rank").cast(pl.Float64)).otherwise(score).alias("score"),
        pl.when(rows).then(score).otherwise(before).alias(SCORE_NOT_USED),
    )


def with_given_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of runs with the scores that were given, whether or not they put the lists in order."""
    if SCORE_NOT_USED not in frame.columns:
        return frame
    return frame.with_columns(pl.coalesce(SCORE_NOT_USED, "score").alias("score")).drop(SCORE_NOT_USED)


@dataclass(frozen=True)
class ListOrders:
    """How many lists have positions beside scores, and what decided where the two disagree."""

    lists: int = 0
    #: Lists in which scores contradict positions, by what decided.
    by_position: int = 0
    by_score: int = 0
    #: Lists whose scores are all equal, so that positions decided.
    tied: int = 0

    @classmethod
    def of(cls, runs: Runs) -> ListOrders:
        """Count the lists of runs that were read.

        >>> from karat.records import Runs
        >>> columns = {"query": ["q", "q"], "doc": ["a", "b"], "rank": [1, 2], "score": [0.5, 0.9]}
        >>> ListOrders.of(Runs.of(columns))
        ListOrders(lists=1, by_position=1, by_score=0, tied=0)
        """
        if not {"rank", "score"} <= {*runs.frame.columns} or runs.frame["rank"].null_count():
            return cls()
        blocks = runs.blocks
        contradicted, _ = _compare_orders(runs.frame, blocks)
        by_position = tied = 0
        if SCORE_NOT_USED in runs.frame.columns:
            replaced = runs.frame[SCORE_NOT_USED].is_not_null().to_numpy()
            if replaced.any():
                given = with_given_scores(runs.frame)
                was_contradicted, was_tied = _compare_orders(given, blocks)
                ordered = np.zeros(len(was_tied), bool)
                ordered[blocks.of_row[replaced]] = True
                by_position, tied = int((ordered & was_contradicted).sum()), int((ordered & was_tied).sum())
        return cls(int((blocks.sizes > 1).sum()), by_position, int(contradicted.sum()), tied)

    def __add__(self, other: ListOrders) -> ListOrders:
        return ListOrders(
            self.lists + other.lists,
            self.by_position + other.by_position,
            self.by_score + other.by_score,
            self.tied + other.tied,
        )

    @property
    def notes(self) -> list[str]:
        """What decided the order, in sentences.

        >>> ListOrders(lists=50, by_score=12).notes[0].partition(";")[0]
        'scores and positions disagree in 12 of 50 lists: ordered by score, as trec_eval does'
        """
        notes = list[str]()
        if self.by_position:
            notes.append(
                Caution(
                    f"scores and positions disagree in {_of(self.by_position, self.lists)}: ordered by position; "
                    "leave the position column out to order by score"
                )
            )
        if self.by_score > MAX_CONTRADICTED_SHARE * self.lists:
            how = "ordered by score, as trec_eval does; convert the run to CSV to order by position"
            notes.append(Caution(f"scores and positions disagree in {_of(self.by_score, self.lists)}: {how}"))
        if self.tied:
            notes.append(
                Caution(
                    f"all scores are equal in {_of(self.tied, self.lists)}: ordered by position, where trec_eval "
                    "orders by document id"
                )
            )
        return notes


def _of(some: int, lists: int) -> str:
    return f"{some:,} of {count(lists, 'list')}"


def _compare_orders(frame: pl.DataFrame, blocks: Blocks) -> tuple[Bools, Bools]:
    """The lists whose scores contradict their positions, and those whose scores are all equal and positions are not.

    Scores contradict positions where a document has a better position than another one, and a lower score.
    """
    rank, score = frame["rank"].to_numpy(), frame["score"].to_numpy()
    lists = blocks.of_row
    if not blocks.together:
        rows = np.argsort(lists, kind="stable")
        rank, score, lists = rank[rows], score[rows], lists[rows]
    number = blocks.keys.height
    contradicted = np.zeros(number, bool)
    within = lists[1:] == lists[:-1]
    regular = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
    moves = _lists_of(within & (rank[1:] != rank[:-1]), lists, number)
    differs = _lists_of(within & (score[1:] != score[:-1]), lists, number)
    # Nearly all lists stand in the order of their positions with falling scores: only the others are sorted.
    doubtful = _lists_of(within & ~regular, lists, number) & moves & differs
    if doubtful.any():
        some = doubtful[lists]
        rank, score, lists = rank[some], score[some], lists[some]
        rows = np.lexsort((-score, rank, lists))
        rank, score, lists = rank[rows], score[rows], lists[rows]
        rises = (lists[1:] == lists[:-1]) & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
        contradicted = _lists_of(rises, lists, number)
    return contradicted, moves & ~differs


def _lists_of(pairs: Bools, lists: npt.NDArray[np.int32], number: int) -> Bools:
    """The lists with such a pair of neighbouring rows."""
    found = np.zeros(number, bool)
    found[lists[1:][pairs]] = True
    return found
