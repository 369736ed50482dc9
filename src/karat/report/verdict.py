"""Which system is better? The verdict, naive beside corrected, and where the labels come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from karat.compare import Comparison
from karat.compare import compare as compared
from karat.compare.comparison import IN_WORDS
from karat.errors import KaratError, Undefined
from karat.estimate import score
from karat.records import Runs
from karat.report import charts
from karat.report.evidence import Evidence, Truth
from karat.report.figure import Figure
from karat.report.section import Section, Table

#: The methods in the order in which they are drawn; the last one assumes what no study has, and stays in the table.
DRAWN = ("plain", "inversion", "ppi")


def comparison(evidence: Evidence, measure: str | None, group: str | None, draws: int, seed: int) -> Comparison:
    """The comparison of the study's systems: of two the better one is B, of more the best is first."""
    if len(evidence.systems) < 2:
        found = "one system" if evidence.systems else "no runs"
        raise Undefined(f"there is {found}, and a comparison takes two")
    labels = evidence.of_group(group)
    if not len(labels):
        raise Undefined("there are no labels to score the systems with")
    name = measure or ("nDCG@10" if evidence.gold is None else "P@10")
    runs = list(evidence.runs)
    means = score(runs, labels, name, draws=0).best_first()
    order = means if len(means) > 2 else means[::-1]
    one_each = [run for runs_of in runs for run in _each(runs_of)]
    one_each.sort(key=lambda run: order.index(run.systems[0]))
    return compared(one_each, labels, name, gold=evidence.gold, draws=max(draws, 100), seed=seed)


def _each(runs: Runs) -> list[Runs]:
    """A run for each system."""
    return [Runs(runs.frame.filter(pl.col("system") == name), runs.notes) for name in runs.systems]


def verdict_section(found: Comparison, evidence: Evidence, group: str | None, draws: int, seed: int) -> Section:
    """The verdict with its interval, and what the labels taken as they are would have said."""
    said = [text for text in (naive_against_corrected(found),) if text]
    truth = _truth_of(found, evidence.truth)
    if truth is not None:
        said.append(truth_found(found, truth))
    figures = [_methods_figure(found, evidence.truth)] if found.methods.height else []
    notes = found.notes
    if len(evidence.groups) > 1:
        try:
            figures.append(_by_group(found, evidence, truth, draws, seed))
        except KaratError as error:
            notes = (*notes, f"no comparison by group: {error}")
    if found.by_query.height:
        figures.append(_by_query(found))
    tables = [Table("Every pair of systems, b less a, by the method that decides", found.pairs, True)]
    tables.append(Table("What each method says", found.methods, True))
    if found.judge is not None:
        tables.append(Table("The judge's error: gain by label less gain by gold label", found.judge, True))
    if found.tests is not None:
        tables.append(Table("Other tests of the same difference", found.tests, True))
    said = said or [found.sentence()]
    return Section("verdict", "Which is better?", tuple(said), tuple(figures), tuple(tables), notes)


def in_a_few_words(found: Comparison) -> str:
    """The verdict as a title."""
    if found.verdict == "cannot say":
        return f"Cannot say which is better by {found.measure}"
    return found.headline().rstrip(":")


def naive_against_corrected(found: Comparison) -> str:
    """What the labels as they are would have said, where gold labels say otherwise; empty where both agree.

    Only the first pair of systems is told: the chart has the rest.
    """
    if found.method == "plain":
        return (
            "The labels are taken as they are: errors of the judges may move this. With gold labels of some documents "
            "the verdict would hold in spite of them."
        )
    rows = {row["method"]: row for row in found.methods.iter_rows(named=True) if row["system_b"] == found.systems[1]}
    plain, chosen = rows.get("plain"), rows.get(found.method)
    if plain is None or chosen is None:
        return ""
    a, b = found.systems[:2]
    told = {name: _direction(row) for name, row in (("plain", plain), ("chosen", chosen))}
    ends = f"{plain['difference']:+.3f}, {found.level * 100:g} % interval {plain['low']:+.3f} to {plain['high']:+.3f}"
    if told["plain"] == told["chosen"]:
        return f"Taken as they are, the labels say the same of {b} and {a} ({ends})."
    words = {
        1: f"{b} is better than {a}",
        -1: f"{b} is worse than {a}",
        0: f"no difference between {b} and {a} is shown",
    }
    return (
        f"Taken as they are, the labels would say that {words[told['plain']]} ({ends}); "
        f"with gold labels, {words[told['chosen']]}."
    )


