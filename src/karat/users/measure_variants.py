"""Variants of a measure: the same one with other parameters, and what each says of the pairs that users compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.measures import Measure
from karat.records import Judgments, RunsLike
from karat.records.table import count
from karat.stats.arrays import Bools, Floats, Ints
from karat.users.pair_scores import SHOWN, score_pairs

#: The values that are tried for a parameter when none are given.
GRIDS: dict[str, tuple[float, ...]] = {
    "p": (*np.arange(0.05, 0.96, 0.05).round(2).tolist(), 0.97, 0.99),
    "context": tuple(np.arange(0, 1.01, 0.05).round(2).tolist()),
    "discount": tuple(np.arange(0, 3.01, 0.15).round(2).tolist()),
    "gains": tuple(float(f"{base:.3g}") for base in np.geomspace(1 / 16, 16, 17)),
    "alpha": tuple(np.arange(0, 1.0, 0.05).round(2).tolist()),
    "empty": (0.0, 0.01, 0.02, 0.05, *np.arange(0.1, 1.01, 0.1).round(1).tolist()),
}
#: No parameter of a measure, but what any of them may take off a list without anything relevant.
EMPTY = "empty"
#: More combinations than this take long and are rarely meant.
MOST = 5000
#: The context weights along which figures are shown.
CONTEXTS = tuple(round(0.1 * step, 1) for step in range(11))
NO_CONTEXT = "no label is given the document above: a context weight would change nothing"


def takes(measure: Measure, name: str) -> bool:
    """Whether the measure has this parameter."""
    return name != "cutoff" and any(field.name == name for field in fields(measure))


def in_contexts(measure: Measure, weights: Iterable[float], labels: Judgments) -> list[tuple[float, Measure]]:
    """The measure with each of these context weights; as it is (NaN) where it takes none, or no label has a context."""
    if not takes(measure, "context") or not labels.has("context"):
        return [(math.nan, measure)]
    return [(weight, measure.varied(context=weight)) for weight in weights]


def steep_gains(base: float, grades: Sequence[float]) -> dict[float, float]:
    """The worth of each grade when each further grade adds `base` times as much as the one before; the top is worth 1.

    >>> {grade: round(gain, 3) for grade, gain in steep_gains(2, [0, 1, 2, 3]).items()}
    {0: 0.0, 1: 0.143, 2: 0.429, 3: 1.0}

    A base of 1 is the grade itself, 2 is 2^grade - 1 but for its unit, and one near 0 tells relevant from not only.
    """
    top = max(grades)
    if abs(base - 1) < 1e-9:
        return {grade: max(grade, 0.0) / top for grade in grades}
    return {grade: (base ** max(grade, 0.0) - 1) / (base**top - 1) for grade in grades}


@dataclass(frozen=True, eq=False)
class Variants:
    """A measure's default and all combinations of the values tried; place 0 of every parameter is the default's."""

    default: Measure
    grids: dict[str, tuple[float, ...]]
    measures: tuple[Measure, ...]
    #: Variants x parameters: the place of each value in its grid, from 1; 0 for the default's own.
    place: Ints

    @classmethod
    def of(cls, default: Measure, vary: Sequence[str] | Mapping[str, Sequence[float]], labels: Judgments) -> Variants:
        """All combinations; parameters without values take those of `GRIDS`."""
        named = {name: GRIDS.get(name, ()) for name in vary} if not isinstance(vary, Mapping) else dict(vary)
        grids = {name: tuple(float(value) for value in values) for name, values in named.items()}
        if not grids:
            raise BadInput.at("what to vary", expected="a parameter, such as p or discount", found="none")
        for name, values in grids.items():
            if name != EMPTY and not takes(default, name):
                own = [field.name for field in fields(default) if field.name != "cutoff"]
                known = ", ".join([*own, EMPTY])
                raise BadInput.at(str(default), expected=f"a parameter of it ({known})", found=f'"{name}"')
            if len(values) < 2 or list(values) != sorted({*values}):
                found = ", ".join(f"{v:g}" for v in values) or "none"
                raise BadInput.at(f"the values of {name}", expected="two or more to try, rising", found=found)
        if np.prod([len(values) + 1 for values in grids.values()]) > MOST:
            expected = f"at most {MOST:,} combinations"
            raise BadInput.at("what to vary", expected=expected, found="more", remedy="try fewer values")
        grades = sorted({float(g) for g in labels.frame["label"].drop_nulls().unique() if g > 0})
        if "gains" in grids and not grades:
            raise Undefined("no label is above 0: gains cannot be fitted")
        place = np.array(list(product(*(range(len(values) + 1) for values in grids.values()))), np.int64)
        measures = tuple(default.varied(**_given(grids, row, grades)) for row in place)
        return cls(default, grids, measures, place)

    @property
    def penalty(self) -> Floats:
        """What each variant takes off a list without anything relevant."""
        taken = self.columns().get(EMPTY, [0.0] * len(self.measures))
        return np.array([value or 0.0 for value in taken])

    def columns(self) -> dict[str, list[float | None]]:
        """The value of each parameter in each variant, None where it is the default's own."""
        grids = zip(self.grids.items(), self.place.T, strict=True)
        return {name: [(None, *values)[step] for step in steps] for (name, values), steps in grids}

    def within(self, family: Sequence[str]) -> Bools:
        """Which variants have the default's value in every parameter but those of the family, and none in those."""
        free = np.array([name in family for name in self.grids])
        allowed: Bools = ((self.place > 0) == free).all(axis=1)
        return allowed


def _given(grids: dict[str, tuple[float, ...]], row: Ints, grades: list[float]) -> dict[str, Any]:
    """The parameters of one combination; those at the default's place are left as they are."""
    given: dict[str, Any] = {
        name: values[place - 1]
        for (name, values), place in zip(grids.items(), row, strict=True)
        if place and name != EMPTY
    }
    if "gains" in given:
        given["gains"] = {grade: round(gain, 6) for grade, gain in steep_gains(given["gains"], grades).items()}
    return given


def differences(
    pairs: pl.DataFrame, labels: Judgments, runs: RunsLike, measures: Sequence[Measure], depth: int = SHOWN
) -> tuple[pl.DataFrame, Floats, Floats, list[str]]:
    """The pairs that can be scored, and for each of them and each measure the lead of a and which side is empty.

    >>> from karat.measures import P
    >>> pairs = pl.DataFrame({"query": ["q"], "a": ["one"], "b": ["two"], "sign": [1]})
    >>> runs = {"one": {"q": {"d": 1.0}}, "two": {"q": {"e": 1.0}}}
    >>> differences(pairs, Judgments.of({"q": {"d": 1}}), runs, [P @ 1])[1].tolist()
    [[1.0]]

    The lead is the score of a less that of b; -1 where a alone scores 0, 1 where b alone does. Pairs that a measure is
    undefined for are left out and noted.
    """
    compared = score_pairs(pairs, labels, runs, list(measures), depth=depth)
    known = ~np.isnan(compared.difference).any(axis=1)
    notes = list(compared.notes)
    if not known.all():
        notes.append(f"{count(int((~known).sum()), 'pair')} left out: a measure is undefined there")
    if not known.any():
        raise Undefined("no pair has scores of both systems: preferences and measures cannot be compared")
    empty = (compared.score_b == 0).astype(np.float64) - (compared.score_a == 0)
    return compared.pairs.filter(pl.Series(known)), compared.difference[known], empty[known], notes
