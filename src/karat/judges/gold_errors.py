"""Labels against gold: how far off, in which direction, and for which documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.jackknife import Judges
from karat.judges.slices import called, cell_means, cells, does, grade_shares, listed, looked_at, sentence
from karat.labels import ALL, Panel
from karat.records import LabelsLike, Result
from karat.records.number_format import percent
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats
from karat.stats.cluster_robust import clustered_ols

Target = Literal["error", "label", "gold"]

#: A text with more values than this enters a regression with its most frequent ones.
MOST_VALUES = 10

#: What is shown of each table.
AGAINST_GOLD = ("group", "feature", "value", "n", "error", "under", "correct", "over")
ERRORS = ("group", "feature", "value", "error", "n", "share")
REGRESSION = ("group", "term", "coefficient", "p", "n", "n_queries")


def against_gold(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None = None,
    *,
    by: str | Sequence[str] | None = None,
    judges: Judges = "sample",
    level: float = 0.95,
) -> Result:
    """How far each group's labels are from gold: the mean error, and how often they are under, correct and over.

    >>> rows = [("q1", "a", 3, "crowd"), ("q1", "b", 1, "crowd"), ("q1", "a", 2, "gold"), ("q1", "b", 1, "gold")]
    >>> labels = dict(zip(("query", "doc", "label", "group"), zip(*rows)))
    >>> against_gold(labels).frame.select("group", "n", "error", "correct", "over").row(0)
    ('crowd', 2, 0.5, 0.5, 0.5)

    Gold is the group of that name, or `gold`. Every label of another group counts on its own; several gold labels of a
    document count as their median; documents drawn for gold with known probabilities count with 1 / those. A row for
    each group, over all and for each value of the features in `by`. Intervals are for other queries and, as `judges`
    are a sample, for other judges like these; "fixed" takes these judges as they are. It takes gold for right: where
    gold errs too, the errors here are of both.

    Reference: Kazai et al. (CIKM 2012), section 6.2, Table 5; Cameron, Gelbach and Miller (2011) for the errors.
    """
    _, features, frame, sampled, notes = looked_at(labels, gold, by, judges, errors=True, weighed=True)
    names = ["error", "under", "correct", "over"]
    error = pl.col("_error")
    outcomes = {"_under": error < 0, "_correct": error == 0, "_over": error > 0}
    frame = frame.with_columns(outcome.cast(pl.Float64).alias(name) for name, outcome in outcomes.items())
    parts = []
    for feature, cut in cells(frame, features, notes):
        table, means = cell_means(cut, ["_error", *outcomes], [False, True, True, True], sampled, level=level)
        figures = [
            pl.Series(name + end, numbers[:, i]) for i, name in enumerate(names) for end, numbers in means.items()
        ]
        placed = table.with_columns(pl.col("value").cast(pl.String), feature=pl.lit(feature))
        parts.append(placed.select("group", "feature", "value", "n", "n_queries", "n_judges").with_columns(figures))
    table = pl.concat(parts).rename({"error_low": "low", "error_high": "high"})
    far = parts[0].sort(pl.col("error").abs(), descending=True) if parts[0].height > 4 else parts[0]
    return Result(
        table, sentence(listed([_said(row) for row in far.iter_rows(named=True)])), tuple(notes), columns=AGAINST_GOLD
    )


def error_distribution(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None = None,
    *,
    by: str | Sequence[str] | None = None,
    judges: Judges = "sample",
    level: float = 0.95,
) -> Result:
    """How often each group's labels are off by how many grades: a row for each group, value and size of error.

    >>> rows = [("q1", "a", 3, "crowd"), ("q1", "b", 1, "crowd"), ("q1", "a", 2, "gold"), ("q1", "b", 1, "gold")]
    >>> labels = dict(zip(("query", "doc", "label", "group"), zip(*rows)))
    >>> error_distribution(labels).frame.select("error", "n", "share").rows()
    [(0.0, 1, 0.5), (1.0, 1, 0.5)]

    The error is the label less gold: on a scale of five grades from -4 to 4. Errors of labels that are no whole grades
    are rounded to whole ones.

    Reference: Kazai et al. (CIKM 2012), Fig. 3.
    """
    _, features, frame, sampled, notes = looked_at(labels, gold, by, judges, errors=True, weighed=True)
    rounded = frame.with_columns(pl.col("_error").round())
    if frame["_error"].n_unique() > rounded["_error"].n_unique() + 20:
        notes.append("errors are rounded to whole grades")
        frame = rounded
    shares = grade_shares(frame, "_error", features, notes, sampled, level=level)
    shares = shares.rename({"_error": "error"})
    overall = shares.filter(pl.col("feature") == ALL)
    exact = overall.filter(pl.col("error") == 0)
    said = [
        f"{percent(row['share'])} of the labels of {called(row['group'])} equal gold"
        for row in exact.iter_rows(named=True)
    ]
    return Result(shares, sentence(listed(said) or "no label equals gold"), tuple(notes), columns=ERRORS)


def gold_regression(
    labels: Panel | LabelsLike,
    features: str | Sequence[str],
    target: Target = "error",
    gold: LabelsLike | None = None,
    *,
    judges: Judges = "sample",
    level: float = 0.95,
) -> Result:
    """What each feature adds to a group's labels, to gold, or to the error between them, all features at once.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": 1 + (i % 2), "group": "crowd", "length": i % 5 + i % 2}
    ...         for i in range(20)]
    >>> found = gold_regression(rows, "length", "label")
    >>> found.frame["term"].to_list(), found.frame["n"].to_list()
    (['intercept', 'length'], [20, 20])

    Linear regression, a fit for each group, with errors clustered by query and, where `judges` are a sample, by judge:
    a column about judges (their device, their training) is as certain as there are judges. Numbers enter as they are;
    of a text, each value but one enters as yes or no, and its coefficient is the difference from that one (nWP for WP,
    else the most frequent). Grades are taken for numbers, as the paper does. A coefficient on gold tells how well a
    feature predicts relevance; on the error, how far judges are misled by it.

    Reference: Kazai et al. (CIKM 2012), Table 6.
    """
    if target not in ("error", "label", "gold"):
        raise BadInput.at("the target", expected="error, label or gold", found=str(target))
    _, names, frame, sampled, notes = looked_at(labels, gold, features, judges, errors=target != "label")
    if not names:
        raise BadInput.at("the features", expected="at least one", found="none")
    frame = frame.with_columns(pl.col(name).fill_nan(None) for name in names if frame[name].dtype.is_float())
    known = frame.drop_nulls(names)
    if known.height < frame.height:
        notes.append(f"{count(frame.height - known.height, 'label')} with an unknown feature left aside")
    if not known.height:
        raise Undefined("no label has all the features known")
    terms, columns = _design(known, names, notes)
    parts = []
    for (group,), rows in known.with_row_index("_row").group_by("_group", maintain_order=True):
        mine, query = rows["_row"].to_numpy(), rows["_query"].to_numpy()
        by_judge = rows["_judge"].to_numpy() if group in sampled else None
        fit = clustered_ols(rows[f"_{target}"].to_numpy(), columns[mine], query, terms, judge=by_judge)
        low, high = fit.intervals(level)
        if fit.left_out:
            notes.append(
                f"{group}: no coefficient for {', '.join(fit.left_out)}: other features tell it, or all are alike"
            )
        figures = {"coefficient": fit.coefficients, "standard_error": fit.errors, "low": low, "high": high}
        about = {"t": fit.t, "p": fit.p, "n": fit.n, "n_queries": fit.clusters}
        parts.append(pl.DataFrame({"group": str(group), "target": target, "term": fit.names, **figures, **about}))
    table = pl.concat(parts).sort("group", maintain_order=True)
    known = table.filter(pl.col("term") != fit.names[0], pl.col("p").is_finite()).sort("p", maintain_order=True)
    what = {"error": "the error", "label": "the label", "gold": "gold"}[target]
    said = [
        f"for {called(row['group'])}, {row['term']} adds {row['coefficient']:+z.2g} to {what}"
        for row in known.filter(pl.col("p") < 0.05).head(3).iter_rows(named=True)
    ]
    finding = "; ".join(said) or f"no feature has an effect on {what} beyond chance"
    if not known.height:
        finding = f"the labels are too few, or too much alike, to tell what features do to {what}"
    return Result(table, sentence(finding), tuple(notes), columns=REGRESSION)


def _design(frame: pl.DataFrame, features: Sequence[str], notes: list[str]) -> tuple[list[str], Floats]:
    """The columns of a regression: numbers as they are, a text's values as yes or no but for one."""
    terms, columns = list[str](), list[Floats]()
    for feature in features:
        values = frame[feature]
        if values.dtype.is_numeric():
            terms.append(feature)
            columns.append(values.cast(pl.Float64).to_numpy())
            continue
        texts = values.cast(pl.String)
        often = (
            frame.select("_query", value=texts).group_by("value").agg(n=pl.len(), queries=pl.col("_query").n_unique())
        )
        often = often.sort("n", "value", descending=[True, False])
        found = often["value"].to_list()
        usual = next((v for v in found if v == "false" or (v[:1] == "n" and v[1:] in found)), found[0])
        own = often.filter((pl.col("value") != usual) & (pl.col("queries") >= FEWEST))["value"].to_list()[:MOST_VALUES]
        terms += [f"{feature}={value}" for value in own]
        columns += [(texts == value).to_numpy().astype(np.float64) for value in own]
        other = len(found) - 1 - len(own)
        if other:
            terms.append(f"{feature}=other")
            columns.append((~texts.is_in([usual, *own])).to_numpy().astype(np.float64))
            notes.append(
                f"{feature}: {count(other, 'value')}, rare or of fewer than {FEWEST} queries, put together as other"
            )
        notes.append(f"{feature}: coefficients are differences from {usual}")
    return terms, np.column_stack(columns) if columns else np.zeros((frame.height, 0))


def _said(row: dict[str, float]) -> str:
    """One group's errors in words."""
    group, error = str(row["group"]), row["error"]
    by = f"{does(group, 'overrate' if error > 0 else 'underrate')} by {abs(error):.2f} of a grade"
    if abs(error) < 0.005:
        by = f"{does(group, 'equal')} gold on average"
    if not np.isnan(row["error_low"]):
        by += f" ({row['error_low']:+z.2f} to {row['error_high']:+z.2f})"
    right = f"right in {percent(row['correct'])} of {count(int(row['n']), 'label')}"
    return f"{called(group)} {by} and {does(group, 'be')} {right}"
