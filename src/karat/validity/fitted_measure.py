"""Fit a measure to users: the gain, discount, persistence or context weight that agrees best with preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.measures import Measure, as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.base import count
from karat.records.number_format import interval_said, p_said
from karat.stats.arrays import Floats
from karat.stats.bootstrap import Resampling, mean_intervals
from karat.validity.measure_variants import EMPTY, Variants, differences
from karat.validity.nested_cross_validation import Families, chosen, families_of, flip, held_out, likeliest
from karat.validity.question_unit import asked_by, shown_depth
from karat.validity.vote_likelihood import VoteLikelihood
from karat.validity.votes import preferred

#: Fewer queries than this cannot be parted twice.
FEWEST_QUERIES = 20
#: Draws to hold at once while the parameters are fitted anew.
AT_ONCE = 200


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FittedMeasure(Result):
    """A measure fitted to users, its parameters with intervals, and whether it is any better on queries not seen.

    The frame has parameter, value, low, high, default, varied: the value that makes the votes most likely.
    """

    beside: ClassVar[tuple[str, ...]] = ("measure", "fitted", "default", "better", "held_out", "tried", "penalty")
    #: What to use: the fitted measure where it is better, the default where it is not.
    measure: Measure
    fitted: Measure
    default: Measure
    better: bool
    #: On queries not fitted to: agreement of either measure with users' votes, the gain, its interval and p.
    held_out: pl.DataFrame
    #: Every combination tried: its parameters, the votes' likelihood, the share of votes that agree.
    tried: pl.DataFrame
    #: What to take off a list without anything relevant, 0 where the fit is no better.
    penalty: float = 0.0


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

    `vary` names parameters of the measure (p, discount, gains, context, alpha), or gives the values to try. A
    discount is a power of the rank, gains grow by a factor from grade to grade (see `steep_gains`). `empty` is for
    any measure: what it takes off a list without anything relevant, of which Section 4.2 of Sanderson et al. says
    that users mind it more than measures do; the measure itself stays as it is. The values taken make the votes most
    likely when users prefer a list the more surely, the further the measure puts it ahead (Bradley and Terry, or
    Thurstone, whichever is likelier); the share of agreeing votes alone would jump from value to value.
    Intervals: bootstrap over queries.

    Whether the fit is any better than `measure` as given is told on queries it was not fitted to, by nested
    cross-validation: of `folds` parts each is left out in turn, and the others decide which parameters to vary, if any,
    and fit those. The gain on the queries left out is tested by flipping its sign query by query (one sided); where p
    is not below 1 - `level` the default stays. `test` says which gain decides: in the likelihood of the votes, or in
    how many of them agree, which needs several times the queries. Both are in `held_out`. Preferences of a strength
    below `at_least` count as equal; `by` and `depth` are those of `agreement`.

    Use it with hundreds of pairs; with less than twenty queries it refuses.
    """
    told, judged = Preferences.of(preferences), Judgments.of(labels)
    resampling = Resampling(level, draws, seed)
    wanted = as_measures(measure)
    if len(wanted) != 1:
        raise BadInput.at("the measure", expected="one", found=str(len(wanted)))
    default = wanted[0]
    if test not in ("likelihood", "agreement"):
        raise BadInput.at("the test", expected="likelihood or agreement", found=f'"{test}"')
    if not (2 <= folds <= 50 and repeats >= 1):
        raise BadInput.at("the folds", expected="2 or more parts, 1 repeat or more", found=f"{folds}, {repeats}")
    variants = Variants.of(default, vary, judged)
    by, asked = asked_by(told, judged, wanted, by)
    cast = preferred(told, by=by, at_least=at_least)
    different = list(dict.fromkeys(variants.measures))
    pairs, apart, empty, lost = differences(cast.frame, judged, runs, different, shown_depth(told, depth))
    own = [different.index(made) for made in variants.measures]
    apart = apart[:, own] + variants.penalty * empty[:, own]
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
    number = len(choices.votes)
    family = chosen(choices, families, np.arange(number), folds, np.random.default_rng([seed, 3]))
    full = family or max(families, key=len)
    likelihood = choices.best(np.ones((1, number)))[0]
    best = likeliest(likelihood, families[full])[0]
    fitted, penalty = variants.measures[best], float(variants.penalty[best])
    held = _held_out_table(choices, gained, agreed, resampling)
    better = bool(held[f"p_{test}"][0] < 1 - level)
    telling = int(np.unique(query[np.abs(empty).max(axis=1) > 0]).size)
    parameters = _likeliest_values(variants, choices, families, full, resampling)
    tried = pl.DataFrame({"measure": [str(made) for made in variants.measures], **variants.columns()})
    tried = tried.with_columns(likelihood=likelihood[0], agreement=choices.agreeing.sum(axis=0) / choices.votes.sum())
    notes = [*lost] + [note for note in (*cast.notes, *asked) if note not in lost]
    if "gains" in variants.grids:
        notes.append("gains b: a grade g is worth (b^g - 1)/(b^top - 1); 1 is the grade itself, 2 is 2^g - 1")
    if EMPTY in variants.grids:
        told_by = count(telling, "query", "queries")
        notes.append(f"{EMPTY} is told by {told_by} in which one of two lists has nothing relevant")
    values = zip(parameters["parameter"], parameters["value"], strict=True)
    at_end = [name for name, value in values if value in (variants.grids[name][0], variants.grids[name][-1])]
    if at_end and draws:
        notes.append(
            f"the fitted {', '.join(at_end)} is at the end of the values tried: the interval is too short there"
        )
    return FittedMeasure(
        frame=parameters,
        finding=_finding(_with(fitted, penalty), str(default), parameters, held.row(0, named=True), full, test, level),
        notes=tuple(notes),
        measure=fitted if better else default,
        fitted=fitted,
        default=default,
        better=better,
        held_out=held,
        tried=tried,
        penalty=penalty if better else 0.0,
    )


