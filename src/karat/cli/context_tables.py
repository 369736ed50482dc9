"""How `karat context` shows its tables: notes once, grades by their names, distributions wide."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.records import Result, Scale
from karat.records.figures import in_words

#: What of a wide table is printed; --json has the rest.
SHOWN = {
    "Coverage": ["aspect", "alone", "context", "difference", "n_alone", "n_context"],
    "Size of change": ["aspect", "size", "n", "share", "retest"],
    "Mean change": ["aspect", "change", "lower", "same", "higher", "n", "p_holm", "retest"],
    "Correlation with overall": ["aspect", "alone", "context", "difference", "n_alone", "n_context"],
    "Prediction of overall": ["aspects", "alone", "context", "random_alone"],
    "Agreement": ["aspect", "figure", "alone", "context", "n_alone", "n_context"],
    "Predictors": ["predictor", "accuracy", "error", "gain", "gain_holm", "n"],
}


def shaped(result: Result, title: str, scale: Scale | None) -> Result:
    """The result as it is printed under this title."""
    result = replace(result, scale=scale)
    return _by_grade(replace(result, frame=in_words(result.frame, scale))) if title == "Distribution" else result


def once(result: Result, told: set[str]) -> Result:
    """The result without the notes that a part before it has told."""
    new = tuple(note for note in result.notes if note not in told)
    told.update(new)
    return replace(result, notes=new)


def _by_grade(result: Result) -> Result:
    """The distribution with a column for each grade, which is short enough to be read."""
    parts = [
        result.frame.select("documents", "aspect", pl.lit(name).alias("setting"), "grade", share=column)
        for name, column in (("alone", "alone"), ("in context", "context"))
    ]
    long = pl.concat(parts)
    if long["grade"].dtype != pl.String:
        long = long.with_columns(pl.Series("grade", [f"grade {grade:g}" for grade in long["grade"]]))
    wide = long.pivot("grade", index=["documents", "aspect", "setting"], values="share")
    first = result.frame.select("documents", "aspect").unique(maintain_order=True).with_row_index("place")
    wide = first.join(wide, on=["documents", "aspect"], maintain_order="left_right").drop("place")
    return replace(result, frame=wide, notes=(*result.notes, "intervals with --json"))
