"""The same systems by one measure after another, given that the labels are wrong sometimes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.advice import advise
from karat.comparison.comparison import Comparison
from karat.comparison.interim import Look
from karat.comparison.many_systems import inversion_bootstrap, plain_tests
from karat.comparison.methods import judge_by_kind, method_rows, notes_on, of_all_gold
from karat.comparison.prepared import Matrix, Prepared, error_model, one_measure
from karat.comparison.unjudged import Unjudged, difference_bounds
from karat.comparison.verdict import Decision, decide, describe_missing, with_missing
from karat.correction.calibration import Evidence
from karat.correction.estimate import Estimate
from karat.correction.estimators import WithGold
from karat.correction.gold_sample import Gold
from karat.correction.gold_uniformity import OUT_OF_REACH
from karat.errors import BadInput
from karat.labels import GOLD, split_gold
from karat.labels.scale_check import is_out_of_reach, other_scale, out_of_reach_note, scale_difference
from karat.measures import Profile, is_linear, parse_measure, profile_named
from karat.measures.estimated_inputs import DRAWN, in_context, moved, prediction_covariance
from karat.measures.scorer import Scorer
from karat.measures.scores import Scores
from karat.measures.topics import UserWeights
from karat.records import Judgments, LabelsLike, Runs, RunsLike
from karat.records.runs import headed_by, several
from karat.records.table import count
from karat.stats.arrays import Floats


def with_prediction(estimate: Estimate, scorer: Scorer, lists: Sequence[Runs], matrix: Matrix) -> Estimate:
    """The estimate with the error of predicted labels, where they were drawn anew, in its covariance.

    What drawing anew does to both systems alike cancels in their difference, as the queries' chance does.
    """
    measures = in_context(scorer.measures)
    if scorer.redrawn is None or not measures:
        return estimate
    name = str(measures[0])
    scores = scorer.redrawn.scores(list(lists), measures, scorer.profile, scorer.complete)
    queries = pl.DataFrame({"query": matrix.queries}).with_columns(
        pl.Series(system, matrix.values[:, place]) for place, system in enumerate(matrix.systems)
    )
    long = queries.unpivot(index="query", variable_name="system", value_name=name)
    off = moved(scores, long, name, matrix.systems)
    more = prediction_covariance(off, scorer.redrawn.taught)
    notes = (*estimate.notes, DRAWN.format(len(off)))
    df = both_df(estimate.covariance, estimate.df, more, scorer.redrawn.df)
    return replace(estimate, covariance=estimate.covariance + more, df=df, values=None, notes=notes)


def both_df(one: Floats, df: Floats, other: Floats, other_df: float) -> Floats:
    """The degrees of freedom of two errors together, for each pair of systems (Satterthwaite)."""
    first, second = _variances(one), _variances(other)
    below = first**2 / df + second**2 / other_df
    return np.divide((first + second) ** 2, below, out=df.astype(np.float64), where=below > 0)


def _variances(covariance: Floats) -> Floats:
    """The variance of each difference of two systems; on the diagonal, of each system's own score."""
    own = np.diag(covariance)
    found: Floats = own[:, None] + own - 2 * covariance
    np.fill_diagonal(found, own)
    return found


Method = Literal["auto", "plain", "inversion", "inversion-independent", "ppi"]
METHODS = ("auto", "plain", "inversion", "inversion-independent", "ppi")


