"""The likeliest values of a measure's parameters, with intervals over queries."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from karat.stats.arrays import Floats
from karat.stats.bootstrap import Resampling, resampled
from karat.validity.measure_variants import Variants
from karat.validity.nested_cross_validation import Families
from karat.validity.vote_likelihood import VoteLikelihood

#: Draws to hold at once while the parameters are fitted anew.
AT_ONCE = 200


def likeliest_values(
    variants: Variants,
    choices: VoteLikelihood,
    families: Families,
    full: tuple[str, ...],
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """The likeliest value of each parameter, with its interval; those that were not chosen, beside those that were."""
    number = len(choices.votes)
    parts = [choices.best(np.ones((1, number)))[0]]
    if draws:
        for times in resampled(number, draws, seed):
            parts += [
                choices.best(times[start : start + AT_ONCE].astype(np.float64))[0]
                for start in range(0, len(times), AT_ONCE)
            ]
    likelihood = np.concatenate(parts)
    rows = []
    for axis, (name, values) in enumerate(variants.grids.items()):
        family = tuple(other for other in variants.grids if other in full or other == name)
        allowed = families[family]
        best = np.full((len(likelihood), len(values)), -np.inf)
        for step in range(len(values)):
            best[:, step] = likelihood[:, allowed & (variants.place[:, axis] == step + 1)].max(axis=1)
        found = between(best, np.array(values), logarithmic=name == "gains")
        low, high = _ends(found[1:], np.array(values), number, level)
        rows.append(
            {
                "parameter": name,
                "value": float(found[0]),
                "low": low,
                "high": high,
                "default": _said(getattr(variants.default, name)),
                "varied": name in full,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


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


def _ends(drawn: Floats, values: Floats, number: int, level: float) -> tuple[float, float]:
    """The interval of a parameter: never narrower than the values tried can tell."""
    if not len(drawn):
        return math.nan, math.nan
    outside = Resampling(level).outside(number)
    low, high = np.quantile(drawn, [outside, 1 - outside])
    if high - low < 1e-9:
        near = int(np.abs(values - low).argmin())
        low, high = values[max(near - 1, 0)], values[min(near + 1, len(values) - 1)]
    return float(low), float(high)


def _said(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else "the profile's" if value is None else str(value)
