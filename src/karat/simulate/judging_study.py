"""A whole judging study whose truth is known: gold, professionals with habits, a crowd with a bias, clicks, runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Clicks, Documents, Judgments, Queries, Runs, Scale
from karat.records.table import count
from karat.simulate.assignment import Group, Tasks, judged_by_one, judged_by_two_or_three, two_judges_each
from karat.simulate.clicks import position_clicks
from karat.simulate.judges import steps_for
from karat.simulate.parts import check_shares, check_sizes, documents_of, runs_by
from karat.simulate.web import make_pages, make_queries
from karat.stats.arrays import Bools, Floats, Ints

LEVELS = 5
#: The shares of the true grades 0 to 4.
GRADES = (0.20, 0.30, 0.25, 0.15, 0.10)


@dataclass(frozen=True, eq=False, repr=False)
class JudgingStudy:
    """What was collected, and what is true.

    `judgments` holds all groups, gold among them; `gold` its labels alone, with the chance with which each pair was
    drawn. `pairs` has a row for each query and document: the true `grade`, the features `wikipedia`,
    `query_in_url`, `root_url`, the `bm25` score, the score `shown` and the `rank` by which users saw it. `truth` holds
    the planted effects by name; `spammers` names the judges who did not read.
    """

    judgments: Judgments
    gold: Judgments
    queries: Queries
    documents: Documents
    clicks: Clicks
    runs: Runs
    pairs: pl.DataFrame
    truth: Mapping[str, float]
    spammers: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"A simulated study: {self.judgments!r}. The crowd overrates Wikipedia pages by "
            f"{self.truth['crowd_wikipedia']:.2f} of a grade, professionals squeeze the scale by "
            f"{self.truth['professional_squeeze']:.0%}, and {count(len(self.spammers), 'judge')} did not read."
        ).replace("%", " %")


def judging_study(
    seed: int = 0,
    queries: int = 100,
    docs: int = 16,
    *,
    gold: float = 1.0,
    wikipedia: float = 0.5,
    squeeze: float = 0.35,
    spammers: int = 1,
    stop_rule: bool = True,
    llm: bool = False,
    fatigued: float = 0.0,
    cant_tell: float = 0.0,
    crowd: int = 18,
    professionals: int = 10,
) -> JudgingStudy:
    """A study with planted effects: does an analysis find them, and stay silent where there is nothing?

    >>> study = judging_study(seed=1)
    >>> study.gold
    1,600 judgments of 1,600 documents for 100 queries, labels 0, 1, 2, 3 and 4, by 1 judge
    >>> round(study.truth["crowd_wikipedia"], 3)
    0.5

    Planted: the crowd overrates Wikipedia pages by `wikipedia` grades on the mean label, which is exact in
    expectation although the scale ends at 4 (`truth["crowd_wikipedia"]` says what the scale allowed);
    professionals `squeeze` the scale to its middle; `spammers` in the crowd answer at random, and quickly. Each
    group gives two labels for a document and a third when they differ (`stop_rule=False`: always three). `gold` is
    the share of pairs with a gold label; an `llm` labels each pair once, a little too kindly; judges may be
    `fatigued` (careless answers grow by that share with every 100 judgments) or say that they `cant_tell`.

    Grades have nothing to do with the features of a page, so an effect of a feature is a habit of the judges. But
    features hang together as they do on the web: a Wikipedia page is never a home page. Scores and ranks do follow the
    grades, so whoever shuns the ends of the scale underrates what stands first.
    """
    check_sizes({"queries": (queries, 1), "docs": (docs, 1), "spammers": (spammers, 0)})
    check_shares({"gold": gold, "cant_tell": cant_tell, "squeeze": squeeze})
    if min(crowd, professionals) < 3 or spammers > crowd:
        raise BadInput.at(
            "the study",
            expected="three judges or more in a group, and no more spammers than judges",
            found=f"{crowd} in the crowd, {professionals} professionals, {spammers} spammers",
        )
    rng = np.random.default_rng(seed)
    asked = make_queries(queries, rng)
    pairs, pages = _pairs(asked, docs, rng)
    grade, on_wikipedia = pairs["grade"].to_numpy(), pairs["wikipedia"].to_numpy()

    truth: dict[str, float] = {"spammers": float(spammers), "professional_squeeze": squeeze}
    parts = [judged_by_one(Group("gold", 1, spread=1e-9), pairs, 0.0, rng)]
    for group in (
        Group("professional", professionals, spread=0.3, squeeze=squeeze, fatigued=fatigued),
        Group("crowd", crowd, spread=0.75, spammers=spammers, fatigued=fatigued),
    ):
        first = two_judges_each(len(grade), group.judges, rng)
        shift = np.zeros(len(grade))
        if group.name == "crowd":
            # Careless answers are not moved, so the others are moved further: the whole group's mean is planted.
            on = on_wikipedia[first.pair]
            honest = group.chances(first, grade, 0.0, careless=False)[on]
            shift[on_wikipedia] = steps_for(honest, wikipedia, 1 - group.careless(first)[on])
        truth |= _expected(group, first, grade, shift, on_wikipedia)
        parts.append(judged_by_two_or_three(group, pairs, first, shift, rng, cant_tell=cant_tell, stop_rule=stop_rule))
    if llm:
        parts.append(judged_by_one(Group("llm", 1, spread=0.6, leniency=0.3), pairs, 0.0, rng))
    drawn = rng.random(len(grade)) < gold
    parts[0] = parts[0].filter(pl.Series(drawn))

    shown = pairs.select("query", "doc", "rank", "grade", impressions=_impressions(queries, docs, rng))
    scale = Scale.parse(f"0..{LEVELS - 1}")
    return JudgingStudy(
        judgments=Judgments.check(pl.concat(parts), scale=scale),
        gold=Judgments.check(parts[0].with_columns(probability=pl.lit(float(gold))), scale=scale),
        queries=Queries.of(asked),
        documents=Documents.of(pages),
        clicks=position_clicks(shown, seed=rng),
        # By words, by words with a weakness for Wikipedia, and the one whose lists users saw.
        runs=runs_by(
            pairs, bm25=pl.col("bm25"), wikipedia=pl.col("bm25") + 4 * pl.col("wikipedia"), production=pl.col("shown")
        ),
        pairs=pairs,
        truth=truth,
        spammers=tuple(Group("crowd", crowd, spread=1.0).names[:spammers]),
    )


def _pairs(asked: pl.DataFrame, docs: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every query with its documents: true grades, features, scores; and the documents themselves."""
    query = np.repeat(np.arange(asked.height), docs)
    n = len(query)
    grade = rng.choice(LEVELS, size=n, p=GRADES)
    wikipedia = rng.random(n) < 0.2
    root = ~wikipedia & (rng.random(n) < 0.15)
    named = rng.random(n) < 0.4
    pages = make_pages(asked["text"][query], grade, wikipedia, root, named, rng)
    shown = grade + rng.normal(0, 2.5, n)
    pairs = pl.DataFrame(
        {
            "query": asked["query"][query],
            "doc": documents_of(asked["query"], docs),
            "grade": grade,
            "wikipedia": wikipedia,
            "query_in_url": named,
            "root_url": root,
            "bm25": np.maximum(0.0, 8 + 1.5 * grade + rng.normal(0, 3, n)).round(4),
            "shown": shown,
        }
    )
    ranked = pairs.with_columns(rank=pl.col("shown").rank("ordinal", descending=True).over("query").cast(pl.Int64))
    return ranked, pairs.select("doc").hstack(pages)