def _with(measure: Measure, penalty: float) -> str:
    return f"{measure}, less {penalty:g} where nothing is relevant," if penalty else str(measure)


def _held_out_table(choices: VoteLikelihood, gained: Floats, agreed: Floats, resampling: Resampling) -> pl.DataFrame:
    """On queries not fitted to: the share of votes that agree, the gains over the default, and their tests."""
    level, draws, seed = resampling.level, resampling.draws, resampling.seed
    votes, more = choices.votes.sum(), agreed[0] - agreed[1]
    low = high = np.full(2, np.nan)
    if draws:
        columns = np.column_stack([agreed[0] / choices.votes.mean() - agreed[1] / choices.votes.mean(), gained])
        low, high = mean_intervals(columns, level=level, draws=draws, seed=seed)
    row = {
        "agreement": agreed[0].sum() / votes,
        "agreement_default": agreed[1].sum() / votes,
        "gain": more.sum() / votes,
        "gain_low": low[0],
        "gain_high": high[0],
        "likelihood_gain": gained.mean(),
        "likelihood_gain_low": low[1],
        "likelihood_gain_high": high[1],
        "p_likelihood": flip(gained, draws, seed),
        "p_agreement": flip(more, draws, seed),
        "votes": int(votes),
        "queries": len(choices.votes),
    }
    return pl.DataFrame([row])


