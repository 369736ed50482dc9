"""Dawid and Skene's model: a confusion matrix for every judge, learnt from labels alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from karat.judges.em import FLOOR, Answers, Errors, check, fit_em, tally
from karat.judges.error_models import ErrorModel, able_to_learn, described, register_error_model
from karat.stats.arrays import Floats


@register_error_model("dawid-skene")
def dawid_skene(
    labels: Any,
    *,
    gold: Any = None,
    smoothing: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerate: bool = True,
) -> ErrorModel:
    """Grades and confusion matrices of the judges that explain the labels best.

    >>> said = {"ann": [0, 1, 0, 1, 0, 1], "bob": [0, 1, 0, 1, 0, 1], "eve": [1, 0, 1, 0, 1, 0]}
    >>> model = dawid_skene([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...                      for judge, given in said.items() for i, label in enumerate(given)])
    >>> model.posterior["label"].to_list()  # eve has it upside down, so her answers count too
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    >>> model.judges["accuracy"].round(2).to_list()
    [0.92, 0.92, 0.17]

    Use it when judges have dozens of labels each and share documents with others. With few labels each, `ordinal` needs
    fewer numbers per judge. It takes the errors of different judges for independent, given the true grade. Judges who
    err alike, as language models do, break that, and the fit then drifts away from what grades mean: for the 33 of the
    LLMJudge challenge the majority is right on 53 % of the passages and this on 39 %. A note says so when labels show
    it. Known grades (`gold`) stay fixed throughout.

    `smoothing` gives every judge so many labels for each true grade that err as those of all judges together do; 0 is
    the model as published. The fit begins with how the labels are spread and has converged when no probability of a
    grade moves by more than `tolerance` in a step; `accelerate=False` takes plain steps only.

    Reference: Dawid and Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm (Applied
    Statistics 1979).
    """
    check(smoothing=smoothing)
    answers = able_to_learn(Answers.of(labels, gold))

    def learn(posterior: Floats) -> Errors:
        return learned(tally(answers, posterior), posterior.mean(axis=1), smoothing)

    fit = fit_em(answers, learn, max_iterations=max_iterations, tolerance=tolerance, accelerate=accelerate)
    if not smoothing:
        fit = replace(fit, errors=without_unmet(fit.errors, tally(answers, fit.posterior)))
    return described("Dawid-Skene", answers, fit)


def learned(counts: Floats, prior: Floats, smoothing: float) -> Errors:
    """What judges do, from how often each is expected to have given each label to each true grade; changes these."""
    if smoothing:
        pooled = counts.sum(axis=2, keepdims=True)
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), FLOOR)
        counts += smoothing * pooled
    np.maximum(counts, FLOOR, out=counts)
    counts /= counts.sum(axis=1, keepdims=True)
    return Errors(prior, counts)


def without_unmet(errors: Errors, counts: Floats) -> Errors:
    """The same, but for what a judge says about a grade that they never met: nothing is known of it."""
    unmet = counts.sum(axis=1, keepdims=True) < FLOOR
    return replace(errors, confusion=np.where(unmet, np.nan, errors.confusion))
