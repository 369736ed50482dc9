"""Judges are a sample: intervals of what they say of aspects hold the figures of all judges like them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from karat import Judgments
from karat.context.aspect_correlation import change_correlation, overall_correlation
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import grade_change
from karat.context.setting_agreement import setting_agreement
from karat.records import Result
from simulated import THOROUGH, about, studies

#: What each analysis tells: its main figure, and how to find it.
FIGURES: dict[str, tuple[Callable[..., Result], str, dict[str, str | float]]] = {
    "coverage": (aspect_coverage, "alone", {"aspect": "novelty"}),
    "distribution": (aspect_distribution, "alone", {"documents": "overall", "aspect": "overall", "grade": 2.0}),
    "change": (grade_change, "share", {"aspect": "overall", "size": 0.0}),
    "correlation": (overall_correlation, "alone", {"aspect": "novelty"}),
    "correlation of changes": (change_correlation, "rho", {"first": "overall", "second": "novelty"}),
    "agreement": (setting_agreement, "alone", {"aspect": "overall", "figure": "kappa"}),
}


def study(seed: int, judges: int = 10, queries: int = 40) -> Judgments:
    """Two judges of each of three documents a query, alone and in context; each judge has habits of his own."""
    rng = np.random.default_rng(seed)
    severe, answers, moves, sharp = rng.normal(0, [[0.5], [1.0], [0.7], [0.4]], (4, judges))
    query = np.repeat(np.arange(queries), 6)
    doc = np.tile([0, 0, 1, 1, 2, 2], queries)
    chosen = np.argsort(rng.random((queries, judges)), axis=1)[:, :2]
    judge = np.tile(chosen, 3).ravel()
    worth = (rng.normal(0, 0.6, queries)[:, None] + rng.normal(0, 0.9, (queries, 3)))[query, doc]
    n, parts = len(query), []
    shift = rng.normal(0, 0.8, n)
    for context in (None, "c"):
        seen = worth + severe[judge] + rng.normal(0, 0.6, n)
        novelty = np.exp(sharp[judge]) * worth + rng.normal(0, 1.0, n)
        if context is not None:
            seen, novelty = seen + (0.2 + moves[judge]) * shift, novelty + moves[judge] + 0.6 * shift
        silent = rng.random(n) > expit(0.5 + answers[judge])
        for aspect, grade in (("overall", seen), ("novelty", np.where(silent, np.nan, novelty))):
            label = pl.Series(np.clip(np.rint(grade + 2), 0, 4)).fill_nan(None)
            where = {"query": query, "doc": doc, "judge": judge, "label": label}
            parts.append(pl.DataFrame(where).with_columns(aspect=pl.lit(aspect), context=pl.lit(context, pl.String)))
    return Judgments.of(pl.concat(parts).with_columns(pl.format("judge {}", "judge").alias("judge")))


def told(result: Result, where: dict[str, str | float]) -> dict[str, float]:
    found: dict[str, float] = result.frame.row(
        by_predicate=pl.all_horizontal(pl.col(name) == value for name, value in where.items()), named=True
    )
    return found


@pytest.fixture(scope="module")
def population() -> Judgments:
    """So many judges and queries that their figures are those of all."""
    return study(10_001, judges=1500, queries=6000) if THOROUGH else study(10_001, judges=500, queries=2000)


@pytest.mark.evidence
@pytest.mark.parametrize("name", FIGURES)
def test_intervals_hold_what_all_judges_like_these_say(name: str, population: Judgments) -> None:
    tell, figure, where = FIGURES[name]
    truth = told(tell(population, draws=0), where)[figure]
    held, seeds = [], studies(6, 300)
    for seed in seeds:
        found = tell(study(seed))
        row = told(found, where)
        held.append(row[f"{figure}_low"] <= truth <= row[f"{figure}_high"])
        assert "intervals are about judges like these and queries like these" in found.notes
    assert np.mean(held) == about(0.95, len(seeds), off=0.015)


@pytest.mark.parametrize("name", FIGURES)
def test_fewer_than_five_judges_speak_for_themselves(name: str) -> None:
    tell, figure, where = FIGURES[name]
    found = tell(study(1, judges=4), draws=200)
    said = "intervals are about these judges: fewer than 5 with names do not tell what others like them do"
    assert said in found.notes
    nameless = Judgments.of(study(1).frame.drop("judge").unique(["query", "doc", "aspect", "context"], keep="first"))
    if tell is not setting_agreement:
        assert said in tell(nameless, draws=200).notes
    row = told(found, where)
    assert row[f"{figure}_low"] < row[figure] < row[f"{figure}_high"]