def truth_found(found: Comparison, truth: float) -> str:
    """Whether the planted truth lies in each interval, in words."""
    a, b = found.systems[:2]
    said = f"This study is simulated in part: the true difference of {b} less {a} is {truth:+.3f}."
    for row in found.methods.filter(pl.col("system_b") == b).iter_rows(named=True):
        if row["method"] not in ("plain", found.method) or math.isnan(row["low"]):
            continue
        inside = row["low"] <= truth <= row["high"]
        who = "labels as they are" if row["method"] == "plain" else "corrected labels"
        said += (
            f" The interval of the {who}, {row['low']:+.3f} to {row['high']:+.3f}, "
            f"{'holds' if inside else 'misses'} it."
        )
    return said


def _truth_of(found: Comparison, truth: Truth | None, b: str | None = None) -> float | None:
    """The planted difference of a system (the second) less the first, where the truth is known for this measure."""
    return None if truth is None else truth.difference(found.measure, found.systems[0], b or found.systems[1])


def _direction(row: dict[str, float]) -> int:
    return 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0


def _methods_figure(found: Comparison, truth: Truth | None) -> Figure:
    a = found.systems[0]
    frame = found.methods.filter(pl.col("method").is_in(DRAWN)).with_columns(
        pair=pl.col("system_b") + f" less {a}",
        labels=pl.col("method").replace_strict(IN_WORDS, return_dtype=pl.String),
        look_at=pl.col("method") == found.method,
    )
    order = {name: place for place, name in enumerate(found.systems)}
    frame = frame.sort(
        pl.col("system_b").replace_strict(order), pl.col("method").replace_strict({m: i for i, m in enumerate(DRAWN)})
    )
    short = {"plain": "as they are", "ppi": "with gold labels", "inversion": "confusion matrix"}
    frame = frame.with_columns(
        row=pl.col("pair") + ", " + pl.col("method").replace_strict(short, return_dtype=pl.String)
    )
    shown = frame.select("row", "pair", "labels", "difference", "low", "high", "p", "n_queries", "n_gold", "look_at")
    planted = [_truth_of(found, truth, b) for b in frame["system_b"].to_list()]
    if any(value is not None for value in planted):
        shown = shown.with_columns(truth=pl.Series(planted, dtype=pl.Float64))
    how = f"Differences in {found.measure} with {found.level * 100:g} % intervals over {frame['n_queries'][0]} queries"
    how += f"; gold: what decides ({IN_WORDS[found.method]}). "
    if "truth" in shown.columns:
        how += "Diamonds: the planted truth."
    return Figure(
        "naive-and-corrected",
        in_a_few_words(found),
        how.strip(),
        charts.dots(
            shown,
            row="row",
            value="difference",
            x_title=f"difference in {found.measure}",
            look_at="look_at",
            line=0.0,
            truth="truth" if "truth" in shown.columns else None,
        ),
        shown.drop("row", "look_at"),
    )


