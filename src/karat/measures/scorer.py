"""Plain scores: the mean over queries, labels taken as they are, with a bootstrap interval over queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import consensus as one_each
from karat.labels import split_gold
from karat.labels.consensus import How
from karat.labels.label_table import NOBODY, Facts
from karat.labels.selection import select
from karat.measures import Measure, Profile, Topics, as_measures, match, profile_named
from karat.measures.cascade import Cascade
from karat.measures.estimated_inputs import (
    DRAWN,
    SCHEMA,
    Redrawn,
    asks_users,
    prediction_errors,
    weight_covariance,
    weight_errors,
    weights_of_users,
    widened,
)
from karat.measures.estimated_inputs import in_context as measures_in_context
from karat.measures.label_coverage import label_coverage, unequal_shares
from karat.measures.rankings import Lists, match_batches
from karat.measures.score_notes import made_labels, notes_on, on_made_labels
from karat.measures.scores import FEWEST_DRAWS, Scores
from karat.measures.topics import UserWeights
from karat.records import Judgments, Queries, Runs, Scale, Source
from karat.records.list_order import FOLLOWS_SCORE, ListOrders
from karat.records.result import Caution
from karat.stats import Resampling
from karat.stats.arrays import Floats

#: Labels with a probability are of documents that were drawn: the rest would count as not relevant.
OF_A_SAMPLE = Caution(
    "the labels are of a sample (they have a probability): give them as gold labels, beside labels of everything"
)
#: What is said of scores whose intervals hold more than the queries' chance.
WEIGHED = "intervals by udm gains allow for the weights, too, which are estimates"


@dataclass(frozen=True, eq=False)
class ScoredQueries:
    """What some systems scored on every query, before means are taken."""

    queries: pl.DataFrame  # system, query and a column for each measure
    counted: pl.Series  # which rows count for the means
    systems: list[str]
    notes: list[str]
    #: How many judged queries there are, and how many of them each system misses.
    coverage: pl.DataFrame
    #: What the means have to fear from weights of users that are estimates: system, measure, error.
    errors: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))

    def renamed(self, names: dict[str, str]) -> ScoredQueries:
        """The same under other names of the systems."""
        return replace(
            self,
            queries=self.queries.with_columns(pl.col("system").replace(names)),
            coverage=self.coverage.with_columns(pl.col("system").replace(names)),
            errors=self.errors.with_columns(pl.col("system").replace(names)),
            systems=[names.get(system, system) for system in self.systems],
            notes=[_renamed(note, names) for note in self.notes],
        )


def _of_a_sample(labels: Judgments) -> bool:
    """Whether the labels that count were drawn, so that documents like theirs have none.

    Where documents were judged in context, too, the probability is that of a plan of contexts (`karat plan context`):
    it draws what is asked beside the documents that every query has a label of, and those labels are no gold.
    """
    if not labels.has("probability") or labels.has("context"):
        return False
    counted = select(labels, ("subtopic",)).frame.drop_nulls("label")
    return bool((counted["probability"] < 1).any())


def _renamed(note: str, names: dict[str, str]) -> str:
    """A note with the new name of the system that it is about."""
    for old, new in names.items():
        if note.startswith(f"{old}: "):
            return type(note)(f"{new}: {note.removeprefix(f'{old}: ')}")
    return note


def _counted(batches: Iterable[Runs], orders: list[ListOrders]) -> Iterator[Runs]:
    """The batches, each counted by what orders its lists."""
    for runs in batches:
        orders.append(ListOrders.of(runs))
        yield runs


class Scorer:
    """Scores runs one after another against the same labels, which are laid out once.

    >>> labels = Judgments.of({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}})
    >>> scorer = Scorer(labels, ["P@1", "RR"], draws=0)
    >>> scorer.score(Runs.of({"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}}, system="mine"))
    mine has P@1 0.5000 over 2 queries.
    Warning: mine: 50% of the top 1 have no label and count as not relevant.
      mine: P@1 0.5000, RR 0.5000
    """

    def __init__(
        self,
        labels: Judgments,
        measures: object,
        *,
        consensus: How = "median",
        profile: str | Profile = "trec_eval",
        complete: bool = False,
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 0,
        weights: Queries | None = None,
        user_weights: UserWeights | None = None,
        comparing: bool = False,
    ) -> None:
        #: The labels as they were given, with all their columns; `labels` are those that count.
        self.given = labels
        self.measures = as_measures(measures)
        if not self.measures:
            raise BadInput.at("the measures", expected="at least one, such as nDCG@10", found="none")
        Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
        self.profile = profile_named(profile)
        self.complete, self.level, self.draws, self.seed = complete, level, draws, seed
        self._comparing = comparing
        # Labels in context are of use only to measures that look at the document above.
        in_context = any(getattr(measure, "context", 0) for measure in self.measures)
        apart = ("context", "subtopic") if in_context else ("subtopic",)
        self.labels = one_each(labels, consensus, apart=apart)
        labels = split_gold(labels, any_scale=True)[0]
        if _of_a_sample(labels):
            self.labels = replace(self.labels, notes=(*self.labels.notes, OF_A_SAMPLE))
        if not len(self.labels):
            raise BadInput.at("the labels", expected="at least one label", found="none")
        user_weights, notes = weights_of_users(labels, self.measures, user_weights)
        self.labels = replace(self.labels, notes=tuple(dict.fromkeys((*self.labels.notes, *notes))))
        self._user_weights = user_weights
        self.topics = Topics.of(self.labels, weights, user_weights)
        if labels.scale is None and any(labels.has(name) for name in ("judge", "group", "context")):
            # The highest grade is the highest label that anybody gave, alone or in context, whether or not it is the
            # consensus and whether or not a measure here reads labels in context.
            highest = replace(labels, frame=select(labels, ("context", "subtopic")).frame).top
            self.topics = replace(self.topics, top=None if highest is None else max(highest, 0.0))
        self._made = made_labels(labels)
        given = {"weights": weights, "user_weights": user_weights}
        self.redrawn = Redrawn.of(labels, consensus, **given) if in_context else None

    def by(self, measure: Measure) -> Scorer:
        """The same scorer for one of its measures."""
        one = copy(self)
        one.measures = [measure]
        return one

    def graded_to(self, top: float) -> Scorer:
        """The same scorer with another top grade of the scale: that of the gold labels."""
        one = copy(self)
        one.topics = replace(self.topics, top=max(top, 0.0), _memo={})
        return one

    def with_labels_for(self, docs: pl.DataFrame) -> Scorer:
        """The same scorer where these documents (query, doc) have the top grade, for all subtopics of their query."""
        top = self.topics.top if self.topics.top is not None and self.topics.top > 0 else 1.0
        frame = self.labels.frame.join(docs, on=["query", "doc"], how="anti", maintain_order="left")
        more = docs.with_columns(label=pl.lit(top))
        if any(measure.diverse for measure in self.measures) and self.labels.has("subtopic"):
            subtopics = frame.select("query", "subtopic").drop_nulls().unique(maintain_order=True)
            more = more.join(subtopics, on="query", how="left", maintain_order="left")
        one, frame = copy(self), pl.concat([frame, more], how="diagonal_relaxed")
        topics = Topics.of(replace(self.labels, frame=frame), self.topics._weights, self._user_weights)
        one.topics = replace(topics, top=top)
        return one

    def score(self, runs: Runs) -> Scores:
        """The scores of every system in these runs."""
        return self.score_all([runs])

    def score_all(self, runs: Iterable[Runs]) -> Scores:
        """The scores of every system in each of these runs."""
        return self.scores([self.by_query([one]) for one in runs])

    def by_query(self, batches: Iterable[Runs]) -> ScoredQueries:
        """Every query's scores of runs that come in batches, each list whole in one of them."""
        once = self._made is None and self.redrawn is None
        batches = batches if once else list(batches)  # they are looked at more than once
        orders = list[ListOrders]()
        lists, systems = match_batches(_counted(batches, orders), self.topics, self.profile, self.complete)
        queries, counted = self._by_query(lists)
        values = queries.select(str(measure) for measure in self.measures).to_numpy()
        notes = [
            *(measure.understood for measure in self.measures if measure.understood),
            *self.labels.notes,
            *self.topics_notes(),
            *self._order_notes(orders, systems),
            *notes_on(lists, values, systems, self.measures, self.complete, comparing=self._comparing),
            *self._made_notes(batches),
        ]
        errors = weight_errors(self._user_weights, self.measures if self.draws else (), lists, queries, counted)
        if errors.height and errors["error"].sum() > 0:
            notes.append(WEIGHED)
        if self.redrawn is not None and self.draws:
            errors = pl.concat([errors, self._off(list(batches), queries.filter(counted))])
            notes.append(DRAWN.format(len(self.redrawn.topics)))
        coverage = label_coverage(lists, systems, self.measures, self.profile)
        return ScoredQueries(queries, counted, systems, notes, coverage, errors)

    def weight_covariance(self, runs: Runs, queries: Sequence[str], systems: Sequence[str]) -> Floats | None:
        """The covariance of these systems' means over these queries that the weights of users make; None without any.

        It is that of the first measure.
        """
        if not asks_users(self._user_weights, self.measures[0]):
            return None
        lists = match(runs, self.topics, self.profile, self.complete)
        table, counted = self._by_query(lists)
        kept = counted & table["query"].is_in(list(queries))
        found = weight_covariance(self._user_weights, self.measures[0], lists, table, kept)
        if found is None:
            return None
        order = [found[0].index(system) for system in systems]
        covariance: Floats = found[1][np.ix_(order, order)]
        return covariance

    def scores(self, parts: Sequence[ScoredQueries]) -> Scores:
        """Means and intervals of all systems of these parts."""
        found = Scores.of_queries(
            pl.concat([part.queries for part in parts]),
            [str(measure) for measure in self.measures],
            systems=[system for part in parts for system in part.systems],
            counted=pl.concat([part.counted for part in parts]),
            profile=self.profile.name,
            level=self.level,
            draws=self.draws,
            seed=self.seed,
            notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
        )
        errors = pl.concat([part.errors for part in parts])
        coverage = pl.concat([part.coverage for part in parts])
        apart = [] if self._comparing else unequal_shares(coverage)
        notes = tuple(dict.fromkeys((*found.notes, *apart)))
        return replace(found, means=widened(found.means, errors, self.level), coverage=coverage, notes=notes)

    def counted_queries(self, runs: Runs) -> pl.DataFrame:
        """The scores on the queries over which means are taken, and nothing else: system, query, measures."""
        queries, counted = self._by_query(match(runs, self.topics, self.profile, self.complete))
        return queries.filter(counted)

    def _by_query(self, lists: Lists) -> tuple[pl.DataFrame, pl.Series]:
        """Every query's scores, and which of them count for the means."""
        queries = lists.keys.with_columns(pl.Series(str(measure), measure.score(lists)) for measure in self.measures)
        counted = lists.has_relevant if self.profile.leaves_out_empty else np.ones(len(lists), bool)
        return queries, pl.Series(counted)

    def _off(self, batches: list[Runs], counted: pl.DataFrame) -> pl.DataFrame:
        """What means in context have to fear from labels that are predicted."""
        assert self.redrawn is not None
        measures = measures_in_context(self.measures)
        scores = self.redrawn.scores(batches, measures, self.profile, self.complete)
        return prediction_errors(self.redrawn, scores, measures, counted, self.level)

    def topics_notes(self) -> list[str]:
        """What there is to say about the labels for these measures."""
        notes: list[str] = []
        if any(not measure.diverse for measure in self.measures):
            notes += self.topics.notes
        diverse = [str(measure) for measure in self.measures if measure.diverse]
        if diverse and not self.topics.has_subtopics:
            look = "looks" if len(diverse) == 1 else "look"
            notes.append(
                f"{', '.join(diverse)} {look} at subtopics, and the labels have none: each query is taken for one"
            )
        guessed = self.profile.max_rel is None and self.labels.scale is None
        guessing = [type(m).__name__ for m in self.measures if isinstance(m, Cascade) and m.max_rel is None]
        if guessed and guessing:
            top = "none" if self.topics.top is None else f"{self.topics.top:g}"
            notes.append(
                f"{guessing[0]} takes {top}, the highest label, for the top grade, where gdeval and ir_measures take "
                f"4; {guessing[0]}(max_rel=...) sets it"
            )
        return notes

    def _order_notes(self, orders: Sequence[ListOrders], systems: Sequence[str]) -> list[str]:
        """Whether positions or scores ordered the lists, where they disagree."""
        if self.profile.order == "rank":
            return []
        whose = f"{systems[0]}: " if len(systems) == 1 else ""
        return [type(note)(whose + note) for note in sum(orders, ListOrders()).notes]

    def _made_notes(self, batches: Iterable[Runs]) -> list[str]:
        """How many of the labels in context that these runs meet no judge gave."""
        if self._made is None:
            return []
        lists, systems = match_batches(batches, self._made, self.profile)
        return on_made_labels(lists, self.measures, systems)


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
