"""The words of the verdict: what is better by what, with its interval and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from karat.comparison.interim import Look
from karat.comparison.many_systems import EQUAL, every_pair, family_p, ranks
from karat.comparison.prepared import Matrix
from karat.correction.estimate import Estimate
from karat.correction.ppi import SAME_LISTS
from karat.errors import Undefined
from karat.records.number_format import decimals

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison
    from karat.comparison.prepared import Matrix


Verdict = Literal["better", "worse", "equivalent", "not worse", "no difference shown", "cannot say"]

#: Why a comparison is refused, as a code.
Refusal = Literal["unjudged documents", "gold out of reach"]
#: So many systems that miss queries are named.
MAX_NAMED = 3
#: What the methods are called in a sentence.
IN_WORDS = {
    "plain": "labels as they are",
    "ppi": "labels corrected with gold labels",
    "inversion": "labels corrected by the judge's confusion matrix",
    "inversion-independent": "corrected by the judge's confusion matrix, errors added up",
}


def headline(verdict: Verdict, systems: Sequence[str], winner: str | None, baseline: str | None, measure: str) -> str:
    """The verdict in a few words.

    >>> headline("better", ["bm25", "neural"], "neural", None, "P@10")
    'neural is better than bm25 by P@10:'
    >>> headline("no difference shown", ["bm25", "neural", "hybrid"], None, "bm25", "P@10")
    'No system is shown better than bm25 by P@10:'
    """
    if len(systems) == 2:
        a, b = systems
        if verdict == "no difference shown":
            return f"No difference shown between {a} and {b} by {measure}:"
        return (
            f"{b} and {a} are equivalent by {measure}:"
            if verdict == "equivalent"
            else f"{b} is {verdict} than {a} by {measure}:"
        )
    if verdict == "worse":
        return f"All others are worse than {baseline} by {measure}:"
    others = "all others" if baseline is None else baseline
    if verdict == "no difference shown":
        return f"No system is shown better than {others} by {measure}:"
    return f"{winner} is better than {others} by {measure}:"


def reason_for(row: dict[str, Any], measure: str, level: float, winner_first: bool = False) -> str:
    """A difference with its interval and what it rests on, in words.

    >>> row = {"method": "plain", "difference": 0.051, "low": 0.012, "high": 0.09, "p": 0.011, "n_queries": 50,
    ...        "n_gold": 0}
    >>> reason_for(row, "P@10", 0.95)
    '+0.051 (95 % interval +0.012 to +0.090, p = 0.011) over 50 queries, labels as they are'
    """
    sign = -1.0 if winner_first else 1.0
    difference, ends = sign * row["difference"], sorted((sign * row["low"], sign * row["high"]))
    places = decimals(*ends)
    said = f"{difference:+z.{places}f}"
    if not math.isnan(ends[0]):
        said += f" ({level * 100:g} % interval {ends[0]:+z.{places}f} to {ends[1]:+z.{places}f}{_p(row['p'])})"
    elif not math.isnan(row["p"]):
        said += f" ({_p(row['p']).removeprefix(', ')})"
    said += f" over {row['n_queries']:,} queries, {IN_WORDS[row['method']]}"
    return said.replace("corrected with gold labels", f"corrected with {row['n_gold']:,} gold labels")


def describe_missing(matrix: Matrix) -> str:
    """Which systems miss judged queries, and how these count; empty where none does."""
    missing = {system: n for system, n in matrix.missing.items() if n}
    if not missing:
        return ""
    if matrix.common_queries:
        return f"the {len(matrix.queries):,} of {matrix.judged:,} judged queries that all systems answer"
    return missing_clause(missing, matrix.judged)


def missing_clause(missing: Mapping[str, int], judged: int) -> str:
    """How many judged queries each of these systems misses, in words.

    >>> missing_clause({"bm25": 0, "neural": 78}, 100)
    'neural misses 78 of 100 judged queries; they count as 0'
    >>> missing_clause({"a": 2, "b": 9, "c": 1, "d": 4}, 50)
    'b misses 9, d misses 4, a misses 2 and 1 more system misses up to 1 of 50 judged queries; they count as 0'
    """
    ordered = sorted(((n, system) for system, n in missing.items() if n), key=lambda one: -one[0])
    if not ordered:
        return ""
    listed = [f"{system} misses {n:,}" for n, system in ordered[:MAX_NAMED]]
    if rest := ordered[MAX_NAMED:]:
        others = "1 more system misses" if len(rest) == 1 else f"{len(rest):,} more systems miss"
        listed.append(f"{others} up to {rest[0][0]:,}")
    text = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"{text} of {judged:,} judged {'query' if judged == 1 else 'queries'}; they count as 0"


def with_missing(reason: str, missing: str) -> str:
    """A reason with the queries that systems miss."""
    return f"{reason} ({missing})" if missing else reason


def missing_in(found: Comparison) -> str:
    """The clause about missing queries of a comparison; empty where none is missing or only common ones count."""
    return "" if found.common_queries else missing_clause(found.missing_queries, found.judged_queries)


def _p(p: float) -> str:
    if math.isnan(p):
        return ""
    return ", p < 0.001" if p < 0.001 else f", p = {p:.3f}"


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