class Comparer:
    """Compares the same systems by one measure after another: what the gold labels teach is learned once.

    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> comparer = Comparer(labels, {"a": a, "b": b})
    >>> [comparer.by(measure).verdict for measure in ("P@1", "P@2")]
    ['better', 'no difference shown']

    The arguments are those of `compare`.
    """

    def __init__(
        self,
        labels: LabelsLike,
        runs: RunsLike,
        *,
        gold: LabelsLike | None = None,
        method: Method = "auto",
        queries: Literal["sample", "fixed"] = "sample",
        calibrate: bool | Sequence[str] = True,
        consensus: str = "median",
        profile: str | Profile = "trec_eval",
        common_queries: bool = False,
        allow_unjudged: bool = False,
        level: float = 0.95,
        margin: float | None = None,
        user_weights: UserWeights | None = None,
        peek: int | None = None,
        baseline: str | None = None,
        draws: int = 10_000,
        seed: int = 0,
    ) -> None:
        _check(method, queries, draws, seed, margin)
        self.look, self.lists, self.baseline = Look(level, peek), several(runs), baseline
        if baseline is not None:
            self.lists = headed_by(self.lists, baseline)
        self.judged, self.gold, self.notes = _apart(Judgments.of(labels), None if gold is None else Judgments.of(gold))
        if self.gold is None and not isinstance(calibrate, bool):
            raise BadInput.at(
                "calibrate",
                expected="gold labels to calibrate on",
                found="none",
                remedy=advise("give --gold", "give gold="),
            )
        systems = sum(len(run.systems) for run in self.lists)
        if margin is not None and systems != 2:
            raise BadInput.at("the margin", expected="two systems", found=f"{systems}")
        self.method, self.queries, self.margin, self.draws, self.seed = method, queries, margin, draws, seed
        self._how: dict[str, Any] = {"queries": queries, "calibrate": calibrate, "consensus": consensus}
        self._how |= {"profile": profile_named(profile), "common_queries": common_queries, "user_weights": user_weights}
        self._allow_unjudged = allow_unjudged
        self._how["model"] = error_model(self.judged, consensus)
        self._laid: dict[object, Evidence] = {}

    def by(self, measure: object = None) -> Comparison:
        """The comparison by one measure, nDCG@10 unless named."""
        one = one_measure(measure)
        ready = Prepared.of(self.judged, self.lists, one, **self._how)
        matrix, name = ready.matrix, str(one)
        unjudged = Unjudged.of(matrix.coverage)
        if unjudged.refusal and not self._allow_unjudged:
            return self._refused(name, matrix, unjudged, one.score_range)
        estimates: dict[str, Estimate] = {}
        found = WithGold()
        if len(matrix.queries) < 2:
            shared = count(len(matrix.queries), "query", "queries")
            enough = f"the systems and the labels share {shared}, and 2 are needed"
            found = WithGold(refused=dict.fromkeys(METHODS, enough))
        else:
            estimates["plain"] = with_prediction(
                Estimate.of_values("plain", matrix.systems, matrix.values), ready.scorer, self.lists, matrix
            )
        if self.gold is not None and estimates:
            found = ready.corrected(self.gold, self._laid)
            estimates |= found.estimates
        estimates, weighed = ready.with_weights(estimates)
        estimates = {name: replace(estimate, score_range=one.score_range) for name, estimate in estimates.items()}
        chosen = _chosen(self.method, self.gold is not None, self.queries)
        why = found.refused.get(chosen, "")
        deciding = estimates.get(chosen)
        if deciding is not None and deciding.impossible:
            why, deciding = deciding.impossible, None
        look, draws, seed = self.look, self.draws, self.seed
        decision = decide(deciding, why, name, matrix, look, draws, seed, self.margin, self.baseline)
        warnings, bounds = self._on_unjudged(unjudged, ready, decision)
        told = notes_on(estimates, chosen, found, self.gold, look, self.queries, is_linear(one))
        undefined = found.scales is not None and is_out_of_reach(one, found.scales)
        if found.scales is not None and undefined:
            told.append(out_of_reach_note(one, found.scales))
        return Comparison(
            measure=name,
            systems=matrix.systems,
            methods=method_rows(estimates, look, self.queries, undefined=("plain",) if undefined else ()),
            verdict=decision.verdict,
            method=chosen,
            reason=with_missing(
                of_all_gold(decision.reason, deciding, self.gold, matrix.queries), describe_missing(matrix)
            ),
            winner=decision.winner,
            pairs=decision.pairs,
            ranks=decision.ranks,
            by_query=pl.DataFrame({"query": matrix.queries}).with_columns(
                pl.Series(name, matrix.values[:, s]) for s, name in enumerate(matrix.systems)
            ),
            judge=None if found.pool is None or found.scales is not None else judge_by_kind(found.pool, look.level),
            tests=_tests(matrix, estimates, found, chosen, look, draws, seed),
            values=_by_query(deciding, matrix),
            gold_queries=_with_gold(found, self.gold, matrix),
            level=look.level,
            baseline=self.baseline,
            population=self.queries,
            score_range=one.score_range,
            seed=seed,
            refusal="gold out of reach" if found.codes.get(chosen) == OUT_OF_REACH else None,
            judged_queries=matrix.judged,
            missing_queries=matrix.missing,
            common_queries=matrix.common_queries,
            unjudged=unjudged.shares,
            unjudged_depth=unjudged.depth,
            unjudged_bounds=bounds,
            notes=tuple(dict.fromkeys([*warnings, *told, *weighed, *self.notes, *matrix.notes])),
        )

    def _on_unjudged(
        self, unjudged: Unjudged, ready: Prepared, decision: Decision
    ) -> tuple[list[str], tuple[float, float] | None]:
        """The warning about unjudged documents of the pair that the verdict is about, and the bounds in it."""
        matrix = ready.matrix
        if not unjudged.needs_warning or not matrix.queries:
            return [], None
        pair: tuple[str, ...] = matrix.systems[:2]
        if len(matrix.systems) > 2 and decision.ranks.height:
            leader, second = decision.ranks["system"][:2].to_list()
            pair = (second, leader)
            if self.baseline is not None:
                others = [name for name in decision.ranks["system"] if name != self.baseline]
                pair = (self.baseline, others[0])
        bounds = difference_bounds(ready.scorer, self.lists, matrix, pair, unjudged.depth)
        return [unjudged.warning(pair, bounds)], bounds

    def _refused(
        self, measure: str, matrix: Matrix, unjudged: Unjudged, score_range: tuple[float, float] | None
    ) -> Comparison:
        """A comparison without a verdict or any difference: most documents of a system have no label."""
        nothing = pl.DataFrame()
        return Comparison(
            measure=measure,
            systems=matrix.systems,
            methods=method_rows({}, self.look, self.queries),
            verdict="cannot say",
            method=_chosen(self.method, self.gold is not None, self.queries),
            reason=with_missing(unjudged.refusal, describe_missing(matrix)),
            winner=None,
            pairs=nothing,
            ranks=nothing,
            by_query=nothing,
            level=self.look.level,
            baseline=self.baseline,
            population=self.queries,
            score_range=score_range,
            seed=self.seed,
            judged_queries=matrix.judged,
            missing_queries=matrix.missing,
            common_queries=matrix.common_queries,
            unjudged=unjudged.shares,
            unjudged_depth=unjudged.depth,
            refusal="unjudged documents",
            notes=tuple(dict.fromkeys([*self.notes, *matrix.notes])),
        )


