"""Fit a measure to users: the gain, discount, persistence or context weight that agrees best with preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.measures import Measure, as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.number_format import interval_said, p_said
from karat.records.table import count
from karat.stats.arrays import Bools, Floats, Ints, totals
from karat.stats.bootstrap import Resampling, mean_intervals
from karat.users.measure_variants import EMPTY, Variants, differences
from karat.users.pair_scores import asked_by, shown_depth
from karat.users.votes import preferred

#: How surely users follow a difference of one typical size: hardly, ..., always. Tried for every measure.
SURENESS = np.geomspace(0.03, 30, 31)


def logistic(x: Floats) -> Floats:
    """The log of the chance to prefer what leads by x when users err by a logistic amount (Bradley and Terry)."""
    return -np.logaddexp(0, -x)


def normal(x: Floats) -> Floats:
    """The same when they err by a normal amount (Thurstone), in units that make both about equally steep."""
    from scipy.special import log_ndtr

    chance: Floats = log_ndtr(x / 1.7)
    return chance


#: Nobody knows how users err, and a wrong guess bends what is fitted: whichever makes the votes likelier is taken.
ERRORS: tuple[Callable[[Floats], Floats], ...] = (logistic, normal)


@dataclass(frozen=True, eq=False)
class VoteLikelihood:
    """For every query and variant of a measure, how likely its votes are and how many agree with the measure."""

    #: Queries x variants x kinds of error x sureness: the log of the chance of the query's votes.
    likelihood: Floats
    #: Queries x variants: votes for the side that the variant holds for better, half of the votes where it ties.
    agreeing: Floats
    #: Queries: all votes for a side.
    votes: Floats

    @classmethod
    def of(cls, apart: Floats, for_a: Floats, for_b: Floats, equal: Floats, query: Ints) -> VoteLikelihood:
        """The table from differences (pairs x variants) and votes on each pair.

        >>> one = VoteLikelihood.of(np.array([[0.5]]), np.array([3.0]), np.array([1.0]), np.array([0.0]), np.array([0]))
        >>> one.agreeing.tolist(), one.votes.tolist(), one.likelihood[0, 0, 0, 0].round(2).item()
        ([[3.0]], [4.0], -2.74)

        A vote for a has the chance F(s x), where x is a's lead over b in units of the variant's typical lead, s how
        surely users go by it, and F how they err; one for neither counts half for each side.
        Reference: Bradley and Terry (Biometrika 1952), Thurstone (Psychological Review 1927), with the lead in place of
        the difference of two strengths.
        """
        queries, variants = int(query.max()) + 1, apart.shape[1]
        likelihood = np.empty((queries, variants, len(ERRORS), len(SURENESS)))
        agreeing = np.empty((queries, variants))
        wins, losses = for_a + equal / 2, for_b + equal / 2
        in_order = np.argsort(query, kind="stable")
        starts = np.searchsorted(query[in_order], np.arange(queries))
        for place, lead in enumerate(apart.T):
            size = np.sqrt(np.mean(lead**2))
            steps = np.outer((lead / (size if size > 0 else 1.0))[in_order], SURENESS)
            for kind, error in enumerate(ERRORS):
                chance = wins[in_order, None] * error(steps) + losses[in_order, None] * error(-steps)
                likelihood[:, place, kind] = np.add.reduceat(chance, starts, axis=0)
            with_it = np.where(lead > 0, for_a, np.where(lead < 0, for_b, (for_a + for_b) / 2))
            agreeing[:, place] = totals(query, with_it, queries)
        return cls(likelihood, agreeing, totals(query, for_a + for_b, queries))

    def best(self, times: Floats) -> tuple[Floats, Ints]:
        """The greatest likelihood of each variant over errors and sureness, and where: draws x variants.

        `times` (draws x queries) says how often each query counts. Between two values of sureness the likelihood is
        read off the parabola through the three highest. The place counts through errors, then sureness.
        """
        summed = (times @ self.likelihood.reshape(len(self.votes), -1)).reshape(len(times), *self.likelihood.shape[1:])
        top = summed.argmax(axis=3)
        inner = np.clip(top, 1, len(SURENESS) - 2)
        three = [np.take_along_axis(summed, (inner + step)[..., None], axis=3)[..., 0] for step in (-1, 0, 1)]
        highest = np.take_along_axis(summed, top[..., None], axis=3)[..., 0]
        bend = three[0] - 2 * three[1] + three[2]
        rise = (three[0] - three[2]) ** 2 / np.where(bend < 0, -8 * bend, 1.0)
        refined = np.where((inner == top) & (bend < 0), three[1] + rise, highest)
        error = refined.argmax(axis=2)
        place = np.take_along_axis(top, error[..., None], axis=2)[..., 0] + error * len(SURENESS)
        return refined.max(axis=2), place

    def at(self, queries: Ints, variant: int, place: int) -> Floats:
        """The likelihood of these queries' votes under one variant, at a place that `best` gave."""
        error, sure = divmod(place, len(SURENESS))
        found: Floats = self.likelihood[queries, variant, error, sure]
        return found


