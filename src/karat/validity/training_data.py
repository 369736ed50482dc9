"""What a ranker learns from: one label for each document and group, and the features it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.labels import Panel
from karat.records import Judgments
from karat.records.base import frame_of

DOCUMENT = ["query", "doc"]


def taught(panel: Panel) -> tuple[dict[str, Judgments], list[str]]:
    """What each group teaches: one label for each document, the median."""
    one, notes = panel.consensus("median"), list(panel.notes)
    rows = one.frame.join(panel.items.with_row_index("item").cast({"item": pl.Int64}), on="item")
    if panel.items.columns != DOCUMENT:
        notes.append("a document is worth what it is where it serves best")
    labels = {}
    for number, name in enumerate(panel.groups):
        mine = rows.filter(pl.col("group") == number)
        said = replace(one, frame=mine).note()
        notes += [f"{name}: {said}" if panel.has_groups else said] if said else []
        best = mine.group_by(DOCUMENT).agg(pl.col("label").max()).sort(DOCUMENT)
        labels[name] = Judgments(best, (), panel.scale)
    return labels, notes


def feature_table(
    features: Any, feature_sets: Mapping[str, Sequence[str]] | None
) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Query, doc and a number for each feature, null where it is unknown; and the sets of features, baseline first."""
    frame = frame_of(features, "the features")
    missing = [name for name in DOCUMENT if name not in frame.columns]
    columns = [name for name in frame.columns if name not in DOCUMENT]
    if missing or not columns:
        expected = "the columns query, doc and at least one feature"
        raise BadInput.at("the features", expected=expected, found=", ".join(frame.columns))
    sets = _sets(feature_sets, columns)
    used = list(dict.fromkeys(name for wanted in sets.values() for name in wanted))
    frame = frame.select(pl.col(DOCUMENT).cast(pl.String), *(_number(frame[name]) for name in used))
    again = frame.select(DOCUMENT).is_duplicated()
    if again.any():
        query, doc = frame.filter(again).row(0)[:2]
        raise BadInput.at("the features", expected="each document of a query once", found=f"{doc} of {query} again")
    return frame, sets


def _number(values: pl.Series) -> pl.Series:
    """A feature as numbers; of two texts, such as WP and nWP, the one without the n before it is 1."""
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64)
    kinds = values.drop_nulls().unique().sort().to_list()
    if values.dtype != pl.String or len(kinds) > 2:
        found = f"{len(kinds)} different ones"
        raise BadInput.at(f"the feature {values.name}", expected="numbers, or two values", found=found)
    having = next((kind for kind in kinds if f"n{kind}" in kinds), kinds[-1] if kinds else "")
    return (values == having).cast(pl.Float64)


def _sets(feature_sets: Mapping[str, Sequence[str]] | None, columns: list[str]) -> dict[str, list[str]]:
    """The sets of features, the baseline first."""
    if feature_sets is None:
        sets = {name: [name] for name in columns}
        return sets if len(columns) == 1 else {**sets, " + ".join(columns): columns}
    chosen = {name: list(wanted) for name, wanted in feature_sets.items()}
    for name, wanted in chosen.items():
        strange = [column for column in wanted if column not in columns]
        if strange or not wanted:
            expected, found = f"a column of the features ({', '.join(columns)})", strange[0] if strange else "none"
            raise BadInput.at(f"the feature set {name}", expected=expected, found=found)
    if not chosen:
        raise BadInput.at("the feature sets", expected="at least one", found="none")
    return chosen
