"""A ranking of systems from side-by-side answers, with ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.records import FrameLike, Preferences, Result
from karat.records.table import count
from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.davidson import chances, fit_davidson
from karat.stats.multiple_testing import holm
from karat.users.votes import counted, trusted


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


#: Strengths that move by less than this do not move.
EVEN = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SystemRanking(Result):
    """Systems by strength."""

    beside: ClassVar[tuple[str, ...]] = ("tie_weight",)
    #: The weight of ties: at equal strength, a tie is so many times as likely as either win.
    tie_weight: float = np.nan


def rank_systems(
    preferences: Preferences | FrameLike,
    *,
    at_least: float | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> SystemRanking:
    """Systems by how much users prefer them: Bradley and Terry's model with ties, intervals over queries.

    >>> from karat.simulate import preference_study
    >>> study = preference_study("nDCG@10", queries=30, systems=3, seed=1)
    >>> rank_systems(study.preferences, draws=0).frame.select("system", pl.col("strength", "preferred").round(2)).rows()
    [('s3', 0.16, 0.55), ('s2', -0.03, 0.49), ('s1', -0.13, 0.46)]

    A system of `strength` s is preferred to one of strength t with a chance proportional to exp(s) against exp(t), ties
    taking their part (Davidson); the mean strength is 0. `preferred` is the chance to be preferred to another system
    drawn at random, ties counting half. Which answers count, and what `at_least` does, is as in `votes`; "none
    relevant" is a tie. The bootstrap draws whole queries; `best_rank` and `worst_rank` are the places that a system may
    have. `behind_p` is a test against the best system, adjusted for all pairs of systems (Holm).

    Use it to say which system users prefer; whether measures agree is `agreement`'s question. Strengths compare
    systems that were shown against each other, directly or through others; otherwise it refuses.

    Reference: Bradley and Terry (Biometrika 1952); Davidson (JASA 1970).
    """
    resampling = Resampling(level, draws, seed)
    kept = counted(trusted(preferences), at_least)
    answers = answers_of(kept)
    refuse_apart(answers)
    notes = list(kept.notes)
    by_query, drawn = answers.counts(), np.empty((0, len(answers.systems)))
    fit = fit_davidson(answers.one, answers.two, by_query.sum(axis=0)[None], len(answers.systems))
    strength, tie = fit.strength[0], float(fit.tie[0])
    enough = draws > 0 and answers.queries >= FEWEST
    if enough:
        drawn = _drawn(answers, by_query, resampling)
    if draws and not enough:
        notes.append(f"no intervals: fewer than {FEWEST} queries are too few to tell")
    if unbeaten(answers):
        notes.append("some systems win every comparison with others: how much stronger they are cannot be told")
        drawn = drawn[:0]
    elif len(drawn) and np.ptp(drawn, axis=0).max() < EVEN:
        notes.append("all queries are answered alike: no intervals")
        drawn = drawn[:0]
    table = _table(answers, strength, tie, drawn, resampling)
    return SystemRanking(table, _sentence(table, answers, level), tuple(notes), tie_weight=float(np.exp(tie)))


def _drawn(answers: Answers, by_query: Floats, resampling: Resampling) -> Floats:
    """Strengths in resamples of the queries: draws x systems."""
    queries, pairs, _ = by_query.shape
    flat, found = by_query.reshape(queries, -1), []
    for times in resampling.times(queries):
        counts = (times @ flat).reshape(len(times), pairs, 3)
        for start in range(0, len(counts), 200):
            part = counts[start : start + 200]
            found.append(fit_davidson(answers.one, answers.two, part, len(answers.systems)).strength)
    return np.concatenate(found)


def _table(answers: Answers, strength: Floats, tie: float, drawn: Floats, resampling: Resampling) -> pl.DataFrame:
    n = len(answers.systems)
    one, two = (index.ravel() for index in np.indices((n, n)))
    chance = chances(strength, tie, one, two)
    wins = (chance[:, 0] + chance[:, 1] / 2).reshape(n, n)
    preferred = (wins.sum(axis=1) - 0.5) / (n - 1)
    low = high = p = rank_low = rank_high = np.full(n, np.nan)
    if len(drawn):
        low, high = resampling.cut(drawn, answers.queries)
        rank = (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2) + 1
        rank_low, rank_high = resampling.cut(rank, answers.queries, "nearest")
        p = _behind_p(strength, drawn, answers.queries)
    number = np.bincount(np.concatenate([answers.one[answers.pair], answers.two[answers.pair]]), minlength=n)
    return pl.DataFrame(
        {
            "system": answers.systems,
            "strength": strength,
            "low": low,
            "high": high,
            "preferred": preferred,
            "rank": (strength[None, :] > strength[:, None] + 1e-9).sum(axis=1) + 1,
            "best_rank": pl.Series(rank_low).fill_nan(None).cast(pl.Int64),
            "worst_rank": pl.Series(rank_high).fill_nan(None).cast(pl.Int64),
            "behind_p": p,
            "answers": number,
        }
    ).sort("strength", descending=True, maintain_order=True)


def _behind_p(strength: Floats, drawn: Floats, queries: int) -> Floats:
    """For each system, whether it is behind the best; all pairs of systems are allowed for, as the best is chosen."""
    from scipy.special import stdtr

    n = len(strength)
    one, two = np.triu_indices(n, 1)
    error = (drawn[:, one] - drawn[:, two]).std(axis=0, ddof=1)
    error[error <= EVEN] = np.nan
    p = 2 * stdtr(queries - 1, -np.abs(strength[one] - strength[two]) / error)
    square = np.full((n, n), np.nan)
    square[one, two] = square[two, one] = holm(p)
    found: Floats = square[int(strength.argmax())]
    return found


def _sentence(table: pl.DataFrame, answers: Answers, level: float) -> str:
    best, next_best = table.row(0, named=True), table.row(1, named=True)
    answered, queries = count(len(answers.pair), "answer"), count(answers.queries, "query", "queries")
    if (answers.outcome == 1).all():
        return f"Users prefer no system to another: all {answered} are ties ({queries})."
    first = table.filter(pl.col("rank") == 1)["system"].to_list()
    if len(first) > 1:
        others = "" if len(first) == table.height else ", and more than the others"
        return f"Users prefer {', '.join(first[:-1])} and {first[-1]} equally{others} ({answered}, {queries})."
    share = f"preferred in {100 * best['preferred']:.0f} % of comparisons"
    share += f" (ties half; {answered}, {queries})"
    p, most = next_best["behind_p"], f"Users prefer {best['system']} most"
    if p >= 1 - level:  # said at once, as the first words become a title
        return f"{most}, {next_best['system']} may be as good (p = {p:.3f}): {share}."
    behind = "" if np.isnan(p) else f"; {next_best['system']}, the next, is shown to be behind (p = {p:.3f})"
    return f"{most}: it is {share}{behind}."
