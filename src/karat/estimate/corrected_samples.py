"""Runs that are laid out, each with the rates to correct it by: the scores by each method, and two runs compared."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.advice import advise
from karat.estimate.confusion_matrix import matrix_notes
from karat.estimate.corrected_result import CorrectedRuns
from karat.estimate.rates import Rates
from karat.estimate.two_samples import Corrected, Sample
from karat.stats.arrays import Floats
from karat.stats.correction import half_width, lang_reiczigel, two_sided, wilson

#: What every correction by a confusion matrix takes for granted.
ALIKE = "right where judges err alike on all documents of a grade{}; {} does not take that for granted"
INDEPENDENT = "independent adds the errors of both corrected scores, though one matrix corrects both: read shared"
#: How often judges are right on documents of each kind.
ACCURACY = {
    "system": pl.String,
    "documents": pl.String,
    "right": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "effective": pl.Float64,
}
PER_RUN = "each run has accuracies of its own; what both share, queries and gold documents, is allowed for"


def of_samples(
    measure: str,
    samples: Sequence[Sample],
    rates: Sequence[Rates],
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> CorrectedRuns:
    """The result for runs that are laid out, with the rates to correct each by: one object where they are shared."""
    notes = [*notes]
    for sample, of in zip(samples, rates, strict=True):
        of.matrix.check("the labels" if rates[0] is rates[-1] else f"{sample.system}: the labels")
    found = Corrected(samples, rates)
    notes += [note for of in rates[: 1 if found.shared else 2] for note in matrix_notes(of.matrix)]
    drawn = found.drawn_again(draws, seed) if draws else np.full((1, len(samples)), np.nan)
    if np.isnan(drawn).any() and draws:
        lost = int(np.isnan(drawn).any(axis=1).sum())
        notes.append(f"{lost:,} of {draws:,} bootstrap draws have a matrix without an inverse: left out")
    each = [_of_run(found, s, drawn[:, s], level, notes) for s in range(len(samples))]
    pair = _pair(found, drawn, level) if len(samples) == 2 else None
    if pair is not None:
        notes.append(PER_RUN if not found.shared else INDEPENDENT)
    of_both = "" if pair is None else ", those of both runs" if found.shared else " that a run shows"
    return CorrectedRuns(
        measure=measure,
        systems=tuple(sample.system for sample in samples),
        scores=pl.concat(each),
        pair=pair,
        accuracy=_accuracy(found, level),
        impossible=tuple(s.system for place, s in enumerate(samples) if not found.is_possible(place)),
        n_queries=tuple(len(sample.queries) for sample in samples),
        in_common=len({*samples[0].queries} & {*samples[-1].queries}),
        level=level,
        draws=draws,
        seed=seed,
        notes=tuple(
            dict.fromkeys([*notes, ALIKE.format(of_both, advise("karat compare --gold", "compare with gold="))])
        ),
    )


def _of_run(found: Corrected, s: int, drawn: Floats, level: float, notes: list[str]) -> pl.DataFrame:
    """A run's score by each method: naive, corrected, closed form, bootstrap."""
    sample, alone = found.samples[s], [float(s == other) for other in range(len(found.samples))]
    rows = []

    def add(method: str, value: float, error: float, low: float, high: float) -> None:
        rows.append((sample.system, method, value, low, high, error, len(sample.queries)))

    error = float(np.sqrt((found.naive_by_list[:, s] ** 2).sum()))
    half = float(half_width(error, level, len(sample.queries) - 1.0)) or math.nan
    add("naive", float(found.naive[s]), error, float(found.naive[s]) - half, float(found.naive[s]) + half)
    value, error = float(found.scores[s]), float(np.sqrt(found.covariance[s, s]))
    half = float(half_width(error, level, found.freedom(alone))) or math.nan
    low, high = _interval(found, s, level) or (value - half, value + half)
    least, most = found.ends[s]
    if high <= least or low >= most:
        notes.append(f"{sample.system}: no score from {least:g} to {most:.3g} fits these figures: no interval")
        low = high = math.nan
    elif low < least or high > most:
        notes.append(f"{sample.system}: the interval, {low:.3g} to {high:.3g}, is cut at {least:g} and {most:.3g}")
        low, high = max(low, least), min(high, most)
    if not found.is_possible(s):
        notes.append(
            f"{sample.system}: a corrected score of {value:.3f} cannot be ({least:g} to {most:.3g}), the nearest that "
            f"can is {found.possible(s):.3f}: the judges do not err here as on the gold labels, or these are too few"
        )
    add("corrected", value, error, low, high)
    add("closed form", value, error, value - half, value + half)
    if not np.isnan(drawn).all():
        ends = np.nanquantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
        add("bootstrap", value, float(np.nanstd(drawn, ddof=1)), float(ends[0]), float(ends[1]))
    columns = ["system", "method", "score", "low", "high", "standard_error", "n_queries"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _interval(found: Corrected, s: int, level: float) -> tuple[float, float] | None:
    """Lang and Reiczigel's interval, where documents are relevant or not: with few gold labels the plain one misses."""
    matrix, seen = found.rates[s].matrix, found.seen[s]
    if len(matrix.gains) != 2 or matrix.gains[0] != 0 or np.isinf(matrix.effective).any():
        return None
    whole, top = float(seen.sum()), float(matrix.gains[1])
    share = float(seen[1]) / whole
    variance = float((found.naive_by_list[:, s] ** 2).sum()) / (whole * top) ** 2
    if not 0 < share < 1 or variance <= 0:
        return None
    _, n = found.gold_parts(s)
    right = matrix.shares[1, 1], float(n[1]), matrix.shares[0, 0], float(n[0])
    low, high = lang_reiczigel(share, share * (1 - share) / variance, *right, level)
    return float(low) * whole * top, float(high) * whole * top


def _pair(found: Corrected, drawn: Floats, level: float) -> pl.DataFrame:
    """The second run against the first by each method."""
    apart = [-1.0, 1.0]
    naive = found.naive_by_list @ np.array(apart)
    covariance = found.covariance
    own = [math.sqrt(covariance[s, s]) for s in (0, 1)]
    freedoms = [found.freedom([1.0, 0.0]), found.freedom([0.0, 1.0])]
    added = math.hypot(*own)
    welch = added**4 / sum(error**4 / df for error, df in zip(own, freedoms, strict=True)) if added else math.inf
    both = math.sqrt(max(float(np.array(apart) @ covariance @ np.array(apart)), 0.0))
    errors = np.nanstd(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(2, math.nan)
    again = float(np.nanstd(drawn[:, 1] - drawn[:, 0], ddof=1)) if len(drawn) > 1 else math.nan
    method = "shared" if found.shared else "per run"
    rows = []
    for name, scores, error, df, by_draws in (
        ("naive", found.naive, float(np.sqrt((naive**2).sum())), found.freedom(apart, naive=True), math.nan),
        ("independent", found.scores, added, welch, math.hypot(*errors)),
        (method, found.scores, both, found.freedom(apart), again),
    ):
        a, b = (float(score) for score in scores)
        half = float(half_width(error, level, df)) or math.nan
        p = float(two_sided(b - a, error, df)), float(two_sided(b - a, error))
        rows.append((name, a, b, b - a, b - a - half, b - a + half, error, p[0], df, p[1], by_draws))
    columns = ["method", "a", "b", "difference", "low", "high", "standard_error", "p", "df", "p_normal"]
    return pl.DataFrame(rows, schema=[*columns, "bootstrap_error"], orient="row")


def _accuracy(found: Corrected, level: float) -> pl.DataFrame:
    """How often judges are right on documents of each kind, and the gold labels that say so."""
    rows: list[tuple[object, ...]] = []
    for s, rates in enumerate(found.rates[:1] if found.shared else found.rates):
        matrix = rates.matrix
        _, effective = found.gold_parts(s)
        name = None if found.shared else found.samples[s].system
        kinds = [f"{'worth' if rates.by_gain else 'grade'} {value:g}" for value in rates.values]
        if len(kinds) == 2 and rates.by_gain:
            kinds = ["not relevant", "relevant"]
        for k, kind in enumerate(kinds):
            right, n = float(matrix.shares[k, k]), float(effective[k])
            known = math.isinf(n)
            low, high = (math.nan, math.nan) if known else (float(end) for end in wilson(right, n, level))
            sizes = (None, None) if known else (round(matrix.counts[k]), n)
            rows.append((name, kind, right, low, high, *sizes))
    return pl.DataFrame(rows, schema=ACCURACY, orient="row")
