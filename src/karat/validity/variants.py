"""How far a measure holds two systems apart for a query: the differences behind every preference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.estimate import score
from karat.measures import Measure
from karat.records import Judgments
from karat.records.base import count

Floats = npt.NDArray[np.float64]

#: A difference this small against the largest one comes from rounding.
ROUNDING = 1e-9


def varied(measure: Measure, given: Mapping[str, Any]) -> Measure:
    """The same measure with other parameters.

    >>> from karat.measures import parse_measure
    >>> varied(parse_measure("CCG(context=0.5)@5"), {"context": 0.25})
    CCG(context=0.25)@5
    """
    known = [field.name for field in fields(measure) if field.name != "cutoff"]
    strange = [name for name in given if name not in known]
    if strange:
        raise BadInput.at(
            str(measure), expected=f"a parameter of it ({', '.join(known) or 'it has none'})", found=f'"{strange[0]}"'
        )
    kept = {name: getattr(measure, name) for name in known if name in measure._given}
    made = type(measure)(**(kept | dict(given)))
    return made if measure.cutoff is None else made @ measure.cutoff


def takes(measure: Measure, name: str) -> bool:
    """Whether the measure has this parameter."""
    return any(field.name == name for field in fields(measure))


def differences(
    pairs: pl.DataFrame, runs: Any, labels: Judgments, measures: Sequence[Measure]
) -> tuple[pl.DataFrame, Floats, list[str]]:
    """The pairs that can be scored and, for each of them and each measure, the score of a less that of b.

    >>> pairs = pl.DataFrame({"query": ["q"], "a": ["one"], "b": ["two"], "sign": [1]})
    >>> from karat.measures import P
    >>> runs = {"one": {"q": {"d": 1.0}}, "two": {"q": {"e": 1.0}}}
    >>> differences(pairs, runs, Judgments.of({"q": {"d": 1}}), [P @ 1])[1].tolist()
    [[1.0]]

    A judged query that a system has no list for counts as an empty list; a pair of an unjudged query, or of a system
    that has no run, is left out and noted, and so is one that a measure is undefined for.
    """
    scores = score(runs, labels, list(measures), complete=True, draws=0)
    names = [str(measure) for measure in measures]
    own = {name: f"score {place}" for place, name in enumerate(names)}
    table = scores.queries.rename(own)
    columns = list(own.values())
    joined = pairs.join(table, left_on=["query", "a"], right_on=["query", "system"], maintain_order="left")
    joined = joined.join(
        table, left_on=["query", "b"], right_on=["query", "system"], suffix=" of b", maintain_order="left"
    )
    notes = []
    if joined.height < pairs.height:
        lost = pairs.height - joined.height
        notes.append(f"{count(lost, 'pair')} of {pairs.height:,} left out: no labels for the query or no run")
    apart = joined.select(pl.col(column) - pl.col(f"{column} of b") for column in columns).to_numpy()
    known = ~np.isnan(apart).any(axis=1)
    if not known.all():
        notes.append(f"{count(int((~known).sum()), 'pair')} left out: a measure is undefined there")
    if not known.any():
        raise Undefined("no pair has scores of both systems: preferences and measures cannot be compared")
    apart = apart[known]
    apart[np.abs(apart) <= ROUNDING * np.abs(apart).max(axis=0)] = 0.0
    return joined.select(pairs.columns).filter(pl.Series(known)), apart, notes
