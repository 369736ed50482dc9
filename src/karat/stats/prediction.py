"""Prediction-powered means: few true values, many predictions, and an interval that trusts the former only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput, Undefined

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PoweredMean:
    """A mean with its error and interval; `weight` is how far the predictions were trusted (lambda)."""

    value: float
    error: float
    low: float
    high: float
    weight: float


def powered_mean(
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    others: npt.ArrayLike,
    *,
    weight: float | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """The mean of true values, known for a few items, helped by predictions for those and for others.

    >>> found = powered_mean([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3], [0.2, 0.9, 0.4, 0.6, 0.1], weight=1)
    >>> round(found.value, 3)
    0.49

    The items with a true value must be a random sample of all. The mean prediction of the others is corrected by what
    predictions were off by where the truth is known, so the result is right on average for any predictions; good
    ones make it narrower. `weight` is how much of the predictions to use: 0 ignores them, 1 takes them in full; by
    default it is the one that makes the interval narrowest, between 0 and 1, and 0 when predictions do not vary.
    The interval is by the normal distribution: have 30 true values or more.

    Reference: Angelopoulos et al., Prediction-Powered Inference (Science 2023); the weight: PPI++ (arXiv 2311.01453).
    """
    from statistics import NormalDist

    y, f, u = (np.asarray(values, dtype=np.float64).ravel() for values in (truth, predicted, others))
    if len(y) != len(f):
        raise BadInput.at("the predictions", expected=f"one for each of {len(y)} true values", found=str(len(f)))
    if not all(np.isfinite(values).all() for values in (y, f, u)):
        raise BadInput.at("the values", expected="numbers", found="one that is missing or infinite")
    if len(y) < 2 or len(u) < 2:
        raise Undefined("fewer than two true values, or than two other predictions: nobody can tell how they vary")
    weight = best_weight(y, f, u) if weight is None else weight
    rest = y - weight * f
    value = float(weight * u.mean() + rest.mean())
    error = float(np.sqrt(weight**2 * u.var() / len(u) + rest.var() / len(y)))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error if error > 0 else np.nan
    return PoweredMean(value, error, value - reach, value + reach, float(weight))


def best_weight(truth: Floats, predicted: Floats, others: Floats) -> float:
    """The weight of the predictions that makes the error smallest, from 0 to 1.

    >>> best_weight(np.array([0, 1, 0, 1.0]), np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.5, 0.5]))
    0.0
    """
    spread = float(np.concatenate([predicted, others]).var())
    if spread <= 0:
        return 0.0
    together = float(((truth - truth.mean()) * (predicted - predicted.mean())).mean())
    return float(np.clip(together / spread / (1 + len(truth) / len(others)), 0.0, 1.0))
