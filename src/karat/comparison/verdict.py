"""Is B better than A, given that the labels are wrong sometimes? One call from labels and runs to the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from karat.comparison.comparer import Comparer, Method
from karat.comparison.comparison import Comparison
from karat.measures import Profile
from karat.measures.topics import UserWeights
from karat.records import LabelsLike, RunsLike


def compare(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object = None,
    *,
    gold: LabelsLike | None = None,
    method: Method = "auto",
    queries: Literal["sample", "fixed"] = "sample",
    calibrate: bool | Sequence[str] = True,
    consensus: str = "median",
    profile: str | Profile = "trec_eval",
    complete: bool = False,
    level: float = 0.95,
    margin: float | None = None,
    user_weights: UserWeights | None = None,
    peek: int | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Which of these systems is better by a measure, with gold labels of some documents if there are any.

    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> compare(labels, {"a": a, "b": b}, "P@1").verdict
    'better'

    The measure is nDCG@10 unless named. Without gold labels the labels are taken as they are (`plain`). With gold
    labels drawn with known probabilities (a column `probability`; without it, a uniform draw is assumed and said) the
    default is prediction-powered (`ppi`), which is right however the judge errs; `inversion` is right only if errors
    depend on nothing but the true grade, and is sharper then. For `ppi` the gold labels also teach what each label of
    the judge is worth: `calibrate=False` takes the labels as they are, and names of further columns of numbers, such as
    a model's expected grade, help to predict. `queries="fixed"` is about these queries only instead of all that users
    ask. `consensus` makes one label of several judges': their median, majority or mean, or the posterior of an error
    model (one-coin, dawid-skene, ordinal).
    `user_weights` are for measures with udm gains, as in `score`. `margin` is a difference that does not matter: where
    none is shown, the verdict may then be that the systems are equivalent, or that the second is not worse, by the ends
    of the interval (two systems only).
    `peek` is the number of queries planned when results are looked at again and again while queries arrive: the
    interval then holds at all looks together.
    """
    comparer = Comparer(
        labels,
        runs,
        gold=gold,
        method=method,
        queries=queries,
        calibrate=calibrate,
        consensus=consensus,
        profile=profile,
        complete=complete,
        level=level,
        margin=margin,
        user_weights=user_weights,
        peek=peek,
        draws=draws,
        seed=seed,
    )
    return comparer.by(measure)
