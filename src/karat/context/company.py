"""In whose company a document was read: after a near copy of it, after a page of the same site, or after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.context.page_pairs import PAIR, Graded
from karat.context.pair_features import features
from karat.errors import BadInput, Undefined
from karat.records import Documents, Judgments, LabelsLike
from karat.records.contexts import paths

#: Texts that are so much alike (cosine of their words, the rarer the heavier) are near copies.
NEAR_COPY = 0.85


def add_company(judgments: LabelsLike, documents: Any, *, near_copy: float = NEAR_COPY) -> Judgments:
    """The judgments with a column `company`, which says what the document read before is to the one judged.

    >>> documents = Documents.of([
    ...     {"doc": "a", "text": "horse hoof care", "url": "https://one.org/a"},
    ...     {"doc": "b", "text": "horse hoof care", "url": "https://two.org/b"},
    ...     {"doc": "c", "text": "saddle prices", "url": "https://one.org/c"}])
    >>> judged = Judgments.of([{"query": "q", "doc": doc, "label": 1, "context": context}
    ...                        for doc, context in (("a", None), ("b", "a"), ("c", "a"), ("b", "c"))])
    >>> add_company(judged, documents).frame["company"].to_list()
    [None, 'near copy', 'same site', 'other']

    A `near copy` has a text that is as much alike as `near_copy` or more (1 is the same words); else it may be of the
    `same site`; else it is an `other` page. Without texts nothing is a near copy, without sites or addresses nothing of
    the same site. Null where a document was judged alone, or nothing is known of one of the two. For `mean_change`.
    """
    if isinstance(near_copy, bool) or not isinstance(near_copy, int | float) or not 0 < near_copy <= 1:
        raise BadInput.at("near_copy", expected="a likeness above 0, up to 1", found=f"{near_copy!r}")
    judged, documents = Judgments.of(judgments), Documents.of(documents)
    if not judged.has("context"):
        raise Undefined("No document was judged in context: there is no company to tell.")
    graded = Graded.of(judgments)
    # Of several documents read before, the last one is the company.
    last = paths(judged.frame["context"])["last"]
    told_of = judged.frame.with_columns(_last=last)
    given = (
        judged.frame.with_columns(context=last)
        .select(PAIR)
        .drop_nulls("context")
        .filter(pl.col("context") != pl.col("doc"))
    )
    pairs = graded.with_grades(given.unique().sort(PAIR))
    if not pairs.height:
        raise Undefined("No document was judged in context of another one: there is no company to tell.")
    if not any(documents.has(name) for name in ("title", "snippet", "text", "site", "url")):
        raise BadInput.at(
            "the documents", expected="a column text, site or url", found=", ".join(documents.frame.columns)
        )
    told = features(pairs, graded, None, documents)
    known = dict(zip(told.names, told.more.T, strict=True))
    if not {"likeness", "same site"} & known.keys():
        raise BadInput.at(
            "the documents",
            expected=f"some of those that were judged, such as {pairs['doc'][0]}",
            found=f"none of them; the first is {documents.frame['doc'][0] if len(documents) else 'missing'}",
            remedy="use the same ids in both files",
        )
    alike, same = (known.get(name, np.zeros(pairs.height)) for name in ("likeness", "same site"))
    no = np.zeros(pairs.height)
    unknown = np.all([known.get(f"no {name}", no) > 0 for name in ("likeness", "same site") if name in known], axis=0)
    if unknown.all():
        raise Undefined("Of no document judged in context is anything known, and of the one read before, too.")
    company = (
        pl.select(
            pl.when(pl.Series(unknown))
            .then(None)
            .when(pl.Series(alike >= near_copy - 1e-9))
            .then(pl.lit("near copy"))
            .when(pl.Series(same > 0))
            .then(pl.lit("same site"))
            .otherwise(pl.lit("other"))
        )
        .to_series()
        .alias("company")
    )
    found = pairs.select("query", "doc", _last="context").with_columns(company)
    frame = told_of.drop("company", strict=False).join(
        found, on=["query", "doc", "_last"], how="left", maintain_order="left"
    )
    return replace(judged, frame=frame.drop("_last"))
