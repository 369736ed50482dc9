"""Every system's score on every judged query; a query that a system misses counts 0."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.records import Runs
from karat.records.result import Caution
from karat.scoring import Scorer, Scores
from karat.scoring.label_coverage import COVERAGE
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores by query: a row per query (in the order of their ids), a column per system.

    `judged` is the number of queries to compare on, and `missing` says how many of them each system does not answer.
    These count 0, unless the comparison is on the `common_queries` only.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    notes: tuple[str, ...]
    judged: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    common_queries: bool = False
    #: How well the labels cover each system, as in `Scores`.
    coverage: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COVERAGE))

    @classmethod
    def of(cls, scorer: Scorer, runs: list[Runs], *, common_queries: bool = False) -> Matrix:
        """The scores by one measure of all judged queries, or only of those that all systems answer.

        The scorer has to be `complete` unless only the common queries count.
        """
        if scorer.measures[0].mean != "arithmetic":
            raise BadInput.at(
                f"the comparison by {scorer.measures[0]}",
                expected="a measure whose mean over queries is an ordinary one",
                found="a count" if scorer.measures[0].mean == "sum" else "a geometric mean",
                remedy=f"compare by AP, P@10 or nDCG@10; {advise('karat score', 'score')} shows the others",
            )
        scores = scorer.score_all(runs)
        judged = scorer.topics.queries["query"]
        if scorer.profile.leaves_out_empty:
            judged = judged[np.unique(scorer.topics.topic[scorer.topics.label > 0])]
        answered = pl.concat([run.blocks.keys for run in runs]).filter(pl.col("query").is_in(judged.implode()))
        counted = replace(scores, queries=scores.queries.filter(pl.col("query").is_in(judged.implode())))
        return cls._of(counted, scores.measures[0], judged, answered, common_queries)

    @classmethod
    def of_scores(cls, scores: Scores, measure: str, *, common_queries: bool = False) -> Matrix:
        """The scores by this measure of all queries that some system has, or only of those that all have."""
        judged = scores.queries["query"].unique()
        return cls._of(scores, measure, judged, scores.queries.select("system", "query"), common_queries)

    @classmethod
    def _of(
        cls, scores: Scores, measure: str, judged: pl.Series, answered: pl.DataFrame, common_queries: bool
    ) -> Matrix:
        """The matrix on the `judged` queries; `answered` has the queries that each system answers."""
        if len(scores.systems) < 2:
            raise BadInput.at(
                "the comparison",
                expected="two systems or more",
                found=f"one, {scores.systems[0]}" if scores.systems else "none",
                remedy="name another run, or score this one with karat score",
            )
        queries, systems = judged.sort(), scores.systems
        values = _wide(scores.queries.select("system", "query", value=measure), queries, systems)
        there = ~np.isnan(_wide(answered.select("system", "query", value=pl.lit(1.0)), queries, systems))
        # A measure may be undefined for an empty ranking, as Judged@10 is, and a table of scores has no row for it.
        values = np.where(np.isnan(values) & ~there & there.any(axis=1, keepdims=True), 0.0, values)
        kept = ~np.isnan(values).any(axis=1) & (there.all(axis=1) | (not common_queries))
        missing = dict(zip(systems, (~there).sum(axis=0).tolist(), strict=True))
        notes, nowhere = list(scores.notes), int((~there.any(axis=1)).sum())
        if nowhere and not common_queries:
            are, it = ("query is", "it") if nowhere == 1 else ("queries are", "them")
            option = advise("--common-queries", "common_queries=True")
            notes.append(
                Caution(
                    f"{nowhere:,} judged {are} missing from every run and counted as 0 for all systems; if the systems "
                    f"were not asked, {option} leaves {it} out"
                )
            )
        named = tuple(queries.filter(pl.Series(kept)).to_list())
        return cls(
            tuple(systems), named, values[kept], tuple(notes), len(queries), missing, common_queries, scores.coverage
        )


def _wide(rows: pl.DataFrame, queries: pl.Series, systems: list[str]) -> Floats:
    """The value of each query (rows) and system (columns); NaN where there is none."""
    place = pl.DataFrame({"query": queries, "row": np.arange(len(queries))})
    column = pl.DataFrame({"system": systems, "column": np.arange(len(systems))})
    found = rows.join(place, on="query").join(column, on="system")
    values = np.full((len(queries), len(systems)), np.nan)
    values[found["row"].to_numpy(), found["column"].to_numpy()] = found["value"].to_numpy()
    return values
