"""Scores of one bucket of queries, where labels and runs are larger than memory and dealt out by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.labels.facts import NOBODY, Facts
from karat.measures import Measure, Profile
from karat.records import Judgments, Runs, Scale, Source
from karat.records.list_order import FOLLOWS_SCORE
from karat.scoring.scorer import Scorer

#: What the scores of buckets do not tell.
NOT_TOLD = (
    "ties, unjudged documents and judged queries that a run misses are not counted in notes; Judged@10 among the "
    "measures tells how much of the lists is judged. Where scores and positions disagree, TREC run files follow their "
    "scores and other tables their positions"
)


@dataclass(frozen=True)
class Buckets:
    """How the labels and the lists of any bucket of queries are scored, as all of them together would be."""

    facts: Facts
    measures: list[Measure]
    scale: Scale | None
    profile: Profile
    complete: bool
    #: Whether the labels' format has one label for a document, as qrels do.
    one_each: bool

    def score(
        self, labels: pl.DataFrame, source: Source | None, runs: Sequence[tuple[pl.DataFrame, list[str]]]
    ) -> pl.DataFrame:
        """The scores of the queries that count: system, query and a column for each measure.

        Runs come with their systems: where lists are to be complete, each has one for every query, if need be empty.
        """
        schema = {"system": pl.String, "query": pl.String} | {str(measure): pl.Float64 for measure in self.measures}
        if source is not None and source.lines is not None:  # the row that tells the facts stands nowhere
            source = replace(source, lines=source.lines.extend_constant(0, 1))
        judged = Judgments.check(self.facts.told(labels), scale=self.scale, one_each=self.one_each, source=source)
        shown = [(one, systems) for one, systems in runs if one.height or self.complete]
        if not labels.height or not shown:
            for one, _ in runs:
                _checked(one)  # what scoring would refuse
            return pl.DataFrame(schema=schema)
        scorer = Scorer(judged, self.measures, profile=self.profile, complete=self.complete, draws=0)
        found = [scorer.counted_queries(_checked(self._met(*both))) for both in shown]
        return pl.concat([one.filter(pl.col("query") != NOBODY).select(list(schema)) for one in found])

    def _met(self, runs: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
        """The lists of a bucket, and one of each system for the query that nobody asked.

        It has a label, so that lists are met by labels in every bucket, and a system may have no other list here.
        """
        if not self.complete:
            systems = runs["system"].unique().to_list() if "system" in runs.columns else [NOBODY]
        rows: dict[str, Any] = {"query": [NOBODY] * len(systems), "doc": [NOBODY] * len(systems)}
        rows |= {"system": systems} if "system" in runs.columns else {}
        rows |= {name: [1] * len(systems) for name in ("score", "rank") if name in runs.columns}
        whole = [
            pl.Series(name, rows.get(name, [None] * len(systems)), strict=False).cast(kind)
            for name, kind in runs.schema.items()
        ]
        return pl.concat([runs, pl.DataFrame(whole)])


def _checked(runs: pl.DataFrame) -> Runs:
    """The runs of a bucket, the lists of TREC run files in the order of their scores."""
    if FOLLOWS_SCORE not in runs.columns:
        return Runs.check(runs)
    return Runs.check(runs.drop(FOLLOWS_SCORE), follow_scores=runs[FOLLOWS_SCORE].fill_null(False))


def nothing_in_common(runs: str) -> BadInput:
    """The error for runs that meet no label in any bucket."""
    return BadInput.at(
        f"{runs} and the labels",
        expected="queries in common",
        found="none",
        remedy="are the ids of queries spelled alike?",
    )
