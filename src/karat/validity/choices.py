"""How likely users' votes are if they choose by a measure: the table that fitting and its tests are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.totals import totals

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: How surely users follow a difference of one typical size: not at all, hardly, ..., always. Tried for every measure.
SURENESS = np.concatenate([[0.0], np.geomspace(0.03, 30, 31)])


@dataclass(frozen=True, eq=False)
class Choices:
    """For every query and variant of a measure, how likely its votes are and how many agree with the measure."""

    #: Queries x variants x sureness: the log of the chance of the query's votes.
    likelihood: Floats
    #: Queries x variants: votes for the side that the variant holds for better, half of the votes where it ties.
    agreeing: Floats
    #: Queries: all votes for a side.
    votes: Floats

    @classmethod
    def of(cls, apart: Floats, for_a: Floats, for_b: Floats, equal: Floats, query: Ints) -> Choices:
        """The table from differences (pairs x variants) and votes on each pair.

        >>> one = Choices.of(np.array([[0.5]]), np.array([3.0]), np.array([1.0]), np.array([0.0]), np.array([0]))
        >>> one.agreeing.tolist(), one.votes.tolist(), one.likelihood[0, 0, 0].round(3).item()
        ([[3.0]], [4.0], -2.773)

        A vote for a has the chance 1 / (1 + exp(-s x)), where x is a's lead over b in units of the variant's typical
        lead and s how surely users go by it; one for neither counts half for each. Reference: Bradley and Terry
        (Biometrika 1952), with the lead in place of two strengths.
        """
        queries, variants = int(query.max()) + 1, apart.shape[1]
        likelihood = np.empty((queries, variants, len(SURENESS)))
        agreeing = np.empty((queries, variants))
        wins, losses = for_a + equal / 2, for_b + equal / 2
        for place, lead in enumerate(apart.T):
            size = np.sqrt(np.mean(lead**2))
            steps = np.outer(lead / (size if size > 0 else 1.0), SURENESS)
            log_chance = -(wins[:, None] * np.logaddexp(0, -steps) + losses[:, None] * np.logaddexp(0, steps))
            for column in range(len(SURENESS)):
                likelihood[:, place, column] = totals(query, log_chance[:, column], queries)
            with_it = np.where(lead > 0, for_a, np.where(lead < 0, for_b, (for_a + for_b) / 2))
            agreeing[:, place] = totals(query, with_it, queries)
        return cls(likelihood, agreeing, totals(query, for_a + for_b, queries))

    def best(self, times: Floats) -> tuple[Floats, Ints]:
        """The greatest likelihood of each variant over all sureness, and where: draws x variants, from query weights.

        Between two values of sureness it is read off the parabola through the three highest.
        """
        draws = len(times)
        summed = (times @ self.likelihood.reshape(len(self.votes), -1)).reshape(draws, *self.likelihood.shape[1:])
        top = summed.argmax(axis=2)
        inner = np.clip(top, 2, len(SURENESS) - 2)  # sureness 0 lies infinitely far below the others
        three = [np.take_along_axis(summed, (inner + step)[:, :, None], axis=2)[:, :, 0] for step in (-1, 0, 1)]
        highest = np.take_along_axis(summed, top[:, :, None], axis=2)[:, :, 0]
        bend = three[0] - 2 * three[1] + three[2]
        rise = (three[0] - three[2]) ** 2 / np.where(bend < 0, -8 * bend, 1.0)
        refined = np.where((inner == top) & (bend < 0), three[1] + rise, highest)
        return refined, top
