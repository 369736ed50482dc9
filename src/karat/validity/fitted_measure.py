"""Fit a measure to users: the gain, discount, persistence or context weight that agrees best with preferences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.measures import Measure, as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.base import count
from karat.records.result import rows_of
from karat.stats.arrays import Floats
from karat.stats.bootstrap import Resampling, mean_intervals
from karat.validity.measure_variants import Variants, differences
from karat.validity.nested_cross_validation import chosen, families_of, flip, held_out, likeliest
from karat.validity.parameters import likeliest_values
from karat.validity.question_unit import asked_by, shown_depth
from karat.validity.vote_likelihood import VoteLikelihood
from karat.validity.votes import preferred

#: Fewer queries than this cannot be parted twice.
FEWEST_QUERIES = 20


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FittedMeasure(Result):
    """A measure fitted to users, its parameters with intervals, and whether it is any better on queries not seen.

    The frame has parameter, value, low, high, default, varied: the value that makes the votes most likely.
    """

    #: What to use: the fitted measure where it is better, the default where it is not.
    measure: Measure
    fitted: Measure
    default: Measure
    better: bool
    #: On queries not fitted to: agreement of either measure with users' votes, the gain, its interval and p.
    held_out: pl.DataFrame
    #: Every combination tried: its parameters, the votes' likelihood, the share of votes that agree.
    tried: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """The result as one document; what is undefined is None."""
        found = super().to_dict()
        notes = found.pop("notes")
        names = {name: str(getattr(self, name)) for name in ("measure", "fitted", "default")}
        tables = {name: rows_of(getattr(self, name)) for name in ("held_out", "tried")}
        return found | names | {"better": self.better} | tables | {"notes": notes}


def fit_measure(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    measure: str | Measure = "RBP(p=0.8)@10",
    vary: Sequence[str] | Mapping[str, Sequence[float]] = ("p",),
    *,
    test: Literal["likelihood", "agreement"] = "likelihood",
    folds: int = 5,
    repeats: int = 4,
    by: str | None = None,
    at_least: float | None = None,
    depth: int | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> FittedMeasure:
    """The parameters with which a measure agrees best with users' preferences, and whether they are worth it.

    >>> from karat.simulate import preference_study
    >>> users = preference_study("RBP(p=0.5)", queries=60, judges=5, seed=1)
    >>> found = fit_measure(users.preferences, users.judgments, users.runs, "RBP(p=0.9)", {"p": [0.3, 0.5, 0.7, 0.9]})
    >>> found.measure, found.better
    (RBP(p=0.5), True)

    `vary` names parameters of the measure (p, discount, gains, context, alpha), or gives the values to try. A discount
    is a power of the rank, gains grow by a factor from grade to grade (see `steep_gains`). The values taken make the
    votes most likely when users prefer a list the more surely, the further the measure puts it ahead (Bradley and
    Terry, or Thurstone, whichever is likelier); the share of agreeing votes alone would jump from value to value.
    Intervals: bootstrap over queries.

    Whether the fit is any better than `measure` as given is told on queries it was not fitted to: the queries are
    parted into `folds`, and for each part the others decide, by the same game played among them, which parameters to
    vary if any, and fit those. The gain on the queries left out is tested by flipping its sign query by query (one
    sided); where p is not below 1 - `level` the answer is "no better than the default", which stays. `test` says which
    gain decides: in the likelihood of the votes, or in how many of them agree, which needs several times the queries.
    Both are in `held_out`, and the finding says so when the two do not go together.
    Preferences of a strength below `at_least` count as equal; `by` and `depth` are those of `agreement`.

    Use it with hundreds of pairs; with less than some twenty queries it refuses.
    """
    told, judged = Preferences.of(preferences), Judgments.of(labels)
    Resampling(level, draws, seed)
    default = as_measures(measure)
    if len(default) != 1:
        raise BadInput.at("the measure", expected="one", found=str(len(default)))
    if test not in ("likelihood", "agreement"):
        raise BadInput.at("the test", expected="likelihood or agreement", found=f'"{test}"')
    if not (2 <= folds <= 50 and repeats >= 1):
        raise BadInput.at("the folds", expected="2 or more parts, 1 repeat or more", found=f"{folds}, {repeats}")
    variants = Variants.of(default[0], vary, judged)
    by, asked = asked_by(told, judged, default, by)
    cast = preferred(told, by=by, at_least=at_least)
    different = list(dict.fromkeys(variants.measures))
    pairs, apart, lost = differences(cast.frame, judged, runs, different, shown_depth(told, depth))
    column = {made: place for place, made in enumerate(dict.fromkeys(variants.measures))}
    apart = apart[:, [column[made] for made in variants.measures]]
    votes = [pairs[name].to_numpy().astype(np.float64) for name in ("for_a", "for_b")]
    neither = (pairs["equal"] + pairs["none"]).to_numpy().astype(np.float64)
    query = pairs["query"].rank("dense").to_numpy().astype(np.int64) - 1
    if query.max() + 1 < FEWEST_QUERIES:
        raise Undefined(
            f"{count(int(query.max()) + 1, 'query', 'queries')} with preferences: too few to fit on some and test on "
            f"others ({FEWEST_QUERIES} or more)"
        )
    if sum(side.sum() for side in votes) == 0:
        raise Undefined("no user prefers a side: there is nothing to fit to")
    choices = VoteLikelihood.of(apart, votes[0], votes[1], neither, query)
    families = families_of(variants)
    gained, agreed = held_out(choices, families, folds, repeats, seed)
    everything = np.ones((1, len(choices.votes)))
    family = chosen(choices, families, np.arange(len(choices.votes)), folds, np.random.default_rng([seed, 3]))
    full = family or max(families, key=len)
    place = likeliest(choices.best(everything)[0], families[full])[0]
    p = {"likelihood": flip(gained, draws, seed), "agreement": flip(agreed[0] - agreed[1], draws, seed)}
    better = p[test] < 1 - level
    fitted = variants.measures[place]
    held = _held_table(choices, gained, agreed, p, level, draws, seed)
    parameters = likeliest_values(variants, choices, families, full, level, draws, seed)
    tried = _tried(variants, choices)
    finding = _finding(better, fitted, default[0], parameters, held.row(0, named=True), full, test, level)
    notes = [*lost] + [note for note in (*cast.notes, *asked) if note not in lost]
    if "gains" in variants.grids:
        notes.append("gains b: a grade g is worth (b^g - 1)/(b^top - 1); 1 is the grade itself, 2 is 2^g - 1")
    at_end = [
        row["parameter"]
        for row in parameters.iter_rows(named=True)
        if row["value"] in (variants.grids[row["parameter"]][0], variants.grids[row["parameter"]][-1])
    ]
    if at_end and draws:
        notes.append(
            f"the fitted {', '.join(at_end)} is at the end of the values tried: the interval is too short there"
        )
    return FittedMeasure(
        frame=parameters,
        finding=finding,
        notes=tuple(notes),
        measure=fitted if better else default[0],
        fitted=fitted,
        default=default[0],
        better=better,
        held_out=held,
        tried=tried,
    )


def _held_table(
    choices: VoteLikelihood, gained: Floats, agreed: Floats, p: dict[str, float], level: float, draws: int, seed: int
) -> pl.DataFrame:
    votes = choices.votes.sum()
    shares = agreed / choices.votes.mean()
    ends = np.full((2, 2), np.nan)
    if draws:
        columns = np.column_stack([shares[0] - shares[1], gained])
        low, high = mean_intervals(columns, level=level, draws=draws, seed=seed)
        ends = np.stack([low, high])
    return pl.DataFrame(
        {
            "agreement": [float(agreed[0].sum() / votes)],
            "agreement_default": [float(agreed[1].sum() / votes)],
            "gain": [float((agreed[0] - agreed[1]).sum() / votes)],
            "gain_low": [float(ends[0, 0])],
            "gain_high": [float(ends[1, 0])],
            "likelihood_gain": [float(gained.mean())],
            "likelihood_gain_low": [float(ends[0, 1])],
            "likelihood_gain_high": [float(ends[1, 1])],
            "p_likelihood": [p["likelihood"]],
            "p_agreement": [p["agreement"]],
            "votes": [int(votes)],
            "queries": [len(choices.votes)],
        }
    )


def _tried(variants: Variants, choices: VoteLikelihood) -> pl.DataFrame:
    likelihood = choices.best(np.ones((1, len(choices.votes))))[0][0]
    columns: dict[str, Any] = {"measure": [str(made) for made in variants.measures]}
    for axis, (name, values) in enumerate(variants.grids.items()):
        columns[name] = [None if place == 0 else values[place - 1] for place in variants.place[:, axis].tolist()]
    columns["likelihood"] = likelihood
    columns["agreement"] = choices.agreeing.sum(axis=0) / choices.votes.sum()
    return pl.DataFrame(columns)


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _finding(
    better: bool,
    fitted: Measure,
    default: Measure,
    parameters: pl.DataFrame,
    held: dict[str, Any],
    full: tuple[str, ...],
    test: str,
    level: float,
) -> str:
    values = ", ".join(
        f"{row['parameter']} {row['value']:.2f}"
        + ("" if math.isnan(row["low"]) else f" ({level * 100:g} % interval {row['low']:.2f} to {row['high']:.2f})")
        for row in parameters.iter_rows(named=True)
        if row["parameter"] in full
    )
    shares = f"{held['agreement']:.1%} of votes agree, {held['agreement_default']:.1%} with {default}"
    asked = f"{count(held['queries'], 'query', 'queries')} left out in turn"
    if not better:
        decides = f"{asked}, p {_p(held[f'p_{test}'])} by {test}, which decides"
        return (
            f"Fitted to users, {default} gets no better than the default ({decides}): {shares} "
            f"(p {_p(held['p_agreement'])}); the likeliest is {values}."
        )
    if held["p_agreement"] < 1 - level:
        certain = f"{asked}, p {_p(held['p_agreement'])}"
        return f"{fitted} agrees with users better than {default}: {shares} ({certain}); {values}."
    certain = f"{asked}, p {_p(held['p_likelihood'])}"
    return (
        f"{fitted} tells better than {default} how surely users prefer a list ({certain}), but not which one: {shares} "
        f"(p {_p(held['p_agreement'])}); {values}."
    )
