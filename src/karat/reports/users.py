"""Do measures agree with users? Preferences side by side, clicks, and how alike measures rank systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from karat.errors import Undefined
from karat.measures import as_measures
from karat.records import ClickLog, Clicks, Judgments, Preferences
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Section, Table, headline, section_of
from karat.study import Study
from karat.users import (
    against_click_rates,
    agreement,
    measure_correlation,
    preference_curves,
    preference_work,
    rank_systems,
    reason_table,
)

#: Measures that are set beside users when none is asked for, and those of the paper's curves.
MEASURES = ("nDCG@10", "RR@10", "P@10", "ERR@10", "AP@10")
CURVES = ("CG@5", "DCG(gains='exp')@5", "ERR@5")
#: A rank correlation of measures over fewer systems says nothing.
FEWEST_SYSTEMS = 4
#: Of so many systems at most a curve is drawn.
MOST_SYSTEMS = 3


def users_section(study: Study, group: str | None, measures: Sequence[str], draws: int, seed: int) -> Section:
    """What users preferred and clicked beside what the measures say."""
    wanted = [str(measure) for measure in as_measures([*measures, *_others(measures)])]
    preferences, clicks, parts = study.preferences, study.clicks, dict[str, Callable[[], Section]]()
    why = "there are no preferences and no clicks"
    if preferences is not None and study.systems:
        named = {*preferences.frame["left"], *preferences.frame["right"]}
        if not named & {*study.systems}:  # as where an LLM was tried on pairs of documents or answers
            preferences = None
            why = f"preferences are between others ({', '.join(sorted(named)[:2])}, ...) than the systems of the runs"
    if preferences is not None:
        parts = {
            "agreement with preferences": lambda: _agreement(
                preferences, _labels(study, group), study, wanted, draws, seed
            ),
            "ranking by preferences": lambda: _ranking(preferences, draws, seed),
            "work of those who answered": lambda: _work(preferences, draws, seed),
            "reasons": lambda: _reasons(preferences),
            "curves of agreement": lambda: _curves(preferences, _in_context(study, group), study, draws, seed),
        }
    if clicks is not None:
        parts["measures and click rates"] = lambda: _rates(clicks, _in_context(study, group), study, draws, seed)
    if len(study.systems) >= FEWEST_SYSTEMS:
        parts["correlation of measures"] = lambda: _alike(study, _labels(study, group), wanted, seed)
    if parts and (preferences is not None or clicks is not None):
        return section_of(parts)
    try:
        alike = section_of(parts)
    except Undefined:
        raise Undefined(why) from None
    return replace(
        alike, said=("No preferences and no clicks are given: what users think of the measures is not known.",)
    )


def _others(measures: Sequence[str]) -> list[str]:
    """The usual measures that are not among these, whatever their cutoff: AP and AP@10 of lists of ten are the same.

    >>> _others(["nDCG@10", "AP", "RR", "P@10"])
    ['ERR@10']
    """
    known = {name.split("@")[0].split("(")[0] for name in measures}
    return [name for name in MEASURES if name.split("@")[0] not in known]


def _labels(study: Study, group: str | None) -> Judgments:
    if study.labels is None or not study.runs:
        raise Undefined("measures need labels and runs")
    return study.of_group(group)


def _in_context(study: Study, group: str | None) -> Judgments:
    """All labels where some were given in context, which the group's consensus would leave aside."""
    labels = _labels(study, group)
    return study.labels if study.labels is not None and study.labels.has("context") else labels


