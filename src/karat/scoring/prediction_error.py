"""How far a score may be off because labels in context are predicted: they are drawn anew, so many times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.labels import consensus
from karat.labels.consensus import How
from karat.measures import Measure, Profile, Topics
from karat.measures.lists import match_batches
from karat.records import Judgments, Runs
from karat.scoring.weight_error import SCHEMA
from karat.stats.arrays import Floats

#: A column with what a predicted label may have been instead: karat context labels --redraws makes them.
DRAW = re.compile(r"draw_\d+")
#: What is said of scores whose intervals hold more than the queries' chance.
DRAWN = "intervals in context allow for labels that are predicted, which were drawn anew {} times"


@dataclass(frozen=True, eq=False)
class Redrawn:
    """The labels as they may have been, laid out once for each time that they were drawn."""

    topics: tuple[Topics, ...]
    #: The queries that the model learnt from, 0 where the labels do not tell.
    taught: int

    @property
    def df(self) -> float:
        """How much is known of the prediction's error, in degrees of freedom.

        A variance from n queries has a relative variance of 2/(n - 1), and one from m pairs of draws of 2/m.
        """
        return 1 / ((1 / (self.taught - 1) if self.taught > 1 else 0.0) + 2 / len(self.topics))

    @classmethod
    def of(cls, labels: Judgments, how: How, **given: Any) -> Redrawn | None:
        """The labels with predicted ones drawn anew; none where no column has such draws."""
        names = sorted(
            (n for n in labels.frame.columns if DRAW.fullmatch(n)), key=lambda n: int(n.removeprefix("draw_"))
        )
        if not names or not labels.has("context"):
            return None
        if len(names) % 2:
            source = advise("karat context labels --redraws", "label_in_context(..., redraws=...)")
            expected = f"an even number of them: they come in pairs, as {source} writes them"
            raise BadInput.at("the columns draw_1, draw_2, ...", expected=expected, found=str(len(names)))
        made = []
        for name in names:
            drawn = pl.coalesce(pl.col(name).cast(pl.Float64, strict=False), "label").alias("label")
            counted = consensus(replace(labels, frame=labels.frame.with_columns(drawn).drop(names)), how)
            made.append(Topics.of(counted, **given))
        taught = labels.frame.filter(pl.col("context").is_not_null() & pl.col(names[0]).is_null())
        if "source" in taught.columns:
            taught = taught.filter(pl.col("source") == "judged")
        return cls(tuple(made), taught["query"].n_unique())

    def scores(
        self, batches: Sequence[Runs], measures: Sequence[Measure], profile: Profile, complete: bool
    ) -> list[pl.DataFrame]:
        """Every query's scores (system, query and a column for each measure), once for each time."""
        found = []
        for topics in self.topics:
            lists = match_batches(batches, topics, profile, complete)[0]
            found.append(lists.keys.with_columns(pl.Series(str(one), one.score(lists)) for one in measures))
        return found


def in_context(measures: Sequence[Measure]) -> list[Measure]:
    """The measures that look at labels in context."""
    return [measure for measure in measures if getattr(measure, "context", 0) > 0]


def moved(scores: Sequence[pl.DataFrame], queries: pl.DataFrame, measure: str, systems: Sequence[str]) -> Floats:
    """How far each system's mean over these queries is off when labels are drawn anew: times x systems."""
    found = np.empty((len(scores), len(systems)))
    for place, drawn in enumerate(scores):
        both = queries.select("system", "query", old=measure).join(
            drawn.select("system", "query", new=measure), on=["system", "query"]
        )
        means = both.group_by("system").agg((pl.col("new") - pl.col("old")).fill_nan(None).mean().alias("off"))
        off = dict(means.iter_rows())
        found[place] = [off.get(system) or 0.0 for system in systems]
    return found


def prediction_covariance(off: Floats, taught: int) -> Floats:
    """The covariance that systems' means have from prediction, from how far they are off (times x systems).

    >>> prediction_covariance(np.array([[0.3], [0.1], [0.2], [0.2]]), 0).round(3).tolist()
    [[0.05]]

    The square of what they are off in the mean (labels that are rounded to the likeliest grade, say), and half the
    squares by which the two of a pair differ, 0.04 + (0.04 / 2 + 0) / 2: what a judge happens to say of each document
    is the same in both and counts with the queries' own chance. Drawing n queries with replacement varies (n - 1)/n as
    much as n new ones do.
    """
    mean = off.mean(axis=0)
    apart = off[0::2] - off[1::2]
    more = taught / (taught - 1) if taught > 1 else 1.0
    found: Floats = np.outer(mean, mean) + more * apart.T @ apart / (2 * len(apart))
    return found


def prediction_errors(
    redrawn: Redrawn, scores: Sequence[pl.DataFrame], measures: Sequence[Measure], counted: pl.DataFrame, level: float
) -> pl.DataFrame:
    """The error of each system's mean, larger where little is known of it, as Student's t is wider than the normal."""
    from scipy.special import ndtri, stdtrit

    wider = float(stdtrit(redrawn.df, 0.5 + level / 2) / ndtri(0.5 + level / 2))
    systems = counted["system"].unique(maintain_order=True).to_list()
    rows = [
        (system, str(measure), wider * float(error))
        for measure in measures
        for system, error in zip(
            systems,
            np.sqrt(np.diag(prediction_covariance(moved(scores, counted, str(measure), systems), redrawn.taught))),
            strict=True,
        )
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
