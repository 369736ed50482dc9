"""A whole study of preferences: systems, labels, and users whose utility is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.measures import Measure
from karat.records import Judgments, Preferences, Queries, Runs, Scale
from karat.simulate.parts import documents_of, numbered
from karat.simulate.preferences import EACH, side_by_side

#: How much the grade of a document counts in the worst system's ranking, beside an error of 1.
QUALITY = 0.8


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
    pairs_per_query: int = 3,
    judges: int = 8,
    noise: float = 1.0,
    equal: float = 0.2,
    clear: float = 1.0,
    careless: float = 0.0,
    block: int = 5,
    empty: float = 0.0,
    each: int = EACH,
    seed: int = 0,
) -> PreferenceStudy:
    """Systems of nearly the same quality, labels without error, and users for whom a list is worth its `utility`.

    >>> study = preference_study("RBP(p=0.8)", queries=10, systems=4, judges=2, block=0)
    >>> study.preferences
    60 preferences between 4 systems for 10 queries
    >>> study.runs
    1,600 documents for 10 queries by 4 systems

    Each document has a grade from 0 to `levels` - 1, above 0 for a share `relevant` of them, for each of `subtopics`
    subtopics apart. A system ranks by the grade plus a normal error of its own, the better the higher its
    number. Users compare `pairs_per_query` pairs of systems per query as `side_by_side` tells. Use it to
    see whether a method finds the utility that was planted, and stays silent where none was (`utility` None).
    """
    rng = np.random.default_rng(seed)
    names = numbered("q", queries)
    every_doc = documents_of(names, docs)
    shape = (queries, subtopics, docs)
    grade = np.where(rng.random(shape) < relevant, rng.integers(1, max(levels, 2), size=shape), 0)
    query, need, doc = (index.ravel() for index in np.indices(shape))
    labels = pl.DataFrame(
        {
            "query": names[query],
            "subtopic": pl.Series(need + 1).cast(pl.String),
            "doc": every_doc[query * docs + doc],
            "label": grade.ravel().astype(np.float64),
        }
    )
    strength = QUALITY * (1 + 0.1 * np.arange(systems))
    score = strength[:, None, None] * grade.max(axis=1) + rng.normal(size=(systems, queries, docs))
    number = pl.Series(np.repeat(np.arange(1, systems + 1), queries * docs)).cast(pl.String)
    runs = pl.DataFrame(
        {
            "system": "s" + number,
            "query": names[np.tile(np.repeat(np.arange(queries), docs), systems)],
            "doc": every_doc[np.tile(np.arange(queries * docs), systems)],
            "score": score.ravel(),
            "team": "t" + number,
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
            empty=empty,
            each=each,
            seed=rng,
        ),
        runs=lists,
        judgments=judgments,
        queries=Queries.of(
            {"query": names, "kind": np.where(rng.random(queries) < 0.5, "ambiguous", "faceted").astype(str)}
        ),
    )


def _pairs(names: pl.Series, systems: int, each: int, rng: np.random.Generator) -> pl.DataFrame:
    """For each query, so many different pairs of systems."""
    one, two = np.triu_indices(systems, 1)
    each = min(each, len(one))
    drawn = np.argsort(rng.random((len(names), len(one))), axis=1)[:, :each].ravel()
    left, right = ("s" + pl.Series(side[drawn] + 1).cast(pl.String) for side in (one, two))
    return pl.DataFrame({"query": names[np.repeat(np.arange(len(names)), each)], "left": left, "right": right})