def _likeliest_values(
    variants: Variants,
    choices: VoteLikelihood,
    families: Families,
    full: tuple[str, ...],
    resampling: Resampling,
) -> pl.DataFrame:
    """The likeliest value of each parameter, with its interval; those that were not chosen, beside those that were.

    The likeliest penalty of an empty list is some 0.03 too high, as users err by a curve that is not known, which no
    resampling shows: its interval reaches as far down as up.
    """
    number = len(choices.votes)
    parts = [np.ones((1, number))]
    for times in resampling.times(number):
        parts += [times[start : start + AT_ONCE].astype(np.float64) for start in range(0, len(times), AT_ONCE)]
    likelihood = np.concatenate([choices.best(times)[0] for times in parts])
    rows = []
    for axis, (name, tried) in enumerate(variants.grids.items()):
        values = np.array(tried)
        allowed = families[tuple(other for other in variants.grids if other in full or other == name)]
        steps = [allowed & (variants.place[:, axis] == step) for step in range(1, len(values) + 1)]
        best = np.column_stack([likelihood[:, step].max(axis=1) for step in steps])
        found = between(best, values, logarithmic=name == "gains")
        low, high = resampling.cut(found[1:], number) if len(found) > 1 else (np.nan, np.nan)
        if name == EMPTY and len(found) > 1:
            half = max(found[0] - low, high - found[0])
            low, high = np.clip([found[0] - half, found[0] + half], values[0], values[-1])
        if high - low < 1e-9:  # never narrower than the values tried can tell
            near = int(np.abs(values - low).argmin())
            low, high = values[max(near - 1, 0)], values[min(near + 1, len(values) - 1)]
        own = getattr(variants.default, name) if name != EMPTY else 0.0
        default = f"{own:g}" if isinstance(own, float) else "the profile's" if own is None else str(own)
        rows.append((name, float(found[0]), float(low), float(high), default, name in full))
    return pl.DataFrame(rows, schema=["parameter", "value", "low", "high", "default", "varied"], orient="row")


def between(best: Floats, values: Floats, *, logarithmic: bool) -> Floats:
    """The value with the highest likelihood, read off the parabola through the three highest points."""
    scale = np.log(values) if logarithmic else values
    top = best.argmax(axis=1)
    inner = np.clip(top, 1, len(values) - 2) if len(values) > 2 else top
    rows = np.arange(len(best))
    if len(values) < 3:
        nearest: Floats = values[top]
        return nearest
    x = [scale[inner + step] for step in (-1, 0, 1)]
    y = [best[rows, inner + step] for step in (-1, 0, 1)]
    one, two = (x[1] - x[0]) * (y[1] - y[2]), (x[1] - x[2]) * (y[1] - y[0])
    below = 2 * (one - two)
    shift = np.where(
        (inner == top) & (np.abs(below) > 1e-12),
        ((x[1] - x[0]) * one - (x[1] - x[2]) * two) / np.where(np.abs(below) > 1e-12, below, 1.0),
        0.0,
    )
    found = np.clip(scale[top] - shift, scale[0], scale[-1])
    peak: Floats = np.exp(found) if logarithmic else found
    return peak


def _finding(
    fitted: str,
    default: str,
    parameters: pl.DataFrame,
    held: dict[str, Any],
    full: tuple[str, ...],
    test: str,
    level: float,
) -> str:
    values = ", ".join(
        f"{row['parameter']} {row['value']:.2f}{interval_said(row['low'], row['high'], level)}"
        for row in parameters.iter_rows(named=True)
        if row["parameter"] in full
    )
    shares = f"{held['agreement']:.1%} of votes agree, {held['agreement_default']:.1%} with {default}"
    asked = f"{count(held['queries'], 'query', 'queries')} left out in turn"
    by_agreement = p_said(held["p_agreement"])
    if not held[f"p_{test}"] < 1 - level:
        decides = f"{asked}, {p_said(held[f'p_{test}'])} by {test}, which decides"
        return (
            f"Fitted to users, {default} gets no better than the default ({decides}): {shares} ({by_agreement}); "
            f"the likeliest is {values}."
        )
    if held["p_agreement"] < 1 - level:
        return f"{fitted} agrees with users better than {default}: {shares} ({asked}, {by_agreement}); {values}."
    return (
        f"{fitted} tells better than {default} how surely users prefer a list ({asked}, "
        f"{p_said(held['p_likelihood'])}), but not which one: {shares} ({by_agreement}); {values}."
    )
