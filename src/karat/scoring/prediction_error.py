"""How far a score may be off because labels in context are predicted: they are drawn anew, so many times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

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

    @classmethod
    def of(cls, labels: Judgments, how: How, **given: Any) -> Redrawn | None:
        """The labels with predicted ones drawn anew; none where no column has such draws."""
        names = [name for name in labels.frame.columns if DRAW.fullmatch(name)]
        if not names or not labels.has("context"):
            return None
        made = []
        for name in names:
            drawn = pl.coalesce(pl.col(name).cast(pl.Float64, strict=False), "label").alias("label")
            counted = consensus(replace(labels, frame=labels.frame.with_columns(drawn).drop(names)), how)
            made.append(Topics.of(counted, **given))
        return cls(tuple(made))

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


def prediction_errors(
    scores: Sequence[pl.DataFrame], measures: Sequence[Measure], counted: pl.DataFrame
) -> pl.DataFrame:
    """The error of each system's mean: the root of the mean square by which it is off, bias and chance together."""
    systems = counted["system"].unique(maintain_order=True).to_list()
    rows = [
        (system, str(measure), float(error))
        for measure in measures
        for system, error in zip(
            systems, np.sqrt((moved(scores, counted, str(measure), systems) ** 2).mean(axis=0)), strict=True
        )
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
