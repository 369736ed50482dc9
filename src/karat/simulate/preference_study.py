"""A whole study of preferences: systems, labels, and users whose utility is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.measures import Measure
from karat.records import Judgments, Preferences, Queries, Runs, Scale
from karat.simulate.preferences import side_by_side


@dataclass(frozen=True, eq=False)
class PreferenceStudy:
    """Runs, labels (with subtopics if there are several), queries with kinds, and what users said."""

    preferences: Preferences
    runs: Runs
    judgments: Judgments
    queries: Queries


def preference_study(
    utility: str | Measure | Sequence[str | Measure] | None = "nDCG@10",
    *,
    queries: int = 50,
    systems: int = 6,
    docs: int = 40,
    subtopics: int = 1,
    levels: int = 3,
    relevant: float = 0.3,
    quality: float = 0.8,
    pairs_per_query: int = 3,
    judges: int = 8,
    noise: float = 1.0,
    equal: float = 0.2,
    clear: float = 1.0,
    careless: float = 0.0,
    block: int = 5,
    seed: int = 0,
) -> PreferenceStudy:
    """Systems of nearly the same quality, labels without error, and users for whom a list is worth its `utility`.

    >>> study = preference_study("RBP(p=0.8)", queries=10, systems=4, judges=2, block=0)
    >>> study.preferences
    60 preferences between 4 systems for 10 queries
    >>> study.runs
    1,600 documents for 10 queries by 4 systems

    Each document has a grade from 0 to `levels` - 1, above 0 for a share `relevant` of them, for each of `subtopics`
    subtopics apart. A system ranks by `quality` times the grade plus a normal error of its own, a little more the
    higher its number. Users compare `pairs_per_query` pairs of systems per query as `side_by_side` tells. Use it to
    see whether a method finds the utility that was planted, and stays silent where none was (`utility` None).
    """
    rng = np.random.default_rng(seed)
    names = [f"q{n:0{len(str(queries))}}" for n in range(1, queries + 1)]
    grade = np.where(
        rng.random((queries, subtopics, docs)) < relevant,
        rng.integers(1, max(levels, 2), size=(queries, subtopics, docs)),
        0,
    )
    query, need, doc = (index.ravel() for index in np.indices(grade.shape))
    width = len(str(docs))
    labels = pl.DataFrame(
        {
            "query": pl.Series(names)[query],
            "subtopic": (need + 1).astype(str),
            "doc": [f"{names[q]}-d{d:0{width}}" for q, d in zip(query, doc + 1, strict=True)],
            "label": grade.ravel().astype(np.float64),
        }
    )
    best = grade.max(axis=1)
    strength = quality * (1 + 0.1 * np.arange(systems))
    score = strength[:, None, None] * best + rng.normal(size=(systems, queries, docs))
    system, asked, listed = (index.ravel() for index in np.indices(score.shape))
    runs = pl.DataFrame(
        {
            "system": [f"s{n + 1}" for n in system],
            "query": pl.Series(names)[asked],
            "doc": [f"{names[q]}-d{d:0{width}}" for q, d in zip(asked, listed + 1, strict=True)],
            "score": score.ravel(),
            "team": [f"t{n + 1}" for n in system],
        }
    )
    scale = Scale.parse(f"0..{max(levels, 2) - 1}")
    judgments = Judgments.check(labels if subtopics > 1 else labels.drop("subtopic"), scale=scale)
    lists = Runs.check(runs)
    return PreferenceStudy(
        preferences=side_by_side(
            judgments,
            lists,
            utility,
            pairs=_pairs(names, systems, pairs_per_query, rng),
            judges=judges,
            noise=noise,
            equal=equal,
            clear=clear,
            careless=careless,
            block=block,
            seed=rng,
        ),
        runs=lists,
        judgments=judgments,
        queries=Queries.of(
            {"query": names, "kind": np.where(rng.random(queries) < 0.5, "ambiguous", "faceted").astype(str)}
        ),
    )


def _pairs(names: list[str], systems: int, each: int, rng: np.random.Generator) -> pl.DataFrame:
    """For each query, so many different pairs of systems."""
    one, two = np.triu_indices(systems, 1)
    each = min(each, len(one))
    drawn = np.argsort(rng.random((len(names), len(one))), axis=1)[:, :each].ravel()
    return pl.DataFrame(
        {
            "query": np.repeat(np.array(names), each),
            "left": [f"s{n + 1}" for n in one[drawn]],
            "right": [f"s{n + 1}" for n in two[drawn]],
        }
    )
