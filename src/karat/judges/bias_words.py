"""A slice on which a group errs otherwise than on the rest: as a row of a table, and as a sentence."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.judges.features import FEATURES
from karat.judges.sides import Slice
from karat.judges.slices import called, does
from karat.labels import GOLD
from karat.records.base import count
from karat.records.number_format import p_said, percent

SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(["family", "group", "against", "kind", "slice"], pl.String),
    **dict.fromkeys(["effect", "low", "high", "p", "p_bh", "inside", "outside"], pl.Float64),
    **dict.fromkeys(["n", "n_pairs", "n_queries"], pl.Int64),
    **dict.fromkeys(["feature", "value", "feature_2", "value_2"], pl.String),
    "found": pl.Boolean,
    "because_of": pl.String,
}


def row_of(s: Slice) -> dict[str, Any]:
    """The slice with its figures, by column."""
    figures = ("effect", "low", "high", "p", "p_bh", "inside", "outside", "n", "n_pairs", "n_queries")
    parts = [(feature, s.side.names[feature][value]) for feature, value in s.where] + [(None, None)]
    return {
        **{name: getattr(s.side, name) for name in ("group", "against", "kind")},
        "slice": words_of(s),
        **{name: getattr(s, name) for name in figures},
        **dict(zip(("feature", "value", "feature_2", "value_2"), (*parts[0], *parts[1]), strict=True)),
    }


def finding_of(s: Slice, level: float) -> str:
    """A finding as a sentence: the effect at the same gold grade, then the raw means inside and outside."""
    group, size = s.side.group, abs(s.effect)
    of = f"{count(s.n_pairs, 'pair')} of {count(s.n_queries, 'query', 'queries')}"
    tested = f"adjusted {p_said(s.p_bh)}"
    if s.side.kind == "noise":
        less = "less" if s.effect < 0 else "more"
        ends = f"[{100 * (size - s.reach):.0f}, {100 * (size + s.reach):.0f}]"
        return (
            f"{called(group)} {does(group, 'be')} right {less} often on {words_of(s)}, by {100 * size:.0f} percentage "
            f"points at the same gold grade ({100 * level:g}% CI {ends}, {tested}; over all grades "
            f"{percent(s.inside)} right inside and {percent(s.outside)} outside; {of})"
        )
    way = "higher" if s.effect > 0 else "lower"
    interval = f"{100 * level:g}% CI [{size - s.reach:.2f}, {size + s.reach:.2f}], {tested}"
    rates = f"{called(group)} {does(group, 'rate')} {words_of(s)} {size:.2f} of a grade {way} than the rest"
    if s.side.against != GOLD:
        means = f"over all grades the mean difference is {s.inside:+.2f} inside and {s.outside:+.2f} outside"
        return f"against {called(s.side.against)}, {rates} at the same average grade ({interval}; {means}; {of})"
    means = f"over all grades the mean error is {s.inside:+.2f} inside and {s.outside:+.2f} outside"
    return f"{rates} at the same gold grade ({interval}; {means}; {of})"


def words_of(s: Slice) -> str:
    """The slice as a sentence names it: Wikipedia pages for queries of 5 or more words."""
    named, plain = list[tuple[str, str]](), list[str]()
    for feature, value in s.where:
        name = s.side.names[feature][value]
        known = FEATURES.get(feature)
        if known is None:
            plain.append(f"{feature} {name}")
        elif isinstance(known.reads, str):
            named.append((known.of, known.reads.format(name).replace(" 1 words", " 1 word")))
        else:
            named.append((known.of, known.reads[name == "false" or name[:1] == "n"]))
    named.sort(key=lambda part: part[0])
    words = " ".join(part[1] for part in named[:1]) or "pairs"
    if len(named) > 1:
        words += f" {'among' if named[0][0] == named[1][0] else 'for'} {named[1][1]}"
    return f"{words} with {' and '.join(plain)}" if plain else words