def compare(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object = None,
    *,
    gold: LabelsLike | None = None,
    method: Method = "auto",
    queries: Literal["sample", "fixed"] = "sample",
    calibrate: bool | Sequence[str] = True,
    consensus: str = "median",
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
    allow_unjudged: bool = False,
    level: float = 0.95,
    margin: float | None = None,
    user_weights: UserWeights | None = None,
    peek: int | None = None,
    baseline: str | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Which of these systems is better by a measure, with gold labels of some documents if there are any.

    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> compare(labels, {"a": a, "b": b}, "P@1").verdict
    'better'

    The measure is nDCG@10 unless named. Without gold labels the labels are taken as they are (`plain`). With gold
    labels drawn with known probabilities (a column `probability`; without it, a uniform draw is assumed and said) the
    default is prediction-powered (`ppi`): for P, CG, DCG and RBP with known sampling probabilities it is right for any
    judge; nDCG, RR and ERR also rest on a model of unlabelled documents, and on real runs intervals of nDCG@10 for
    fixed queries held the truth in 82 to 89% (TREC DL 2021, 600 gold labels). `inversion` is right only if errors
    depend on nothing but the true grade, and is sharper then. For `ppi` the gold labels also teach what each label of
    the judge is worth: `calibrate=False` takes the labels as they are, and names of further columns of numbers, such as
    a model's expected grade, help to predict. `queries="fixed"` is about these queries only instead of all that users
    ask. `consensus` makes one label of several judges': their median, majority or mean, or the posterior of an error
    model (one-coin, dawid-skene, ordinal).
    A judged query that a system misses counts 0 for it, and the verdict says how many these are;
    `common_queries=True` compares on the queries that all systems answer. Documents without a label count as not
    relevant: where that are more than a tenth of a system's top k, or a twentieth more than of another's, a warning
    has bounds on the difference; where it is more than half, there is no verdict unless `allow_unjudged`.
    `user_weights` are for measures with udm gains, as in `score`. `margin` is a difference that does not matter: where
    none is shown, the verdict may then be that the systems are equivalent, or that the second is not worse, by the ends
    of the interval (two systems only).
    `baseline` names the system that the others are compared with: it stands first, and of more than two systems only
    the pairs with it are looked at, so that p values allow for fewer.
    `peek` is the number of queries planned when results are looked at again and again while queries arrive: the
    interval then holds at all looks together.
    """
    comparer = Comparer(
        labels,
        runs,
        gold=gold,
        method=method,
        queries=queries,
        calibrate=calibrate,
        consensus=consensus,
        profile=profile,
        common_queries=common_queries,
        allow_unjudged=allow_unjudged,
        level=level,
        margin=margin,
        user_weights=user_weights,
        peek=peek,
        baseline=baseline,
        draws=draws,
        seed=seed,
    )
    return comparer.by(measure)


def _by_query(estimate: Estimate | None, matrix: Matrix) -> pl.DataFrame | None:
    if estimate is None or estimate.values is None:
        return None
    return pl.DataFrame({"query": matrix.queries} | dict(zip(matrix.systems, estimate.values.T, strict=True)))


def _with_gold(found: WithGold, golden: Gold | None, matrix: Matrix) -> tuple[str, ...]:
    """The queries whose gold labels bear on the difference; for whole queries, those that have any."""
    if golden is None:
        return ()
    if found.pool is None:
        return tuple(sorted(set(golden.frame["query"]) & set(matrix.queries)))
    places = np.unique(found.pool.query[found.pool.drawn & found.pool.matters])
    return tuple(found.pool.queries[place] for place in places)


def _check(method: str, queries: str, draws: int, seed: int, margin: float | None) -> None:
    if margin is not None and not (margin > 0 and math.isfinite(margin)):
        raise BadInput.at("the margin", expected="a difference above 0", found=str(margin))
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput.at("the seed", expected="a whole number from 0", found=str(seed))
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 100:
        raise BadInput.at("the draws", expected="100 or more", found=str(draws))
    if method not in METHODS:
        raise BadInput.at("the method", expected=" or ".join(METHODS), found=f'"{method}"')
    if queries not in ("sample", "fixed"):
        raise BadInput.at("the queries", expected="sample or fixed", found=f'"{queries}"')


def _apart(labels: Judgments, gold: Judgments | None) -> tuple[Judgments, Gold | None, list[str]]:
    """The judge's labels and the gold labels, also where both came in one table with a column group."""
    judged, golden = split_gold(labels, gold, given_stands=True, any_scale=True)
    if golden is None:
        return judged, None, []
    said = count(golden.frame.drop_nulls("label").height, "label")
    notes = [] if gold is not None else [f"{said} of the group {GOLD} taken for gold labels"]
    strange = "" if scale_difference(judged, golden) else other_scale(judged.frame["label"], golden.frame["label"])
    return judged, Gold.of(golden), [*notes, strange] if strange else notes


def _chosen(method: str, has_gold: bool, queries: str) -> str:
    """The method that decides."""
    if method == "auto":
        method = "ppi" if has_gold else "plain"
    if method != "plain" and not has_gold:
        raise BadInput.at(
            f"the method {method}",
            expected="gold labels of some documents",
            found="none",
            remedy=advise(
                "give them with --gold, or take the labels as they are with --method plain",
                'give them with gold=, or take the labels as they are with method="plain"',
            ),
        )
    if method == "plain" and queries == "fixed":
        raise BadInput.at(
            "the method plain for these queries only",
            expected="gold labels",
            found="labels taken as they are",
            remedy="on fixed queries nothing about them is left to chance; "
            + advise("give --gold", "give gold=")
            + ", or take queries for a sample",
        )
    return method


def _tests(
    matrix: Matrix, estimates: dict[str, Estimate], found: WithGold, chosen: str, look: Look, draws: int, seed: int
) -> pl.DataFrame | None:
    """Other tests of two systems beside the t test, which should agree with it."""
    if not estimates or len(matrix.systems) != 2 or look.peeking:
        return None
    tests = plain_tests(matrix, look.level, score_range=estimates["plain"].score_range, draws=draws, seed=seed)
    if chosen == "inversion" and chosen in estimates and found.pool is not None:
        again = inversion_bootstrap(found.pool, look.level, draws=min(draws, 2000), seed=seed)
        tests = pl.concat([tests, again])
    return tests


def compare_scores(
    scores: Scores,
    measure: str | None = None,
    *,
    common_queries: bool = False,
    allow_unjudged: bool = False,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Which of these systems is better by every query's score, labels taken as they were.

    >>> found = [{"system": s, "query": f"q{i}", "P@1": float(s == "b" or i % 4 == 0)} for s in "ab" for i in range(20)]
    >>> compare_scores(Scores.of_queries(pl.DataFrame(found), ["P@1"])).verdict
    'better'

    The measure is the first of the scores unless named. A query that one system has and another has not counts 0 for
    the latter; with `common_queries` only those count that all have. `compare` does the same from labels and runs, and
    knows what gold labels say.
    """
    name = scores.measures[0] if measure is None else measure
    if name not in scores.measures:
        raise BadInput.at(
            "the comparison", expected=f"a measure of the scores ({', '.join(scores.measures)})", found=name
        )
    matrix, look = Matrix.of_scores(scores, name, common_queries=common_queries), Look(level, None)
    unjudged = Unjudged.of(scores.coverage if name == scores.measures[0] else scores.coverage.clear())
    refused = "" if allow_unjudged else unjudged.refusal
    enough = len(matrix.queries) > 1 and not refused
    score_range = _find_score_range(name)
    plain = Estimate.of_values("plain", matrix.systems, matrix.values, score_range=score_range)
    estimates = {"plain": plain} if enough else {}
    why = "" if enough else f"the systems share {count(len(matrix.queries), 'query', 'queries')}, and 2 are needed"
    why = refused or why
    decision = decide(estimates.get("plain"), why, name, matrix, look, draws, seed)
    values = pl.DataFrame({"query": matrix.queries} | dict(zip(matrix.systems, matrix.values.T, strict=True)))
    return Comparison(
        measure=name,
        systems=matrix.systems,
        methods=method_rows(estimates, look, "sample"),
        verdict=decision.verdict,
        method="plain",
        reason=with_missing(decision.reason, describe_missing(matrix)),
        winner=decision.winner,
        pairs=decision.pairs,
        ranks=decision.ranks,
        by_query=values.clear() if refused else values,
        judge=None,
        tests=plain_tests(matrix, level, score_range=score_range, draws=draws, seed=seed)
        if enough and len(matrix.systems) == 2
        else None,
        values=values if enough else None,
        gold_queries=(),
        level=level,
        population="sample",
        score_range=score_range,
        seed=seed,
        judged_queries=matrix.judged,
        missing_queries=matrix.missing,
        common_queries=matrix.common_queries,
        unjudged=unjudged.shares,
        unjudged_depth=unjudged.depth,
        refusal="unjudged documents" if refused else None,
        notes=matrix.notes,
    )


def _find_score_range(measure: str) -> tuple[float, float] | None:
    """The range of a measure's scores; None for a name that karat does not know."""
    try:
        return parse_measure(measure).score_range
    except BadInput:
        return None
