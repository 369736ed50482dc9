"""Labels of one aspect, or of several as one grade, in place of overall: what every measure then scores by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from karat.errors import BadInput
from karat.labels.selection import OVERALL
from karat.records import Judgments, LabelsLike
from karat.records.table import count

#: How a user may name an aspect, or several with what each counts for.
AspectLike = str | Mapping[str, float]


def parse_aspects(text: str) -> dict[str, float]:
    """Aspects with their weights, from a name or from NAME=WEIGHT, ...

    >>> parse_aspects("novelty"), parse_aspects("topicality=0.6, authority=0.4")
    ({'novelty': 1.0}, {'topicality': 0.6, 'authority': 0.4})
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        try:
            found[name.strip().lower()] = float(weight) if equals else 1.0
        except ValueError:
            found[""] = math.nan
    if "" in found or any(not 0 < weight < math.inf for weight in found.values()):
        expected = "an aspect, or several with weights above 0, as topicality=0.6,authority=0.4"
        raise BadInput.at("the aspect", expected=expected, found=f'"{text}"')
    return found


def of_aspect(labels: LabelsLike, aspect: AspectLike) -> Judgments:
    """The labels of an aspect as if they were the overall ones; of several, a judge's weighted mean grade of them.

    >>> rows = [{"query": "q", "doc": "d", "judge": "ann", "aspect": aspect, "label": label}
    ...         for aspect, label in (("overall", 4), ("topicality", 3), ("authority", 1))]
    >>> of_aspect(rows, "authority").frame["label"].to_list()
    [1.0]
    >>> of_aspect(rows, {"topicality": 3, "authority": 1}).frame["label"].to_list()
    [2.5]

    The result can be scored with, by every measure: what is combined is what one judge said of one document in one
    setting. Where the judge answered N/A to one of several aspects, the others count for it, which is said; where to
    all of them, there is no label.
    """
    judged = Judgments.of(labels)
    weights = parse_aspects(aspect) if isinstance(aspect, str) else parse_aspects(_written(aspect))
    if not judged.has("aspect") and set(weights) != {OVERALL}:
        raise BadInput.at(
            "the labels",
            expected=f"a column aspect with {' and '.join(weights)}",
            found=", ".join(judged.frame.columns),
        )
    frame = judged.frame
    if "aspect" not in frame.columns:
        frame = frame.with_columns(aspect=pl.lit(OVERALL))
    frame = frame.with_columns(pl.col("aspect").fill_null(OVERALL))
    missing = [name for name in weights if name not in frame["aspect"].to_list()]
    if missing:
        there = ", ".join(frame["aspect"].unique().sort().to_list())
        raise BadInput.at("the aspect", expected=f"one that labels are of ({there})", found=", ".join(missing))
    mine = frame.filter(pl.col("aspect").is_in(list(weights)))
    if len(weights) == 1:
        return replace(judged, frame=mine.drop("aspect"))
    made, lacking = _combined(mine, weights)
    notes = [f"labels are weighted means of {', '.join(f'{name} ({weight:g})' for name, weight in weights.items())}"]
    if lacking:
        notes.append(f"{count(lacking, 'label')} without an answer to some of these aspects: the others count")
    return replace(judged, frame=made, notes=(*judged.notes, *notes))


def _combined(frame: pl.DataFrame, weights: Mapping[str, float]) -> tuple[pl.DataFrame, int]:
    """One row for what was said of a document in all the aspects, and how many lack some of them."""
    said = ("query", "doc", "context", "subtopic", "surface", "group", "judge")
    key = [name for name in said if name in frame.columns]
    # A second answer to the same question stands beside the second answers to the others.
    frame = frame.with_columns(
        _nth=pl.int_range(pl.len()).over(*key, "aspect"), _weight=pl.col("aspect").replace_strict(dict(weights))
    )
    known = pl.col("label").is_not_null()
    weight = pl.when(known).then("_weight")
    others = [name for name in frame.columns if name not in (*key, "label", "aspect", "_nth", "_weight")]
    made = frame.group_by(*key, "_nth", maintain_order=True).agg(
        ((pl.col("label") * weight).sum() / weight.sum()).fill_nan(None).alias("label"),
        *(pl.col(name).first() for name in others),
        known.sum().alias("_answered"),
    )
    lacking = int(((made["_answered"] > 0) & (made["_answered"] < len(weights))).sum())
    return made.drop("_nth", "_answered").select(
        name for name in frame.columns if name in made.columns and name != "_nth"
    ), lacking


def _written(weights: Mapping[str, float]) -> str:
    return ",".join(f"{name}={weight}" for name, weight in weights.items())
