"""What simulated studies have in common: names with numbers, sizes and shares that are checked, runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Runs


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, which is shorter to read than a list of quoted words."""
    return tuple(text.split())


def numbered(prefix: str, number: int) -> pl.Series:
    """So many names, from 1, with zeros in front: their order is that of the numbers.

    >>> numbered("q", 10).to_list()[-2:]
    ['q09', 'q10']
    """
    return prefix + pl.int_range(1, number + 1, eager=True).cast(pl.String).str.zfill(len(str(number)))


def documents_of(queries: pl.Series, docs: int) -> pl.Series:
    """The names of so many documents of each query, query by query.

    >>> documents_of(numbered("q", 2), 2).to_list()
    ['q1-d1', 'q1-d2', 'q2-d1', 'q2-d2']
    """
    number = numbered("-d", docs)[np.tile(np.arange(docs), len(queries))]
    return queries[np.repeat(np.arange(len(queries)), docs)] + number


def check_sizes(sizes: Mapping[str, tuple[int, int]]) -> None:
    """Refuse a size, by its name, that is below its least.

    >>> check_sizes({"queries": (0, 1)})
    Traceback (most recent call last):
    karat.errors.BadInput: the study: expected 1 queries or more, found 0
    """
    for name, (number, least) in sizes.items():
        if number < least:
            raise BadInput.at("the study", expected=f"{least} {name} or more", found=str(number))


def check_shares(shares: Mapping[str, float]) -> None:
    """Refuse what is no share."""
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise BadInput.at("the study", expected=f"{name} as a share from 0 to 1", found=str(share))


def runs_by(pairs: pl.DataFrame, **scores: pl.Expr) -> Runs:
    """A run for each score of the pairs of query and doc, under the ranker's name.

    >>> pairs = pl.DataFrame({"query": "q", "doc": ["a", "b"], "words": [1.0, 2.0]})
    >>> runs_by(pairs, words=pl.col("words"), worse=-pl.col("words"))
    4 documents for 1 query by 2 systems
    """
    return Runs.of(
        pl.concat(pairs.select(pl.lit(name).alias("system"), "query", "doc", score=s) for name, s in scores.items())
    )
