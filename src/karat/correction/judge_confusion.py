"""The judge's confusion: how often each true grade gets each label, from a gold sample, whatever it was drawn by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.confusion_matrix import ConfusionMatrix
from karat.correction.error_rates import checked_table
from karat.correction.gold_sample import NO_PROBABILITY, Gold
from karat.errors import BadInput, Undefined
from karat.labels import consensus, split_gold
from karat.labels.scale_check import other_scale
from karat.records import Judgments, LabelsLike, Runs, RunsLike, Scale
from karat.records.result import ResultBase, rows_of
from karat.records.runs import joined, ranked
from karat.records.table import count
from karat.stats import check_level
from karat.stats.rogan_gladen import half_width, wilson

#: Ranks for which the distribution of true grades is shown.
DEPTH = 10


def grades_by_rank(
    labels: pl.DataFrame, runs: Runs, table: pl.DataFrame, *, depth: int = DEPTH, level: float = 0.95
) -> tuple[pl.DataFrame, list[str]]:
    """The share of each true grade at each rank of each system, with its interval; where it cannot be, a note why.

    `labels` has one label per document (query, doc, label), `table` the shares of labels for each grade. The shares
    seen at a rank, times the inverse of the confusion matrix. The interval is for queries like these and a judge known
    from so many gold labels, and is cut at 0 and 1.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), equation (17).
    """
    try:
        whole = checked_table(table)
        grades = whole["grade"].unique().sort().to_numpy()
        shares = whole["share"].to_numpy().reshape(len(grades), len(grades))
        n = whole.group_by("grade").agg(pl.col("n").first()).sort("grade")["n"].to_numpy()
        matrix = ConfusionMatrix(grades, shares / shares.sum(axis=1, keepdims=True), n, n, n)
        matrix.check()
    except (BadInput, Undefined) as why:
        return pl.DataFrame(), [f"no true grades by rank: {why}"]
    seen = ranked(runs, depth).join(labels.select("query", "doc", "label"), on=["query", "doc"]).drop_nulls("label")
    inverse = np.linalg.inv(matrix.shares.T)
    rows = []
    for (system, rank), part in seen.group_by(["system", "rank"], maintain_order=True):
        at = np.searchsorted(grades, part["label"].to_numpy())
        by_labels = np.bincount(at, minlength=len(grades)) / part.height
        truth = inverse @ by_labels
        spread = (np.diag(by_labels) - np.outer(by_labels, by_labels)) / max(part.height - 1, 1)
        for k, share in enumerate(truth):
            spread = spread + share**2 * matrix.row_covariance(k)
        error = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse.T), 0.0))
        half = np.asarray(half_width(error, level, max(part.height - 1.0, 1.0)))
        for k, grade in enumerate(grades):
            ends = float(np.clip(truth[k] - half[k], 0, 1)), float(np.clip(truth[k] + half[k], 0, 1))
            rows.append((system, rank, float(grade), float(by_labels[k]), float(truth[k]), *ends, part.height))
    names = ["system", "rank", "grade", "by_labels", "corrected", "low", "high", "n_queries"]
    by_rank = pl.DataFrame(rows, schema=names, orient="row").sort("system", "rank", "grade")
    outside = by_rank.filter((pl.col("corrected") < 0) | (pl.col("corrected") > 1)).height
    notes = []
    if outside:
        notes.append(f"{count(outside, 'corrected share')} below 0 or above 1: too few labels for single ranks")
    return by_rank, notes


DRAWN_HOW = (
    "the gold labels do not say with which probability they were drawn: right if what label a document had did not "
    "matter to the draw"
)


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(ResultBase):
    """How often documents of each gold grade get each label.

    - `frame`: a row per gold grade and label, with the `share` of the grade's documents, its interval, and `n`, the
      gold labels it rests on (each counts as often as it stands for others);
    - `accuracy`: how often judges are right on relevant documents (mR of nR) and on the others (mN of nN), the counts
      that `karat correct` takes; as many as would tell as much if they had been drawn uniformly;
    - `by_rank`: the distribution of true grades at each rank of the runs, solved from the labels' (`grades_by_rank`).
    """

    frame: pl.DataFrame
    accuracy: pl.DataFrame
    by_rank: pl.DataFrame
    n_gold: int
    level: float = 0.95
    notes: tuple[str, ...] = ()
    scale: Scale | None = None

    columns = ("grade", "label", "share", "low", "high", "n")

    @property
    def finding(self) -> str:
        """How often the judge is right, in a sentence."""
        right = self.frame.filter(pl.col("grade") == pl.col("label"))
        named = (lambda grade: f"{grade:g}") if self.scale is None else self.scale.name
        shares = right.select("grade", "share").iter_rows()
        told = ", ".join(f"{share * 100:.0f} % of grade {named(grade)}" for grade, share in shares)
        return f"The labels are right on {told} ({count(self.n_gold, 'gold label')})."

    def to_frame(self) -> pl.DataFrame:
        """A row per gold grade and label."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The confusion as one document."""
        return {
            "finding": self.finding,
            "rows": rows_of(self.frame),
            "accuracy": rows_of(self.accuracy),
            "by_rank": rows_of(self.by_rank),
            "notes": list(self.notes),
        }

    def matrix(self) -> pl.DataFrame:
        """The shares as a square: gold grades down, labels across."""
        return self.frame.pivot("label", index="grade", values="share")


