"""How good is each system? Scores by the labels as they are and, beside them, corrected with gold labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.calibration import FEWEST, Evidence, further_columns
from karat.correction.estimators import WithGold, with_gold
from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool
from karat.correction.ppi import reaches_all
from karat.errors import BadInput
from karat.labels import split_gold
from karat.labels.scale_check import is_out_of_reach, out_of_reach_note
from karat.measures import Judged, Measure, Profile, nDCG
from karat.measures.scorer import Scorer
from karat.measures.scores import MEANS, Scores
from karat.measures.topics import UserWeights
from karat.records import Judgments, LabelsLike, Queries, Runs, RunsLike
from karat.records.result import Caution
from karat.records.runs import several, together
from karat.records.table import count

#: What a corrected score rests on, and why there is none where the value is missing.
CORRECTED = {**MEANS, "n_gold": pl.Int64, "reason": pl.String}


def score(
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = ("nDCG@10", "AP", "RR", "P@10"),
    *,
    gold: LabelsLike | None = None,
    calibrate: bool | Sequence[str] = True,
    profile: str | Profile = "trec_eval",
    complete: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    weights: Queries | None = None,
    user_weights: UserWeights | None = None,
    queries: Literal["sample", "fixed"] = "sample",
) -> Scores:
    """How good the rankings of these runs are, by these measures, with intervals over queries.

    >>> import karat as kt
    >>> labels = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
    >>> kt.score(labels, run, [kt.nDCG @ 10, "P@1"], draws=0)
    run has nDCG@10 0.8155 over 2 queries.
      run: nDCG@10 0.8155, P@1 0.5000

    Labels and runs may be records that karat read, frames, or dictionaries as pytrec_eval takes them. `profile`
    reproduces another tool where tools differ; `complete` counts a judged query that a system misses as an empty
    list (trec_eval's -c); otherwise means are over the queries that labels and run share. Intervals are bootstrap
    intervals over `draws` resamples of the queries; `weights` gives the subtopics' weights. Measures with udm gains
    take them from how the judges of these labels disagree, or from `user_weights`.

    With `gold`, trusted labels for a sample of documents with their sampling probabilities, the scores are corrected
    for label errors, and `to_frame()` has the uncorrected score beside each. A score that cannot be corrected is NaN,
    with the reason. As in `compare`, the correction is right for any judge for P, CG, DCG and RBP; nDCG, RR and ERR
    also rest on a model of unlabelled documents. `calibrate` is as in `compare`. The gold sample must cover whole
    rankings: `plan_gold` for one system, or a sample drawn uniformly. With `queries="fixed"` the corrected intervals
    are about these queries only, so that only the gold sample is random, and uncorrected scores have no interval.

    >>> gold = [{"query": "q1", "doc": "d2", "label": 2, "probability": 1.0}]
    >>> kt.score(labels, run, "P@1", gold=gold).to_frame().columns[:7]
    ['system', 'measure', 'value', 'low', 'high', 'n', 'n_gold']
    """
    judged, trusted = Judgments.of(labels), None
    if gold is not None:
        judged, trusted = split_gold(judged, gold, given_stands=True, any_scale=True)
    check_population(queries, has_gold=trusted is not None)
    scorer = Scorer(
        judged,
        measures,
        profile=profile,
        complete=complete,
        level=level,
        draws=0 if queries == "fixed" else draws,
        seed=seed,
        weights=weights,
        user_weights=user_weights,
    )
    lists = several(runs)
    scores = scorer.score_all(lists)
    if trusted is None:
        return scores
    return correct_scores(scores, scorer, lists, Gold.of(trusted), calibrate, fixed=queries == "fixed")


def check_population(queries: str, *, has_gold: bool) -> None:
    """Refuse fixed queries without gold labels: then nothing is random, and no score has an interval."""
    if queries not in ("sample", "fixed"):
        raise BadInput.at("queries", expected="sample or fixed", found=f'"{queries}"')
    if queries == "fixed" and not has_gold:
        raise BadInput.at(
            advise("--queries-are fixed", 'queries="fixed"'),
            expected="gold labels",
            found="none",
            remedy=f"without gold labels nothing is random on fixed queries; {advise('give --gold', 'give gold=')}, or "
            "treat the queries as a sample",
        )


def correct_scores(
    scores: Scores,
    scorer: Scorer,
    lists: Sequence[Runs],
    gold: Gold,
    calibrate: bool | Sequence[str] = True,
    *,
    fixed: bool = False,
) -> Scores:
    """Correct scores with gold labels, keeping the uncorrected ones; a score that cannot be corrected has a reason."""
    runs, columns = together(lists), None if isinstance(calibrate, bool) else further_columns(scorer.given, calibrate)
    notes, rows, beyond = list(gold.notes), dict[tuple[str, str], tuple[object, ...]](), list[str]()
    for queries, systems in _systems_by_queries(scores).items():
        own = runs if len(systems) == len(scores.systems) else _runs_of(runs, systems)
        evidence = Evidence.of(own, queries, scorer.topics, scorer.profile, gold, columns)
        for measure, name in zip(scorer.measures, scores.measures, strict=True):
            if isinstance(measure, Judged) or measure.mean == "sum":
                continue  # it counts labels, right or wrong, or documents
            made, found, why = WithGold(), None, "fewer than two queries with labels"
            if measure.mean != "arithmetic":
                why = "its mean over queries is no ordinary one"
            elif len(queries) > 1:
                judged = scores.queries.pivot("system", index="query", values=name).sort("query")
                made = with_gold(
                    own,
                    scorer.by(measure),
                    gold,
                    list(queries),
                    judged.filter(pl.col("query").is_in(queries)).select(systems).to_numpy(),
                    evidence,
                    fixed=fixed,
                    calibrated=calibrate is not False,
                )
                found, why = made.estimates.get("ppi"), made.refused.get("ppi", "")
                if made.scales is not None and is_out_of_reach(measure, made.scales):
                    notes.append(out_of_reach_note(measure, made.scales))
                    beyond.append(name)
            if found is not None and not found.has_scores:
                found, why = None, _why_not(measure, evidence, made.pool)
            if found is not None:
                notes += [
                    note if note in evidence.notes or isinstance(note, Caution) else f"{name}: {note}"
                    for note in made.notes
                ]
            for place, system in enumerate(systems):
                if found is None:
                    rows[system, name] = (system, name, np.nan, np.nan, np.nan, 0, 0, why)
                else:
                    ends = replace(found, score_range=measure.score_range).interval(place, scores.level)
                    value, n, n_gold = float(found.scores[place]), found.n_queries, found.n_gold
                    rows[system, name] = (system, name, value, *ends, n, n_gold, "")
    # What gold labels have nothing to correct in, such as Judged@10, stays as it is.
    every = [rows.get((row[0], row[1]), (*row, 0, "")) for row in scores.means.iter_rows()]
    means = pl.DataFrame(every, schema=CORRECTED, orient="row")
    told = tuple(dict.fromkeys((*scores.notes, *notes)))
    undefined = pl.col("measure").is_in(beyond)
    uncorrected = scores.means.with_columns(
        pl.when(undefined).then(np.nan).otherwise(pl.col(column)).alias(column) for column in ("value", "low", "high")
    )
    return replace(scores, means=means, uncorrected=uncorrected, notes=told)


def _why_not(measure: Measure, evidence: Evidence | None, pool: Pool | None) -> str:
    """Why there are differences but no scores of their own: which documents the gold sample does not cover."""
    whole = advise("karat plan gold with one run, or --uniform 0.3", "plan_gold with one run, or uniform=0.3")
    if pool is not None and pool.for_differences:
        return (
            "the gold labels were sampled to compare systems and do not cover the documents that count equally for "
            f"all of them; sample some for whole rankings ({whole})"
        )
    if isinstance(measure, nDCG) and evidence is not None and pool is not None and reaches_all(pool):
        hidden = np.setdiff1d(np.flatnonzero(~np.isnan(evidence.grade)), evidence.rows(pool.docs))
        return (
            f"the ideal ranking of {measure} may hold documents that no system retrieves, and "
            f"{count(len(hidden), 'gold label')} cover those; at least {FEWEST} are needed: sample gold labels from "
            f"all labelled documents ({advise('karat plan gold --uniform 0.3', 'plan_gold(..., uniform=0.3)')})"
        )
    return (
        "the gold labels do not cover the documents that count equally for all systems; sample some for whole "
        f"rankings ({whole})"
    )


def _systems_by_queries(scores: Scores) -> dict[tuple[str, ...], list[str]]:
    """The systems by the queries that they answer: those with the same queries are corrected together."""
    answered = dict(scores.queries.group_by("system").agg(pl.col("query").sort()).iter_rows())
    found: dict[tuple[str, ...], list[str]] = {}
    for system in scores.systems:
        if system in answered:
            found.setdefault(tuple(answered[system]), []).append(system)
    return found


def _runs_of(runs: Runs, systems: Sequence[str]) -> Runs:
    """The runs of some systems."""
    return replace(runs, frame=runs.frame.filter(pl.col("system").is_in(systems)))
