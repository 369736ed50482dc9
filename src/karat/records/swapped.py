"""Labels and runs in the wrong order: other tools take the labels first, karat's functions the runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.records.judgments import Judgments
from karat.records.runs import Runs

#: Labels have no more values than this, and scores no fewer.
MOST_GRADES, FEWEST_SCORES = 10, 20
#: The share of a list's documents that have a score of their own where ties are rare.
HARDLY_TIED = 0.9
#: As many queries as are looked at: enough to tell, and no delay for large runs.
ENOUGH = 100


def refuse_swapped(runs: Any, labels: Any, function: str, *, labels_first: bool = False) -> list[str]:
    """`BadInput` where labels stand for the runs and a run for the labels; a note where it only looks like it.

    Dictionaries of numbers have no names that tell: labels are few whole numbers that often tie, scores are many real
    ones that hardly do. A run with whole numbers that order its lists is none of the first, and labels that are means
    of judges, with few values, are none of the second; records that karat made are believed.
    """
    order = f"{function} takes the {'labels first, then the runs' if labels_first else 'runs first, then the labels'}"
    if isinstance(runs, Judgments) or _has_run(labels) or _depth(labels) > 2:
        raise BadInput(order)
    if labels_first and "label" in _headers(runs):
        raise BadInput(order)
    if _depth(runs) != 2 or _depth(labels) != 2:
        return []
    first, second = _values(runs), _values(labels)
    like_labels = _whole(first) and first["value"].n_unique() <= MOST_GRADES
    if not like_labels or _whole(second) or _distinct(second) < HARDLY_TIED:
        return []
    if _tied(first) >= 0.5 and second["value"].n_unique() >= FEWEST_SCORES:
        raise BadInput.at(
            "the run and the labels",
            expected="scores and labels",
            found=f"{_range(first)} as scores and {_range(second)} as labels",
            remedy=f"{order}. If they are in this order, say so with kt.Runs.of and kt.Judgments.of",
        )
    return [f"the scores of the run look like labels and the labels like scores: are they swapped? {order}"]


def _has_run(labels: Any) -> bool:
    """Whether a run stands for the labels, or several do."""
    some = labels if isinstance(labels, list | tuple) else [labels]
    return any(isinstance(run, Runs) or {"system", "score"} <= _headers(run) for run in some[:1])


def _headers(data: Any) -> set[str]:
    return {str(name) for name in getattr(data, "columns", ())}


def _depth(data: Any) -> int:
    """How deep the dictionaries go: 2 for a run as pytrec_eval takes it, 3 for runs by system."""
    if not isinstance(data, Mapping):
        return 0
    return 1 + _depth(next(iter(data.values()), None))


def _values(data: Mapping[Any, Mapping[Any, Any]]) -> pl.DataFrame:
    some = enumerate(islice(data.values(), ENOUGH))
    rows = [(number, value) for number, docs in some if isinstance(docs, Mapping) for value in docs.values()]
    frame = pl.DataFrame(rows, schema=["query", "value"], orient="row", strict=False, infer_schema_length=None)
    return frame.with_columns(pl.col("value").cast(pl.Float64, strict=False)).drop_nulls()


def _whole(values: pl.DataFrame) -> bool:
    return bool((values["value"] == values["value"].round(0)).all())


def _tied(values: pl.DataFrame) -> float:
    """The share of the lists with two documents or more in which two have the same value."""
    lists = _lists(values)
    return 0.0 if not lists.height else float((lists["values"] < lists["len"]).sum()) / lists.height


def _distinct(values: pl.DataFrame) -> float:
    """The share of documents with a value of their own in lists of two or more."""
    lists = _lists(values)
    return 1.0 if not lists.height else float(lists["values"].sum()) / float(lists["len"].sum())


def _lists(values: pl.DataFrame) -> pl.DataFrame:
    lists = values.group_by("query").agg(pl.len(), pl.col("value").n_unique().alias("values"))
    return lists.filter(pl.col("len") > 1)


def _range(values: pl.DataFrame) -> str:
    ordered = values["value"].unique().sort().to_list()
    return f"{len(ordered):,} values from {ordered[0]:g} to {ordered[-1]:g}"