def _by_group(found: Comparison, evidence: Evidence, truth: float | None, draws: int, seed: int) -> Figure:
    """What the labels of each group say of the first two systems, as they are and corrected."""
    a, b = found.systems[:2]
    pair = [run for runs in evidence.runs for run in _each(runs) if run.systems[0] in (a, b)]
    pair.sort(key=lambda run: run.systems[0] != a)
    rows = []
    for group in [*evidence.groups]:
        try:
            mine = compared(pair, evidence.of_group(group), found.measure, gold=evidence.gold, draws=100, seed=seed)
        except KaratError:
            continue
        for row in mine.methods.iter_rows(named=True):
            if row["method"] in ("plain", "ppi") and not math.isnan(row["low"]):
                as_is = row["method"] == "plain"
                rows.append(
                    {
                        "row": f"{group}, {'as they are' if as_is else 'with gold labels'}",
                        "group": group,
                        "method": row["method"],
                        "difference": row["difference"],
                        "low": row["low"],
                        "high": row["high"],
                        "p": row["p"],
                        "n_queries": row["n_queries"],
                        "look_at": not as_is,
                    }
                )
    if not rows:
        raise Undefined("no group labelled what both systems show")
    frame = pl.DataFrame(rows)
    naive = {str(row["group"]): _direction(row) for row in rows if row["method"] == "plain"}
    if len({*naive.values()}) == 1:
        title = f"Taken as they are, the labels of all groups of judges say the same of {b} and {a}"
    else:
        sides = [
            f"{word} by the labels of {' and '.join(group for group, way in naive.items() if way == side)}"
            for side, word in ((1, f"{b} is better"), (-1, f"{a} is better"), (0, "no difference"))
            if side in naive.values()
        ]
        title = f"Whom you ask decides: {'; '.join(sides)}"
    how = f"{b} less {a} in {found.measure} by each group's labels, {found.level * 100:g} % intervals"
    how += "; gold: corrected with the gold labels." if evidence.gold is not None else "."
    if truth is not None:
        how += " Diamonds: the planted truth."
        frame = frame.with_columns(truth=pl.lit(truth))
    chart = charts.dots(
        frame,
        row="row",
        value="difference",
        x_title=f"difference in {found.measure}",
        look_at="look_at",
        line=0.0,
        truth=None if truth is None else "truth",
    )
    said = "" if truth is None else groups_and_truth(rows, truth)
    return Figure("by-group", title, how, chart, frame.drop("row", "look_at"), said)


def groups_and_truth(rows: Sequence[Mapping[str, Any]], truth: float) -> str:
    """Which groups' intervals miss the planted truth, as they are and corrected, in words.

    >>> ends = {"group": "llm", "low": 0.1, "high": 0.2}
    >>> groups_and_truth([{**ends, "method": "plain"}, {**ends, "method": "ppi", "low": -0.1}], 0.0)
    'The planted truth is +0.000. As they are, the labels of llm miss it. Corrected, the labels of all hold it.'
    """
    said = f"The planted truth is {truth:+.3f}."
    for method, word in (("plain", "As they are"), ("ppi", "Corrected")):
        mine = [row for row in rows if row["method"] == method]
        missing = [str(row["group"]) for row in mine if not row["low"] <= truth <= row["high"]]
        if mine:
            said += f" {word}, the labels of {' and '.join(missing) or 'all'} {'miss' if missing else 'hold'} it."
    return said


def _by_query(found: Comparison) -> Figure:
    a, b = found.systems[:2] if len(found.systems) == 2 else (found.systems[1], found.systems[0])
    frame = found.by_query.select("query", score=pl.col(b), score_against=pl.col(a), difference=pl.col(b) - pl.col(a))
    frame = frame.drop_nans("difference").sort("difference")
    wins, losses = int((frame["difference"] > 0).sum()), int((frame["difference"] < 0).sum())
    return Figure(
        "by-query",
        f"{b} wins {wins:,}, ties {frame.height - wins - losses:,}, loses {losses:,} queries against {a}",
        f"Difference in {found.measure} of each query by the labels as they are.",
        charts.differences(frame, name="query", value="difference", y_title=f"difference in {found.measure}"),
        frame,
    )
