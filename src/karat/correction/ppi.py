"""Prediction-powered scores: the judge's labels of all documents, set right by the gold labels of a sample.

Each document counts with the gain that the judge's label promises; each gold document adds the judge's error on it, as
often as it stands for others. On average the judge's errors are gone, whatever they depend on; a good judge only makes
the interval narrower. Nothing is assumed but that the chances with which the gold documents were drawn are right.

Reference: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-Powered Inference (Science 2023), with the
weight of the judge tuned as in Angelopoulos, Duchi and Zrnic, PPI++ (2023); for samples of documents, Horvitz and
Thompson (JASA 1952) and Sarndal's difference estimator.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.correction.estimate import Estimate
from karat.correction.gold_uniformity import OUT_OF_REACH, notes_on_uniformity, refuse_out_of_reach
from karat.correction.pool import Pool
from karat.errors import Undefined
from karat.records.result import Caution
from karat.records.table import count
from karat.stats import totals
from karat.stats.arrays import Bools, Floats

#: Fewer gold labels than these on documents that count say nothing about the spread of the judge's errors.
FEWEST_GOLD = 2
#: Why two systems cannot differ.
SAME_LISTS = "the systems show the same documents with the same weights"
#: So many gold labels would be expected among documents that have none: they had no chance.
MISSED = 3
#: No document that counts is drawn more rarely than at this share of the average chance (`FLOOR` of `plan.sizes`).
RAREST = 0.2
#: What the gold labels say nothing about, where they were drawn for a difference.
ONLY_DIFFERENCES = (
    "the gold labels are for telling these systems apart: documents that count alike for all keep the judge's "
    "labels in each system's own score, and only differences have intervals"
)
#: With fewer queries that hold such a gold label, an interval is a guess.
FEW = 10
#: With fewer gold labels that count, too.
FEW_GOLD = 30


def powered(pool: Pool, *, fixed: bool = False, tuned: bool = True, labels: Pool | None = None) -> Estimate:
    """Estimate the scores of all systems by a sum over documents: right for any judge if sampling probabilities are.

    With `fixed` the verdict is about these very queries: only the drawing of the gold documents is left to chance.
    Otherwise queries are a sample of those that users ask. `tuned` weighs the judge by how well it predicts gold; a
    judge that is no help then costs nothing. Where no gold label contradicts the judge, the interval allows for one
    that might have: a judge is not perfect for having been right on thirty documents. `labels` is the pool with the
    judge's own labels where `pool` has calibrated ones: both are weighed, so that what few gold labels teach of the
    judge never costs more than it brings.
    """
    check_gold(pool)
    predicted = weighed(pool, labels, np.maximum(pool.inverse**2 - pool.inverse, 0.0)) if tuned else pool.predicted
    labels = pool if labels is None else labels
    change = (pool.truth - predicted)[pool.drawn, None] * pool.weight[pool.drawn]
    unseen = never_wrong(labels)
    # Where no label was wrong, one might have been, by as much as gains differ.
    gains = np.concatenate([labels.predicted, labels.gold[labels.drawn], [0.0]])
    widest = float(np.ptp(gains)) * pool.weight[pool.drawn] if unseen else None
    known = _known(pool) if fixed else None
    # What counts alike for all systems, and has no gold labels, keeps the judge's word as it is.
    believed = np.where(pool.matters | reaches_all(pool), predicted, pool.predicted)
    no_help = bool(pool.predicted.any()) and not predicted.any()
    return designed(pool, pool.by_query(believed), change, widest, fixed=fixed, no_help=no_help, known=known)


def designed(
    pool: Pool,
    expected: Floats,
    change: Floats,
    widest: Floats | None = None,
    *,
    fixed: bool,
    no_help: bool = False,
    known: Bools | None = None,
    has_scores: bool | None = None,
    more: Floats | None = None,
) -> Estimate:
    """The estimate from what is expected of each query and what each gold document changes about it.

    `expected` has a row per query, `change` one per gold document of the pool, both a column per system. `widest` is
    the most that a gold document could have changed, where no gold label contradicts the judge. `no_help` is a judge
    without weight; `more` is what else the scores vary by: their covariance.
    """
    has_scores = reaches_all(pool) if has_scores is None else has_scores
    notes = notes_on_gold(pool, no_help, fixed, widest is not None, has_scores)
    matters, inverse, query = pool.matters[pool.drawn], pool.inverse[pool.drawn], pool.query[pool.drawn]
    if not has_scores:
        # What counts alike for all systems cancels between them: the prediction stands for it in their scores.
        change = np.where(matters[:, None], change, 0.0)
    n, n_gold = len(pool.queries), int(pool.drawn.sum())
    chance = np.maximum(inverse**2 - inverse, 0.0) / n**2
    unseen = np.zeros((len(pool.systems), len(pool.systems)))
    beside = unseen if more is None else more
    if widest is not None:
        rate = 1.0 / (int(matters.sum()) + 2)  # the rule of succession
        unseen = widest.T @ ((rate * matters * chance)[:, None] * widest)
    columns = [totals(query, inverse * change[:, s], n) for s in range(len(pool.systems))]
    values = expected + np.column_stack(columns)
    parts = inverse[:, None] * change / n
    if fixed:
        covariance = change.T @ (chance[:, None] * change) + unseen + beside
        degrees = _degrees_by_document(pool, change, chance)
        return Estimate(
            "ppi",
            pool.systems,
            values.mean(axis=0),
            covariance,
            degrees,
            n,
            n_gold,
            None,
            tuple(notes),
            known,
            has_scores,
            parts=parts,
        )
    estimate = Estimate.of_values(
        "ppi", pool.systems, values, df=_degrees_by_query(pool), n_gold=n_gold, notes=tuple(notes)
    )
    estimate = replace(estimate, has_scores=has_scores, covariance=estimate.covariance + beside, parts=parts)
    if not unseen.any():
        return estimate
    # The values by query do not vary with what was not seen, so tests on them alone are left out.
    return replace(estimate, covariance=estimate.covariance + unseen, values=None)


def check_gold(pool: Pool) -> None:
    """`Undefined` where the gold labels cannot answer."""
    used = int((pool.drawn & pool.matters).sum())
    if len(pool.queries) < 2:
        raise Undefined("there is only one query: how far queries differ cannot be told")
    if not pool.drawn.any():
        raise Undefined("none of the documents that the systems show has a gold label")
    if not pool.matters.any():
        raise Undefined(f"{SAME_LISTS}: no gold label can tell them apart")
    if used < FEWEST_GOLD:
        which = "tell the systems apart" if len(pool.systems) > 1 else "count"
        raise Undefined(
            f"{count(used, 'gold label')} on the documents that {which}: at least {FEWEST_GOLD} are needed (karat plan "
            "gold draws the ones worth it)"
        )
    refuse_out_of_reach(pool)
    strange = out_of_reach(pool)
    if strange:
        raise Undefined(strange, code=OUT_OF_REACH)
    if pool.assumed_uniform and not reaches_all(pool):
        raise Undefined(
            "the gold labels do not say with which probability they were drawn, and they were plainly not drawn "
            "uniformly: hardly any is on a document that counts alike for all systems; give the column probability",
            code=OUT_OF_REACH,
        )


def out_of_reach(pool: Pool) -> str:
    """Whether some documents seem to have had no chance to be drawn, because the gold was drawn for something else."""
    shown, only = np.count_nonzero(pool.weight, axis=1), "only " if len(pool.systems) > 1 else ""
    groups = [
        (f"documents that {only}{system} shows", pool.matters & (pool.weight[:, s] != 0) & (shown == 1))
        for s, system in enumerate(pool.systems)
    ]
    groups.append(("documents that several systems show and weigh differently", pool.matters & (shown > 1)))
    rare = _stand_for(pool)
    for name, mine in groups:
        there, stands_for = int(mine.sum()), float(pool.inverse[mine].sum())
        if abs(stands_for - there) > 5 * max(_spread(pool, mine), float(rare[mine].sum()) ** 0.5, 1.0):
            return (
                f"the gold labels do not fit these runs and this measure: of the {there:,} {name}, they stand for "
                f"{stands_for:,.0f} by their probabilities; draw gold labels for them (karat plan gold)"
            )
    return ""


def _stand_for(pool: Pool) -> Floats:
    """For how many others each document would have stood, had it been drawn by what sets the systems apart."""
    size = np.sqrt((_contrasts(pool.weight) ** 2).sum(axis=1))
    drawn = pool.drawn & pool.matters
    chance = np.divide(1.0, pool.inverse, out=np.ones(len(size)), where=drawn)
    open_ = drawn & (chance < 1)
    rate = float(np.median(chance[open_] / size[open_])) if open_.any() else 1e300
    least = min(float(chance.min()), RAREST * int(drawn.sum()) / max(int(pool.matters.sum()), 1))
    others: Floats = 1.0 / np.clip(rate * size, least, 1.0) - 1.0
    return others


def _spread(pool: Pool, mine: Bools) -> float:
    """How far the number that the gold labels of these documents stand for may be off, had all had a chance."""
    drawn = pool.drawn & pool.matters
    each = float((pool.inverse[drawn] * (pool.inverse[drawn] - 1)).sum() / pool.inverse[drawn].sum())
    # Where they are rarer than most, the one that was drawn stands for many, and says so itself.
    own = float((pool.inverse[mine] * (pool.inverse[mine] - 1)).sum())
    return float(np.sqrt(max(int(mine.sum()) * each, own)))


def reaches_all(pool: Pool) -> bool:
    """Whether the gold sample speaks for the documents that count alike for all systems, too."""
    alike = ~pool.matters & pool.counts
    if pool.for_differences and (len(pool.systems) == 1 or alike.any()):
        return False  # what those systems, whichever they were, show alike had no chance
    same = alike & pool.same_place if pool.same_place is not None and len(pool.systems) > 1 else np.zeros_like(alike)
    if not pool.drawn[same].any() and same.sum() * pool.drawn.sum() >= MISSED * pool.counts.sum():
        return False  # drawn by a measure that tells ranks apart, though this one does not
    there, stands_for = int(alike.sum()), float(pool.inverse[alike].sum())
    return abs(stands_for - there) <= max(5 * _spread(pool, alike), 1.0) and (stands_for > 0 or not there)


def never_wrong(pool: Pool) -> bool:
    """Whether no gold label contradicts the judge, though not all documents that count have one."""
    drawn = pool.drawn & pool.matters
    wrong = np.abs(pool.truth[drawn] - pool.predicted[drawn]) > 1e-12
    return not wrong.any() and bool((pool.inverse[drawn] > 1).any())


def _known(pool: Pool) -> Bools:
    """The pairs of systems with a gold label, sure to be drawn, wherever they differ."""
    sure = pool.drawn & (pool.inverse <= 1)
    rest = pool.weight[~sure]
    size = len(pool.systems)
    return np.array([[not (rest[:, a] != rest[:, b]).any() for b in range(size)] for a in range(size)])


def weighed(pool: Pool, labels: Pool | None, chance: Floats) -> Floats:
    """The pool's predictions, or these and the judge's own labels, with the weights that leave least to the draw.

    `chance` is how much is left to it by each gold document. Weights are not below 0. They are the same where queries
    are a sample: how far queries differ is not the predictions' doing.
    """
    predictions = np.column_stack([pool.predicted] if labels is None else [pool.predicted, labels.predicted])
    size = (_contrasts(pool.weight) ** 2).sum(axis=1) * chance
    judges = predictions.T @ (size[:, None] * predictions)
    together = predictions.T @ (size * pool.truth)
    if not (judges[0, 0] > 0 and (size * pool.truth**2).sum() > 0):
        return pool.predicted  # gold labels that are all alike cannot tell
    weights = np.linalg.lstsq(judges, together)[0]
    if (weights < 0).any():
        alone = np.maximum(together, 0.0) / np.where(judges.diagonal() > 0, judges.diagonal(), np.inf)
        weights = np.where(np.arange(len(alone)) == np.argmax(alone * together), alone, 0.0)
    return np.asarray(predictions @ weights, dtype=np.float64)


def _contrasts(columns: Floats) -> Floats:
    """What sets the systems apart: each column less their mean; a single system as it is."""
    return columns - columns.mean(axis=1, keepdims=True) if columns.shape[1] > 1 else columns


def _degrees_by_query(pool: Pool) -> Floats:
    """Degrees of freedom for each pair: no more than there are queries whose gold label counts."""
    weight, query, size = pool.weight[pool.drawn], pool.query[pool.drawn], len(pool.systems)
    degrees = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            counts = weight[:, a] != (weight[:, b] if a != b else 0.0)
            degrees[a, b] = len(np.unique(query[counts])) - 1.0
    return degrees


def _degrees_by_document(pool: Pool, change: Floats, chance: Floats) -> Floats:
    """Degrees of freedom for each pair when few documents make up most of the variance.

    Satterthwaite's: twice the squared mean of the variance's estimate by the estimate's own variance. Each document was
    drawn by itself, so that the latter is the sum of the squared parts.
    """
    size, weight = len(pool.systems), pool.weight[pool.drawn]
    degrees = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            parts = (change[:, a] - (change[:, b] if a != b else 0.0)) ** 2 * chance
            counting = int(((weight[:, a] - (weight[:, b] if a != b else 0.0)) != 0).sum())
            squares = float((parts**2).sum())
            degrees[a, b] = min(counting - 1.0, 2 * float(parts.sum()) ** 2 / squares if squares > 0 else np.inf)
    return degrees


def notes_on_gold(pool: Pool, no_help: bool, fixed: bool, unseen: bool, has_scores: bool) -> list[str]:
    """What a reader of the estimate should know about the gold labels."""
    notes: list[str] = notes_on_uniformity(pool)
    used = pool.drawn & pool.matters
    if not has_scores:
        notes.append(ONLY_DIFFERENCES)
    idle = int((pool.drawn & ~pool.matters).sum())
    if idle and len(pool.systems) > 1 and has_scores:
        notes.append(
            f"{count(idle, 'gold label')} of {int(pool.drawn.sum()):,} are on documents that count alike for all "
            "systems: they say nothing about the difference"
        )
    if unseen:
        n = int(used.sum())
        notes.append(
            f"none of the {n:,} gold labels that count contradicts the judge, which does not make it perfect: an error "
            f"rate of {min(3 / n, 1):.0%} is not ruled out, and the interval allows for one error".replace("%", " %")
        )
    where = len(np.unique(pool.query[used]))
    if where < FEW and not fixed:
        in_few = count(where, "query", "queries")
        notes.append(Caution(f"gold labels that count are in {in_few} only: the interval is a guess"))
    elif used.sum() < FEW_GOLD and not fixed:
        notes.append(Caution(f"{int(used.sum())} gold labels that count only: the interval is a guess"))
    if no_help:
        notes.append("the labels do not predict the gold labels here: the verdict rests on the gold labels alone")
    if fixed and _known(pool).all():
        notes.append("every document that counts has a gold label: the difference is known, not estimated")
    return notes
