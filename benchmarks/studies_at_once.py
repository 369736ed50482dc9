"""Many simulated studies at once: every one is estimated by itself, what reads and joins tables is done for all.

The queries of all studies are laid side by side; pools, evidence and lists are made for all of them and cut apart
again. `test_studies_at_once` holds it equal to studies made one by one, through the public functions.
One thing is shared: gold labels for nDCG are drawn as if a query without anything relevant, by the labels, were a
middling one of all studies. Estimates are right with any draw whose probabilities are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from karat.correction.calibration import Evidence
from karat.correction.estimate import Estimate
from karat.correction.gold_sample import Gold
from karat.correction.imputed_scores import DRAWS, Drawn, DrawnNdcg, lists_of
from karat.correction.ndcg_correction import corrected_by
from karat.correction.pool import Pool, pool_for, stand_in
from karat.correction.ppi import check_gold, powered
from karat.correction.whole_queries import by_whole_queries
from karat.errors import Undefined
from karat.measures import Lists, Measure, is_linear, match, nDCG
from karat.measures.scorer import Scorer
from karat.plan import plan_gold_queries
from karat.plan.gold_selection import chances
from karat.plan.simulated_power import FLOOR, sizes
from karat.records import Judgments, Runs
from karat.records.runs import together
from karat.simulate.graded_pair import GradedPair
from karat.stats.sampling import draw

#: One estimate for either population: these queries only (`fixed`), or all.
Either = Callable[[bool], Estimate]
PAIR = ["query", "doc"]


def studies_at_once(
    studies: Sequence[GradedPair], measures: Sequence[str], gold: int, seeds: Sequence[int]
) -> Iterator[tuple[int, str, float, dict[str, Either]]]:
    """For each study and measure: the study's place, the measure, the true difference, and the ways to estimate it.

    Gold labels are drawn for nDCG@10, as `plan_gold` does, with the seed of each study.
    """
    side = SideBySide(studies, measures)
    for place, name, ways, _ in side.estimated(side.drawn(gold, seeds)):
        yield place, name, side.difference(place, name), ways


class SideBySide:
    """Studies of as many queries each, laid out once for any gold labels of theirs."""

    def __init__(self, studies: Sequence[GradedPair], measures: Sequence[str]) -> None:
        self.side, each = _side_by_side(studies), int(studies[0].query[-1]) + 1
        self.runs, labels = together(self.side.runs()), self.side.judgments()
        self.scorer = Scorer(labels, list(measures), draws=0)
        self.asked = self.scorer.topics.queries["query"].to_list()
        self.right = scores(self.runs, Scorer(self.side.judgments(self.side.truth), list(measures), draws=0))
        self.judged = scores(self.runs, self.scorer)
        self.parts = [slice(place * each, (place + 1) * each) for place in range(len(studies))]
        # Documents are named so that the evidence has them in the order of the studies.
        whole = Evidence.of(self.runs, self.asked, self.scorer.topics, self.scorer.profile, _nothing(labels))
        self.whole = replace(whole, grade=self.side.truth)  # so that the highest grade is known

    def difference(self, place: int, measure: str) -> float:
        """The true difference of a study's systems on its own queries."""
        return float(np.diff(self.right[measure][self.parts[place]].mean(axis=0))[0])

    def drawn(self, gold: int, seeds: Sequence[int]) -> np.ndarray:
        """The chance of each document that is drawn for a gold label, NaN for the others."""
        pool = pool_for(self.runs, self.asked, self.scorer.by(nDCG(cutoff=10)))
        return _chances(pool, self.whole, gold, seeds, self.parts)

    @cached_property
    def _laid(self) -> list[tuple[Measure, Any, Pool, np.ndarray, Drawn | None]]:
        """For each measure that can be corrected: its gains, the pool and its rows, and the lists if it is no sum."""
        found = []
        for measure in self.scorer.measures:
            mine, sums = self.scorer.by(measure), measure if is_linear(measure) else stand_in(measure)
            pool = pool_for(self.runs, self.asked, mine)
            if pool is not None and sums is not None:
                lists = None if is_linear(measure) else _undrawn(lists_of(self.runs, mine, self.whole), measure)
                found.append((measure, sums, pool, self.whole.rows(pool.docs), lists))
        return found

    def estimated(self, chance: np.ndarray) -> Iterator[tuple[int, str, dict[str, Either], Pool]]:
        """For each measure and study: its place, the measure, the ways to estimate it, and the pool."""
        topics, profile = self.scorer.topics, self.scorer.profile
        whole = replace(self.whole, grade=np.where(chance > 0, self.side.truth, np.nan), probability=chance)
        known = [_evidence(whole, part) for part in self.parts]
        for measure, sums, pool, rows, lists in self._laid:
            gained = np.where(np.isnan(whole.grade), np.nan, sums.worth(whole.grade, topics, profile))
            pool = replace(pool, gold=gained[rows], probability=chance[rows])
            for place, part in enumerate(self.parts):
                few, own = _pool(pool, part), known[place]
                at = rows[slice(*np.searchsorted(pool.query, (part.start, part.stop)))]
                at = at - int(np.searchsorted(whole.query, part.start))
                values = self.judged[str(measure)][part]
                ways: dict[str, Either] = {"plain": lambda fixed, values=values: plain(values, fixed)}
                if lists is None:
                    gains = own.calibration.expected(sums.worth(own.calibration.grades, topics, profile))
                    ways["as is"] = partial(_as_is, few)
                    ways["calibrated"] = partial(_calibrated, few, few.with_predicted(gains[at]))
                else:
                    ways["calibrated"] = _one_step(_lists(lists, part, own, at[few.drawn]), few, own, at)
                yield place, str(measure), ways, few