def _agreement(
    preferences: Preferences, labels: Judgments, study: Study, measures: list[str], draws: int, seed: int
) -> Section:
    result = agreement(preferences, labels, list(study.runs), measures, draws=draws, seed=seed)
    frame = result.frame.filter(pl.col("split") == "all")
    # By credit, half a point for a tie: shares leave ties out, and so flatter a measure that often has none to tell.
    rows = frame.rename({"agree_share": "share"}).sort("credit", descending=True)
    rows = rows.select("measure", "share", "low", "high", "credit", "agree", "equal", "disagree", "n", "p_adjusted")
    rows = rows.filter(pl.col("share").is_not_nan())
    if not rows.height:
        raise Undefined("every pair is a tie by every measure")
    rows = rows.with_columns(row=pl.format("{}, {} pairs", "measure", "n"), look_at=pl.col("p_adjusted") < 0.05)
    best = rows.row(0, named=True)
    humans = result.ceiling.head(1).rename({"agree_share": "share"}).drop("judges", "ties")
    judge = pl.format("one judge against the others, {} answers", "n")
    rows = pl.concat([rows, humans.with_columns(row=judge, look_at=False)], how="diagonal_relaxed")
    figure = Figure(
        "agreement-with-users",
        f"{best['measure']} agrees with users best, a tie counting half: right in {100 * best['share']:.0f} % of "
        f"the {best['n']:,} pairs it tells apart",
        "Share of pairs in which the measure prefers the system that users prefer, with 95 % intervals over queries; "
        "ties left out, best by credit (a tie counts half) first; gold: more than chance, allowing for the number of "
        "measures (Sanderson et al. 2010, Table 4). Last, the human ceiling: one judge against the majority of the "
        "others.",
        charts.dots(rows, value="share", x_title="share of pairs", line=0.5, percent=True),
        rows.drop("row", "look_at"),
    )
    columns = ["measure", "agree", "equal", "disagree", "ties", "n", "agree_share", "p", "p_adjusted"]
    tables = [Table("Agreement with users", frame.select([c for c in columns if c in frame.columns]), True)]
    if result.ceiling.height:
        tables.append(Table("One judge against the majority of the others", result.ceiling, True))
    if result.between_measures.height:
        tables.append(Table("Between measures, on the same pairs", result.between_measures, True))
    return Section((result.finding,), (figure,), tuple(tables), result.notes)


def _ranking(preferences: Preferences, draws: int, seed: int) -> Section:
    result = rank_systems(preferences, draws=draws, seed=seed)
    rows = result.frame.select("system", "strength", "low", "high", "preferred", "behind_p")
    rows = rows.with_columns(look_at=pl.int_range(pl.len()) == 0)
    figure = Figure(
        "users-rank-systems",
        headline(result.finding).split(":")[0],
        "Strength in Bradley and Terry's model with ties, 95 % intervals over queries; the mean is 0.",
        charts.dots(rows, row="system", value="strength", x_title="strength", line=0.0, places=2),
        rows.drop("look_at"),
    )
    return Section((result.finding,), (figure,), notes=result.notes)


def _work(preferences: Preferences, draws: int, seed: int) -> Section:
    """Who answered, who was left out, how long it took (Sanderson et al. 2010, section 3.4)."""
    if not preferences.has("judge"):
        raise Undefined("nobody has a name")
    result = preference_work(preferences, draws=draws, seed=seed)
    return Section((result.finding,), (), (Table("Those who answered", result.frame, True),), result.notes)


def _reasons(preferences: Preferences) -> Section:
    """Why users prefer a list (Sanderson et al. 2010, Table 10)."""
    if not preferences.has("reason"):
        raise Undefined("nobody said why")
    result = reason_table(preferences)
    table = Table("Reasons", result.frame.filter(pl.col("n") > 0).select(result.columns), True)
    return Section((result.finding,), (), (table,), result.notes)


