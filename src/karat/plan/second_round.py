"""A second round of gold labels: what the labels of both rounds stand for, taken together.

The second round is drawn among documents without a gold label, with chances q. Of each document, the first round's
estimate counts it 1/p times if it was drawn; the second's once if it was drawn before, and 1/q times if it is drawn
now. Either is right on average, whatever the other does, and so is any mixture of the two with fixed shares: weights
share/p + 1 - share for earlier labels and (1 - share)/q for new ones. The share that leaves least to chance,
p(1 - q)/(q + p(1 - q)), makes both 1/(p + (1 - p)q), the chance to be drawn in either round. As p is known for drawn
documents only, the share is computed from a guess of it: a bad guess costs a little width, and nothing else.

References: Horvitz and Thompson (JASA 1952); Hartley, Multiple Frame Surveys (1962), for mixing two samples' estimates.
"""

from __future__ import annotations

import numpy as np

from karat.estimate.pool import Pool
from karat.stats import totals
from karat.stats.arrays import Bools, Floats
from karat.stats.draw import inclusion_probabilities

#: A document without a label was not sure to get one, whatever the guess is.
MOST = 0.95


def guessed_chances(pool: Pool, size: Floats) -> Floats:
    """A guess of the chance that each document had in the first round: as of drawn ones like it, in proportion to size.

    Its own draw plays no part in a document's guess, for the shares must not depend on it. Documents that count alike
    for all systems are like each other; of the rest, those that one system alone shows, and those of several. Where
    nobody was drawn the guess is 0: the first round says nothing there.
    """
    shown = np.count_nonzero(pool.weight, axis=1)
    cell = np.where(shown == 1, np.argmax(pool.weight != 0, axis=1), len(pool.systems))
    cell = np.where(size > 0, cell, len(pool.systems) + 1)
    size = np.where(size > 0, size, 1.0)
    drawn, stands_for = pool.drawn.astype(np.float64), size * pool.inverse
    number, total = (totals(cell, part, len(pool.systems) + 2)[cell] - part for part in (drawn, stands_for))
    ratio = np.divide(number, total, out=np.zeros(len(size)), where=total > 0)
    return np.minimum(ratio * size, MOST)


def chances(size: Floats, guessed: Floats, least: Floats, n: int, open_: Bools) -> Floats:
    """The chance of each open document in the next draw, n in all; for the others, what it would be if they were open.

    What counts is the chance to be drawn in either round: that shall be in proportion to size, so that a document which
    probably had its chance before has less of one now.
    """
    if not guessed.any() and open_.all():
        return inclusion_probabilities(size, n, floor=least)

    def at(rate: float) -> Floats:
        wanted = np.where(guessed < 1, (rate * size - guessed) / np.maximum(1 - guessed, 1e-12), 0.0)
        return np.clip(wanted, least, 1.0)

    low, high = 0.0, 1 / float(size[size > 0].min())  # everything that has a size is drawn at the latter
    if n >= float(at(high)[open_].sum()):
        return at(high)
    for _ in range(100):  # halved until nothing changes any more
        rate = (low + high) / 2
        low, high = (rate, high) if at(rate)[open_].sum() < n else (low, rate)
    return at(high)


def joint_probabilities(pool: Pool, guessed: Floats, chance: Floats) -> Floats:
    """What goes for the probability of each document in a file with the labels of both rounds.

    For earlier labels one by their weight, for the others the chance that they are drawn in one of the rounds, as far
    as it is known; `chance` is that of the second round, also for documents that are out of it for having a label.
    """
    first = guessed * (1 - chance)
    either = chance + first
    share = np.divide(first, either, out=np.ones(len(either)), where=either > 0)
    earlier = 1 / np.where(pool.drawn, share * pool.inverse + 1 - share, 1.0)
    return np.where(pool.drawn, earlier, either)


def as_many_uniform(worth: Floats, guessed: Floats, chance: Floats, open_: Bools) -> float:
    """How many of the open documents, all as likely, would leave as much to chance in the difference."""
    left = float((worth**2 * (1 / np.where(worth > 0, guessed + (1 - guessed) * chance, 1.0) - 1)).sum())
    low, high = 0.0, 1.0
    for _ in range(60):  # halved until nothing changes any more
        share = (low + high) / 2
        uniform = float((worth**2 * (1 / (guessed + (1 - guessed) * share) - 1)).sum())
        low, high = (share, high) if uniform > left else (low, share)
    return high * int(open_.sum())