def confusion(
    labels: LabelsLike,
    gold: LabelsLike | None = None,
    runs: RunsLike | None = None,
    *,
    rel: float = 1.0,
    depth: int = DEPTH,
    level: float = 0.95,
) -> Confusion:
    """How often each true grade gets each label, from the documents that gold labels, too.

    >>> labels = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "b": 1}}
    >>> gold = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1, "b": 0}}
    >>> confusion(labels, gold).matrix().rows()
    [(0.0, 0.3333333333333333, 0.6666666666666666), (1.0, 0.0, 1.0)]

    Gold labels count by the probability with which they were drawn. Intervals are Wilson's, for as many labels as tell
    as much when documents of one query may be misjudged alike. `rel` is the grade from which a document is relevant.
    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), sections 3 and 5.
    """
    check_level(level)
    judged, inside = split_gold(Judgments.of(labels), None if gold is None else Judgments.of(gold), given_stands=True)
    if inside is None:
        raise BadInput.at(
            "the confusion",
            expected="gold labels",
            found="none",
            remedy=advise("give them with --gold", "give them with gold="),
        )
    known, one_each = Gold.of(inside), consensus(judged, apart=())
    pair = ["query", "doc"]
    both = one_each.frame.select(*pair, "label").join(
        known.frame.select(*pair, gold="label", weight=1 / pl.col("probability").fill_null(1.0)), on=pair
    )
    if not both.height:
        raise Undefined("no document has both a label and a gold label")
    notes = [*one_each.notes, *(DRAWN_HOW if note == NO_PROBABILITY else note for note in known.notes)]
    strange = other_scale(one_each.frame["label"], known.frame["label"])
    notes += [strange] if strange else []
    grades = np.union1d(both["gold"].to_numpy(), one_each.frame["label"].drop_nulls().to_numpy())
    rows = [
        (float(g), float(b), *_share(both.filter(pl.col("gold") == g), pl.col("label") == b, level))
        for g in np.unique(both["gold"])
        for b in grades
    ]
    frame = pl.DataFrame(rows, schema=["grade", "label", "share", "low", "high", "n", "effective"], orient="row")
    relevant = pl.col("gold") >= rel
    sides = (("relevant", relevant, pl.col("label") >= rel), ("not relevant", ~relevant, pl.col("label") < rel))
    right = [(name, *_share(both.filter(which), agrees, level)) for name, which, agrees in sides]
    accuracy = pl.DataFrame(right, schema=["documents", "right", "low", "high", "n", "effective"], orient="row")
    agreed = (pl.col("right").fill_nan(0.0) * pl.col("effective")).round()
    of = pl.col("effective").round()
    accuracy = accuracy.with_columns(counts=pl.format("{}/{}", agreed.cast(pl.Int64), of.cast(pl.Int64)))
    by_rank = pl.DataFrame()
    if runs is not None:
        by_rank, more = grades_by_rank(one_each.frame, joined(runs), frame, depth=depth, level=level)
        notes += more
    return Confusion(frame, accuracy, by_rank, both.height, level, tuple(notes), judged.scale)


def _share(rows: pl.DataFrame, which: pl.Expr, level: float) -> tuple[float, float, float, int, float]:
    """A weighted share with Wilson's interval, the labels behind it, and as how many independent ones they count."""
    if not rows.height:
        return np.nan, np.nan, np.nan, 0, 0.0
    hit = rows.select(which.cast(pl.Float64)).to_series().to_numpy()
    weight, query = rows["weight"].to_numpy(), rows["query"].rank("dense").to_numpy() - 1
    share, whole = float((weight * hit).sum() / weight.sum()), float(weight.sum())
    effective = whole**2 / float((weight**2).sum())
    clusters = int(query.max()) + 1
    spread = share * (1 - share)
    if clusters > 1 and spread > 0:
        off = np.bincount(query.astype(np.int64), weight * (hit - share)) / whole
        variance = float((off**2).sum()) * clusters / (clusters - 1)
        # Where every query has the same share there is nothing to hold against their independence.
        effective = min(effective, spread / variance) if variance > 0 else effective
    low, high = wilson(share, effective, level)
    return share, float(low), float(high), rows.height, effective