def _one_step(lists: Drawn, pool: Pool, evidence: Evidence, rows: np.ndarray) -> Either:
    try:
        check_gold(pool)
    except Undefined as refused:
        reason = str(refused)

        def refuse(fixed: bool) -> Estimate:
            raise Undefined(reason)

        return refuse
    made = corrected_by(lists, pool, evidence, rows)
    return lambda fixed: made(fixed=fixed)


def by_queries(study: GradedPair, measures: Sequence[str], gold: int, seed: int) -> Iterator[tuple[str, float, Either]]:
    """For each measure of one study: the measure, the true difference, and the estimate from gold for whole queries."""
    runs, labels = together(study.runs()), study.judgments()
    scorer = Scorer(labels, list(measures), draws=0)
    asked = scorer.topics.queries["query"].to_list()
    right = scores(runs, Scorer(study.judgments(study.truth), list(measures), draws=0))
    judged = scores(runs, scorer)
    plan = plan_gold_queries(labels, runs, "nDCG@10", gold, seed=seed).frame
    truth = study.judgments(study.truth).frame.select("query", "doc", "label")
    some = Gold.of(Judgments.of(plan.drop("label").join(truth, on=PAIR)))
    learned = Evidence.of(runs, asked, scorer.topics, scorer.profile, some)
    for measure in scorer.measures:
        name = str(measure)
        about = (runs, scorer.by(measure), some, asked, judged[name], learned if learned.enough else None)
        yield name, float(np.diff(right[name].mean(axis=0))[0]), partial(_whole, about)


def interval(estimate: Either, fixed: bool) -> tuple[float | None, float | None]:
    """The interval of the difference, none where it is refused."""
    try:
        made = estimate(fixed)
    except Undefined:
        return None, None
    found = made.difference(0, 1)
    if made.is_known(0, 1):
        return found.difference - 1e-9, found.difference + 1e-9
    return (None, None) if np.isnan(found.low) else (found.low, found.high)


def _whole(about: tuple[Any, ...], fixed: bool) -> Estimate:
    return by_whole_queries(*about, fixed=fixed)


def _as_is(pool: Pool, fixed: bool) -> Estimate:
    return powered(pool, fixed=fixed)


def _calibrated(labels: Pool, sharp: Pool, fixed: bool) -> Estimate:
    return powered(sharp, fixed=fixed, labels=labels)


