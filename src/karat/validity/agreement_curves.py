"""How agreement with users moves with the share of ties a measure may report and with the weight of context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.measures import as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.base import count
from karat.records.number_format import interval_said
from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.kappas import cohen_kappa, raw_agreement
from karat.validity.measure_variants import CONTEXTS, NO_CONTEXT, differences, in_contexts
from karat.validity.question_unit import asked_by, shown_depth
from karat.validity.sign_tables import jaccard_of_signs, sign_tables
from karat.validity.votes import preferred

#: The share of pairs on which a measure should report a tie: as few as users' weak preferences, as many as their strong
#: ones, and what serves both at once. None: as many as these users do.
CONDITIONS: dict[str, float | None] = {"weak": 0.09, "strong": 0.77, "both": 0.25}
TIE_SHARES = tuple(round(0.05 * step, 2) for step in range(20))
#: Draws x pairs to hold at once.
AT_ONCE = 500_000
#: An interval of fewer draws than these says nothing.
FEWEST_DRAWS = 50


def preference_curves(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = ("CG@5", "DCG@5", "ERR@5", "CCG@5"),
    *,
    tie_shares: Sequence[float] = TIE_SHARES,
    conditions: Mapping[str, float | None] = CONDITIONS,
    context: float = 0.5,
    strong_from: float | None = None,
    by: str | None = None,
    how: str = "mode",
    depth: int | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """Jaccard and Cohen's kappa of measures with weak and strong preferences, along tie shares and context weights.

    A measure says 1, -1 or 0 (a tie) of two systems for a query: a tie where its difference is at most t, with
    which the share of ties comes nearest to the one `asked` for (`ties`: pairs with the same difference tie together).
    Users say the same by the most frequent answer (`how="mode"`, or "votes"), weak (any preference) and strong (of the
    strength `strong_from` at least; by default the slightest are ties). Rows of the curve `ties` go along `tie_shares`,
    with the context weight `context`; those of the curve `context` go along weights from 0 to 1 under each of the
    `conditions`, shares of ties by name. A measure that takes no context weight has one row there, and so have all when
    no label was given in context. `by` and `depth` are those of `agreement`.

    `jaccard` is that of two sets of statements "this pair: this sign", agreeing / (2 n - agreeing), ties included;
    `kappa` allows for what two such sides agree on by chance. A large jaccard with a kappa near 0 means ties on
    both sides and nothing else. Intervals: bootstrap over queries, t chosen anew in each draw.

    Reference: Golbus, Zitouni, Kim, Hassan and Diaz (WWW 2014), section 5.2.2, Figs. 6 to 10.
    """
    told, judged = Preferences.of(preferences), Judgments.of(labels)
    resampling = Resampling(level, draws, seed)
    if strong_from is not None and not 0 <= strong_from < math.inf:
        raise BadInput.at("strong_from", expected="a strength of 0 or more", found=str(strong_from))
    _check(tie_shares, conditions, context)
    wanted = as_measures(measures)
    by, notes = asked_by(told, judged, wanted, by)
    signs, said = _both_preferences(told, by, how, strong_from)
    notes = [*said, *notes]
    variants = [
        (str(measure), a, made)
        for measure in wanted
        for a, made in in_contexts(measure, dict.fromkeys([*CONTEXTS, context]), judged)
    ]
    every = list(dict.fromkeys(made for _, _, made in variants))
    pairs, apart, _, lost = differences(signs, judged, runs, every, shown_depth(told, depth))
    kinds = [name for name in pairs.columns if name in ("weak", "strong")]
    sides = Sides.of(pairs, kinds)
    if not judged.has("context"):
        notes.append(NO_CONTEXT)
    shares = {name: share if share is not None else math.nan for name, share in conditions.items()}
    rows: list[dict[str, Any]] = []
    for name, a, made in variants:
        row = {"measure": name, "context": a}
        asked: list[tuple[dict[str, Any], float]] = []
        if a == context or math.isnan(a):
            asked += [({"curve": "ties", "condition": "-", **row}, share) for share in tie_shares]
        if a in CONTEXTS or math.isnan(a):
            asked += [({"curve": "context", "condition": under, **row}, share) for under, share in shares.items()]
        rows += _rows(asked, apart[:, every.index(made)], sides, resampling)
    frame = pl.DataFrame(rows, infer_schema_length=None).sort(
        pl.col("curve") != "ties",
        pl.col("condition").replace_strict({name: n for n, name in enumerate(conditions)}, default=-1),
        pl.col("measure").replace_strict({str(measure): n for n, measure in enumerate(wanted)}),
        pl.col("preference") != "weak",
        "context",
        "asked",
        maintain_order=True,
    )
    for kind in kinds:
        tied = int((pairs[kind] == 0).sum())
        notes.append(f"users tie on {tied / pairs.height:.0%} of the pairs ({kind} preference)")
    if sides.number < FEWEST and draws:
        notes.append(f"no intervals for fewer than {FEWEST} queries")
    shown = ("curve", "condition", "measure", "context", "preference", "ties", "jaccard", "kappa", "n")
    return Result(frame, _finding(frame, level), (*notes, *lost), columns=shown)


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


def _rows(
    asked: list[tuple[dict[str, Any], float]], apart: Floats, sides: Sides, resampling: Resampling
) -> Iterator[dict[str, Any]]:
    """The rows of one measure: figures of the pairs as they are, and the ends of their intervals over the draws."""
    own = (sides.sign == 0).mean(axis=0)
    # A condition as users' own has a share of ties for each kind of preference; the others have one for all.
    shares = sorted({*(share for _, share in asked if not math.isnan(share)), *own.tolist()})
    parts = [sign_tables(apart, sides.sign, shares, times) for times in sides.drawn(resampling)]
    reach, tables = parts[0][1], np.concatenate([tables for tables, _ in parts], axis=2)
    figures = {"jaccard": jaccard_of_signs(tables), "kappa": cohen_kappa(tables)}
    for (about, share), (kind, preference) in product(asked, enumerate(sides.kinds)):
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
            low = high = math.nan
            if not np.isnan(value) and np.isfinite(drawn).sum() >= FEWEST_DRAWS:
                low, high = resampling.ends(drawn, sides.number, undefined=1.0)
            row |= {name: float(value), f"{name}_low": low, f"{name}_high": high}
        yield row | {"n": len(apart)}


def _both_preferences(
    told: Preferences, by: str, how: str, strong_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """The pairs with what users prefer, weakly and, where strengths are given, strongly."""
    weak = preferred(told, by=by, how=how)
    key = [name for name in ("query", "subtopic", "a", "b") if name in weak.frame.columns]
    pairs, notes = weak.frame.select(*key, pl.col("sign").alias("weak")), list(weak.notes)
    if strong_from is None:
        given = told.frame.filter(pl.col("choice").is_in(["left", "right"]))
        if told.has("trap"):
            given = given.filter(~pl.col("trap").fill_null(False))
        known = given["strength"].unique().sort() if told.has("strength") else pl.Series([None])
        if len(known) < 2 or known.null_count():
            notes.append("no strong preferences: the answers do not have two strengths")
            return pairs, notes
        strong_from = float(known[1])
    strong = preferred(told, by=by, how=how, at_least=strong_from)
    notes += [note for note in strong.notes if note not in notes]
    joined = strong.frame.select(*key, pl.col("sign").alias("strong"))
    return pairs.join(joined, on=key, nulls_equal=True, maintain_order="left"), notes


def _check(tie_shares: Sequence[float], conditions: Mapping[str, float | None], context: float) -> None:
    if not tie_shares and not conditions:
        raise BadInput.at("tie_shares and conditions", expected="a share of ties in one of them", found="none")
    shares = [share for share in conditions.values() if share is not None]
    given = {"context": [context], "tie_shares": tie_shares, "conditions": shares}
    for name, value in ((name, value) for name, values in given.items() for value in values):
        if not 0 <= value <= 1:
            raise BadInput.at(name, expected="shares from 0 to 1", found=f"{value:g}")


def _finding(frame: pl.DataFrame, level: float) -> str:
    weak = frame.filter(pl.col("preference") == "weak")
    in_context = weak.filter((pl.col("curve") == "context") & pl.col("context").is_not_nan())
    looks = (in_context, weak.filter(pl.col("curve") == "ties"), weak)
    rows = next((rows for rows in looks if rows.height), frame)
    known = rows.filter(pl.col("kappa").is_not_nan())
    if not known.height:
        return "Whether a measure agrees with users beyond chance cannot be told: nothing varies."
    best = known.sort("kappa", descending=True, maintain_order=True).row(0, named=True)
    said = f"kappa {best['kappa']:.2f}{interval_said(best['kappa_low'], best['kappa_high'], level)}"
    weight = "" if math.isnan(best["context"]) else f" with context weight {best['context']:g}"
    if best["kappa"] < 0.005 or best["kappa_low"] <= 0:
        return (
            f"No measure is shown to agree with users' {best['preference']} preferences beyond chance; the nearest of "
            f"{count(known.height, 'look')} is {best['measure']}{weight}: {said} over {count(best['n'], 'pair')}."
        )
    return (
        f"{best['measure']}{weight} agrees best with users' {best['preference']} preferences when it ties on "
        f"{best['ties']:.0%} of the pairs: {said} over {count(best['n'], 'pair')}; the best of "
        f"{count(known.height, 'look')}, so less on new queries."
    )
