"""Bradley and Terry's model with Davidson's ties: strengths from wins, ties and losses of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import NotConverged
from karat.stats.arrays import Floats, Ints

#: So many ties, spread evenly over all pairs as half a win each, hold the strength of one who wins always.
PRIOR = 0.1
STEPS = 100
CLOSE = 1e-8


@dataclass(frozen=True, eq=False)
class Fit:
    """Strengths (natural logarithms, mean 0) by set of counts and player, and the logarithm of the ties' weight."""

    strength: Floats
    tie: Floats


def fit_davidson(one: Ints, two: Ints, counts: Floats, players: int, *, prior: float = PRIOR) -> Fit:
    """The most likely strengths: P(one wins) is proportional to exp(s1), of a tie to nu exp((s1 + s2) / 2).

    >>> fit = fit_davidson(np.array([0]), np.array([1]), np.array([[[16.0, 10.0, 4.0]]]), 2, prior=0.0)
    >>> gap = fit.strength[0, 0] - fit.strength[0, 1]
    >>> round(float(np.exp(gap)), 4), round(float(np.exp(fit.tie[0])), 4)  # 16/4, and 10 / sqrt(16 * 4)
    (4.0, 1.25)

    `one` and `two` number the players of each pair; `counts` has, for each set of counts (a bootstrap draw, say) and
    each pair, the wins of one, the ties, and the wins of two; they need not be whole. All sets are fitted at once.
    `prior` adds so many games to each set in all, spread evenly over every pair of players and won and lost alike.
    Without ties in a set, their weight is 0 there.

    Reference: Bradley and Terry (Biometrika 1952); Davidson (JASA 1970).
    """
    counts = np.asarray(counts, np.float64)
    sets = len(counts)
    everyone = np.triu_indices(players, 1)
    pairs_one, pairs_two = np.concatenate([one, everyone[0]]), np.concatenate([two, everyone[1]])
    added = np.zeros((sets, len(everyone[0]), 3))
    added[:, :, [0, 2]] = prior / max(2 * len(everyone[0]), 1)
    games = np.concatenate([counts, added], axis=1)
    has_ties = games[:, :, 1].sum(axis=1) > 0
    # A multinomial logit: the utilities of win, tie and loss are linear in the strengths and the weight of ties.
    design = np.zeros((len(pairs_one), 3, players + 1))
    row = np.arange(len(pairs_one))
    design[row, 0, pairs_one] = 1.0
    design[row, 2, pairs_two] = 1.0
    design[row, 1, pairs_one] += 0.5
    design[row, 1, pairs_two] += 0.5
    design[:, 1, players] = 1.0
    total = games.sum(axis=2)
    value = np.zeros((sets, players + 1))
    value[:, players] = np.where(has_ties, 0.0, -40.0)
    # Strengths are known up to a constant: the sum is held at 0 by one more row in the Hessian.
    held = np.zeros((players + 1, players + 1))
    held[:players, :players] = 1.0
    likely = _likelihood(design, games, value)
    for _ in range(STEPS):
        chance = _chances(design, value)
        expected = np.einsum("spo,pok->spk", chance, design)
        slope = np.einsum("spo,pok->sk", games, design) - np.einsum("sp,spk->sk", total, expected)
        bend = np.einsum("sp,spo,pok,pol->skl", total, chance, design, design, optimize=True)
        bend -= np.einsum("sp,spk,spl->skl", total, expected, expected, optimize=True)
        bend += held
        bend[~has_ties, players, :] = 0.0
        bend[~has_ties, :, players] = 0.0
        bend[~has_ties, players, players] = 1.0
        slope[~has_ties, players] = 0.0
        step = np.linalg.solve(bend + 1e-10 * np.eye(players + 1), slope[:, :, None])[:, :, 0]
        size = np.ones(sets)
        for _ in range(30):  # half the step as long as it makes things worse
            tried = value + size[:, None] * step
            new = _likelihood(design, games, tried)
            worse = new < likely - 1e-9 * np.abs(likely)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        value, likely = tried, new
        if np.abs(step).max() < CLOSE:
            break
    else:
        raise NotConverged("the Bradley-Terry model did not settle: some systems may win or lose every comparison")
    strength = value[:, :players] - value[:, :players].mean(axis=1, keepdims=True)
    return Fit(strength, np.where(has_ties, value[:, players], -np.inf))


def chances(strength: Floats, tie: float, one: Ints, two: Ints) -> Floats:
    """The chances that one wins, of a tie, and that two wins, pair by pair.

    >>> chances(np.array([0.0, 0.0]), 0.0, np.array([0]), np.array([1])).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    first, second = strength[one], strength[two]
    worth = np.stack([first, tie + (first + second) / 2, second], axis=1)
    worth = np.exp(worth - worth.max(axis=1, keepdims=True))
    found: Floats = worth / worth.sum(axis=1, keepdims=True)
    return found


def _chances(design: Floats, value: Floats) -> Floats:
    worth = np.einsum("pok,sk->spo", design, value, optimize=True)
    worth = np.exp(worth - worth.max(axis=2, keepdims=True))
    found: Floats = worth / worth.sum(axis=2, keepdims=True)
    return found


def _likelihood(design: Floats, games: Floats, value: Floats) -> Floats:
    worth = np.einsum("pok,sk->spo", design, value, optimize=True)
    top = worth.max(axis=2, keepdims=True)
    found: Floats = (games * (worth - top - np.log(np.exp(worth - top).sum(axis=2, keepdims=True)))).sum(axis=(1, 2))
    return found
