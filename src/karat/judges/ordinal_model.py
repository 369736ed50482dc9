"""An error model for ordered grades: how lenient, how sharp and how scattered each judge is, three numbers each."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.errors import BadInput
from karat.judges.em import Answers, Errors, check, fit_em, tally
from karat.judges.error_models import ErrorModel, able_to_learn, described, register_error_model
from karat.stats.arrays import Floats

#: Newton steps for the judges in every round of the fit: each round begins where the last one ended.
NEWTON_STEPS = 2
#: No judge's numbers move further than this in one step.
LONGEST_STEP = 2.0
#: Keeps the numbers of a judge finite whose labels could not be more extreme.
RIDGE = 1e-4


@register_error_model("ordinal")
def ordinal(
    labels: Any,
    *,
    gold: Any = None,
    smoothing: float = 3.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerate: bool = True,
) -> ErrorModel:
    """Grades and judges' errors when a label falls near what the judge makes of the true grade.

    >>> said = {"ann": [0, 1, 2, 1, 0, 2], "bob": [0, 1, 2, 1, 0, 2], "eve": [1, 2, 2, 2, 1, 2]}
    >>> model = ordinal([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...                  for judge, given in said.items() for i, label in enumerate(given)])
    >>> model.posterior["label"].to_list()
    [0.0, 1.0, 2.0, 1.0, 0.0, 2.0]
    >>> bool(model.judges["leniency"][2] > 0.3 > abs(model.judges["leniency"][0]))
    True

    The chance of a label is a normal curve over the grades around `leniency + sharpness x true grade`, with a spread
    of its own, all three per judge; a judge of sharpness 0 does not look at the document. Use it on graded scales when
    judges have few labels each: Dawid and Skene's matrix has 20 numbers to learn where this has 3. It cannot describe a
    judge who takes one grade for another further away. Grades are taken to be equally far apart. `smoothing` gives
    every judge so many labels that err as those of all judges together do; it must be above 0.

    Reference: a quadratic form of Johnson's multirater ordinal model (JASA 1996, On Bayesian Analysis of Multirater
    Ordinal Data); fitted by EM as Dawid and Skene's.
    """
    check(smoothing=smoothing)
    if not smoothing:
        raise BadInput.at("the smoothing", expected="a number of labels above 0", found="0")
    answers = able_to_learn(Answers.of(labels, gold))
    curves = _Curves(answers.levels)
    everybody, each = np.zeros((3, 1)), np.zeros((3, answers.judges.height))

    def learn(posterior: Floats) -> Errors:
        nonlocal everybody, each
        counts, prior = tally(answers, posterior), posterior.mean(axis=1)
        # A uniform label for each true grade, so that no grade goes without a curve.
        pooled = counts.sum(axis=2, keepdims=True) + 1 / answers.levels
        everybody, typical = curves.fit(pooled, everybody)
        each, confusion = curves.fit(counts + smoothing * prior[:, None, None] * typical, each)
        return Errors(prior, confusion)

    fit = fit_em(answers, learn, max_iterations=max_iterations, tolerance=tolerance, accelerate=accelerate)
    return described("The ordinal model", answers, fit)


class _Curves:
    """Normal curves over grades: log P(label l | true k) = a l + b k l + c l^2 + constant, for all judges at once.

    With the scale's middle at 0: c = -1 / (2 spread^2), a = leniency / spread^2, b = sharpness / spread^2. The
    likelihood is concave in a, b, c, so Newton's steps find its top.
    """

    def __init__(self, levels: int) -> None:
        at = np.arange(levels) - (levels - 1) / 2
        truth, label = at[:, None], at[None, :]
        one = np.ones((levels, levels))
        self.features = np.stack([one * label, truth * label, one * label**2])
        products = np.stack([self.features[i] * self.features[j] for i in range(3) for j in range(3)])
        # True grades x (features, then their products) x labels: expectations are one matrix product.
        self.moments = np.concatenate([self.features, products]).transpose(1, 0, 2)

    def fit(self, counts: Floats, numbers: Floats) -> tuple[Floats, Floats]:
        """Numbers (3 x judges) and chances (truth x labels x judges), some steps nearer to the best fit."""
        seen = np.einsum("fkl,klj->fj", self.features, counts)
        truths = counts.sum(axis=1)
        chances, merit = self._at(numbers, counts)
        for _ in range(NEWTON_STEPS):
            expected = self.moments @ chances
            first, second = expected[:, :3], expected[:, 3:].reshape(len(expected), 3, 3, -1)
            slope = seen - np.einsum("kfj,kj->fj", first, truths) - RIDGE * numbers
            bend = np.einsum("kfgj,kj->jfg", second - first[:, :, None] * first[:, None, :], truths)
            step = np.linalg.solve(bend + RIDGE * np.eye(3), slope.T[:, :, None])[:, :, 0].T
            step *= np.minimum(1.0, LONGEST_STEP / np.maximum(np.sqrt((step**2).sum(axis=0)), 1e-12))
            for _ in range(5):
                ahead, better = self._at(numbers + step, counts)
                worse = better < merit
                if not worse.any():
                    break
                step[:, worse] /= 2
            step[:, worse] = 0.0
            numbers = numbers + step
            chances, merit = (ahead, better) if not worse.any() else self._at(numbers, counts)
        return numbers, chances

    def _at(self, numbers: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """The chances that these numbers give, and how well each judge's labels fit them."""
        log = np.einsum("fkl,fj->klj", self.features, numbers)
        log -= log.max(axis=1, keepdims=True)
        log -= np.log(np.exp(log).sum(axis=1, keepdims=True))
        merit = (counts * log).sum(axis=(0, 1)) - RIDGE / 2 * (numbers**2).sum(axis=0)
        return np.exp(log), merit
