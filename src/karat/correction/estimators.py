"""What gold labels make of the scores, by every method that the measure and the gold sample allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import polars as pl

from karat.correction.calibration import FEWEST, Evidence
from karat.correction.estimate import Estimate
from karat.correction.gold_sample import Gold
from karat.correction.gold_uniformity import notes_on_blanks
from karat.correction.inversion import independent, inversion
from karat.correction.ndcg_correction import one_step
from karat.correction.pool import Pool, pool_for
from karat.correction.ppi import powered
from karat.correction.whole_queries import by_whole_queries, documents_were_drawn
from karat.errors import Undefined
from karat.judges.error_models import ErrorModel
from karat.labels.scale_check import ScaleDifference, scale_difference
from karat.measures import Linear, Measure, is_linear, nDCG
from karat.measures.scorer import Scorer
from karat.records import Runs
from karat.records.result import Caution, VerdictWarning
from karat.records.table import count
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class WithGold:
    """Estimates by method, why a method gives none, and the pool they rest on where documents were drawn."""

    estimates: dict[str, Estimate] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    pool: Pool | None = None
    notes: tuple[str, ...] = ()
    #: How the scales of labels and gold labels differ, where they do.
    scales: ScaleDifference | None = None
    #: The codes of the reasons why methods give none, where these have one.
    codes: dict[str, str] = field(default_factory=dict)


def with_gold(
    runs: Runs,
    scorer: Scorer,
    gold: Gold,
    queries: list[str],
    judged: Floats,
    evidence: Evidence | None,
    *,
    fixed: bool = False,
    model: ErrorModel | None = None,
    calibrated: bool = True,
) -> WithGold:
    """Corrected scores of these queries; `judged` are the scores by the labels as they are, a row per query.

    Where `calibrated`, the gold labels also teach what a label of this judge is worth, by the `evidence`, which
    measures of the same runs share. Where not, an error `model` of several judges predicts, if there is one.
    """
    measure = scorer.measures[0]
    if measure.diverse or evidence is None:
        none = f"{measure} looks at subtopics, and gold labels of documents say nothing about those"
        return WithGold(refused=dict.fromkeys(["ppi", "inversion", "inversion-independent"], none))
    notes = list(evidence.notes) if calibrated else []
    notes += notes_on_blanks(gold, scorer.topics.judged)
    scales = scale_difference(scorer.given, gold.labels)
    if scales is not None:
        # The measure is on the gold scale; labels only help to predict.
        scorer = scorer.graded_to(scales.gold_top)
        notes.append(Caution(scales.note))
    if calibrated and not evidence.enough:
        calibrated = False
        few = f"gold labels of one grade, or fewer than {FEWEST}, do not tell how the judge errs"
        notes.append(f"{few}: its labels stand as they are")
    pool = pool_for(runs, queries, scorer, gold)
    if pool is not None and (is_linear(measure) or documents_were_drawn(runs, scorer, gold, queries)):
        if is_linear(measure):
            methods = _of_sums(pool, measure, scorer, evidence if calibrated else None, model, fixed)
            methods |= {} if scales is None else _needs_one_scale(scales)
        else:
            methods = {"ppi": lambda: _without_sums(runs, scorer, pool, evidence, calibrated, fixed)} | _no_sum(measure)
        made, refused, codes = _tried(methods)
        if not is_linear(measure) and "ppi" in made:
            notes.append(_rests_on_a_model(measure, fixed=fixed))
        unused = _unused(gold, pool.docs, queries, measure if calibrated else None)
        return WithGold(made, refused, pool, (*notes, *unused), scales, codes)
    learned = evidence if calibrated else None
    whole = {"ppi": lambda: by_whole_queries(runs, scorer, gold, queries, judged, learned, fixed=fixed)}
    made, refused, codes = _tried(whole | _no_sum(measure))
    return WithGold(made, refused, None, (*notes, *_unused(gold, None, queries)), scales, codes)


Methods = dict[str, Callable[[], Estimate]]


def _of_sums(
    pool: Pool, measure: Linear, scorer: Scorer, evidence: Evidence | None, model: ErrorModel | None, fixed: bool
) -> Methods:
    """The methods for a measure that is a sum over documents."""
    predicted, labels = pool, None
    if evidence is not None:
        predicted, labels = pool.with_predicted(calibrated_gain(pool, measure, evidence, scorer)), pool
    elif model is not None:
        predicted, labels = pool.with_predicted(_expected_gain(pool, measure, model, scorer)), pool
    inverted = cache(lambda: inversion(pool, fixed=fixed))
    return {
        "ppi": lambda: powered(predicted, fixed=fixed, labels=labels),
        "inversion": inverted,
        "inversion-independent": lambda: independent(inverted()),
    }


def _without_sums(
    runs: Runs, scorer: Scorer, pool: Pool, evidence: Evidence, calibrated: bool, fixed: bool
) -> Estimate:
    """The score of a measure that is no sum, which needs a model of the judge."""
    if not calibrated:
        raise Undefined(
            f"{scorer.measures[0]} is no sum over documents: from gold labels of single documents it takes {FEWEST} or "
            "more of them, of more than one grade, and a calibrated judge; P, DCG and RBP can be corrected without"
        )
    return one_step(runs, scorer, pool, evidence, fixed=fixed)


def _needs_one_scale(scales: ScaleDifference) -> Methods:
    def refuse() -> Estimate:
        raise Undefined(
            f"a confusion matrix needs labels ({scales.labels}) and gold labels ({scales.gold}) on one scale"
        )

    return {"inversion": refuse, "inversion-independent": refuse}


def _no_sum(measure: Measure) -> Methods:
    def refuse() -> Estimate:
        raise Undefined(f"{measure} is no sum over documents, so a confusion matrix cannot correct it")

    return {"inversion": refuse, "inversion-independent": refuse}


def _rests_on_a_model(measure: Measure, *, fixed: bool) -> str:
    """A note that the correction of the measure is not right for any judge."""
    note = f"{measure} rests on a model of unlabelled documents; P, CG, DCG and RBP do not"
    if not (isinstance(measure, nDCG) and fixed):
        return note
    return VerdictWarning(
        f"{note}. On the runs of TREC DL 2021, 82 to 89% of such 95% intervals held (600 gold labels)"
    )


def _tried(methods: Methods) -> tuple[dict[str, Estimate], dict[str, str], dict[str, str]]:
    """The estimates, why methods give none, and the codes of these reasons."""
    made, refused, codes = dict[str, Estimate](), dict[str, str](), dict[str, str]()
    for name, make in methods.items():
        try:
            made[name] = make()
        except Undefined as error:
            refused[name], codes[name] = str(error), error.code
    return made, refused, codes


def calibrated_gain(pool: Pool, measure: Linear, evidence: Evidence, scorer: Scorer) -> Floats:
    """The gain to be expected of each document by the calibrated judge; what nobody labelled or drew has none."""
    calibration = evidence.calibration
    gains = calibration.expected(measure.worth(calibration.grades, scorer.topics, scorer.profile))
    rows = evidence.rows(pool.docs)
    return np.where(rows >= 0, gains[rows], 0.0)


def with_expected_grade(model: ErrorModel, columns: pl.DataFrame | None) -> pl.DataFrame:
    """Further columns of the documents, and the grade that an error model expects of each."""
    grade = pl.sum_horizontal(pl.col(f"p_{grade:g}") * grade for grade in model.prior)
    expected = model.posterior.select("query", "doc", expected_grade=grade)
    return expected if columns is None else columns.join(expected, on=["query", "doc"], how="full", coalesce=True)


def _expected_gain(pool: Pool, measure: Linear, model: ErrorModel, scorer: Scorer) -> Floats:
    """The gain to be expected of each document: its grades' gains, each as probable as the error model has it."""
    grades = np.array(list(model.prior))
    gains = measure.worth(grades, scorer.topics, scorer.profile)
    columns = [f"p_{grade:g}" for grade in grades]
    known = pool.docs.select("query", "doc").join(
        model.posterior.select("query", "doc", *columns), on=["query", "doc"], how="left", maintain_order="left"
    )
    return np.asarray(known.select(columns).fill_null(0.0).to_numpy() @ gains, dtype=np.float64)


def _unused(
    gold: Gold, shown_docs: pl.DataFrame | None, queries: list[str], taught: Measure | None = None
) -> list[str]:
    """Gold labels of other queries, or of documents that nobody shows; the latter teach about the judge, if asked."""
    notes = []
    strangers = gold.frame.filter(~pl.col("query").is_in(queries))
    if strangers.height:
        notes.append(f"{count(strangers.height, 'gold label')} of queries that are not compared left aside")
    if shown_docs is None:
        return notes
    inside = gold.frame.filter(pl.col("query").is_in(queries))
    hidden = inside.join(shown_docs, on=["query", "doc"], how="anti")
    if hidden.height:
        serve = "left aside" if taught is None else "used to learn how the judge errs"
        serve += ", and for the best list" if isinstance(taught, nDCG) else ""
        notes.append(f"{count(hidden.height, 'gold label')} of documents that no list shows where it counts: {serve}")
    return notes
