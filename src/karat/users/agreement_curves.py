"""How agreement with users moves with the share of ties a measure may report and with the weight of context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.measures import as_measures
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.number_format import interval_said
from karat.records.result import Panels
from karat.records.runs import joined
from karat.records.table import count
from karat.stats.agreement_coefficients import cohen_kappa, raw_agreement
from karat.stats.arrays import Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.users.measure_variants import CONTEXTS, NO_CONTEXT, differences, in_contexts
from karat.users.pair_scores import asked_by, shown_depth
from karat.users.sign_agreement import GIVEN, HeldOut, best_for_both, jaccard_of_signs, labels_by_source, sign_tables
from karat.users.votes import preferred

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


#: The figures, and what stands along the panels of each kind of curve.
FIGURES = {"jaccard": "Jaccard coefficient", "kappa": "Cohen's kappa"}
ALONG = {"ties": ("asked", "share of ties"), "context": ("context", "weight of context")}


def panels_of(frame: pl.DataFrame, columns: tuple[str, ...]) -> dict[str, Result]:
    """A figure for the curve along shares of ties, and one along context weights for each condition, by its title.

    Of several sources of labels each has figures of its own. The dashed lines are where curves begin: the fewest ties
    that there can be, or no weight of context.
    """
    found: dict[str, Result] = {}
    several = frame["source"].n_unique() > 1
    keys = ["curve", "condition", "source"]
    for key, rows in frame.group_by(keys, maintain_order=True):
        curve, condition, source = (str(part) for part in key)
        x, x_title = ALONG[curve]
        rows = rows.filter(pl.col(x).is_not_nan())
        if rows[x].n_unique() < 2:
            continue
        where = "Ties" if curve == "ties" else f"Context, {condition}"
        title = f"{where}, {source}" if several else where
        drawn = Panels(_long(rows, x), x, "measure", x_title, _how(curve, condition, source, rows))
        found[title] = Result(rows, _said(rows, curve, condition, source), columns=columns, drawing=drawn)
    return found


def _long(rows: pl.DataFrame, x: str) -> pl.DataFrame:
    """A row for each point of each panel."""
    parts = [
        rows.select(
            x,
            "measure",
            "n",
            down=pl.col("preference") + " preference",
            across=pl.lit(title),
            value=name,
            low=f"{name}_low",
            high=f"{name}_high",
        )
        for name, title in FIGURES.items()
    ]
    series = ["down", "across", "measure"]
    return pl.concat(parts).with_columns(reference=pl.col("value").sort_by(x).first().over(series))


def _said(rows: pl.DataFrame, curve: str, condition: str, source: str) -> str:
    """The finding of one figure: where the highest kappa is, and what the curve begins with."""
    with_labels = "" if source == GIVEN else f", with labels {'judged only' if source == 'judged' else source}"
    under = "" if curve == "ties" else f", ties as in {condition}"
    weak = rows.filter((pl.col("preference") == "weak") & pl.col("kappa").is_not_nan())
    known = weak if weak.height else rows.filter(pl.col("kappa").is_not_nan())
    if not known.height:
        return f"Nothing varies{under}{with_labels}."
    best: dict[str, Any] = known.sort("kappa", descending=True, maintain_order=True).row(0, named=True)
    at = f"{best['ties']:.0%} ties" if curve == "ties" else f"context weight {best['context']:g}"
    return (
        f"{best['measure']} has the highest kappa with {best['preference']} preferences, {best['kappa']:.2f} with {at}"
        f"{under}{with_labels}."
    )


def _how(curve: str, condition: str, source: str, rows: pl.DataFrame) -> str:
    along = {"ties": "Fig. 6", "weak": "Fig. 7", "strong": "Fig. 8", "both": "Fig. 9"}
    figure = along.get("ties" if curve == "ties" else condition)
    if source == "backed off":
        figure = "Fig. 10" if condition == "both" and curve != "ties" else None
    paper = f" (as Golbus et al. 2014, {figure})" if figure and source in ("predicted", "backed off") else ""
    return (
        f"Agreement of signs over {count(rows['n'][0], 'pair')} with intervals over queries; dashed: where the curve "
        f"begins{paper}"
    )


#: The share of pairs on which a measure should report a tie, by name: a number, or as many as users' `weak` or `strong`
#: preferences do, or what serves `both` best on held-out queries. None: as many as the preference it is compared with.
Share = float | str | None
#: The paper's procedure, and what it came to there.
CONDITIONS: dict[str, Share] = {"weak": "weak", "strong": "strong", "both": "both"}
PAPER: dict[str, Share] = {"weak": 0.09, "strong": 0.77, "both": 0.25}
#: The paper's measures; its DCG has the gain 2^grade - 1 (equation 2).
MEASURES = ("CG@5", "DCG(gains='exp')@5", "ERR@5", "CCG@5")
TIE_SHARES = tuple(round(0.05 * step, 2) for step in range(20))


def preference_curves(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = MEASURES,
    *,
    tie_shares: Sequence[float] = TIE_SHARES,
    conditions: Mapping[str, Share] = CONDITIONS,
    context: float = 0.5,
    sources: Sequence[str] = (),
    model: str = "grades",
    documents: Any = None,
    strong_from: float | None = None,
    by: str | None = None,
    how: str = "mode",
    depth: int | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> PreferenceCurves:
    """Jaccard and Cohen's kappa of measures with weak and strong preferences, along tie shares and context weights.

    A measure says 1, -1 or 0 (a tie) of two systems for a query: a tie where its difference is at most t, with
    which the share of ties comes nearest to the one `asked` for (`ties`: pairs with the same difference tie together).
    Users say the same by the most frequent answer (`how="mode"`, or "votes"), weak (any preference) and strong (of the
    strength `strong_from` at least; by default the slightest are ties). Rows of the curve `ties` go along `tie_shares`,
    with the context weight `context`; those of the curve `context` go along weights from 0 to 1 under each of the
    `conditions`, shares of ties by name: a number, "weak" or "strong" for as many as users' preferences of that kind
    have, None for as many as those that it is compared with, or "both" for the share that maximises the sum of both
    kappas, one for all measures, chosen with the weight `context` on four fifths of the queries and applied to the
    last, each fifth in turn. A measure that takes no context weight has one row there, and so have all when no label
    was given in context. `by` and `depth` are those of `agreement`.

    `sources` makes where labels in context come from a factor: "judged", "backed off" (the paper's Fig. 10) and
    "predicted" (its Figs. 6 to 9; by `model`, for which `documents` help, as `label_in_context` says) are the best that
    may stand in for a judge. `between_sources` then has their differences in kappa, with the weight `context`.

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
    lists, seen = joined(runs), shown_depth(told, depth)
    deepest = max((one.cutoff or seen for one in wanted), default=seen)
    made_labels, made_notes = labels_by_source(
        judged, lists, sources, depth=max(min(deepest, seen), 2), model=model, documents=documents, seed=seed
    )
    notes += made_notes
    variants = [
        (str(measure), a, made)
        for measure in wanted
        for a, made in in_contexts(measure, dict.fromkeys([*CONTEXTS, context]), judged)
    ]
    every = list(dict.fromkeys(made for _, _, made in variants))
    scored = {name: differences(signs, labels, lists, every, seen) for name, labels in made_labels.items()}
    pairs, _, _, lost = next(iter(scored.values()))
    key = [name for name in ("query", "subtopic", "a", "b") if name in pairs.columns]
    if any(not other[key].equals(pairs[key]) for other, *_ in scored.values()):
        raise BadInput("the pairs that can be scored differ from one source of labels to another")
    kinds = [name for name in pairs.columns if name in ("weak", "strong")]
    sides = Sides.of(pairs, kinds)
    if not judged.has("context"):
        notes.append(NO_CONTEXT)
    middle = [every.index(made) for _, a, made in variants if a == context or math.isnan(a)]
    rows: list[dict[str, Any]] = []
    drawn: dict[tuple[str, ...], Floats] = {}
    # One share of ties serves all measures and sources: what they are compared by must not differ.
    looks = np.column_stack([apart[:, middle] for _, apart, *_ in scored.values()])
    shares, left_out = _shares(conditions, sides, looks, tie_shares or TIE_SHARES, seed)
    notes += left_out
    for source, (_, apart, *_) in scored.items():
        for name, a, made in variants:
            row = {"source": source, "measure": name, "context": a}
            asked: list[tuple[dict[str, Any], float | HeldOut]] = []
            if a == context or math.isnan(a):
                asked += [({"curve": "ties", "condition": "-", **row}, share) for share in tie_shares]
            if a in CONTEXTS or math.isnan(a):
                asked += [({"curve": "context", "condition": under, **row}, share) for under, share in shares.items()]
            kept = drawn if a == context else None
            rows += points(asked, apart[:, every.index(made)], sides, resampling, kept)
    frame = pl.DataFrame(rows, infer_schema_length=None).sort(
        pl.col("curve") != "ties",
        pl.col("source").replace_strict({name: n for n, name in enumerate(scored)}),
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
    shown: tuple[str, ...] = ("curve", "condition", "measure", "context", "preference", "ties", "jaccard", "kappa", "n")
    shown = shown if len(scored) == 1 else ("source", *shown)
    between = between_sources(drawn, list(scored), context, sides, resampling)
    finding = _finding(frame, level) + _between_said(between, level)
    first = next((chart.drawing for chart in panels_of(frame, shown).values()), None)
    return PreferenceCurves(
        frame, finding, tuple(dict.fromkeys([*notes, *lost])), columns=shown, between_sources=between, drawing=first
    )


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceCurves(Result):
    """Curves of agreement, a row for each point, and what two sources of labels differ by."""

    #: For every two sources: the second's kappa less the first's, with its interval over queries.
    between_sources: pl.DataFrame = field(default_factory=pl.DataFrame, kw_only=True)

    @cached_property
    def charts(self) -> dict[str, Result]:
        """The figures, by title: along shares of ties, then along context weights under each condition."""
        return panels_of(self.frame, self.columns)


def _shares(
    conditions: Mapping[str, Share], sides: Sides, apart: Floats, grid: Sequence[float], seed: int
) -> tuple[dict[str, float | HeldOut], list[str]]:
    """The share of ties under each condition, NaN for as many as each kind of preference has; and what cannot be."""
    own = dict(zip(sides.kinds, (sides.sign == 0).mean(axis=0).tolist(), strict=True))
    found: dict[str, float | HeldOut] = {}
    notes = []
    for name, share in conditions.items():
        if share is None or isinstance(share, float | int):
            found[name] = math.nan if share is None else float(share)
        elif share in own:
            found[name] = own[share]
        elif share == "both" and len(own) == 2:
            best = best_for_both(apart, sides.sign, sides.query, grid, seed=seed)
            if best is not None:
                found[name] = best
                parts = ", ".join(f"{100 * one:.0f} %" for one in best.share)
                notes.append(
                    f"{name}: measures tie on {100 * best.mean:.0f} % of the pairs, by which they agree best with weak "
                    f"and strong preferences of other queries ({parts} in {count(len(best.share), 'part')}; in the "
                    "paper 25 %)"
                )
        if name not in found:
            notes.append(f"the condition {name} is left out: there are no {'two queries' if share in own else share}")
    return found, notes


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


def _check(tie_shares: Sequence[float], conditions: Mapping[str, Share], context: float) -> None:
    if not tie_shares and not conditions:
        raise BadInput.at("tie_shares and conditions", expected="a share of ties in one of them", found="none")
    words = [share for share in conditions.values() if isinstance(share, str)]
    if unknown := {*words} - {*CONDITIONS}:
        raise BadInput.at("conditions", expected=f"a share or {', '.join(CONDITIONS)}", found=", ".join(unknown))
    shares = [share for share in conditions.values() if share is not None and not isinstance(share, str)]
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


def _between_said(between: pl.DataFrame, level: float) -> str:
    """What the best two sources of labels differ by, where there are several: over all measures that is sure of."""
    if not between.height:
        return ""
    known = between.filter(pl.col("low").is_not_nan())
    if not known.height:
        return ""
    beyond = pl.max_horizontal("low", -pl.col("high"))  # how far the interval is from 0, below 0 where it holds it
    best = known.sort(beyond, descending=True, maintain_order=True).row(0, named=True)
    ends = interval_said(best["low"], best["high"], level)
    if best["low"] <= 0 <= best["high"]:
        return f" No two sources of labels are shown to differ, in {count(between.height, 'look')}."
    return (
        f" Between sources of labels the clearest of {count(between.height, 'difference')}: {best['second']} instead "
        f"of {best['first']} changes the kappa of {best['measure']} with {best['preference']} preferences (ties as in "
        f"{best['condition']}) by {best['difference']:+.2f}{ends}."
    )
