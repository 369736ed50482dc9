"""What is a grade worth to users who disagree? Weights of the levels, and how well the model tells them."""

from __future__ import annotations

import polars as pl

from karat.errors import KaratError, Undefined
from karat.judges import consistency, disagreement, resampled_p
from karat.records import Judgments, Scale
from karat.records.figures import in_words
from karat.report import charts
from karat.report.figure import Figure
from karat.report.section import Section, Table, headline
from karat.study import Study

#: The pairs M of N of Table 1 in the paper.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]
MODELS = ("binomial", "beta_binomial")


def worth_section(study: Study, group: str | None, draws: int, seed: int) -> Section:
    """The user disagreement model of the documents with several labels: the group's, or else all judges'."""
    labels, notes = _several_labels(study, group)
    model = disagreement(labels, draws=draws, seed=seed)
    frame, top = model.to_frame(), _name(model.top, labels.scale)
    rows = frame.with_columns(row=_said(frame["level"], labels.scale))
    rows = rows.sort("level", descending=True).with_columns(look_at=pl.col("level") == model.votes.levels[-2])
    figures = [
        Figure(
            "users-who-say-top",
            headline(repr(model)),
            f"Probability that another judge says {top} after one said this, with 95 % intervals over queries.",
            charts.dots(rows, row="row", value="value", x_title=f"p({top} | said)", look_at="look_at", places=2),
            rows.drop("row", "look_at"),
        )
    ]
    most = int(model.votes.size.max())
    table = model.table([pair for pair in USUAL if pair[1] <= max(most, 3)])
    notes += table.notes
    if most >= 3:
        figures.append(_model_figure(labels, seed, most))
    for part in (_resampled, _consistency):
        try:
            figures.append(part(labels, most, seed))
        except KaratError as error:
            notes.append(f"not drawn: {error}")
    said = (
        repr(model).splitlines()[0],
        "Measures can use these weights as gains: nDCG(gains=udm(1/3))@10 counts what 1 of 3 users would call top.",
    )
    tables = (
        Table("Weights of the levels: P(at least M of N users say top)", in_words(table.frame, labels.scale), True),
    )
    return Section("worth", "What is a grade worth to users who disagree?", said, tuple(figures), tables, tuple(notes))


def _several_labels(study: Study, group: str | None) -> tuple[Judgments, list[str]]:
    """The labels of the group that scores the systems; where it gave one to each document, those of all judges."""
    labels = study.of_group(group)
    counts = labels.frame.drop_nulls("label").group_by("query", "doc").len()["len"]
    if group is None or (counts > 1).any():
        return labels, []
    return study.of_group(None), [f"{group} gave one label to each document: these figures are of all judges"]


def _model_figure(labels: Judgments, seed: int, most: int) -> Figure:
    """Predicted and counted weights for 1 of N users, along N (the paper's Fig. 5)."""
    model = disagreement(labels, draws=0, seed=seed)
    users = range(2, min(most, 8) + 1)
    frame = model.table([(1, n) for n in users]).frame.filter(pl.col("level") < model.top)
    frame = frame.with_columns(said=_said(frame["level"], labels.scale)).sort(-pl.col("level"), "of")
    off = (pl.col(MODELS) - pl.col("experimental")).abs().fill_nan(0.0).max()
    apart = frame.select(off.fill_null(0.0)).row(0, named=True)
    return Figure(
        "weights-for-one-of-n",
        f"The binomial model is off by up to {apart['binomial']:.3f}, beta-binomial by {apart['beta_binomial']:.3f}",
        f"P(at least 1 of N users says {_name(model.top, labels.scale)}): lines as the binomial model predicts, dots "
        "as counted (Demeester et al. 2014, Fig. 5).",
        charts.lines(
            frame.select("of", "said", "binomial", "beta_binomial", "experimental", "n"),
            x="of",
            value="binomial",
            series="said",
            points="experimental",
            x_title="N users",
            y_title="probability",
            whole=True,
        ),
        frame.select("of", "said", "binomial", "beta_binomial", "experimental", "n"),
    )


def _resampled(labels: Judgments, most: int, seed: int) -> Figure:
    if most < 3:
        raise Undefined("no document has three labels: p from one and from more others cannot be compared")
    result = resampled_p(labels, min_labels=min(most, 6), seed=seed)
    frame = result.frame.with_columns(
        said=_said(result.frame["level"], labels.scale),
        low=pl.col("mean") - pl.col("sd"),
        high=pl.col("mean") + pl.col("sd"),
    ).sort(-pl.col("level"), "others")
    return Figure(
        "p-from-few-labels",
        result.finding.rstrip("."),
        "Probability of the top label from one label and n others drawn at random: mean and one standard deviation of "
        "50 repeats (Demeester et al. 2014, Fig. 1).",
        charts.lines(
            frame,
            x="others",
            value="mean",
            series="said",
            x_title="other labels of a document",
            y_title="probability",
            whole=True,
        ),
        frame,
    )


def _consistency(labels: Judgments, most: int, seed: int) -> Figure:
    if not labels.has("judge"):
        raise Undefined("the labels do not say who gave them: no judge can be compared with himself")
    result = consistency(labels, seed=seed)
    frame = result.frame.select("kind", "level", "mean", "sd").filter(pl.col("mean").is_not_nan())
    rows = frame.with_columns(
        row=_said(frame["level"], labels.scale) + ", " + frame["kind"],
        low=pl.col("mean") - pl.col("sd"),
        high=pl.col("mean") + pl.col("sd"),
    ).sort(-pl.col("level"), "kind")
    return Figure(
        "self-and-cross",
        result.finding.rstrip("."),
        "Probability of the top label from the same judge (self) and from another (cross), mean and one standard "
        "deviation of draws (Demeester et al. 2014, Figs. 2 and 3).",
        charts.dots(rows, row="row", value="mean", colour="kind", x_title="probability", places=2),
        rows.drop("row"),
    )


def _said(levels: pl.Series, scale: Scale | None) -> pl.Series:
    """A name for what a judge said, also of grades that are no whole numbers."""
    return pl.Series([f"said {_name(level, scale)}" for level in levels.to_list()], dtype=pl.String)


def _name(level: float, scale: Scale | None) -> str:
    return f"{level:g}" if scale is None else scale.name(level)
