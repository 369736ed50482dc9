"""What each method says, naive beside corrected, and what a reader of the verdict should know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.comparison.fairness import fairness, favour
from karat.comparison.peeking import Look
from karat.errors import Undefined
from karat.estimate.estimate import Difference, Estimate
from karat.estimate.gold_sample import Gold
from karat.estimate.with_gold import WithGold
from karat.records.result import Caution
from karat.stats.sequences import FIRST

#: With fewer queries Student's t rests on hope.
FEW = 10
INVERSIONS = ("inversion", "inversion-independent")

METHOD_ROWS = {
    "method": pl.String,
    "system_a": pl.String,
    "system_b": pl.String,
    "a": pl.Float64,
    "b": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "n_queries": pl.Int64,
    "n_gold": pl.Int64,
}


def method_rows(
    estimates: dict[str, Estimate], look: Look, population: str, undefined: Sequence[str] = ()
) -> pl.DataFrame:
    """What each method says of every system against the first, the labels as they are first of all.

    The figures of `undefined` methods are NaN.
    """
    rows = []
    for estimate in estimates.values():
        for b in range(1, len(estimate.systems)):
            # On these very queries the labels as they are leave nothing to chance, and nothing is said of it.
            silent = population == "fixed" and estimate.method == "plain"
            found = _at(estimate, b, look, silent)
            # Gold labels that only tell systems apart leave each one's own score unknown.
            own = estimate.scores if estimate.has_scores else np.full(len(estimate.systems), np.nan)
            if estimate.method in undefined:
                own = np.full(len(estimate.systems), np.nan)
                found = found._replace(difference=np.nan, low=np.nan, high=np.nan, p=np.nan)
            rows.append(
                (
                    estimate.method,
                    estimate.systems[0],
                    estimate.systems[b],
                    float(own[0]),
                    float(own[b]),
                    found.difference,
                    found.low,
                    found.high,
                    found.p,
                    estimate.n_queries,
                    estimate.n_gold,
                )
            )
    return pl.DataFrame(rows, schema=METHOD_ROWS, orient="row")


def _at(estimate: Estimate, b: int, look: Look, silent: bool) -> Difference:
    try:
        found = look.at(estimate, 0, b)
    except Undefined:
        found, silent = estimate.difference(0, b, look.level), True
    return found._replace(low=np.nan, high=np.nan, p=np.nan) if silent else found


def notes_on(
    estimates: dict[str, Estimate],
    chosen: str,
    found: WithGold,
    gold: Gold | None,
    look: Look,
    population: str,
    linear: bool = True,
) -> list[str]:
    """What bears on the verdict first, then what it rests on, then why other methods are silent.

    `linear` says that the measure is a sum over documents.
    """
    notes = list[str]()
    if found.scales is None:  # labels on another scale than gold labels have no figure to compare with
        notes = [*_against_plain(estimates, chosen, look, population), *fairness(estimates, look.alpha)]
    if chosen in estimates:
        notes += estimates[chosen].notes
    if gold is not None:
        notes += [*gold.notes, *found.notes]
    if estimates:
        silent: dict[str, list[str]] = {}
        for name, why in found.refused.items():
            # A measure that no confusion matrix corrects is no news to somebody who asks for none.
            if name != chosen and (linear or name not in INVERSIONS or chosen in INVERSIONS):
                silent.setdefault(why, []).append(name)
        notes += [f"{' and '.join(names)}: {why}" for why, names in silent.items()]
    notes += [note for name, estimate in estimates.items() if name != chosen for note in estimate.notes]
    if chosen in estimates and estimates[chosen].n_queries < FEW:
        notes.append(Caution(f"{estimates[chosen].n_queries} queries only: the interval is a guess"))
    if look.peeking and chosen in estimates and estimates[chosen].n_queries >= FIRST:
        notes.append(
            f"the intervals hold at every look, and are narrowest at {look.planned:,} queries: stop when clear"
        )
    return notes


def of_all_gold(reason: str, estimate: Estimate | None, gold: Gold | None, queries: Sequence[str]) -> str:
    """The reason with how many gold labels there are, where not all of them count, and why the others do not."""
    given = 0 if gold is None else gold.frame.height
    if gold is None or estimate is None or not 0 < estimate.n_gold < given:
        return reason
    strangers = gold.frame.filter(~pl.col("query").is_in(queries)).height
    others = ["of other queries"] if strangers else []
    if given - strangers > estimate.n_gold:
        others.append("of documents that these lists do not show where it counts")
    why = f"{estimate.n_gold:,} of {given:,} gold labels (the others are {' or '.join(others)})"
    return reason.replace(f"{estimate.n_gold:,} gold labels", why)


def _against_plain(estimates: dict[str, Estimate], chosen: str, look: Look, population: str) -> list[str]:
    """Where the labels taken as they are would have said something else."""
    plain, corrected = estimates.get("plain"), estimates.get(chosen)
    if plain is None or corrected is None or chosen == "plain" or len(plain.systems) != 2 or look.peeking:
        return []
    if population == "fixed":
        return []  # the labels' p is about other queries, and this verdict about these
    naive, right = look.at(plain, 0, 1), look.at(corrected, 0, 1)
    shown, holds = naive.p <= look.alpha, right.p <= look.alpha
    a, b = plain.systems
    if shown and not holds:
        better, against = b if naive.difference > 0 else a, favour(estimates)
        called = f"taken as they are, the labels call {better} better (p = {naive.p:.2g}); "
        # Not shown is not contradicted: that takes errors which are shown to favour the very system.
        if against is not None and against.system == better and against.shown(look.alpha):
            return [f"{called}gold labels do not bear it out"]
        return [f"{called}too few gold labels to tell"]
    if holds and not shown:
        return [f"taken as they are, the labels show no difference (p = {naive.p:.2f})"]
    if shown and holds and naive.difference * right.difference < 0:
        return ["taken as they are, the labels say the opposite"]
    return []
