"""Are the queries that a measure calls well served those on which users click? Measures against click logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from karat.correction import score as score_runs
from karat.errors import BadInput, Undefined
from karat.measures import as_measures, nDCG
from karat.measures.scorer import Scorer
from karat.records import Clicks, Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.result import Panels
from karat.records.runs import ranked, several
from karat.records.table import count
from karat.stats.bootstrap import Resampling
from karat.stats.rank_correlation import rank_correlations
from karat.users.agreement_curves import MEASURES
from karat.users.measure_variants import CONTEXTS, NO_CONTEXT, in_contexts
from karat.users.ratings import strongest


def click_labels(clicks: Any) -> Judgments:
    """Labels from clicks: 2 for a document with a satisfied click (a stay of 30 s), 1 with a click, 0 with none.

    >>> log = pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"],
    ...     "clicked": [True, True, False], "dwell": [40.0, 5.0, None]})
    >>> click_labels(log).frame["label"].to_list()
    [2.0, 1.0, 0.0]

    Clicks without stays make no label of 2; `Clicks.of(log, satisfied_after=60)` asks for longer ones.
    Reference: Golbus et al. (WWW 2014), section 5.2.1.
    """
    counts = Clicks.of(clicks)
    satisfied = pl.col("satisfied").fill_null(0) if counts.has("satisfied") else pl.lit(0)
    label = pl.when(satisfied > 0).then(2.0).when(pl.col("clicks") > 0).then(1.0).otherwise(0.0)
    return Judgments(counts.frame.select("query", "doc", label=label))


def against_click_rates(
    clicks: Any,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = MEASURES,
    *,
    cutoff: int = 5,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """Spearman and Kendall over queries of a measure with what users clicked, along context weights.

    For each system and query three figures of use: the mean click rate and mean satisfied click rate of the documents
    down to `cutoff` (clicks by impressions, wherever they were shown), and nDCG of the list with labels from clicks
    (`click_labels`). Each is correlated over queries with each measure, with context weights from 0 to 1 where it takes
    one. Clicks may be a log or counts; `Clicks.of` says when a click is satisfied. Documents that
    were never shown are left out of the rates, queries without any from the correlation, and queries without a click
    from click nDCG, which is undefined there. Intervals: bootstrap over queries; `p_adjusted` allows for all rows of
    a system and a figure of use.

    Rates tell how easy queries are as much as how good a list is, not which of two systems users would choose.

    Reference: Golbus, Zitouni, Kim, Hassan and Diaz (WWW 2014), section 5.2.1, Figs. 4 and 5.
    """
    Resampling(level, draws, seed)
    judged, wanted = Judgments.of(labels), as_measures(measures)
    counts = Clicks.of(clicks)
    if cutoff < 1:
        raise BadInput.at("the cutoff", expected="1 or more", found=str(cutoff))
    lists = several(runs)
    made = [(str(one), a, variant) for one in wanted for a, variant in in_contexts(one, CONTEXTS, judged)]
    every = list(dict.fromkeys(variant for _, _, variant in made))
    scores = score_runs(judged, lists, every, draws=0).queries
    use, notes = _use(lists, counts, cutoff)
    if not judged.has("context"):
        notes.append(NO_CONTEXT)
    about = pl.DataFrame([row[:2] for row in made], schema=["measure", "context"], orient="row")
    parts = []
    for (system,), mine in scores.group_by("system", maintain_order=True):
        for name in use.columns[2:]:
            both = mine.join(use.select("system", "query", name), on=["system", "query"]).drop_nulls(name).sort("query")
            if both.height < 3:
                notes.append(f"{system}: {count(both.height, 'query', 'queries')} with {name}: too few to correlate")
                continue
            values = np.column_stack([both[str(variant)].to_numpy() for _, _, variant in made]).astype(np.float64)
            used = both[name].to_numpy().astype(np.float64)
            found = rank_correlations(values, used, level=level, draws=draws, seed=seed)
            rows = about.select(pl.lit(str(system)).alias("system"), pl.lit(name).alias("use"), pl.all())
            parts.append(rows.with_columns(pl.Series(key, column) for key, column in found.columns().items()))
    if not parts:
        raise Undefined("fewer than three queries have labels, a list and clicks: no correlation can be told")
    frame = pl.concat(parts)
    shown = ("system", "use", "measure", "context", "spearman", "kendall", "p_adjusted")
    charts = _charts(frame, shown)
    first = next((chart.drawing for chart in charts.values()), None)
    return ClickRates(frame, _finding(frame, level), tuple(notes), columns=shown, drawing=first, charts=charts)


@dataclass(frozen=True, eq=False, repr=False)
class ClickRates(Result):
    """Rank correlations with what users clicked, and figures of them along the context weight, by system."""

    charts: dict[str, Result] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if not self.charts:  # nothing along a context weight: drawn as any other table
            object.__setattr__(self, "charts", {"Click rates": Result(self.frame, self.finding, columns=self.columns)})


def _charts(frame: pl.DataFrame, columns: tuple[str, ...]) -> dict[str, Result]:
    """For each system its curves along the context weight: click rates above click nDCG, tau beside rho."""
    found: dict[str, Result] = {}
    along = frame.filter(pl.col("context").is_not_nan())
    for (system,), rows in along.group_by("system", maintain_order=True):
        parts = [
            rows.select(
                "context", "measure", "n", down="use", across=pl.lit(title), value=name,
                low=f"{name}_low" if f"{name}_low" in rows.columns else pl.lit(math.nan),
                high=f"{name}_high" if f"{name}_high" in rows.columns else pl.lit(math.nan),
            )
            for name, title in (("kendall", "Kendall's tau"), ("spearman", "Spearman's rho"))
        ]  # fmt: skip
        long = pl.concat(parts)
        start = pl.col("value").sort_by("context").first().over("down", "across", "measure")
        how = f"Rank correlation over {count(rows['n'].max(), 'query', 'queries')} of measures and clicks on the list"  # type: ignore[arg-type]
        how += " (as Golbus et al. 2014, Figs. 4 and 5); dashed: without context"
        drawn = Panels(long.with_columns(reference=start), "context", "measure", "weight of context", how)
        known = rows.filter(pl.col("spearman").is_not_nan())
        if known.height:
            best = known.sort("spearman", descending=True, maintain_order=True).row(0, named=True)
            said = f"{best['measure']} goes best with the {best['use']} of {system}: rho {best['spearman']:.2f} with "
            said += f"context weight {best['context']:g}."
            found[f"Clicks, {system}"] = Result(rows, said, columns=columns, drawing=drawn)
    return found


def _use(lists: Sequence[Runs], counts: Clicks, cutoff: int) -> tuple[pl.DataFrame, list[str]]:
    """What users did with each list: system, query and a column for each figure that the clicks allow."""
    notes: list[str] = []
    top = pl.concat([ranked(run, cutoff) for run in lists])
    frame = top.join(counts.frame, on=["query", "doc"])
    use = top.select("system", "query").unique(maintain_order=True)
    if counts.has("impressions"):
        shown = frame.filter(pl.col("impressions") > 0)
        rates = {"click rate": "clicks"} | ({"satisfied rate": "satisfied"} if counts.has("satisfied") else {})
        means = shown.group_by("system", "query").agg(
            (pl.col(column) / pl.col("impressions")).mean().alias(name) for name, column in rates.items()
        )
        use = use.join(means, on=["system", "query"], how="left", maintain_order="left")
    else:
        notes.append("no impressions: click rates cannot be told, click nDCG can")
    if not counts.has("satisfied"):
        notes.append("no stays after clicks: none counts as satisfied")
    labels = click_labels(counts)
    some = labels.frame.group_by("query").agg(pl.col("label").max()).filter(pl.col("label") > 0)["query"]
    if len(some):
        labels = Judgments(labels.frame.filter(pl.col("query").is_in(some.implode())))
        scorer = Scorer(labels, [nDCG @ cutoff], draws=0)
        meets = [run for run in lists if run.frame["query"].is_in(some.implode()).any()]
        if meets:
            found = pl.concat([scorer.score(run).queries for run in meets]).rename({str(nDCG @ cutoff): "click nDCG"})
            use = use.join(found, on=["system", "query"], how="left", maintain_order="left")
    without = counts.frame["query"].n_unique() - len(some)
    if without:
        notes.append(f"{count(without, 'query', 'queries')} without a click: click nDCG is undefined there")
    unseen = top.join(counts.frame, on=["query", "doc"], how="anti").height
    if unseen:
        notes.append(f"{unseen / top.height:.0%} of the documents in the top {cutoff} have no clicks or impressions")
    return use, notes


def _finding(frame: pl.DataFrame, level: float) -> str:
    known = frame.filter(pl.col("spearman").is_not_nan())
    if not known.height:
        return "Neither measures nor clicks vary over the queries: a correlation cannot be told."
    shown, best, said = strongest(known, level)
    weight = "" if math.isnan(best["context"]) else f" with context weight {best['context']:g}"
    about = f"{best['measure']}{weight} and {best['use']} of {best['system']}"
    if known["p_adjusted"].is_nan().all():
        return f"{about} are nearest to each other: {said} over {count(best['n'], 'query', 'queries')}, not tested."
    if not shown:
        return f"No measure goes along with clicks beyond chance; the nearest are {about}: {said}."
    together = "go together" if best["spearman"] > 0 else "go against each other"
    return (
        f"{shown:,} of {known.height:,} pairs of a measure and a click rate are shown to vary together; {about} "
        f"{together} most: {said} over {count(best['n'], 'query', 'queries')}."
    )