def _curves(preferences: Preferences, labels: Judgments, study: Study, draws: int, seed: int) -> Section:
    measures = (*CURVES, "CCG@5") if labels.has("context") else CURVES
    # Labels in context that nobody gave are predicted, as for the paper's figures; of subtopics they cannot be.
    sources = ("predicted",) if labels.has("context") and not labels.has("subtopic") else ()
    result = preference_curves(
        preferences, labels, list(study.runs), measures, sources=sources, draws=min(draws, 200), seed=seed
    )
    figures = []
    for kind in result.frame["preference"].unique(maintain_order=True).to_list():
        mine = result.frame.filter(pl.col("preference") == kind)
        for curve, x, x_title, paper in (
            ("ties", "asked", "share of ties that the measure reports", "Fig. 6, kappa"),
            ("context", "context", "weight of context", "Fig. 9, kappa"),
        ):
            rows = mine.filter((pl.col("curve") == curve) & pl.col(x).is_not_nan())
            if curve == "context":
                under = "both" if "both" in rows["condition"] else "weak"
                rows, paper = rows.filter(pl.col("condition") == under), paper if under == "both" else "Fig. 7, kappa"
            rows = rows.rename({"kappa_low": "low", "kappa_high": "high"})
            rows = rows.select("measure", x, "kappa", "low", "high", "jaccard", "n")
            rows = rows.filter(pl.col("kappa").is_not_nan())
            if rows[x].n_unique() < 2:
                continue
            best = rows.sort("kappa").row(-1, named=True)
            title = (
                f"{best['measure']} reaches the highest kappa with users' {kind} preferences: {best['kappa']:.2f}, of "
                f"{rows.height:,} points drawn"
            )
            if (rows["low"] <= 0).all():
                title = (
                    f"No measure is shown to agree with users' {kind} preferences: kappa {best['kappa']:.2f} at best"
                )
            figures.append(
                Figure(
                    f"preferences-{kind}-by-{curve}",
                    title,
                    "Cohen's kappa of the measure's sign with users', bands: 95 % intervals over queries"
                    + (f" (as Golbus et al. 2014, {paper})." if sources else "."),
                    charts.lines(
                        rows, x=x, value="kappa", series="measure", x_title=x_title, y_title="kappa", line=0.0
                    ),
                    rows,
                )
            )
    return Section((result.finding,), tuple(figures), notes=result.notes)


def _rates(clicks: Clicks | ClickLog, labels: Judgments, study: Study, draws: int, seed: int) -> Section:
    measures = (*CURVES, "CCG@5") if labels.has("context") else CURVES
    result = against_click_rates(clicks, labels, list(study.runs), measures, draws=min(draws, 400), seed=seed)
    frame = result.frame
    use = "satisfied rate" if "satisfied rate" in frame["use"] else frame["use"][0]
    rows = frame.filter((pl.col("use") == use) & pl.col("spearman").is_not_nan())
    rows = rows.rename({"spearman_low": "low", "spearman_high": "high"})
    curve = rows.filter(pl.col("context").is_not_nan())
    figures = []
    if curve.height and curve["context"].n_unique() > 1:
        # As the paper draws it: a figure for each system, of which a page bears a few.
        for place, system in enumerate(curve["system"].unique(maintain_order=True).to_list()[:MOST_SYSTEMS]):
            mine = curve.filter(pl.col("system") == system)
            chart = charts.lines(
                mine,
                x="context",
                value="spearman",
                series="measure",
                x_title="weight of context",
                y_title="Spearman's rho",
            )
            figures.append(_rate_figure(f"-{place + 1}" if place else "", mine, chart, use, "Figs. 4 and 5"))
    elif rows.height:
        rows = rows.with_columns(row=pl.col("measure") + ", " + pl.col("system"))
        rows = rows.sort("spearman", descending=True).head(16)
        chart = charts.dots(rows, value="spearman", x_title="Spearman's rho", line=0.0, places=2)
        figures.append(_rate_figure("", rows, chart, use, "Fig. 4, without context"))
    return Section((result.finding,), tuple(figures), notes=result.notes)


def _rate_figure(place: str, rows: pl.DataFrame, chart: dict[str, Any], use: str, paper: str) -> Figure:
    best = rows.sort("spearman").row(-1, named=True)
    return Figure(
        f"measures-and-clicks{place}",
        f"{best['measure']} goes best with the {use} of {best['system']}: rho {best['spearman']:.2f}",
        f"Rank correlation over queries of each measure with the {use} of the list (Golbus et al. 2014, {paper}).",
        chart,
        rows.drop("row", strict=False),
    )


def _alike(study: Study, labels: Judgments, measures: list[str], seed: int) -> Section:
    result = measure_correlation(labels, list(study.runs), measures, seed=seed)
    rows = result.frame.select("first", "second", "tau_b", "systems").drop_nans("tau_b")
    if not rows.height:
        raise Undefined("the systems are tied by every measure")
    least = rows.sort("tau_b", maintain_order=True).row(0, named=True)
    figure = Figure(
        "measures-alike",
        f"{least['first']} and {least['second']} order the systems least alike: tau_b {least['tau_b']:.2f}",
        f"Kendall's tau_b of how two measures order {rows['systems'][0]} systems (Sanderson et al. 2010, Table 3).",
        charts.square(rows),
        rows,
    )
    return Section((), (figure,), notes=result.notes)
