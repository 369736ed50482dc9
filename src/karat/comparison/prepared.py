"""Labels and runs made ready for one measure, so that gold labels may be asked about again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import polars as pl

from karat.advice import advise
from karat.comparison.matrix import Matrix
from karat.errors import BadInput, NotConverged, Undefined
from karat.estimate.estimate import Estimate
from karat.estimate.evidence import Evidence, further_columns
from karat.estimate.gold_sample import Gold
from karat.estimate.with_gold import WithGold, with_expected_grade, with_gold
from karat.judges.error_model import MODELS, ErrorModel
from karat.labels.consensus import HOWS, How
from karat.measures import Measure, Profile, as_measures, profile_named
from karat.measures.topics import UserWeights
from karat.records import Judgments, Runs
from karat.records.runs import together
from karat.scoring import Scorer
from karat.scoring.scorer import WEIGHED

#: What is not allowed for.
WEIGHED_MANY = "max-T and effect sizes take the weights as they are"


@dataclass(frozen=True, eq=False)
class Prepared:
    """The judge's labels, the runs and their scores by the labels as they are."""

    judged: Judgments
    lists: list[Runs]
    scorer: Scorer
    matrix: Matrix
    model: ErrorModel | None
    calibrate: bool | Sequence[str]
    fixed: bool

    @classmethod
    def of(
        cls,
        judged: Judgments,
        lists: list[Runs],
        measure: Measure,
        *,
        queries: str = "sample",
        calibrate: bool | Sequence[str] = True,
        consensus: str = "median",
        model: ErrorModel | None = None,
        profile: str | Profile = "trec_eval",
        common_queries: bool = False,
        user_weights: UserWeights | None = None,
    ) -> Prepared:
        """One label for each document, and every system's score on every query.

        A judged query that a system misses counts 0, unless only the `common_queries` count, those that all answer.
        Where `consensus` names an error model, it is fitted unless it is there already, as `model`.
        """
        if queries not in ("sample", "fixed"):
            raise BadInput.at("the queries", expected="sample or fixed", found=f'"{queries}"')
        if isinstance(calibrate, str):
            raise BadInput.at("calibrate", expected="a list of columns, or True or False", found=f'"{calibrate}"')
        model = model or error_model(judged, consensus)
        scorer = Scorer(
            judged if model is None else model.labels(),
            [measure],
            consensus=cast(How, consensus) if model is None else "median",
            profile=profile_named(profile),
            complete=not common_queries,
            draws=0,
            user_weights=user_weights,
            comparing=True,
        )
        matrix = Matrix.of(scorer, lists, common_queries=common_queries)
        return cls(judged, lists, scorer, matrix, model, calibrate, queries == "fixed")

    def corrected(self, gold: Gold, laid: dict[object, Evidence] | None = None) -> WithGold:
        """What these gold labels make of the scores.

        Documents and what is known of them are laid out once for all measures that share `laid`.
        """
        runs, queries, measure = together(self.lists), list(self.matrix.queries), self.scorer.measures[0]
        evidence, laid = None, {} if laid is None else laid
        if not measure.diverse:
            # Labels in context count for measures that look at it, so that these have documents of their own.
            key = (self.matrix.queries, getattr(measure, "context", 0) > 0)
            if key not in laid:
                topics, profile = self.scorer.topics, self.scorer.profile
                laid[key] = Evidence.of(runs, queries, topics, profile, gold, self._columns())
            evidence = laid[key]
        return with_gold(
            runs,
            self.scorer,
            gold,
            queries,
            self.matrix.values,
            evidence,
            fixed=self.fixed,
            model=self.model,
            calibrated=self.calibrate is not False,
        )

    def with_weights(self, estimates: dict[str, Estimate]) -> tuple[dict[str, Estimate], list[str]]:
        """The estimates with the error of the weights that udm gains have from users, and a note on it.

        The weights are the same for all systems: what moves two alike cancels in their difference. Gold labels tell
        nothing of them, so that every method has this error.
        """
        if not estimates:
            return estimates, []
        matrix = self.matrix
        more = self.scorer.weight_covariance(together(self.lists), matrix.queries, matrix.systems)
        if more is None or not more.any():
            return estimates, []
        wider = {name: replace(one, covariance=one.covariance + more) for name, one in estimates.items()}
        said = [WEIGHED] + ([WEIGHED_MANY] if len(matrix.systems) > 2 else [])
        return wider, said

    def _columns(self) -> pl.DataFrame | None:
        """What else may predict a grade."""
        named = None if isinstance(self.calibrate, bool) else further_columns(self.judged, self.calibrate)
        return named if self.model is None else with_expected_grade(self.model, named)


def one_measure(measure: object) -> Measure:
    """The measure of a comparison, nDCG@10 unless named."""
    measures = as_measures(measure if measure is not None else "nDCG@10")
    if len(measures) != 1:
        each = "compare by each, then kt.comparison.by_measure([...]) allows for all of them"
        raise BadInput.at("the comparison", expected="one measure", found=str(len(measures)), remedy=each)
    return measures[0]


def error_model(labels: Judgments, consensus: str) -> ErrorModel | None:
    """The error model that makes one label of several judges', none where their median, majority or mean does."""
    if consensus in HOWS:
        return None
    if consensus not in MODELS:
        raise BadInput.at("consensus", expected=" or ".join([*HOWS, *MODELS]), found=f'"{consensus}"')
    try:
        model = MODELS[consensus](labels)
    except Undefined as error:
        raise Undefined(
            f"no error model of the judges: {error}; leave out {advise('--consensus', 'consensus=')}"
        ) from None
    if not model.converged:
        raise NotConverged(f"{model.finding} Its labels would mislead; take the median, or another model")
    return model
