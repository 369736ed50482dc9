"""Inversion: scores as they would be without the judge's errors, if these depend on the true grade alone.

From documents with both labels, P(label | gold grade) is known; turned round it says what a label is worth on average.
Both systems are corrected with the same matrix, so that its uncertainty mostly cancels between them.

Reference: the correction of Rogan and Gladen (American Journal of Epidemiology 1978) for any number of grades; its use
for search with separate errors per system is that of annotation-error papers, kept as `inversion-independent`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.correction.confusion_matrix import ConfusionMatrix, matrix_notes
from karat.correction.estimate import Estimate
from karat.correction.pool import Pool
from karat.errors import Undefined
from karat.stats import resampled
from karat.stats.arrays import Floats, Ints


def matrix_of(pool: Pool) -> ConfusionMatrix:
    """The confusion matrix of the pool's documents with both labels, each as often as it stands for others."""
    gains = np.unique(np.concatenate([pool.predicted, pool.gold[pool.drawn]]))
    truth = np.searchsorted(gains, pool.gold[pool.drawn])
    label = np.searchsorted(gains, pool.predicted[pool.drawn])
    return ConfusionMatrix.of(gains, truth, label, pool.inverse[pool.drawn])


def inversion(pool: Pool, *, fixed: bool = False) -> Estimate:
    """The scores of all systems, corrected with one confusion matrix for all of them.

    Wrong, and confidently so, where the judge errs more for one system than for another: compare with `powered`.
    `fixed` leaves the queries' own differences out of the interval.
    """
    if len(pool.queries) < 2:
        raise Undefined("there is only one query: how far queries differ cannot be told")
    if not pool.drawn.any():
        raise Undefined("none of the documents that the systems show has a gold label")
    confusion = matrix_of(pool)
    confusion.check()
    worth = confusion.worth()
    label = np.searchsorted(confusion.gains, pool.predicted)
    plain = pool.by_query(worth[label])
    influence = _gold_part(pool, confusion, worth, label)
    estimate = Estimate.of_values("inversion", pool.systems, plain - influence, n_gold=int(pool.drawn.sum()))
    if fixed:
        chance = Estimate.of_values("inversion", pool.systems, influence).covariance
        estimate = replace(estimate, covariance=chance + _label_noise(pool, confusion, worth, label), values=None)
    _refuse_impossible(pool, confusion, estimate)
    outside = _outside(pool, confusion, estimate.scores, label)
    notes = (*matrix_notes(confusion, "inversion: "), *(f"inversion: {said}" for said in outside))
    return replace(estimate, notes=notes, impossible="; ".join(outside))


def _refuse_impossible(pool: Pool, confusion: ConfusionMatrix, estimate: Estimate) -> None:
    """Refuse scores that no documents could have, by more than chance: the judge does not err as on the gold sample."""
    most = pool.weight.sum(axis=0) / len(pool.queries)
    error = np.sqrt(np.maximum(np.diag(estimate.covariance), 0.0))
    for s, system in enumerate(estimate.systems):
        low, high = confusion.gains[0] * most[s], confusion.gains[-1] * most[s]
        if not low - 2 * error[s] - 1e-9 <= estimate.scores[s] <= high + 2 * error[s] + 1e-9:
            raise Undefined(
                f"{system}'s corrected score {estimate.scores[s]:.3f} is impossible (between {low:g} and {high:g}): "
                "the judge does not err here as on the gold sample; take the prediction-powered method"
            )


def _label_noise(pool: Pool, confusion: ConfusionMatrix, worth: Floats, label: Ints) -> Floats:
    """How far the judge's errors move the scores of these very queries: the labels might have come out otherwise."""
    spread = (confusion.shares * (worth[None, :] - confusion.gains[:, None]) ** 2).sum(axis=1)
    # What a label says of the spread of its document's true grade, as `worth` does of its gain.
    expected = np.linalg.solve(confusion.shares, spread)[label]
    noise = pool.weight.T @ (expected[:, None] * pool.weight) / len(pool.queries) ** 2
    return np.asarray(noise, dtype=np.float64)


