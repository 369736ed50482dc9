"""What a corrected nDCG varies by beyond the draw of single gold documents: the model's word about all the others.

Gold labels correct what documents change one by one. What is left is how two of them act together (a relevant document
counts less where there are many others), and documents that no gold label could reach. The model draws both. Where it
is too sure of itself, the gold labels show it: they then change the scores more than the model thought possible, and
its word counts by as much less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.estimate.drawn import Drawn
from karat.stats.arrays import Floats, Ints


def effects_of(drawn: Drawn, base: Floats, documents: Ints) -> Floats:
    """What each grade of each document would change about the expected scores: grades x documents x systems."""
    grades = range(len(drawn.grades))
    return np.stack([drawn.changes(base, documents, np.full(len(documents), place)) for place in grades])


def model_part(drawn: Drawn, known: Ints, places: Ints, effects: Floats, open_: Ints, queries: Sequence[str]) -> Floats:
    """The covariance of the systems' scores by all that the effects of single documents do not tell.

    Documents `known` by gold have the grades at these places; `effects` are those of the documents that are `open_`,
    which gold labels could have reached.
    """
    draws = drawn.draws.copy()
    draws[known] = places[:, None]
    scores = drawn.by_query(replace(drawn, draws=draws).scores(), queries).mean(axis=1)
    for place, document in enumerate(open_):
        scores -= effects[draws[document], place] / len(queries)
    return np.atleast_2d(np.cov(scores, rowvar=False))


def too_sure(drawn: Drawn, known: Ints, change: Floats, effects: Floats, heavy: Floats) -> float:
    """By how much gold labels change what sets the systems apart more than the model has it, squared; 1 at least.

    `change` is what each of the `known` documents changes, `effects` what it might have changed, by grade, and `heavy`
    how much of the variance it stands for.
    """
    if change.shape[1] > 1:
        change = change - change.mean(axis=1, keepdims=True)
        effects = effects - effects.mean(axis=2, keepdims=True)
    chance = np.stack([(drawn.draws[known] == place).mean(axis=1) for place in range(len(drawn.grades))])[:, :, None]
    thought = ((chance * effects**2).sum(axis=0) - (chance * effects).sum(axis=0) ** 2).sum(axis=1)
    expected = float((heavy * thought).sum())
    return max(1.0, float((heavy * (change**2).sum(axis=1)).sum()) / expected) if expected > 0 else 1.0
