"""A ranking of systems from side-by-side answers, with ties and with judges of different reliability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from karat.errors import NotConverged, Undefined
from karat.records import FrameLike, Preferences, Result
from karat.records.base import count
from karat.stats.arrays import Floats
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.davidson import chances, fit_davidson
from karat.stats.many import holm
from karat.stats.totals import totals
from karat.validity.side_by_side_answers import Answers, answers_of, refuse_apart, unbeaten
from karat.validity.votes import counted, trusted

#: What is believed of a judge before any answer: as reliable as the others, give or take this much.
SPREAD = 0.5
#: Strengths that move by less than this do not move.
EVEN = 1e-9
ROUNDS = 200
CLOSE = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class SystemRanking(Result):
    """Systems by strength, and the judges by how far their answers go with it."""

    beside: ClassVar[tuple[str, ...]] = ("judges", "tie_weight")
    judges: pl.DataFrame = field(default_factory=pl.DataFrame)
    #: The weight of ties: at equal strength, a tie is so many times as likely as either win.
    tie_weight: float = np.nan


def rank_systems(
    preferences: Preferences | FrameLike,
    *,
    at_least: float | None = None,
    reliability: bool = False,
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

    With `reliability`, strengths count more for some judges than for others: 1 is the average judge, 0 is one who
    guesses, below 0 one who answers against the others. Answers of those who guess then count less. The strengths are
    those of the average judge; intervals take the reliabilities as known.

    Use it to say which system users prefer; whether measures agree is `agreement`'s question. Strengths compare
    systems that were shown against each other, directly or through others; otherwise it refuses.

    Reference: Bradley and Terry (Biometrika 1952); Davidson (JASA 1970); for judges, Chen et al. (WSDM 2013).
    """
    resampling = Resampling(level, draws, seed)
    kept = counted(trusted(preferences), at_least)
    answers = answers_of(kept)
    refuse_apart(answers)
    notes = list(kept.notes)
    drawn, judges = np.empty((0, len(answers.systems))), pl.DataFrame()
    enough = draws > 0 and answers.queries >= FEWEST
    if reliability:
        if not kept.has("judge"):
            raise Undefined("the answers do not say who judged: reliability cannot be told")
        strength, tie, reliable = _reliability(answers)
        judges = _judges(answers, reliable)
        if enough:
            drawn = _moved(answers, strength, tie, reliable, resampling)
    else:
        by_query = answers.counts()
        fit = fit_davidson(answers.one, answers.two, by_query.sum(axis=0)[None], len(answers.systems))
        strength, tie = fit.strength[0], float(fit.tie[0])
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
    return SystemRanking(table, _sentence(table, answers, level), tuple(notes), judges, float(np.exp(tie)))


def _reliability(answers: Answers) -> tuple[Floats, float, Floats]:
    """Strengths, the ties' weight, and each judge's reliability, fitted in turn until they settle."""
    judges, pairs = len(answers.judges), len(answers.one)
    cell, number = np.unique(answers.pair * judges + answers.judge, return_inverse=True)
    counts = np.bincount(number * 3 + answers.outcome, minlength=len(cell) * 3).astype(np.float64).reshape(1, -1, 3)
    pair, judge = cell // judges, cell % judges
    one, two = answers.one[pair], answers.two[pair]
    work = np.bincount(answers.judge, minlength=judges)
    reliable = np.ones(judges)
    for _ in range(ROUNDS):
        fit = fit_davidson(one, two, counts, len(answers.systems), scale=reliable[judge])
        strength, tie = fit.strength[0], float(fit.tie[0])
        worth = np.stack([strength[one], (strength[one] + strength[two]) / 2, strength[two]], axis=1)
        new = reliable
        for _ in range(10):  # Newton's steps, all judges at once
            chance = chances(strength, tie, one, two, new[judge])
            mean = (chance * worth).sum(axis=1)
            total = counts[0].sum(axis=1)
            slope = totals(judge, (counts[0] * worth).sum(axis=1) - total * mean, judges) - (new - 1) / SPREAD**2
            bend = totals(judge, total * ((chance * worth**2).sum(axis=1) - mean**2), judges) + 1 / SPREAD**2
            new = new + slope / bend
        new = new / (new @ work / work.sum())
        moved, reliable = float(np.abs(new - reliable).max()), new
        if moved < CLOSE:
            fit = fit_davidson(one, two, counts, len(answers.systems), scale=reliable[judge])
            return fit.strength[0], float(fit.tie[0]), reliable
    raise NotConverged(f"the reliability of judges over {pairs:,} pairs did not settle: rank the systems without it")


def _moved(answers: Answers, strength: Floats, tie: float, reliable: Floats, resampling: Resampling) -> Floats:
    """As `_drawn`, by one step from the fit: judges' cells are too many to fit in every draw."""
    n = len(strength)
    one, two, scale = answers.one[answers.pair], answers.two[answers.pair], reliable[answers.judge]
    chance, row = chances(strength, tie, one, two, scale), np.arange(len(one))
    design = np.zeros((len(row), 3, n + 1))
    design[row, 0, one] = design[row, 2, two] = scale
    design[row, 1, one] = design[row, 1, two] = scale / 2
    design[:, 1, n] = 1.0
    expected = np.einsum("ro,rok->rk", chance, design)
    bend = np.einsum("ro,rok,rol->kl", chance, design, design, optimize=True) - expected.T @ expected
    bend[:n, :n] += 1.0
    slopes = design[row, answers.outcome] - expected
    by_query = np.stack([totals(answers.query, slopes[:, k], answers.queries) for k in range(n + 1)], axis=1)
    steps = np.linalg.solve(bend + 1e-10 * np.eye(n + 1), by_query.T).T[:, :n]
    drawn = strength + np.concatenate([(times - 1) @ steps for times in resampling.times(answers.queries)])
    found: Floats = drawn - drawn.mean(axis=1, keepdims=True)
    return found


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


def _judges(answers: Answers, reliable: Floats) -> pl.DataFrame:
    """Each judge with how many answers were given and how reliable they are, least first."""
    number = np.bincount(answers.judge, minlength=len(answers.judges))
    table = pl.DataFrame({"judge": answers.judges, "answers": number, "reliability": reliable})
    return table.sort("reliability", maintain_order=True)


def _sentence(table: pl.DataFrame, answers: Answers, level: float) -> str:
    best, next_best = table.row(0, named=True), table.row(1, named=True)
    answered, queries = count(len(answers.pair), "answer"), count(answers.queries, "query", "queries")
    if (answers.outcome == 1).all():
        return f"Users prefer no system to another: all {answered} are ties ({queries})."
    first = table.filter(pl.col("rank") == 1)["system"].to_list()
    if len(first) > 1:
        others = "" if len(first) == table.height else ", and more than the others"
        return f"Users prefer {', '.join(first[:-1])} and {first[-1]} equally{others} ({answered}, {queries})."
    text = f"Users prefer {best['system']} most: it is preferred to another system in {100 * best['preferred']:.0f} %"
    text += f" of comparisons (ties half; {answered}, {queries})"
    p = next_best["behind_p"]
    if np.isnan(p):
        return text + "."
    sure = "is shown to be behind" if p < 1 - level else "may be as good"
    return text + f"; {next_best['system']}, the next, {sure} (p = {p:.3f})."