def _gold_part(pool: Pool, confusion: ConfusionMatrix, worth: Floats, label: Ints) -> Floats:
    """How far the gold labels of each query move each system's corrected score, times the number of queries."""
    size, queries = len(confusion.gains), len(pool.queries)
    shown = np.column_stack([np.bincount(label, pool.weight[:, s], size) / queries for s in range(len(pool.systems))])
    a = np.linalg.solve(confusion.shares.T, shown)  # gains x systems
    drawn = pool.drawn
    truth = np.searchsorted(confusion.gains, pool.gold[drawn])
    moved = pool.inverse[drawn] * (worth[label[drawn]] - confusion.gains[truth]) / confusion.sizes[truth]
    parts = [np.bincount(pool.query[drawn], moved * a[truth, s], queries) * queries for s in range(len(pool.systems))]
    return np.column_stack(parts)


def resampled_scores(pool: Pool, *, draws: int = 1000, seed: int = 0) -> Floats:
    """Corrected scores when whole queries, with the gold labels in them, are drawn again: a row per draw.

    The slow way to the error of `inversion`, for checking it; draws without an inverse, or without gold labels of some
    grade, are left out.
    """
    confusion = matrix_of(pool)
    size, queries, systems = len(confusion.gains), len(pool.queries), len(pool.systems)
    label = np.searchsorted(confusion.gains, pool.predicted)
    truth = np.searchsorted(confusion.gains, pool.truth)
    # Of every query: the labels it shows, by system, and its gold documents by gold grade and label.
    shown = np.column_stack(
        [
            np.bincount(pool.query * size + label, pool.weight[:, s], queries * size).reshape(queries, size)
            for s in range(systems)
        ]
    )
    cells = np.bincount(pool.query * size**2 + truth * size + label, pool.inverse, queries * size**2)
    cells = cells.reshape(queries, size**2)
    found = []
    for times in resampled(queries, draws, seed):
        seen = (times @ shown).reshape(-1, systems, size) / queries
        counts = (times @ cells).reshape(-1, size, size)
        known = (counts.sum(axis=2) > 0).all(axis=1)
        shares = counts[known] / counts[known].sum(axis=2, keepdims=True)
        good = np.abs(np.linalg.det(shares)) > 1e-9
        gains = np.broadcast_to(confusion.gains[:, None], (int(good.sum()), size, 1))
        found.append(np.einsum("dsg,dg->ds", seen[known][good], np.linalg.solve(shares[good], gains)[:, :, 0]))
    return np.concatenate(found)


def independent(estimate: Estimate) -> Estimate:
    """The same scores with errors added up as if every system had been corrected with a gold sample of its own.

    The test as printed in the annotation-error paper. With one gold sample for both systems it hardly ever sees a
    difference.
    """
    return replace(
        estimate,
        method="inversion-independent",
        covariance=np.diag(np.diag(estimate.covariance)),
        values=None,
        df=np.full_like(estimate.df, np.inf),
        notes=(
            "inversion-independent adds up the errors of both systems although they share one gold sample: it is here "
            "for comparison with published figures only",
        ),
    )


def _outside(pool: Pool, confusion: ConfusionMatrix, scores: Floats, label: Ints) -> list[str]:
    """The scores that no documents could have, within what chance may do, each with the nearest that there can be."""
    said = []
    most = np.array([pool.weight[:, s].sum() / len(pool.queries) for s in range(len(pool.systems))])
    for s, system in enumerate(pool.systems):
        low, high = confusion.gains[0] * most[s], confusion.gains[-1] * most[s]
        if low - 1e-9 <= scores[s] <= high + 1e-9:
            continue
        seen = np.bincount(label, pool.weight[:, s], len(confusion.gains))
        possible = float(confusion.constrained(seen / seen.sum()) @ confusion.gains * most[s])
        said.append(
            f"{system}'s corrected score {scores[s]:.3f} is impossible (between {low:g} and {high:g}); the nearest "
            f"possible one is {possible:.3f}: the judge's errors are not those of the gold sample"
        )
    return said