def _expected(group: Group, first: Tasks, grade: Ints, shift: Floats, wikipedia: Bools) -> dict[str, float]:
    """What the first two labels of a group are expected to show, given who judged what."""
    chances, levels = group.chances(first, grade, shift), np.arange(LEVELS)
    true, on = grade[first.pair], wikipedia[first.pair]
    mean = chances @ levels
    known = {
        f"{group.name}_correct": float(chances[np.arange(len(true)), true].mean()),
        f"{group.name}_mean_error": float((mean - true).mean()),
        f"{group.name}_spread": float(np.sqrt((chances @ levels**2).mean() - mean.mean() ** 2)),
    }
    if group.name == "crowd":
        effect = mean - group.chances(first, grade, 0.0) @ levels
        error, both = mean - true, on.any() and not on.all()
        known["crowd_wikipedia"] = float(effect[on].mean()) if on.any() else np.nan
        known["crowd_wikipedia_gap"] = float(error[on].mean() - error[~on].mean()) if both else np.nan
    return known


def _impressions(queries: int, docs: int, rng: np.random.Generator) -> pl.Series:
    """Some queries are asked far more often than others."""
    return pl.Series(np.repeat(rng.lognormal(np.log(20_000), 0.7, queries), docs).astype(np.int64) + 100)
