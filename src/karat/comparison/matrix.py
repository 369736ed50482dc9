"""Every system's score on every query, for the queries that all of them have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Runs
from karat.records.base import count
from karat.scoring import Scorer, Scores
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores by query: a row per query (in the order of their ids), a column per system."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, scorer: Scorer, runs: list[Runs]) -> Matrix:
        """The scores by one measure of the queries that the labels and all runs share."""
        if scorer.measures[0].mean != "arithmetic":
            raise BadInput.at(
                f"the comparison by {scorer.measures[0]}",
                expected="a measure whose mean over queries is an ordinary one",
                found="a count" if scorer.measures[0].mean == "sum" else "a geometric mean",
                remedy="compare by AP, P@10 or nDCG@10; karat score shows the others",
            )
        scores = scorer.score_all(runs)
        if not scorer.profile.leaves_out_empty:
            return cls.of_scores(scores, scores.measures[0])
        good = np.unique(scorer.topics.topic[scorer.topics.label > 0])
        counted = pl.col("query").is_in(scorer.topics.queries["query"][good].to_list())
        return cls.of_scores(replace(scores, queries=scores.queries.filter(counted)), scores.measures[0])

    @classmethod
    def of_scores(cls, scores: Scores, measure: str) -> Matrix:
        """The scores by this measure of the queries that all systems have."""
        if len(scores.systems) < 2:
            raise BadInput.at(
                "the comparison",
                expected="two systems or more",
                found=f"one, {scores.systems[0]}" if scores.systems else "none",
                remedy="name another run, or score this one with karat score",
            )
        frame = scores.queries.select("system", "query", pl.col(measure).alias("value"))
        wide = frame.pivot("system", index="query", values="value").select("query", *scores.systems).sort("query")
        whole = wide.drop_nulls()
        notes = list(scores.notes)
        if whole.height < wide.height:
            lost = count(wide.height - whole.height, "query", "queries")
            notes.append(f"{lost} that not all systems answer left out: only what all have can be compared")
        values = whole.select(scores.systems).to_numpy().astype(np.float64).reshape(whole.height, len(scores.systems))
        defined = ~np.isnan(values).any(axis=1)
        queries = whole["query"].to_numpy()[defined]
        return cls(tuple(scores.systems), tuple(queries.tolist()), values[defined], tuple(notes))
