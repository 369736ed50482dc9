"""How likely users' votes are if they choose by a measure: the table that fitting and its tests are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat.stats.arrays import Floats, Ints
from karat.stats.totals import totals

#: How surely users follow a difference of one typical size: hardly, ..., always. Tried for every measure.
SURENESS = np.geomspace(0.03, 30, 31)


def logistic(x: Floats) -> Floats:
    """The log of the chance to prefer what leads by x when users err by a logistic amount (Bradley and Terry)."""
    return -np.logaddexp(0, -x)


def normal(x: Floats) -> Floats:
    """The same when they err by a normal amount (Thurstone), in units that make both about equally steep."""
    from scipy.special import log_ndtr

    chance: Floats = log_ndtr(x / 1.7)
    return chance


#: Nobody knows how users err, and a wrong guess bends what is fitted: whichever makes the votes likelier is taken.
ERRORS: tuple[Callable[[Floats], Floats], ...] = (logistic, normal)


@dataclass(frozen=True, eq=False)
class VoteLikelihood:
    """For every query and variant of a measure, how likely its votes are and how many agree with the measure."""

    #: Queries x variants x kinds of error x sureness: the log of the chance of the query's votes.
    likelihood: Floats
    #: Queries x variants: votes for the side that the variant holds for better, half of the votes where it ties.
    agreeing: Floats
    #: Queries: all votes for a side.
    votes: Floats

    @classmethod
    def of(cls, apart: Floats, for_a: Floats, for_b: Floats, equal: Floats, query: Ints) -> VoteLikelihood:
        """The table from differences (pairs x variants) and votes on each pair.

        >>> one = VoteLikelihood.of(np.array([[0.5]]), np.array([3.0]), np.array([1.0]), np.array([0.0]), np.array([0]))
        >>> one.agreeing.tolist(), one.votes.tolist(), one.likelihood[0, 0, 0, 0].round(2).item()
        ([[3.0]], [4.0], -2.74)

        A vote for a has the chance F(s x), where x is a's lead over b in units of the variant's typical lead, s how
        surely users go by it, and F how they err; one for neither counts half for each side.
        Reference: Bradley and Terry (Biometrika 1952), Thurstone (Psychological Review 1927), with the lead in place of
        the difference of two strengths.
        """
        queries, variants = int(query.max()) + 1, apart.shape[1]
        likelihood = np.empty((queries, variants, len(ERRORS), len(SURENESS)))
        agreeing = np.empty((queries, variants))
        wins, losses = for_a + equal / 2, for_b + equal / 2
        in_order = np.argsort(query, kind="stable")
        starts = np.searchsorted(query[in_order], np.arange(queries))
        for place, lead in enumerate(apart.T):
            size = np.sqrt(np.mean(lead**2))
            steps = np.outer((lead / (size if size > 0 else 1.0))[in_order], SURENESS)
            for kind, error in enumerate(ERRORS):
                chance = wins[in_order, None] * error(steps) + losses[in_order, None] * error(-steps)
                likelihood[:, place, kind] = np.add.reduceat(chance, starts, axis=0)
            with_it = np.where(lead > 0, for_a, np.where(lead < 0, for_b, (for_a + for_b) / 2))
            agreeing[:, place] = totals(query, with_it, queries)
        return cls(likelihood, agreeing, totals(query, for_a + for_b, queries))

    def best(self, times: Floats) -> tuple[Floats, Ints]:
        """The greatest likelihood of each variant over errors and sureness, and where: draws x variants.

        `times` (draws x queries) says how often each query counts. Between two values of sureness the likelihood is
        read off the parabola through the three highest. The place counts through errors, then sureness.
        """
        summed = (times @ self.likelihood.reshape(len(self.votes), -1)).reshape(len(times), *self.likelihood.shape[1:])
        top = summed.argmax(axis=3)
        inner = np.clip(top, 1, len(SURENESS) - 2)
        three = [np.take_along_axis(summed, (inner + step)[..., None], axis=3)[..., 0] for step in (-1, 0, 1)]
        highest = np.take_along_axis(summed, top[..., None], axis=3)[..., 0]
        bend = three[0] - 2 * three[1] + three[2]
        rise = (three[0] - three[2]) ** 2 / np.where(bend < 0, -8 * bend, 1.0)
        refined = np.where((inner == top) & (bend < 0), three[1] + rise, highest)
        error = refined.argmax(axis=2)
        place = np.take_along_axis(top, error[..., None], axis=2)[..., 0] + error * len(SURENESS)
        return refined.max(axis=2), place

    def at(self, queries: Ints, variant: int, place: int) -> Floats:
        """The likelihood of these queries' votes under one variant, at a place that `best` gave."""
        error, sure = divmod(place, len(SURENESS))
        found: Floats = self.likelihood[queries, variant, error, sure]
        return found
