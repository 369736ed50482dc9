"""What is a document worth after another? Aspects of relevance, alone and in context."""

from __future__ import annotations

import polars as pl

from karat.context.aspect_correlation import overall_correlation
from karat.context.aspect_statistics import aspect_distribution
from karat.context.grade_change import grade_change, mean_change
from karat.context.setting_agreement import setting_agreement
from karat.errors import Undefined
from karat.records import Judgments, Result
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Section, headline, section_of
from karat.study import Study


def context_section(study: Study, draws: int, seed: int) -> Section:
    """How grades change in context and how aspects go with overall."""
    if study.labels is None or not study.in_context:
        raise Undefined("no document was judged in context or by aspect")
    labels = study.labels
    return section_of(
        {
            "change in context": lambda: _mean_change(labels),
            "size of the change": lambda: _change(labels, draws, seed),
            "grades by aspect": lambda: _distribution(labels, draws, seed),
            "aspects and overall": lambda: _correlation(labels, draws, seed),
            "agreement alone and in context": lambda: _agreement(labels, draws, seed),
        }
    )


def _mean_change(labels: Judgments) -> Section:
    result = mean_change(labels)
    rows = result.frame.filter(pl.col("change").is_not_nan()).with_columns(look_at=pl.col("p_holm") < 0.05)
    figure = Figure(
        "change-in-context",
        headline(result.finding),
        "Mean change of the grade from alone to in context with 95 % intervals; gold: not chance, allowing for the "
        "number of aspects.",
        charts.dots(rows, row="aspect", value="change", x_title="grades", line=0.0, places=2),
        rows.drop("look_at"),
    )
    return Section((result.finding,), (figure,), notes=result.notes)


def _change(labels: Judgments, draws: int, seed: int) -> Section:
    result = grade_change(labels, draws=draws, seed=seed)
    rows = result.frame.rename({"share_low": "low", "share_high": "high"})
    figure = Figure(
        "size-of-change",
        headline(result.finding),
        "Share of documents whose grade changes by so many grades in context (Golbus et al. 2014, Fig. 3).",
        charts.bars(rows, x="size", group="aspect", x_title="change in grades, either way"),
        rows,
    )
    return Section((result.finding,), (figure,), notes=result.notes)


def _distribution(labels: Judgments, draws: int, seed: int) -> Section:
    result = aspect_distribution(labels, draws=draws, seed=seed)
    frame = result.frame.filter(pl.col("documents") == result.frame["documents"][0])
    figures = []
    for setting, said in (("context", "in context"), ("alone", "alone")):
        ends = {f"{setting}_low": "low", f"{setting}_high": "high", setting: "share"}
        rows = frame.rename({old: new for old, new in ends.items() if old in frame.columns})
        rows = rows.select([c for c in ("aspect", "grade", "share", "low", "high") if c in rows.columns])
        rows = rows.filter(pl.col("share").is_not_nan())
        if rows.height:
            figures.append(
                Figure(
                    f"aspects-{setting}",
                    _highest(rows, said),
                    f"Share of each grade among an aspect's labels, {said} (Golbus et al. 2014, Fig. 2)",
                    charts.bars(rows, x="grade", group="aspect", x_title="grade", scale=labels.scale),
                    rows,
                )
            )
    return Section((result.finding,), tuple(figures), notes=result.notes)


def _highest(rows: pl.DataFrame, said: str) -> str:
    """Which aspect has the highest grades and which the lowest, in the mean."""
    mean = (pl.col("grade") * pl.col("share")).sum() / pl.col("share").sum()
    means = rows.group_by("aspect", maintain_order=True).agg(mean=mean).sort("mean", maintain_order=True)
    low, high = means.row(0), means.row(-1)
    title = f"{said}, {high[0]} has the highest grades (mean {high[1]:.2f}), {low[0]} the lowest ({low[1]:.2f})"
    return title[0].upper() + title[1:] if means.height > 1 else f"{low[0].capitalize()} is {low[1]:.2f}, {said}"


def _correlation(labels: Judgments, draws: int, seed: int) -> Section:
    result = overall_correlation(labels, draws=draws, seed=seed)
    return _two_settings("aspects-and-overall", result.frame, "Spearman's rho with overall", result, "Table 2")


def _agreement(labels: Judgments, draws: int, seed: int) -> Section:
    result = setting_agreement(labels, draws=draws, seed=seed)
    frame = result.frame.filter(pl.col("figure") == "kappa")
    return _two_settings("agreement-in-context", frame, "Cohen's kappa", result, "section 4.1")


def _two_settings(name: str, frame: pl.DataFrame, x_title: str, result: Result, paper: str) -> Section:
    """A figure of each aspect alone and in context."""
    parts = []
    for setting, said in (("alone", "alone"), ("context", "in context")):
        if setting in frame.columns:
            ends = {"low": f"{setting}_low", "high": f"{setting}_high"}
            have = {new: pl.col(old) if old in frame.columns else pl.lit(None, pl.Float64) for new, old in ends.items()}
            parts.append(frame.select("aspect", setting=pl.lit(said), value=setting, **have))
    rows = pl.concat(parts).filter(pl.col("value").is_not_nan())
    order = {value: place for place, value in enumerate(frame["aspect"].to_list())}
    rows = rows.sort(pl.col("aspect").replace_strict(order), "setting")
    drawn = rows.with_columns(row=pl.format("{}, {}", "aspect", "setting"))
    figure = Figure(
        name,
        headline(result.finding),
        f"{x_title}, alone and in context, with 95 % intervals over queries (Golbus et al. 2014, {paper}).",
        charts.dots(drawn, value="value", colour="setting", x_title=x_title, places=2),
        rows,
    )
    return Section((result.finding,), (figure,), notes=result.notes)
