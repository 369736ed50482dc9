"""The points of a curve of agreement: a measure's signs beside users', under a share of ties, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.kappas import cohen_kappa, raw_agreement
from karat.validity.held_out_ties import HeldOut
from karat.validity.sign_tables import jaccard_of_signs, sign_tables

#: Draws x pairs to hold at once.
AT_ONCE = 500_000
#: An interval of fewer draws than these says nothing.
FEWEST_DRAWS = 50


@dataclass(frozen=True, eq=False)
class Sides:
    """What users said of each pair, one column for each kind of preference, and the query of each pair."""

    kinds: list[str]
    #: Pairs x kinds, in -1, 0, 1.
    sign: Ints
    query: Ints
    number: int

    @classmethod
    def of(cls, pairs: pl.DataFrame, kinds: list[str]) -> Sides:
        """The sides of these pairs; queries are numbered by id, so that the order of rows changes nothing."""
        query = pairs["query"].rank("dense").to_numpy().astype(np.int64) - 1
        return cls(kinds, pairs.select(kinds).to_numpy().astype(np.int64), query, int(query.max()) + 1)

    def drawn(self, resampling: Resampling) -> Iterator[Floats]:
        """How often each pair counts, draw by draw: first once each, then queries drawn with replacement."""
        yield np.ones((1, len(self.query)))
        if self.number < FEWEST:
            return
        at_once = max(1, AT_ONCE // len(self.query))
        for times in resampling.times(self.number):
            for start in range(0, len(times), at_once):
                yield times[start : start + at_once, self.query].astype(np.float64)


def points(
    asked: Sequence[tuple[dict[str, Any], float | HeldOut]],
    apart: Floats,
    sides: Sides,
    resampling: Resampling,
    kept: dict[tuple[str, ...], Floats] | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of one measure: figures of the pairs as they are, and the ends of their intervals over the draws.

    The kappas themselves, of the pairs as they are and of each draw, are put into `kept`.
    """
    own = (sides.sign == 0).mean(axis=0)
    # A condition as users' own has a share of ties for each kind of preference; the others have one for all.
    plain = [share for _, share in asked if not isinstance(share, HeldOut) and not math.isnan(share)]
    shares = sorted({*plain, *own.tolist()})
    held_out = {id(share): share for _, share in asked if isinstance(share, HeldOut)}
    parts = []
    for times in sides.drawn(resampling):
        tables, reach = sign_tables(apart, sides.sign, shares, times)
        others = [share.tables(apart, sides.sign, times) for share in held_out.values()]
        parts.append(tuple(np.concatenate(both) for both in zip((tables, reach), *others, strict=True)))
    reach, tables = parts[0][1], np.concatenate([tables for tables, _ in parts], axis=2)
    figures = {"jaccard": jaccard_of_signs(tables), "kappa": cohen_kappa(tables)}
    for (about, share), (kind, preference) in product(asked, enumerate(sides.kinds)):
        if isinstance(share, HeldOut):
            wanted, place = share.mean, len(shares) + list(held_out).index(id(share))
        else:
            wanted = float(own[kind]) if math.isnan(share) else share
            place = shares.index(wanted)
        table = tables[place, kind, 0]
        row = about | {
            "preference": preference,
            "asked": wanted,
            "threshold": float(reach[place, 0]),
            "ties": float(table[1].sum() / table.sum()),
            "agreement": float(raw_agreement(table)),
        }
        for name, values in figures.items():
            value, drawn = values[place, kind, 0], values[place, kind, 1:]
            low, high = _interval(float(value), drawn, sides, resampling)
            row |= {name: float(value), f"{name}_low": low, f"{name}_high": high}
        if kept is not None and row["curve"] == "context":
            kept[row["measure"], row["condition"], preference, row["source"]] = figures["kappa"][place, kind]
        yield row | {"n": len(apart)}


def _interval(value: float, drawn: Floats, sides: Sides, resampling: Resampling) -> tuple[float, float]:
    if np.isnan(value) or np.isfinite(drawn).sum() < FEWEST_DRAWS:
        return math.nan, math.nan
    return resampling.ends(drawn, sides.number, undefined=1.0)


def between_sources(
    drawn: Mapping[tuple[str, ...], Floats], sources: list[str], context: float, sides: Sides, resampling: Resampling
) -> pl.DataFrame:
    """What every two sources of labels differ by in kappa, with the same queries drawn for both."""
    rows: list[dict[str, Any]] = []
    of = list(dict.fromkeys(key[:3] for key in drawn))
    for (measure, condition, preference), (first, second) in product(of, combinations(sources, 2)):
        apart = drawn[measure, condition, preference, second] - drawn[measure, condition, preference, first]
        low, high = _interval(float(apart[0]), apart[1:], sides, resampling)
        names = {"first": first, "second": second, "condition": condition, "measure": measure, "context": context}
        rows.append(names | {"preference": preference, "difference": float(apart[0]), "low": low, "high": high})
    return pl.DataFrame(rows, infer_schema_length=None)
