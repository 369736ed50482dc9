"""Plain scores: the mean over queries, labels taken as they are, with a bootstrap interval over queries."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.estimate.notes import made_labels, notes_on, on_made_labels
from karat.estimate.scores import Scores
from karat.estimate.user_weights import weights_of_users
from karat.labels import consensus as one_each
from karat.labels import split_gold
from karat.labels.consensus import How
from karat.measures import Measure, Profile, Topics, as_measures, match, profile_named
from karat.measures.cascade import Cascade
from karat.measures.topics import UserWeights
from karat.records import Judgments, Queries, Runs
from karat.records.result import Caution
from karat.stats import FEWEST, Resampling, mean_intervals
from karat.stats.arrays import Floats

#: The ends of an interval are the outermost draws but a few, so a handful of draws has none.
FEWEST_DRAWS = 100
#: With fewer queries an interval is a guess.
FEW = 10
#: Labels with a probability are of documents that were drawn: the rest would count as not relevant.
OF_A_SAMPLE = Caution(
    "the labels are of a sample (they have a probability): give them as gold labels, beside labels of everything"
)


class Scorer:
    """Scores runs one after another against the same labels, which are laid out once.

    >>> labels = Judgments.of({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}})
    >>> scorer = Scorer(labels, ["P@1", "RR"], draws=0)
    >>> scorer.score(Runs.of({"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}}, system="mine"))
    mine has P@1 0.5000 over 2 queries.
      mine: P@1 0.5000, RR 0.5000
    - mine: 50 % of the documents looked at (top 1) have no judgment and count as not relevant
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
    ) -> None:
        #: The labels as they were given, with all their columns; `labels` are those that count.
        self.given = labels
        self.measures = as_measures(measures)
        if not self.measures:
            raise BadInput.at("the measures", expected="at least one, such as nDCG@10", found="none")
        Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
        self.profile = profile_named(profile)
        self.complete, self.level, self.draws, self.seed = complete, level, draws, seed
        # Labels in context are of use only to measures that look at the document above.
        in_context = any(getattr(measure, "context", 0) for measure in self.measures)
        self.labels = one_each(labels, consensus, apart=("context", "subtopic") if in_context else ("subtopic",))
        labels = split_gold(labels)[0]
        if labels.has("probability") and (labels.frame["probability"] < 1).any():
            self.labels = replace(self.labels, notes=(*self.labels.notes, OF_A_SAMPLE))
        if not len(self.labels):
            raise BadInput.at("the labels", expected="at least one label", found="none")
        user_weights, notes = weights_of_users(labels, self.measures, user_weights)
        self.labels = replace(self.labels, notes=tuple(dict.fromkeys((*self.labels.notes, *notes))))
        self.topics = Topics.of(self.labels, weights, user_weights)
        self._made = made_labels(labels)

    def by(self, measure: Measure) -> Scorer:
        """The same scorer for one of its measures."""
        one = copy(self)
        one.measures = [measure]
        return one

    def score(self, runs: Runs) -> Scores:
        """The scores of every system in these runs."""
        lists = match(runs, self.topics, self.profile, self.complete)
        values = np.column_stack([measure.score(lists) for measure in self.measures])
        names = [str(measure) for measure in self.measures]
        counted = lists.has_relevant if self.profile.leaves_out_empty else np.ones(len(lists), bool)
        means = []
        # Resampled in the order of the queries' ids, so that the order of the rows in a file changes nothing.
        by_id = lists.keys["query"].arg_sort().to_numpy()
        for system in runs.systems:
            mine = by_id[((lists.keys["system"] == system).to_numpy() & counted)[by_id]]
            means += self._means(system, values[mine])
        notes = [
            *(measure.understood for measure in self.measures if measure.understood),
            *self.labels.notes,
            *self.topics_notes(),
            *notes_on(lists, values, runs.systems, self.measures, self.complete),
            *self._made_notes(runs),
        ]
        if self.draws and any(row[-1] < FEWEST for row in means):
            notes.append(f"no interval for a mean of fewer than {FEWEST} queries: too few to tell")
        few = sorted({row[-1] for row in means if FEWEST <= row[-1] < FEW}) if self.draws else []
        if few:
            notes.append(Caution(f"{few[0]} queries only: the interval is a guess"))
        return Scores(
            means=pl.DataFrame(
                means,
                schema={
                    "system": pl.String,
                    "measure": pl.String,
                    "value": pl.Float64,
                    "low": pl.Float64,
                    "high": pl.Float64,
                    "n": pl.Int64,
                },
                orient="row",
            ),
            queries=lists.keys.with_columns(pl.Series(name, values[:, i]) for i, name in enumerate(names)),
            measures=tuple(names),
            profile=self.profile.name,
            level=self.level,
            draws=self.draws,
            seed=self.seed,
            notes=tuple(notes),
        )

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
                f"{guessing[0]} takes {top}, the highest label, for the top grade; {guessing[0]}(max_rel=...) sets it"
            )
        return notes

    def _made_notes(self, runs: Runs) -> list[str]:
        """How many of the labels in context that these runs meet no judge gave."""
        if self._made is None:
            return []
        return on_made_labels(match(runs, self._made, self.profile), self.measures, runs.systems)

    def _means(self, system: str, values: Floats) -> list[tuple[str, str, float, float, float, int]]:
        rows = []
        defined = ~np.isnan(values)
        low, high = self._intervals(values) if defined.all() else (np.empty(0), np.empty(0))
        for i, measure in enumerate(self.measures):
            kept = values[defined[:, i], i]
            ends = (low[i], high[i]) if defined.all() else [end[0] for end in self._intervals(kept[:, None])]
            value = float(kept.mean()) if len(kept) else np.nan
            if measure.mean == "geometric":
                value, *ends = np.exp([value, *ends]).tolist()
            elif measure.mean == "sum":
                value, *ends = float(kept.sum()), np.nan, np.nan  # a count is what it is
            rows.append((system, str(measure), value, float(ends[0]), float(ends[1]), len(kept)))
        return rows

    def _intervals(self, values: Floats) -> tuple[Floats, Floats]:
        if not self.draws:
            nothing = np.full(values.shape[1], np.nan)
            return nothing, nothing
        return mean_intervals(values, level=self.level, draws=self.draws, seed=self.seed)
