"""Judges drawn from a population: they differ by person, by query and by document, as a sample of them does."""

from __future__ import annotations

import numpy as np
import polars as pl

#: How far judges' leniencies, a judge's on single queries, queries' grades and documents' grades differ, in grades.
PERSON, OWN, QUERY, DOCUMENT = 0.5, 0.3, 0.7, 1.0
#: The scatter of the steadiest and of the most careless judge; queries and documents make it larger or smaller.
STEADY, CARELESS = 0.4, 1.2


def varied_judges(
    seed: int,
    *,
    judges: int = 10,
    queries: int = 40,
    docs: int = 5,
    labels: int = 3,
    groups: int = 1,
    person: float = PERSON,
    gold: bool = False,
) -> pl.DataFrame:
    """Labels from 0 to 3 by some judges a group, all from one population; each document has labels of so many of them.

    Figures of groups, and of the two values of `split`, which is about documents and says nothing, differ by chance
    alone. With many judges and queries they come out as they are in the population. `gold` adds a group of that name
    that says what every document is.
    """
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), docs)
    items = len(query)
    grade = 1.2 + rng.normal(0, QUERY, queries)[query] + rng.normal(0, DOCUMENT, items)
    hard = np.exp(rng.normal(0, 0.4, queries)[query] + rng.normal(0, 0.3, items))
    split = rng.random(items) < 0.5
    frames = []
    names = pl.Series(query).cast(pl.String).str.zfill(5)
    if gold:
        right = {"doc": np.arange(items).astype(str), "label": np.clip(np.rint(grade), 0, 3), "judge": "gold"}
        frames.append(pl.DataFrame({"query": names, **right, "group": "gold", "split": split}))
    for group in range(groups):
        lenient, scatter = rng.normal(0, person, judges), rng.uniform(STEADY, CARELESS, judges)
        own = rng.normal(0, OWN, (judges, queries))
        judge = np.sort(np.argsort(rng.random((items, judges)), axis=1)[:, :labels], axis=1).ravel()
        item = np.repeat(np.arange(items), labels)
        seen = grade[item] + lenient[judge] + own[judge, query[item]]
        said = np.clip(np.rint(seen + rng.normal(0, scatter[judge] * hard[item])), 0, 3)
        frames.append(
            pl.DataFrame(
                {
                    "query": names.gather(item),
                    "doc": pl.Series(item).cast(pl.String),
                    "label": said,
                    "judge": f"{group}-" + pl.Series(judge).cast(pl.String),
                    "group": [f"group {group}"] * len(item),
                    "split": split[item],
                }
            )
        )
    return pl.concat(frames)
