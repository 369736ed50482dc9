"""The words of the verdict: what is better by what, with its interval and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from karat.records.number_format import decimals

Verdict = Literal["better", "worse", "equivalent", "not worse", "no difference shown", "cannot say"]

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


def _p(p: float) -> str:
    if math.isnan(p):
        return ""
    return ", p < 0.001" if p < 0.001 else f", p = {p:.3f}"
