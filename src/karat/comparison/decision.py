"""From one method's estimate to the verdict."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karat.comparison.many_systems import EQUAL, every_pair, family_p, ranks
from karat.comparison.matrix import Matrix
from karat.comparison.peeking import Look
from karat.comparison.verdict import Verdict, reason_for
from karat.errors import Undefined
from karat.estimate.estimate import Estimate
from karat.estimate.ppi import SAME_LISTS


class Decision(NamedTuple):
    """The verdict, and the tables it rests on."""

    verdict: Verdict
    reason: str
    winner: str | None
    pairs: pl.DataFrame
    ranks: pl.DataFrame


def decide(
    estimate: Estimate | None,
    refused: str,
    measure: str,
    matrix: Matrix,
    look: Look,
    draws: int,
    seed: int,
    margin: float | None = None,
    baseline: str | None = None,
) -> Decision:
    """The verdict by one method's estimate; a difference within the `margin`, if there is one, does not matter.

    Of more than two systems the leader is held against all others, or, with a `baseline`, which is the first, against
    that one only.
    """
    nothing = pl.DataFrame()
    told: Verdict
    if estimate is None:
        if len(matrix.systems) == 2 and refused.startswith(SAME_LISTS):
            told = "no difference shown" if margin is None else "equivalent"
            return Decision(told, "their lists are the same wherever it counts", None, nothing, nothing)
        return Decision("cannot say", refused, None, nothing, nothing)
    try:
        pairs = every_pair(estimate, matrix, look, with_first=baseline is not None, draws=draws, seed=seed)
    except Undefined as error:
        return Decision("cannot say", str(error), None, nothing, nothing)
    places = ranks(estimate, pairs, look.level)
    if baseline is not None and len(estimate.systems) > 2:
        return _against_baseline(estimate, measure, look, pairs, places)
    leader = int(np.argmax(estimate.scores))
    name = estimate.systems[leader]
    p = family_p(pairs)
    mine = ((pairs["a"] == name) | (pairs["b"] == name)).to_numpy()
    others = [s for s in range(len(estimate.systems)) if s != leader]
    known = all(estimate.is_known(leader, other) for other in others)
    if np.isnan(p[mine]).any() and not known:
        return Decision("cannot say", "too few gold labels or queries to tell how far off", None, pairs, places)
    if len(estimate.systems) == 2:
        row = {**pairs.row(0, named=True), "method": estimate.method} | _base(estimate)
        reason = reason_for(row, measure, look.level)
        if not (p[0] <= look.alpha or known) or abs(row["difference"]) < EQUAL:
            same = np.isnan(row["low"]) and abs(row["difference"]) < EQUAL
            verdict = _within(0.0, 0.0, margin) if same else _within(row["low"], row["high"], margin)
            said = "" if verdict == "no difference shown" else f", within the margin of {margin:g}"
            return Decision(verdict, reason + said, None, pairs, places)
        return Decision("better" if leader == 1 else "worse", reason, name, pairs, places)
    second = places["system"][1]
    ahead = estimate.scores[leader] - max(estimate.scores[other] for other in others) > EQUAL
    clear = bool((p[mine] <= look.alpha).all() or known) and ahead
    close = pairs.row(by_predicate=_is_pair(name, second), named=True)
    among = float(p[pairs.select(_is_pair(name, second).arg_true()).item()])
    reason = f"{name} against {second}, the next: " + reason_for(
        {**close, "method": estimate.method} | _base(estimate), measure, look.level, winner_first=close["a"] == name
    )
    reason += _among(pairs, among)
    told = "better" if clear else "no difference shown"
    return Decision(told, reason, name if clear else None, pairs, places)


def _against_baseline(
    estimate: Estimate, measure: str, look: Look, pairs: pl.DataFrame, places: pl.DataFrame
) -> Decision:
    """The best of the others against the first system; with p values that allow for as many pairs."""
    baseline, *others = estimate.systems
    best = 1 + int(np.argmax(estimate.scores[1:]))
    p, difference = family_p(pairs), pairs["difference"].to_numpy()
    known = np.array([estimate.is_known(0, other) for other in range(1, len(estimate.systems))])
    if np.isnan(p[~known]).any():
        return Decision("cannot say", "too few gold labels or queries to tell how far off", None, pairs, places)
    shown = (known | (p <= look.alpha)) & (np.abs(difference) > EQUAL)
    row = {**pairs.row(best - 1, named=True), "method": estimate.method} | _base(estimate)
    reason = f"{others[best - 1]}, the best of the others, against it: {reason_for(row, measure, look.level)}"
    reason += _among(pairs, float(p[best - 1]))
    if shown[best - 1] and difference[best - 1] > 0:
        return Decision("better", reason, others[best - 1], pairs, places)
    if (shown & (difference < 0)).all():
        return Decision("worse", reason, baseline, pairs, places)
    return Decision("no difference shown", reason, None, pairs, places)


def _among(pairs: pl.DataFrame, p: float) -> str:
    """The p value that allows for all pairs, in words."""
    return f" (among {pairs.height} pairs p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"


def _within(low: float, high: float, margin: float | None) -> Verdict:
    """Whether a difference that is not shown is shown to be small, by the ends of its interval."""
    if margin is None or not low > -margin:
        return "no difference shown"
    return "equivalent" if high < margin else "not worse"


def _is_pair(one: str, other: str) -> pl.Expr:
    both = [one, other]
    return pl.col("a").is_in(both) & pl.col("b").is_in(both)


def _base(estimate: Estimate) -> dict[str, Any]:
    return {"n_queries": estimate.n_queries, "n_gold": estimate.n_gold}
