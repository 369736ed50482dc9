"""Prediction-powered scores: the judge's labels of all documents, set right by the gold labels of a sample.

Each document counts with the gain that the judge's label promises; each gold document adds the judge's error on it, as
often as it stands for others. On average the judge's errors are gone, whatever they depend on; a good judge only makes
the interval narrower. Nothing is assumed but that the chances with which the gold documents were drawn are right.

Reference: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-Powered Inference (Science 2023), with the
weight of the judge tuned as in Angelopoulos, Duchi and Zrnic, PPI++ (2023); for samples of documents, Horvitz and
Thompson (JASA 1952) and Sarndal's difference estimator.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.errors import Undefined
from karat.estimate.estimate import Estimate
from karat.estimate.pool import Pool
from karat.records.base import count

Floats = npt.NDArray[np.float64]

#: Fewer gold labels than these on documents that count say nothing about the spread of the judge's errors.
FEWEST_GOLD = 2
#: With fewer queries that hold such a gold label, an interval is a guess.
FEW = 10


def powered(pool: Pool, *, fixed: bool = False, tuned: bool = True) -> Estimate:
    """The scores of all systems of the pool, right for any judge if the gold's probabilities are.

    With `fixed` the verdict is about these very queries: only the drawing of the gold documents is left to chance.
    Otherwise queries are a sample of those that users ask. `tuned` weighs the judge by how well it predicts gold; a
    judge that is no help then costs nothing.
    """
    used = pool.drawn & pool.matters
    _refuse(pool, int(used.sum()))
    truth, judge = pool.inverse * pool.truth, pool.predicted * (1.0 - pool.inverse)
    weight = 1.0
    if fixed:
        weight = _tuned_on_documents(pool) if tuned else 1.0
        scores = pool.by_query(truth + weight * judge).mean(axis=0)
        error = np.where(pool.drawn, pool.truth - weight * pool.predicted, 0.0)
        chance = error**2 * np.maximum(pool.inverse**2 - pool.inverse, 0.0) / len(pool.queries) ** 2
        covariance = pool.weight.T @ (chance[:, None] * pool.weight)
        return Estimate(
            "ppi",
            pool.systems,
            scores,
            covariance,
            _degrees(pool, by_query=False),
            len(pool.queries),
            int(pool.drawn.sum()),
            None,
            tuple(_notes(pool, weight, fixed)),
        )
    true_part, judged_part = pool.by_query(truth), pool.by_query(judge)
    if tuned:
        weight = _tuned_on_queries(true_part, judged_part)
    return Estimate.of_values(
        "ppi",
        pool.systems,
        true_part + weight * judged_part,
        df=_degrees(pool, by_query=True),
        n_gold=int(pool.drawn.sum()),
        notes=tuple(_notes(pool, weight, fixed)),
    )


def _refuse(pool: Pool, used: int) -> None:
    """Say so where the gold labels cannot answer."""
    if len(pool.queries) < 2:
        raise Undefined("there is only one query: how far queries differ cannot be told")
    if not pool.drawn.any():
        raise Undefined("none of the documents that the systems show has a gold label")
    if used < FEWEST_GOLD:
        raise Undefined(
            f"{count(used, 'gold label')} on the documents that tell the systems apart: at least {FEWEST_GOLD} are "
            "needed (karat plan gold draws the ones worth it)"
        )
    strange = _out_of_reach(pool)
    if strange:
        raise Undefined(strange)


def _out_of_reach(pool: Pool) -> str:
    """Whether some documents seem to have had no chance to be drawn, because the gold was drawn for other runs."""
    shown = np.count_nonzero(pool.weight, axis=1)
    for s, system in enumerate(pool.systems):
        alone = (pool.weight[:, s] != 0) & (shown == 1)
        there, stands_for = int(alone.sum()), float(pool.inverse[alone].sum())
        drawn = pool.drawn & alone
        spread = float(np.sqrt((pool.inverse[drawn] ** 2 - pool.inverse[drawn]).sum()))
        if drawn.any() and abs(stands_for - there) <= 5 * max(spread, 1.0):
            continue
        if not drawn.any() and there * float(np.nanmin(pool.probability)) < 10:
            continue
        return (
            f"the gold labels do not fit these runs: of the {there:,} documents that only {system} shows, they stand "
            f"for {stands_for:,.0f} by their probabilities; draw gold for these runs (karat plan gold)"
        )
    return ""


def _tuned_on_queries(truth: Floats, judge: Floats) -> float:
    """The weight of the judge that makes the differences between systems vary least over queries."""
    truth, judge = _contrasts(truth), _contrasts(judge)
    truth, judge = truth - truth.mean(axis=0), judge - judge.mean(axis=0)
    spread = float((judge**2).sum())
    return -float((truth * judge).sum()) / spread if spread > 0 else 1.0


def _tuned_on_documents(pool: Pool) -> float:
    """The weight of the judge that makes the drawing of the gold documents matter least."""
    size = (_contrasts(pool.weight) ** 2).sum(axis=1) * np.maximum(pool.inverse**2 - pool.inverse, 0.0)
    spread = float((size * pool.predicted**2).sum())
    return float((size * pool.predicted * pool.truth).sum()) / spread if spread > 0 else 1.0


def _contrasts(columns: Floats) -> Floats:
    """What sets the systems apart: each column less their mean; a single system as it is."""
    return columns - columns.mean(axis=1, keepdims=True) if columns.shape[1] > 1 else columns


def _degrees(pool: Pool, by_query: bool) -> Floats:
    """Degrees of freedom for each pair: no more than there are queries (or documents) whose gold label counts."""
    size = len(pool.systems)
    weight, query = pool.weight[pool.drawn], pool.query[pool.drawn]
    df = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            counts = weight[:, a] != (weight[:, b] if a != b else 0.0)
            df[a, b] = (len(np.unique(query[counts])) if by_query else int(counts.sum())) - 1.0
    return df


def _notes(pool: Pool, weight: float, fixed: bool) -> list[str]:
    notes = []
    used = pool.drawn & pool.matters
    idle = int((pool.drawn & ~pool.matters).sum())
    if idle and len(pool.systems) > 1:
        notes.append(
            f"{count(idle, 'gold label')} of {int(pool.drawn.sum()):,} are on documents that count alike for all "
            "systems: they say nothing about the difference"
        )
    where = len(np.unique(pool.query[used]))
    if where < FEW and not fixed:
        notes.append(f"gold labels that count are in {count(where, 'query', 'queries')} only: the interval is a guess")
    if weight <= 0:
        notes.append("the labels do not predict the gold labels here: the verdict rests on the gold labels alone")
    needed = pool.matters & ~pool.drawn
    if fixed and not needed.any():
        notes.append("every document that counts has a gold label: the difference is known, not estimated")
    return notes
