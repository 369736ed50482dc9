"""What each method says, naive beside corrected, and what a reader of the verdict should know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from karat.comparison.interim import Look
from karat.correction.estimate import Difference, Estimate
from karat.correction.estimators import WithGold
from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool
from karat.errors import Undefined
from karat.records.result import Caution
from karat.stats.arrays import Bools
from karat.stats.confidence_sequences import FIRST
from karat.stats.multiple_testing import holm


class Favour(NamedTuple):
    """The system that the labels' errors favour, by how much, and its p; none where it cannot be told."""

    system: str
    by: float
    p: float

    def shown(self, alpha: float) -> bool:
        """Whether it is more than chance."""
        return self.p < alpha


def favour(estimates: dict[str, Estimate]) -> Favour | None:
    """Which system the labels' errors favour: the labels as they are against the prediction-powered score.

    The latter is right for any judge. Where the labels differ from it by more than chance, their errors do not cancel
    between the systems.
    """
    plain, right = estimates.get("plain"), estimates.get("ppi")
    if plain is None or right is None or plain.values is None or right.values is None:
        return None
    gap, (a, b), p = _widest_gap(plain, right)
    if np.isnan(p):
        return None
    by = gap.difference(a, b).difference
    return Favour(right.systems[b if by > 0 else a], abs(by), p)


def fairness(estimates: dict[str, Estimate], alpha: float) -> list[str]:
    """Whether the labels' errors favour a system, in words.

    Inversion takes errors to depend on the true grade alone: where it differs, too, it is not to be trusted.
    """
    found = favour(estimates)
    if found is None:
        return []
    if not found.shown(alpha):
        return [f"no sign that the labels' errors favour a system (p = {found.p:.2f})"]
    said = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
    notes: list[str] = [
        Caution(
            f"the labels' errors favour {found.system}, by {found.by:.3f} ({said}): taken as they are, the labels "
            "mislead about the difference"
        )
    ]
    inverted, right = estimates.get("inversion"), estimates["ppi"]
    if inverted is not None and inverted.values is not None and _widest_gap(inverted, right)[2] < alpha:
        notes.append("inversion takes the judge's errors to depend on the true grade alone, which they do not here")
    return notes


def _widest_gap(one: Estimate, right: Estimate) -> tuple[Estimate, tuple[int, int], float]:
    """The differences between two methods, the pair of systems where they are clearest, and its p among all pairs."""
    assert one.values is not None
    assert right.values is not None
    gaps = one.values - right.values
    gaps[np.abs(gaps) < 1e-12] = 0.0  # rounding has no side
    gap = Estimate.of_values("gap", one.systems, gaps, df=right.df)
    pairs = [(a, b) for a in range(len(one.systems)) for b in range(a + 1, len(one.systems))]
    p = holm([gap.difference(a, b).p for a, b in pairs])
    if np.isnan(p).all():
        return gap, (0, 0), np.nan
    place = int(np.nanargmin(p))
    return gap, pairs[place], float(p[place])


def judge_by_kind(pool: Pool, level: float) -> pl.DataFrame | None:
    """How far the labels' gains are off on documents of each kind: whose they are, where they stand.

    A row per kind: `error` = gain by the label less gain by gold, weighted by what each gold label stands for, with an
    interval that allows for documents of one query erring alike, and the number of gold labels.
    """
    if not pool.drawn.any():
        return None
    shown = pool.weight != 0
    kinds: list[tuple[str, Bools]] = [("all", np.ones(len(pool.gold), bool))]
    if len(pool.systems) == 2:
        kinds += [(f"only {name}", shown[:, s] & ~shown[:, 1 - s]) for s, name in enumerate(pool.systems)]
        kinds.append(("both", shown.all(axis=1)))
    else:
        kinds += [(f"shown by {name}", shown[:, s]) for s, name in enumerate(pool.systems)]
    bands = ((1, 3), (4, 10), (11, 10**9))
    for low, high in bands:
        name = f"rank {low} to {high}" if high < 10**9 else f"rank {low} on"
        kinds.append((name, (pool.rank >= low) & (pool.rank <= high)))
    rows = [(name, *_error(pool, which & pool.drawn, level)) for name, which in kinds if (which & pool.drawn).any()]
    return pl.DataFrame(rows, schema=["documents", "error", "low", "high", "gold"], orient="row")


def _error(pool: Pool, which: Bools, level: float) -> tuple[float, float, float, int]:
    from scipy.special import stdtrit

    error, weight = pool.predicted[which] - pool.gold[which], pool.inverse[which]
    mean = float((weight * error).sum() / weight.sum())
    queries = np.unique(pool.query[which], return_inverse=True)[1]
    groups = int(queries.max()) + 1
    if groups < 2:
        return mean, np.nan, np.nan, int(which.sum())
    off = np.bincount(queries, weight * (error - mean)) / weight.sum()
    spread = float(np.sqrt((off**2).sum() * groups / (groups - 1)))
    if spread == 0.0:
        return mean, np.nan, np.nan, int(which.sum())
    half = spread * float(stdtrit(groups - 1, (1 + level) / 2))
    return mean, mean - half, mean + half, int(which.sum())


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
