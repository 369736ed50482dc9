"""Which system is better, by scores that are there already: of a cluster, or of another tool."""

from __future__ import annotations

import polars as pl

from karat.comparison.comparison import Comparison
from karat.comparison.decision import decide
from karat.comparison.many_systems import plain_tests
from karat.comparison.matrix import Matrix
from karat.comparison.methods import method_rows
from karat.comparison.peeking import Look
from karat.comparison.unjudged import Unjudged
from karat.comparison.verdict import describe_missing, with_missing
from karat.errors import BadInput
from karat.estimate.estimate import Estimate
from karat.measures import parse_measure
from karat.records.base import count
from karat.scoring import Scores


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
