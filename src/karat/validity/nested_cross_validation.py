"""Nested cross-validation over queries: what to vary is decided, and then fitted, on queries that are not tested on."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from karat.stats.arrays import Bools, Floats, Ints
from karat.validity.measure_variants import Variants
from karat.validity.vote_likelihood import VoteLikelihood

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
