"""How agreement with users moves with the share of ties a measure may report and with the weight of context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.measures import as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.base import count
from karat.stats.bootstrap import FEWEST, Resampling, resampled
from karat.stats.kappas import cohen_kappa, raw_agreement
from karat.validity.asked import asked_by, shown_depth
from karat.validity.sign_tables import jaccard_of_signs, sign_tables
from karat.validity.variants import differences, takes, varied
from karat.validity.votes import preferred

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The share of pairs on which a measure should report a tie: as few as users' weak preferences, as many as their strong
#: ones, and what serves both at once. None: as many as these users do.
CONDITIONS: dict[str, float | None] = {"weak": 0.09, "strong": 0.77, "both": 0.25}
CONTEXTS = tuple(round(0.1 * step, 1) for step in range(11))
TIE_SHARES = tuple(round(0.05 * step, 2) for step in range(20))
#: Draws x pairs to hold at once.
AT_ONCE = 500_000


def preference_curves(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = ("CG@5", "DCG@5", "ERR@5", "CCG@5"),
    *,
    contexts: Sequence[float] = CONTEXTS,
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
    which the share of ties comes nearest to the wanted one: pairs with the same difference tie together, so `ties`, the
    share attained, is not always the one `asked` for. Users say the same by the most frequent answer (`how="mode"`, or
    "votes"), weak (any preference) and strong (a preference below the strength `strong_from` is a tie; by default
    the second least strength that was given, so that the slightest are ties). Rows of the curve `ties` go along
    `tie_shares`, with the context weight `context`; those of the curve `context` go along `contexts` under each of the
    `conditions`, shares of ties by name. A measure that takes no context weight has one row there, and so have
    all when no label was given in context. `by` and `depth` are those of `agreement`.

    `jaccard` is that of two sets of statements "this pair: this sign", agreeing / (2 n - agreeing), ties included;
    `kappa` allows for what two such sides agree on by chance. A large jaccard with a kappa near 0 means ties on
    both sides and nothing else. Intervals: bootstrap over queries, t chosen anew in each draw.

    Reference: Golbus, Zitouni, Kim, Hassan and Diaz (WWW 2014), section 5.2.2, Figs. 6 to 10.
    """
    told, judged = Preferences.of(preferences), Judgments.of(labels)
    Resampling(level, draws, seed)
    if strong_from is not None and not 0 <= strong_from < math.inf:
        raise BadInput.at("strong_from", expected="a strength of 0 or more", found=str(strong_from))
    _check(contexts, tie_shares, conditions, context)
    wanted = as_measures(measures)
    by, notes = asked_by(told, judged, wanted, by)
    signs, said = _both_preferences(told, by, how, strong_from)
    notes = [*said, *notes]
    variants = {
        measure: [(a, varied(measure, {"context": a})) for a in dict.fromkeys([*contexts, context])]
        if takes(measure, "context") and judged.has("context")
        else [(math.nan, measure)]
        for measure in wanted
    }
    every = list(dict.fromkeys(made for several in variants.values() for _, made in several))
    pairs, apart, lost = differences(signs, judged, runs, every, shown_depth(told, depth))
    kinds = [name for name in pairs.columns if name in ("weak", "strong")]
    sides = Sides.of(pairs, kinds)
    if not judged.has("context"):
        notes.append("no label is given the document above: a context weight would change nothing")
    shares = {name: share if share is not None else math.nan for name, share in conditions.items()}
    asked: list[tuple[dict[str, Any], int, float]] = []
    for measure, several in variants.items():
        for a, made in several:
            place, row = every.index(made), {"measure": str(measure), "context": a}
            if a == context or math.isnan(a):
                asked += [({"curve": "ties", "condition": "-", **row}, place, share) for share in tie_shares]
            if a in contexts or math.isnan(a):
                asked += [({"curve": "context", "condition": name, **row}, place, s) for name, s in shares.items()]
    rows: list[dict[str, Any]] = []
    for place in dict.fromkeys(place for _, place, _ in asked):
        mine = [(row, share) for row, column, share in asked if column == place]
        rows += _rows(mine, apart[:, place], sides, level, draws, seed)
    order = {str(measure): number for number, measure in enumerate(wanted)}
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.sort(
        pl.col("curve") != "ties",
        pl.col("condition").replace_strict({name: n for n, name in enumerate(conditions)}, default=-1),
        pl.col("measure").replace_strict(order),
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

    def drawn(self, draws: int, seed: int) -> Iterator[Floats]:
        """How often each pair counts, draw by draw: first once each, then queries drawn with replacement."""
        yield np.ones((1, len(self.query)))
        if self.number < FEWEST or not draws:
            return
        at_once = max(1, AT_ONCE // len(self.query))
        for times in resampled(self.number, draws, seed):
            for start in range(0, len(times), at_once):
                yield times[start : start + at_once, self.query].astype(np.float64)


def _rows(
    asked: list[tuple[dict[str, Any], float]], apart: Floats, sides: Sides, level: float, draws: int, seed: int
) -> Iterator[dict[str, Any]]:
    """The rows of one measure: figures of the pairs as they are, and the ends of their intervals over the draws."""
    own = (sides.sign == 0).mean(axis=0)
    # A condition as users' own has a share of ties for each kind of preference; the others have one for all.
    shares = sorted({*(share for _, share in asked if not math.isnan(share)), *own.tolist()})
    figures: dict[tuple[int, int], list[Floats]] = {}
    seen: dict[tuple[int, int], tuple[Floats, float]] = {}
    for times in sides.drawn(draws, seed):
        tables, reach = sign_tables(apart, sides.sign, shares, times)
        for place, (_, share) in enumerate(asked):
            for kind in range(len(sides.kinds)):
                row = shares.index(float(own[kind]) if math.isnan(share) else share)
                mine = tables[row, kind]
                figures.setdefault((place, kind), []).append(np.stack([jaccard_of_signs(mine), cohen_kappa(mine)]))
                seen.setdefault((place, kind), (mine[0], float(reach[row, 0])))
    resampling = Resampling(level, draws, seed)
    for (place, kind), parts in figures.items():
        about, share = asked[place]
        values = np.concatenate(parts, axis=1)
        table, t = seen[place, kind]
        ends = [_ends(values[figure], sides.number, resampling) for figure in range(2)]
        yield {
            **about,
            "preference": sides.kinds[kind],
            "asked": float(own[kind]) if math.isnan(share) else share,
            "threshold": t,
            "ties": float(table[1].sum() / table.sum()),
            "agreement": float(raw_agreement(table)),
            "jaccard": float(values[0, 0]),
            "jaccard_low": ends[0][0],
            "jaccard_high": ends[0][1],
            "kappa": float(values[1, 0]),
            "kappa_low": ends[1][0],
            "kappa_high": ends[1][1],
            "n": len(apart),
        }


def _ends(values: Floats, number: int, resampling: Resampling) -> tuple[float, float]:
    """The interval of a figure, from its value and then the draws'; none of a handful of draws."""
    if np.isnan(values[0]) or np.isfinite(values[1:]).sum() < 50:
        return math.nan, math.nan
    return resampling.ends(values[1:], number, undefined=1.0)


def _both_preferences(
    told: Preferences, by: str, how: str, strong_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """The pairs with what users prefer, weakly and, where strengths are given, strongly."""
    weak = preferred(told, by=by, how=how)
    key = [name for name in ("query", "subtopic", "a", "b") if name in weak.frame.columns]
    pairs, notes = weak.frame.select(*key, pl.col("sign").alias("weak")), list(weak.notes)
    if strong_from is None:
        given = told.frame.filter(pl.col("choice").is_in(["left", "right"]))
        if "trap" in given.columns:
            given = given.filter(~pl.col("trap").fill_null(False))
        known = given["strength"].drop_nulls().unique().sort() if "strength" in given.columns else pl.Series([])
        if len(known) < 2 or given["strength"].null_count():
            notes.append("no strong preferences: the answers do not have two strengths")
            return pairs, notes
        strong_from = float(known[1])
    strong = preferred(told, by=by, how=how, at_least=strong_from)
    notes += [note for note in strong.notes if note not in notes]
    joined = strong.frame.select(*key, pl.col("sign").alias("strong"))
    return pairs.join(joined, on=key, nulls_equal=True, maintain_order="left"), notes


def _check(
    contexts: Sequence[float], tie_shares: Sequence[float], conditions: Mapping[str, float | None], context: float
) -> None:
    if not tie_shares and not conditions:
        raise BadInput.at("tie_shares and conditions", expected="a share of ties in one of them", found="none")
    if not contexts:
        raise BadInput.at("contexts", expected="at least one weight", found="none")
    for name, values in (
        ("contexts", [*contexts, context]),
        ("tie_shares", tie_shares),
        ("conditions", [share for share in conditions.values() if share is not None]),
    ):
        wrong = [value for value in values if not 0 <= value <= 1]
        if wrong:
            raise BadInput.at(name, expected="shares from 0 to 1", found=f"{wrong[0]:g}")


def _finding(frame: pl.DataFrame, level: float) -> str:
    weak = frame.filter(pl.col("preference") == "weak")
    in_context = weak.filter((pl.col("curve") == "context") & pl.col("context").is_not_nan())
    looks = (in_context, weak.filter(pl.col("curve") == "ties"), weak)
    rows = next((rows for rows in looks if rows.height), frame)
    known = rows.filter(pl.col("kappa").is_not_nan())
    if not known.height:
        return "Whether a measure agrees with users beyond chance cannot be told: nothing varies."
    best = known.sort("kappa", descending=True, maintain_order=True).row(0, named=True)
    said = f"kappa {best['kappa']:.2f}"
    if not math.isnan(best["kappa_low"]):
        said += f" ({level * 100:g} % interval {best['kappa_low']:.2f} to {best['kappa_high']:.2f})"
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
