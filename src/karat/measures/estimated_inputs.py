"""How far a score may be off because labels in context are predicted: they are drawn anew, so many times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.labels import Panel, consensus
from karat.labels.consensus import How
from karat.measures import Gains, Measure, Profile, Topics
from karat.measures.rankings import Lists, match_batches
from karat.measures.topics import UserWeights
from karat.records import Judgments, Runs
from karat.records.table import count
from karat.stats.arrays import Floats

#: How far a mean moves with the weights: system, measure, error (a standard error).
SCHEMA = {"system": pl.String, "measure": pl.String, "error": pl.Float64}


def weight_errors(
    weights: UserWeights | None, measures: Sequence[Measure], lists: Lists, queries: pl.DataFrame, counted: pl.Series
) -> pl.DataFrame:
    """The standard error that each system's mean has from the weights of its measure's udm gains.

    By the delta method: every weight is moved by its own standard error up and down, the mean moves with it, and the
    weights' covariance says how these moves add up.
    """
    rows = []
    for measure in measures:
        found = weight_covariance(weights, measure, lists, queries, counted)
        if found is None:
            continue
        systems, covariance = found
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist()
        rows += [(system, str(measure), one) for system, one in zip(systems, error, strict=True)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def asks_users(weights: UserWeights | None, measure: Measure) -> bool:
    """Whether a measure has gains of users whose weights are estimates with an error."""
    gains = getattr(measure, "gains", None)
    return isinstance(gains, Gains) and gains.name == "udm" and hasattr(weights, "errors")


def weight_covariance(
    weights: UserWeights | None, measure: Measure, lists: Lists, queries: pl.DataFrame, counted: pl.Series
) -> tuple[list[str], Floats] | None:
    """The covariance that systems' means have from the weights, which are the same for all; None where none are used.

    What moves two systems alike cancels between them.
    """
    if not asks_users(weights, measure):
        return None
    gains: Gains = measure.gains  # type: ignore[attr-defined]
    levels, covariance = weights.errors(gains.at_least, gains.of_users)  # type: ignore[union-attr]
    known = dict(lists.topics.known(gains).table)
    spread = np.sqrt(np.diag(covariance))
    moving = [place for place, level in enumerate(levels) if spread[place] > 0 and known.get(level, 0.0) > 0]
    moved = {place: _moved(measure, lists, known, levels[place], spread[place]) for place in moving}
    systems = queries["system"].unique(maintain_order=True).to_list()
    steps = np.zeros((len(systems), len(moving)))
    for row, system in enumerate(systems):
        mine = ((queries["system"] == system) & counted).to_numpy()
        steps[row] = [np.nanmean(moved[place][mine]) / spread[place] for place in moving]
    return systems, steps @ covariance[np.ix_(moving, moving)] @ steps.T


def widened(means: pl.DataFrame, errors: pl.DataFrame, level: float) -> pl.DataFrame:
    """The means with intervals that hold the weights' error, too: both errors add up as squares do."""
    if not errors.height:
        return means
    z = NormalDist().inv_cdf(0.5 + level / 2)
    # Of several errors of one mean, each adds its square.
    errors = errors.group_by("system", "measure").agg((pl.col("error") ** 2).sum().sqrt())
    both = means.join(errors, on=["system", "measure"], how="left", maintain_order="left")
    more = (pl.col("error").fill_null(0.0) * z) ** 2
    return both.with_columns(
        low=pl.col("value") - ((pl.col("value") - pl.col("low")) ** 2 + more).sqrt(),
        high=pl.col("value") + ((pl.col("high") - pl.col("value")) ** 2 + more).sqrt(),
    ).select(means.columns)


def _moved(measure: Any, lists: Lists, known: dict[float, float], level: float, by: float) -> Floats:
    """Half of what each list's score gains when a level's weight goes from one error below to one above."""
    ends = []
    for sign in (1, -1):
        table = known | {level: max(known[level] + sign * by, 0.0)}
        ends.append(replace(measure, gains=Gains.of(table)).score(lists))
    return np.asarray((ends[0] - ends[1]) / 2, dtype=np.float64)


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


@dataclass(frozen=True)
class Estimated:
    """Weights of the labels' own judges, with the covariance of their levels."""

    worth: UserWeights
    errors: Callable[[int, int], tuple[list[float], Floats]]

    def __call__(self, at_least: int, of: int) -> Mapping[float, float]:
        """The weight of each level."""
        return self.worth(at_least, of)


def weights_of_users(
    labels: Judgments, measures: Sequence[Measure], given: UserWeights | None = None
) -> tuple[UserWeights | None, list[str]]:
    """The weights that these measures ask for, and what a reader should know of them.

    >>> from karat.measures import as_measures
    >>> rows = [{"query": "q", "doc": "d", "judge": judge, "label": label} for judge, label in [("x", 1), ("y", 2)]]
    >>> weights, notes = weights_of_users(Judgments.of(rows), as_measures("nDCG(gains=udm(1/3))@10"))
    >>> weights(1, 3)
    {1.0: 1.0, 2.0: 1.0}
    >>> notes[-1]
    'user weights are of single labels; the labels of 1 document are medians of several'
    """
    asked = {gains for measure in measures if isinstance(gains := getattr(measure, "gains", None), Gains)}
    asked = {gains for gains in asked if gains.name == "udm"}
    if not asked:
        return given, []
    panel, notes = Panel.of(labels, apart=("context", "subtopic")).of_judges(), list[str]()
    if given is None:
        # Judges are looked at only where a measure asks for them: scores should start at once.
        from karat.judges.disagreement import disagreement

        model = disagreement(labels, draws=0)
        notes += [note if note in model.votes.panel.notes else f"user weights: {note}" for note in model.notes]
        given = Estimated(model.weights, model.weight_errors)
    top = min(max(given(gains.at_least, gains.of_users)) for gains in asked)
    above = panel.value > top
    if above.any():
        notes.append(f"{count(int(above.sum()), 'label')} above {panel.said(top)}, the top of the user weights: as top")
    several = int((panel.counts().sum(axis=1) > 1).sum())
    if several:
        notes.append(
            f"user weights are of single labels; the labels of {count(several, 'document')} are medians of several"
        )
    return given, notes
