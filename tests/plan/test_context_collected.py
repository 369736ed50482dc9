"""From the plan to the score: what is planned is judged, the rest is predicted, and the score is near the truth."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.plan.context_tasks import plan_context
from karat.records import Judgments, Runs
from karat.simulate.context_study import ContextStudy, context_study

PAIR = ["query", "doc", "context"]
CCG = "CCG(context=0.5)@5"


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    """A study in which every document was judged after every other: the truth that a plan sees a part of."""
    return context_study(seed=1, queries=100, scheme="pairs", twice=0.0, spam=0.0)


def errors(study: ContextStudy, model: str) -> dict[str, tuple[float, float]]:
    """How far each system's CCG is from the one with all judgments: on the mean, and by the typical query."""
    judged_list = Runs.of(study.runs.frame.filter(pl.col("system") == "production"))
    tasks = plan_context(judged_list, seed=1).frame
    collected = study.judgments.frame.join(tasks, on=PAIR, how="semi", nulls_equal=True)
    labels = kt.label_in_context(
        Judgments(collected, scale=study.judgments.scale),
        study.runs,
        depth=5,
        model=model,
        value="expected",
        documents=study.documents,
    )
    found, truth = (kt.score(given, study.runs, CCG, draws=0).queries for given in (labels, study.judgments))
    gap = found.join(truth, on=["system", "query"], suffix="_true").with_columns(
        gap=pl.col(CCG) - pl.col(f"{CCG}_true")
    )
    means = gap.group_by("system").agg(pl.col("gap").mean(), (pl.col("gap") ** 2).mean().sqrt().alias("typical"))
    return {system: (mean, typical) for system, mean, typical in means.iter_rows()}


def test_the_papers_scheme_scores_the_judged_list_and_the_richer_model_is_nearer(study: ContextStudy) -> None:
    two, rich = (errors(study, model)["production"] for model in ("grades", "features"))
    assert abs(rich[0]) < 0.2
    assert rich[1] < two[1] < 0.8


def test_documents_that_were_never_judged_alone_are_missed_whatever_is_predicted(study: ContextStudy) -> None:
    assert errors(study, "features")["better"][0] < -1
