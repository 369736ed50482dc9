"""Labels and runs made ready for one measure, so that gold labels may be asked about again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.calibration import Evidence, further_columns
from karat.correction.estimate import Estimate
from karat.correction.estimators import WithGold, with_expected_grade, with_gold
from karat.correction.gold_sample import Gold
from karat.errors import BadInput, NotConverged, Undefined
from karat.judges.error_models import MODELS, ErrorModel
from karat.labels.consensus import HOWS, How
from karat.measures import Measure, Profile, as_measures, profile_named
from karat.measures.label_coverage import COVERAGE
from karat.measures.scorer import WEIGHED, Scorer
from karat.measures.scores import Scores
from karat.measures.topics import UserWeights
from karat.records import Judgments, Runs
from karat.records.result import Caution
from karat.records.runs import together
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores by query: a row per query (in the order of their ids), a column per system.

    `judged` is the number of queries to compare on, and `missing` says how many of them each system does not answer.
    These count 0, unless the comparison is on the `common_queries` only.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    notes: tuple[str, ...]
    judged: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    common_queries: bool = False
    #: How well the labels cover each system, as in `Scores`.
    coverage: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COVERAGE))

    @classmethod
    def of(cls, scorer: Scorer, runs: list[Runs], *, common_queries: bool = False) -> Matrix:
        """The scores by one measure of all judged queries, or only of those that all systems answer.

        The scorer has to be `complete` unless only the common queries count.
        """
        if scorer.measures[0].mean != "arithmetic":
            raise BadInput.at(
                f"the comparison by {scorer.measures[0]}",
                expected="a measure whose mean over queries is an ordinary one",
                found="a count" if scorer.measures[0].mean == "sum" else "a geometric mean",
                remedy=f"compare by AP, P@10 or nDCG@10; {advise('karat score', 'score')} shows the others",
            )
        scores = scorer.score_all(runs)
        judged = scorer.topics.queries["query"]
        if scorer.profile.leaves_out_empty:
            judged = judged[np.unique(scorer.topics.topic[scorer.topics.label > 0])]
        answered = pl.concat([run.blocks.keys for run in runs]).filter(pl.col("query").is_in(judged.implode()))
        counted = replace(scores, queries=scores.queries.filter(pl.col("query").is_in(judged.implode())))
        return cls._of(counted, scores.measures[0], judged, answered, common_queries)

    @classmethod
    def of_scores(cls, scores: Scores, measure: str, *, common_queries: bool = False) -> Matrix:
        """The scores by this measure of all queries that some system has, or only of those that all have."""
        judged = scores.queries["query"].unique()
        return cls._of(scores, measure, judged, scores.queries.select("system", "query"), common_queries)

    @classmethod
    def _of(
        cls, scores: Scores, measure: str, judged: pl.Series, answered: pl.DataFrame, common_queries: bool
    ) -> Matrix:
        """The matrix on the `judged` queries; `answered` has the queries that each system answers."""
        if len(scores.systems) < 2:
            raise BadInput.at(
                "the comparison",
                expected="two systems or more",
                found=f"one, {scores.systems[0]}" if scores.systems else "none",
                remedy="name another run, or score this one with karat score",
            )
        queries, systems = judged.sort(), scores.systems
        values = _wide(scores.queries.select("system", "query", value=measure), queries, systems)
        there = ~np.isnan(_wide(answered.select("system", "query", value=pl.lit(1.0)), queries, systems))
        # A measure may be undefined for an empty ranking, as Judged@10 is, and a table of scores has no row for it.
        values = np.where(np.isnan(values) & ~there & there.any(axis=1, keepdims=True), 0.0, values)
        kept = ~np.isnan(values).any(axis=1) & (there.all(axis=1) | (not common_queries))
        missing = dict(zip(systems, (~there).sum(axis=0).tolist(), strict=True))
        notes, nowhere = list(scores.notes), int((~there.any(axis=1)).sum())
        if nowhere and not common_queries:
            are, it = ("query is", "it") if nowhere == 1 else ("queries are", "them")
            option = advise("--common-queries", "common_queries=True")
            notes.append(
                Caution(
                    f"{nowhere:,} judged {are} missing from every run and counted as 0 for all systems; if the systems "
                    f"were not asked, {option} leaves {it} out"
                )
            )
        named = tuple(queries.filter(pl.Series(kept)).to_list())
        return cls(
            tuple(systems), named, values[kept], tuple(notes), len(queries), missing, common_queries, scores.coverage
        )


def _wide(rows: pl.DataFrame, queries: pl.Series, systems: list[str]) -> Floats:
    """The value of each query (rows) and system (columns); NaN where there is none."""
    place = pl.DataFrame({"query": queries, "row": np.arange(len(queries))})
    column = pl.DataFrame({"system": systems, "column": np.arange(len(systems))})
    found = rows.join(place, on="query").join(column, on="system")
    values = np.full((len(queries), len(systems)), np.nan)
    values[found["row"].to_numpy(), found["column"].to_numpy()] = found["value"].to_numpy()
    return values


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