def plain(values: np.ndarray, fixed: bool) -> Estimate:
    """The judge's labels taken for right."""
    if fixed:
        raise Undefined("labels that are right leave nothing to chance on these queries")
    return Estimate.of_values("plain", ("A", "B"), values)


def scores(runs: Runs, scorer: Scorer) -> dict[str, np.ndarray]:
    """By measure: a row for each query, a column for each system."""
    lists = match(runs, scorer.topics, scorer.profile)
    found = {}
    for measure in scorer.measures:
        wide = lists.keys.with_columns(score=pl.Series(measure.score(lists))).pivot("system", index="query")
        found[str(measure)] = wide.sort("query").select(runs.systems).to_numpy()
    return found


def _side_by_side(studies: Sequence[GradedPair]) -> GradedPair:
    each = int(studies[0].query[-1]) + 1
    query = np.concatenate([study.query + place * each for place, study in enumerate(studies)])
    truth, label = (np.concatenate([getattr(study, name) for study in studies]) for name in ("truth", "label"))
    return GradedPair(query, truth, label, np.concatenate([study.rank for study in studies]))


def _nothing(labels: Judgments) -> Gold:
    frame = labels.frame.select(*PAIR, "label").head(0).with_columns(probability=pl.lit(None, dtype=pl.Float64))
    return Gold(frame, labels, True, ())


def _chances(
    pool: Pool | None, evidence: Evidence, gold: int, seeds: Sequence[int], parts: Sequence[slice]
) -> np.ndarray:
    """The probability of each document that is drawn for a gold label, NaN for the others."""
    assert pool is not None
    rows, found = evidence.rows(pool.docs), np.full(len(evidence.grade), np.nan)
    for part, seed in zip(parts, seeds, strict=True):
        few = _pool(pool, part)
        at = rows[slice(*np.searchsorted(pool.query, (part.start, part.stop)))]
        size = sizes(few, nDCG(cutoff=10))
        least = np.where(size > 0, FLOOR * min(gold / int((size > 0).sum()), 1.0), 0.0)
        chance = chances(size / size.sum(), np.zeros(len(size)), least, gold, np.ones(len(size), bool))
        drawn = draw(chance, seed=seed)
        found[at[drawn]] = chance[drawn]
    return found


def _pool(pool: Pool, part: slice) -> Pool:
    """The part of the pool that is about some of the queries."""
    some = slice(*np.searchsorted(pool.query, (part.start, part.stop)))
    return replace(
        pool,
        queries=pool.queries[part],
        docs=pool.docs[some],
        query=pool.query[some] - part.start,
        weight=pool.weight[some],
        rank=pool.rank[some],
        predicted=pool.predicted[some],
        gold=pool.gold[some],
        probability=pool.probability[some],
        same_place=None if pool.same_place is None else pool.same_place[some],
    )


def _evidence(whole: Evidence, part: slice) -> Evidence:
    some = slice(*np.searchsorted(whole.query, (part.start, part.stop)))
    return replace(
        whole,
        docs=whole.docs[some],
        query=whole.query[some] - part.start,
        label=whole.label[some],
        grade=whole.grade[some],
        probability=whole.probability[some],
        features=whole.features[some],
        ranks=whole.ranks[some],
        _drawn={},
    )


def _undrawn(lists: Lists, measure: Measure) -> Drawn:
    kind = DrawnNdcg if isinstance(measure, nDCG) else Drawn
    return kind(lists, measure, np.zeros(1), np.zeros((len(lists.topics.label), 1), np.int64))


def _lists(whole: Drawn, part: slice, evidence: Evidence, drawn: np.ndarray) -> Drawn:
    """The lists of one study under the grades that its own calibration draws."""
    draws = evidence.draws(DRAWS, 0).copy()
    apart = np.setdiff1d(np.flatnonzero(~np.isnan(evidence.grade)), drawn)
    draws[apart] = evidence.places(apart)[:, None]
    some = whole.only(np.arange(part.start, part.stop))[0]
    return replace(some, draws=draws, grades=evidence.calibration.grades)
