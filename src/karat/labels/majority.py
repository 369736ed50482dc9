"""One label per document from several judges: the grade that most of them gave."""

from __future__ import annotations

import polars as pl

from karat.errors import BadInput
from karat.records import Judgments
from karat.records.base import count, repeats

#: What a label belongs to; whatever else a judgment has is about who gave it, and how.
ITEM = ("query", "doc", "subtopic", "context")


def majority(judgments: Judgments) -> Judgments:
    """The most frequent label of each document; of grades given equally often, the lowest.

    >>> majority(Judgments.of([
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...     {"query": "q", "doc": "d", "label": 0, "judge": "bob"},
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "eve"}])).frame.row(0)
    ('q', 'd', 2.0)

    A document has to earn its grade: where two judges differ, the lower one stands. Judgments of single aspects
    and of snippets are left aside when overall judgments of pages are there. It takes all judges for equally good;
    an error model does not.
    """
    frame, notes = _overall(judgments)
    key = [name for name in ITEM if name in frame.columns]
    given = frame.drop_nulls("label")
    # Who could not tell has a name; what has none waits for a label.
    asked = frame.drop_nulls("judge") if "judge" in frame.columns else frame
    silent = asked["label"].null_count()
    # Without a column that tells judgments of one document apart, the check on entry left one each.
    if not {"judge", "group", "aspect", "surface", "time"} & {*frame.columns} or not repeats(given, key).any():
        labels, tied = given.select(*key, "label"), 0
    else:
        if "judge" in given.columns:
            # A judge has one vote for a label, however often it was cast; the nameless are taken for different people.
            named = given.filter(pl.col("judge").is_not_null())
            once = named.unique([*key, "label", "judge", *(["group"] if "group" in given.columns else [])])
            if once.height < named.height:
                notes.append(f"{count(named.height - once.height, 'label')} repeated by the same judge counted once")
            given = pl.concat([once, given.filter(pl.col("judge").is_null())])
        votes = given.group_by(*key, "label").len("votes")
        votes = votes.filter(pl.col("votes") == pl.col("votes").max().over(key))
        tied = votes.filter(votes.select(key).is_duplicated()).select(key).n_unique()
        labels = votes.group_by(key).agg(pl.col("label").min()).sort(key)
        notes.append(
            f"{count(given.height, 'label')} of {count(labels.height, 'document')}: the majority counts"
            + (f", and the lower grade in {count(tied, 'tie')}" if tied else "")
        )
    if silent:
        notes.append(f"{count(silent, 'answer')} without a label (can't tell) left aside")
    return Judgments(labels, (*judgments.notes, *notes), judgments.scale)


def _overall(judgments: Judgments) -> tuple[pl.DataFrame, list[str]]:
    """The judgments of a page's relevance as a whole, and what was left aside."""
    frame, notes = judgments.frame, []
    for column, whole in (("aspect", "overall"), ("surface", "page")):
        if column not in frame.columns:
            continue
        kept = frame.filter(pl.col(column).fill_null(whole) == whole)
        if frame.height and not kept.height:
            raise BadInput.at(
                "the judgments",
                expected=f"some with {column} {whole}",
                found=", ".join(frame[column].unique().sort().to_list()),
                remedy=f"choose the {column} to score by and leave the others out",
            )
        if kept.height < frame.height:
            notes.append(f"{count(frame.height - kept.height, 'judgment')} of another {column} left aside")
        frame = kept
    return frame, notes
