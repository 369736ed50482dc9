"""What is a grade worth to users who disagree? Weights of the levels, and how well the model tells them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import polars as pl

from karat.errors import KaratError
from karat.judges import Disagreement, consistency, disagreement, resampled_p
from karat.labels import Panel
from karat.records import Judgments, Result
from karat.records.number_format import in_words
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.plots import figure_of
from karat.reports.section import Section, Table, headline
from karat.study import Study

#: The pairs M of N of Table 1 in the paper.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]


def worth_section(study: Study, group: str | None, draws: int, seed: int) -> Section:
    """The user disagreement model of the documents with several labels: the group's, or else all judges'."""
    labels, notes = _several_labels(study, group)
    model = disagreement(labels, draws=draws, seed=seed)
    panel = model.votes.panel
    frame = model.to_frame().filter(pl.col("value").is_not_nan())
    rows = frame.with_columns(row=_said(frame["level"], panel))
    rows = rows.sort("level", descending=True).with_columns(look_at=pl.col("level") == model.votes.levels[-2])
    figures = [
        Figure(
            "users-who-say-top",
            headline(model.finding),
            f"Probability that another judge says {panel.said(model.top)} after one said this, with 95 % intervals "
            "over queries.",
            charts.dots(rows, value="value", x_title=f"p({panel.said(model.top)} | said)", places=2),
            rows.drop("row", "look_at"),
        )
    ]
    most = int(model.votes.size.max())
    table = model.table([pair for pair in USUAL if pair[1] <= max(most, 3)])
    notes += table.notes
    if most >= 3:
        figures.append(_model_figure(model, table))
        figures.append(_resampled(labels, most, seed))
    with suppress(KaratError):  # where no judge judged a document twice
        figures.append(_consistency(labels, seed))
    said = (
        model.finding,
        "Measures can use these weights as gains: nDCG(gains=udm(1/3))@10 counts what 1 of 3 users would call top.",
    )
    tables = (
        Table("Weights of the levels: P(at least M of N users say top)", in_words(table.frame, labels.scale), True),
    )
    return Section(said, tuple(figures), tables, tuple(notes))


def _several_labels(study: Study, group: str | None) -> tuple[Judgments, list[str]]:
    """The labels of the group that scores the systems; where it gave one to each document, those of all judges."""
    labels = study.of_group(group)
    if group is None or (Panel.of(labels).counts().sum(axis=1) > 1).any():
        return labels, []
    return study.of_group(None), [f"{group} gave one label to each document: these figures are of all judges"]


def _model_figure(model: Disagreement, table: Result) -> Figure:
    """Predicted and counted weights for 1 of N users, along N, under how far they are apart."""
    drawn = figure_of(table)
    off = model.furthest([(1, of) for of in drawn.data["of"].unique()])
    title = f"The binomial model is off by up to {off[0]:.3f}, beta-binomial by {off[1]:.3f}"
    return replace(drawn, name="weights-for-one-of-n", title=title)


def _resampled(labels: Judgments, most: int, seed: int) -> Figure:
    drawn = figure_of(resampled_p(labels, min_labels=min(most, 6), seed=seed))
    return replace(drawn, name="p-from-few-labels", data=_between(drawn.data, "mean"))


def _consistency(labels: Judgments, seed: int) -> Figure:
    result = consistency(labels, seed=seed)
    frame = result.frame.select("kind", "level", "p", "sd").filter(pl.col("p").is_not_nan())
    rows = frame.with_columns(
        row=_said(frame["level"], Panel.of(labels)) + ", " + frame["kind"],
        low=(pl.col("p") - pl.col("sd")).clip(lower_bound=0.0),
        high=(pl.col("p") + pl.col("sd")).clip(upper_bound=1.0),
    ).sort(-pl.col("level"), "kind")
    return Figure(
        "self-and-cross",
        result.finding.rstrip("."),
        "Probability of the top label from the same judge (self) and from another (cross), and one standard "
        "deviation of draws: where the histograms of Demeester et al. (2014, Figs. 2 and 3) stand, and how wide.",
        charts.dots(rows, value="p", colour="kind", x_title="probability", places=2),
        _between(rows.drop("row"), "p"),
    )


def _between(rows: pl.DataFrame, value: str) -> pl.DataFrame:
    """The numbers of a chart with the ends beside the value that they are of, not beside its sd."""
    return rows.rename({"low": f"{value}_low", "high": f"{value}_high"})


def _said(levels: pl.Series, panel: Panel) -> pl.Series:
    """What a judge said, in the words of the scale."""
    return pl.Series([f"said {panel.said(level)}" for level in levels.to_list()], dtype=pl.String)
