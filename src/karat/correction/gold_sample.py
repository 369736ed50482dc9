"""Gold labels: what a judge to be trusted said of a sample of documents, and how the sample was drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from karat.errors import BadInput
from karat.labels import consensus, select, split_gold
from karat.labels.gold import read_sampling_probabilities
from karat.records import Judgments
from karat.records.schema import DIFFERENCES
from karat.records.table import count

NO_PROBABILITY = (
    "the gold labels do not say with which probability they were drawn: taken for drawn uniformly from the documents "
    "shown; if they were not, what is corrected with them is not to be trusted (karat plan gold draws and says it)"
)


@dataclass(frozen=True, eq=False)
class Gold:
    """One gold label per document, with the chance that the document had to be drawn.

    >>> gold = Gold.of(Judgments.of([{"query": "q", "doc": "d", "label": 1, "probability": 0.25}]))
    >>> gold.frame.row(0), gold.has_probability
    (('q', 'd', 1.0, 0.25), True)
    """

    frame: pl.DataFrame  # query, doc, label, probability
    labels: Judgments
    has_probability: bool
    notes: tuple[str, ...]
    #: Whether they were drawn to tell systems apart, and say nothing about what counts alike for all.
    for_differences: bool = False
    #: Rows without a label (query, doc): not yet labelled, never grade 0.
    blank: pl.DataFrame | None = None

    @classmethod
    def of(cls, judgments: Judgments) -> Gold:
        """Gold labels from judgments: of the group gold where there are others, of pages read alone, their median."""
        inside = split_gold(judgments, any_scale=True)[1]
        counted = select(judgments if inside is None else inside, strict=True)
        judgments = replace(judgments, frame=counted.frame, notes=(*judgments.notes, *counted.notes))
        pair = ["query", "doc"]
        given = judgments.frame.drop_nulls("label")
        # A document without any label waits for it, or nobody could tell; both are counted below, and once.
        labels = consensus(
            replace(judgments, frame=judgments.frame.join(given, on=pair, how="semi", maintain_order="left"))
        )
        if not len(labels):
            raise BadInput.at(
                "the gold labels", expected="at least one label", found="none", remedy="fill in the column label"
            )
        notes = list(labels.notes)
        asked = judgments.frame.select(pair).n_unique()
        drawn = read_sampling_probabilities(judgments.frame)
        if drawn is not None:
            frame = labels.frame.join(drawn, on=pair, how="left", maintain_order="left")
            frame, missing = _for_the_missing(frame, judgments)
            if missing:
                notes.append(missing)
        else:
            frame = labels.frame.with_columns(probability=pl.lit(None, dtype=pl.Float64))
            waiting = asked - given.select(pair).n_unique()
            if waiting:
                notes.append(f"{count(waiting, 'document')} of {asked:,} without a gold label (yet) left aside")
            notes.append(NO_PROBABILITY)
        frame = frame.select("query", "doc", "label", "probability")
        apart = judgments.has("drawn_for") and bool((judgments.frame["drawn_for"] == DIFFERENCES).any())
        # Whoever could not tell has a name; a row without label or judge waits for one.
        silent = given.select(pair) if not judgments.has("judge") else judgments.frame.drop_nulls("judge").select(pair)
        blank = judgments.frame.select(pair).unique().join(given, on=pair, how="anti").join(silent, on=pair, how="anti")
        return cls(frame, labels, drawn is not None, tuple(notes), apart, blank.sort(pair))


def _for_the_missing(frame: pl.DataFrame, judgments: Judgments) -> tuple[pl.DataFrame, str]:
    """The labels with their probabilities less what was asked for and has none (yet), in each round; and a note of it.

    As if the labels of a round that are there were drawn from those asked for, all as likely.
    """
    number = pl.col("round") if judgments.has("round") else pl.lit(1)
    asked = judgments.frame.select("query", "doc", round=number).unique(["query", "doc"], keep="first")
    frame = frame.join(asked, on=["query", "doc"], how="left", maintain_order="left")
    there = (
        asked.group_by("round")
        .len("asked")
        .join(frame.group_by("round").len("there"), on="round", how="left", nulls_equal=True)
    )
    there = there.with_columns(pl.col("there").fill_null(0)).filter(pl.col("there") < pl.col("asked"))
    if not there.height:
        return frame.drop("round"), ""
    if (there["there"] == 0).any():
        # The other rounds' probabilities count on these labels.
        raise BadInput.at(
            "the gold labels",
            expected="labels of every round",
            found="a round without any",
            remedy="fill in the column label, or take the file of the round before",
        )
    share = there.select("round", share=pl.col("there") / pl.col("asked"))
    frame = frame.join(share, on="round", how="left", nulls_equal=True, maintain_order="left")
    frame = frame.with_columns(pl.col("probability") * pl.col("share").fill_null(1.0))
    missing, whole = int((there["asked"] - there["there"]).sum()), int(there["asked"].sum())
    note = (
        f"{count(missing, 'drawn document')} of {whole:,} without a gold label (yet): those with one are taken for a "
        "random part of the draw"
    )
    return frame.drop("round", "share"), note
