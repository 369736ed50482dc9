"""How good is each system? Scores by the labels as they are and, beside them, corrected with gold labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from karat.estimate.calibration import FEWEST
from karat.estimate.evidence import Evidence, further_columns
from karat.estimate.gold_sample import Gold
from karat.estimate.pool import Pool
from karat.estimate.ppi import reaches_all
from karat.estimate.with_gold import WithGold, with_gold
from karat.labels import split_gold
from karat.measures import Judged, Measure, Profile, nDCG
from karat.measures.topics import UserWeights
from karat.records import Judgments, LabelsLike, Queries, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import several, together
from karat.scoring.means import MEANS
from karat.scoring.scorer import Scorer
from karat.scoring.scores import Scores

#: What a corrected score rests on, and why there is none where the value is missing.
CORRECTED = {**MEANS, "n_gold": pl.Int64, "reason": pl.String}
NOT_ALL = (
    "the gold labels were drawn to tell systems apart and say nothing about what counts alike for all of them (for "
    "nDCG also what none shows and the best list may hold): draw some for whole lists (karat plan gold with one run, "
    "or --uniform 0.3)"
)


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

    With `gold`, labels of a trusted judge for a sample of documents with the probability of each draw, every score that
    can be corrected stands beside the naive one, with an interval that holds however the judge errs; `calibrate` is as
    in `compare`. The sample must have been drawn to speak for whole lists: `plan_gold` for one system, or with a part
    drawn uniformly.
    """
    judged, trusted = Judgments.of(labels), None
    if gold is not None:
        judged, trusted = split_gold(judged, gold, given_stands=True)
    scorer = Scorer(
        judged,
        measures,
        profile=profile,
        complete=complete,
        level=level,
        draws=draws,
        seed=seed,
        weights=weights,
        user_weights=user_weights,
    )
    lists = several(runs)
    scores = scorer.score_all(lists)
    if trusted is None:
        return scores
    return with_corrected(scores, scorer, lists, Gold.of(trusted), calibrate)


def with_corrected(
    scores: Scores, scorer: Scorer, lists: Sequence[Runs], gold: Gold, calibrate: bool | Sequence[str] = True
) -> Scores:
    """The same scores with a corrected one beside each; where there is none, the reason."""
    runs, notes = together(lists), list(gold.notes)
    columns = None if isinstance(calibrate, bool) else further_columns(scorer.given, calibrate)
    queries, lost = _common(scores)
    if lost:
        common = count(len(queries), "query", "queries")
        notes.append(f"corrected scores are over {common}, which every system answers")
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, gold, columns) if queries else None
    rows: list[tuple[object, ...]] = []
    for measure, name in zip(scorer.measures, scores.measures, strict=True):
        if isinstance(measure, Judged) or measure.mean == "sum":
            continue  # it counts labels, right or wrong, or documents
        made, found, why = WithGold(), None, "fewer than two queries that every system answers"
        if measure.mean != "arithmetic":
            why = "its mean over queries is no ordinary one"
        elif evidence is not None and len(queries) > 1:
            judged = scores.queries.pivot("system", index="query", values=name).sort("query")
            values = judged.filter(pl.col("query").is_in(queries)).select(scores.systems).to_numpy()
            made = with_gold(
                runs, scorer.by(measure), gold, queries, values, evidence, calibrated=calibrate is not False
            )
            found, why = made.estimates.get("ppi"), made.refused.get("ppi", "")
        if found is not None and not found.has_scores:
            found, why = None, _why_not(measure, evidence, made.pool)
        if found is not None and evidence is not None:
            notes += [note if note in evidence.notes else f"{name}: {note}" for note in made.notes]
        for place, system in enumerate(scores.systems):
            if found is None:
                rows.append((system, name, np.nan, np.nan, np.nan, 0, 0, why))
            else:
                ends = found.interval(place, scores.level)
                if measure.bounded:
                    ends = (max(ends[0], 0.0), min(ends[1], 1.0))
                rows.append((system, name, float(found.scores[place]), *ends, found.n_queries, found.n_gold, ""))
    frame = pl.DataFrame(rows, schema=CORRECTED, orient="row")
    return replace(scores, corrected=frame, notes=tuple(dict.fromkeys((*scores.notes, *notes))))


def _why_not(measure: Measure, evidence: Evidence | None, pool: Pool | None) -> str:
    """Why there are differences but no scores of their own: what kind of gold labels is missing."""
    if isinstance(measure, nDCG) and evidence is not None and pool is not None and reaches_all(pool):
        hidden = np.setdiff1d(np.flatnonzero(~np.isnan(evidence.grade)), evidence.rows(pool.docs))
        if len(hidden):
            return (
                f"{count(len(hidden), 'gold label')} only of documents that no list shows where it counts, and the "
                f"best list may hold such: {FEWEST} are needed, so draw more in all"
            )
    return NOT_ALL


def _common(scores: Scores) -> tuple[list[str], bool]:
    """The queries that every system answers, and whether some are lost that way."""
    counted = scores.queries.group_by("query").len()
    everywhere = counted.filter(pl.col("len") == len(scores.systems))["query"].sort().to_list()
    return everywhere, len(everywhere) < counted.height
