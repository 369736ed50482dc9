"""Side-by-side answers as numbers: which pair, which outcome, for which query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.records import Preferences
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Answers:
    """One row per answer: the pair, the outcome (0 one preferred, 1 tie, 2 the other) and the query."""

    systems: list[str]
    one: Ints  # of each pair
    two: Ints
    pair: Ints
    outcome: Ints
    query: Ints
    queries: int

    def counts(self) -> Floats:
        """Outcomes by query and pair: queries x pairs x 3."""
        cell = (self.query * len(self.one) + self.pair) * 3 + self.outcome
        size = self.queries * len(self.one) * 3
        return np.bincount(cell, minlength=size).astype(np.float64).reshape(self.queries, len(self.one), 3)


def answers_of(kept: Preferences) -> Answers:
    """The answers, each pair of systems in the order of their names; equal and none are ties."""
    frame = kept.frame
    if not frame.height:
        raise Undefined("no answer is left to rank systems by: every judge failed a trap, or there are traps only")
    systems = pl.concat([frame["left"], frame["right"]]).unique().sort()
    left, right = (systems.search_sorted(frame[side]).to_numpy().astype(np.int64) for side in ("left", "right"))
    one, two = np.minimum(left, right), np.maximum(left, right)
    pairs, pair = np.unique(one * len(systems) + two, return_inverse=True)
    chosen = frame["choice"].replace_strict({"left": 0, "right": 2, "equal": 1, "none": 1}, return_dtype=pl.Int64)
    outcome = np.where(left > right, 2 - chosen.to_numpy(), chosen.to_numpy())
    names, query = np.unique(frame["query"].to_numpy(), return_inverse=True)
    return Answers(
        systems=systems.to_list(),
        one=pairs // len(systems),
        two=pairs % len(systems),
        pair=pair.astype(np.int64),
        outcome=outcome.astype(np.int64),
        query=query.astype(np.int64),
        queries=len(names),
    )


def refuse_apart(answers: Answers) -> None:
    """Strengths compare only systems that a chain of comparisons joins."""
    parts, part = _joined(answers, "weak")
    if parts > 1:
        groups = [", ".join(np.array(answers.systems)[part == p][:4].tolist()) for p in range(min(parts, 3))]
        raise Undefined(f"no comparison joins {' with '.join(groups)}: their strengths cannot be compared")


def unbeaten(answers: Answers) -> bool:
    """Whether some systems win every comparison with the others: how much stronger they are has no end then."""
    return _joined(answers, "strong")[0] > 1


def _joined(answers: Answers, connection: str) -> tuple[int, Ints]:
    """The parts that systems fall into, each joined to who beat or tied with it: how many, and the part of each."""
    from scipy.sparse.csgraph import connected_components

    n = len(answers.systems)
    square = np.zeros((n, n))
    one, two = answers.one[answers.pair], answers.two[answers.pair]
    square[one[answers.outcome <= 1], two[answers.outcome <= 1]] = 1.0
    square[two[answers.outcome >= 1], one[answers.outcome >= 1]] = 1.0
    parts, part = connected_components(square, directed=True, connection=connection)
    return int(parts), part