#: The parameters that are varied together, and the variants that this allows.
Families = dict[tuple[str, ...], Bools]


def families_of(variants: Variants) -> Families:
    """What may be varied together: nothing (the default), each parameter alone, and so on up to all."""
    names = list(variants.grids)
    every = chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))
    return {family: variants.within(family) for family in every}


def likeliest(likelihood: Floats, allowed: Bools) -> Ints:
    """The variant of a family under which the votes are most likely, draw by draw."""
    best: Ints = np.where(allowed, likelihood, -np.inf).argmax(axis=1)
    return best


def _parts(number: int, folds: int, rng: np.random.Generator) -> Ints:
    """A part for each query, the parts as equal as can be."""
    return rng.permutation(number) % folds


def fit_and_test(choices: VoteLikelihood, allowed: list[Bools], train: Bools, test: Bools) -> tuple[Floats, Floats]:
    """For each family the likelihood of the test queries' votes, and how many agree: families x test queries."""
    best, sure = choices.best(train[None].astype(np.float64))
    places = [int(likeliest(best, family)[0]) for family in allowed]
    left_out = np.flatnonzero(test)
    likelihood = np.stack([choices.at(left_out, place, int(sure[0, place])) for place in places])
    return likelihood, choices.agreeing[test][:, places].T


def chosen(
    choices: VoteLikelihood, families: Families, queries: Ints, folds: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """What to vary, if anything, by cross-validation among these queries."""
    parts = _parts(len(queries), folds, rng)
    summed = np.zeros(len(families))
    for part in range(folds):
        train, test = np.zeros((2, len(choices.votes)), bool)
        train[queries[parts != part]] = True
        test[queries[parts == part]] = True
        summed += fit_and_test(choices, list(families.values()), train, test)[0].sum(axis=1)
    return list(families)[int(summed.argmax())]


def held_out(choices: VoteLikelihood, families: Families, folds: int, repeats: int, seed: int) -> tuple[Floats, Floats]:
    """On queries not fitted to, mean over repeats: the gain in likelihood, and agreeing votes (fitted, default)."""
    number = len(choices.votes)
    gained, agreed = np.zeros(number), np.zeros((2, number))
    rng = np.random.default_rng([seed, 4])
    for _ in range(repeats):
        parts = _parts(number, folds, rng)
        for part in range(folds):
            test = parts == part
            family = chosen(choices, families, np.flatnonzero(~test), folds, rng)
            allowed = [families[family], families[()]]
            likelihood, agreeing = fit_and_test(choices, allowed, ~test, test)
            gained[test] += (likelihood[0] - likelihood[1]) / repeats
            agreed[:, test] += agreeing / repeats
    return gained, agreed


def flip(gained: Floats, draws: int, seed: int) -> float:
    """The chance of a mean gain as large if gains and losses were equally likely, query by query; one sided."""
    if not np.any(np.abs(gained) > 1e-12):
        return 1.0
    rng = np.random.default_rng([seed, 5])
    times = max(draws, 2000)
    flipped = rng.choice(np.array([-1.0, 1.0]), size=(times, len(gained))) @ gained
    return float(((flipped >= gained.sum() - 1e-12).sum() + 1) / (times + 1))


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
