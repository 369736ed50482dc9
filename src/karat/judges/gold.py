"""Labels against gold: how far off, in which direction, and for which documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.slices import (
    ALL,
    ITEM,
    called,
    cell_means,
    cells,
    does,
    features_of,
    grade_shares,
    listed,
    percent,
    plain_labels,
    sentence,
)
from karat.records import Judgments, Result
from karat.records.base import count
from karat.stats import FEWEST
from karat.stats.regression import clustered_ols

Floats = npt.NDArray[np.float64]
Target = Literal["error", "label", "gold"]

#: The group whose labels are the truth.
GOLD = "gold"
#: A text with more values than this enters a regression with its most frequent ones.
MOST_VALUES = 10


def against_gold(
    judgments: Judgments,
    gold: Judgments | None = None,
    *,
    by: str | Sequence[str] | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How far each group's labels are from gold: the mean error, and how often they are under, correct and over.

    >>> rows = [("q1", "a", 3, "crowd"), ("q1", "b", 1, "crowd"), ("q1", "a", 2, "gold"), ("q1", "b", 1, "gold")]
    >>> judgments = Judgments.of(dict(zip(("query", "doc", "label", "group"), zip(*rows))))
    >>> against_gold(judgments).frame.select("group", "n", "error", "correct", "over").row(0)
    ('crowd', 2, 0.5, 0.5, 0.5)

    Gold is the group of that name, or `gold`. Every label of another group counts on its own; several gold labels of a
    document count as their majority, the lower in a tie. A row for each group, over all and for each value of the
    features in `by`, with bootstrap intervals over queries. It takes gold for right: where gold errs too, the errors
    here are of both.

    Reference: Kazai et al. (CIKM 2012), section 6.2, Table 5.
    """
    frame, notes = gold_errors(judgments, gold, by)
    names = ["error", "under", "correct", "over"]
    frame = frame.with_columns(
        _under=(pl.col("_error") < 0).cast(pl.Float64),
        _correct=(pl.col("_error") == 0).cast(pl.Float64),
        _over=(pl.col("_error") > 0).cast(pl.Float64),
    )
    parts = []
    for feature, cut in cells(frame, features_of(judgments, by), notes):
        means = cell_means(
            cut, ["_" + name for name in names], [False, True, True, True], level=level, draws=draws, seed=seed
        )
        figures = [
            pl.Series(name + end, numbers[:, i])
            for i, name in enumerate(names)
            for end, numbers in (("", means.mean), ("_low", means.low), ("_high", means.high))
        ]
        placed = means.cells.with_columns(pl.lit(feature).alias("feature"), pl.col("value").cast(pl.String))
        parts.append(placed.select("group", "feature", "value", "n", "n_queries").with_columns(figures))
    table = pl.concat(parts).rename({"error_low": "low", "error_high": "high"})
    far = parts[0].sort(pl.col("error").abs(), descending=True) if parts[0].height > 4 else parts[0]
    return Result(table, sentence(listed([_said(row) for row in far.iter_rows(named=True)])), tuple(notes))


def error_distribution(
    judgments: Judgments,
    gold: Judgments | None = None,
    *,
    by: str | Sequence[str] | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often each group's labels are off by how many grades: a row for each group, value and size of error.

    >>> rows = [("q1", "a", 3, "crowd"), ("q1", "b", 1, "crowd"), ("q1", "a", 2, "gold"), ("q1", "b", 1, "gold")]
    >>> judgments = Judgments.of(dict(zip(("query", "doc", "label", "group"), zip(*rows))))
    >>> error_distribution(judgments).frame.select("error", "n", "share").rows()
    [(0.0, 1, 0.5), (1.0, 1, 0.5)]

    The error is the label less gold: on a scale of five grades from -4 to 4. Errors of labels that are no whole grades
    are rounded to whole ones.

    Reference: Kazai et al. (CIKM 2012), Fig. 3.
    """
    frame, notes = gold_errors(judgments, gold, by)
    rounded = frame.with_columns(pl.col("_error").round())
    if frame["_error"].n_unique() > rounded["_error"].n_unique() + 20:
        notes.append("errors are rounded to whole grades")
        frame = rounded
    shares = grade_shares(frame, "_error", features_of(judgments, by), notes, level=level, draws=draws, seed=seed)
    shares = shares.rename({"_error": "error"})
    overall = shares.filter(pl.col("feature") == ALL)
    exact = overall.filter(pl.col("error") == 0)
    said = [
        f"{percent(row['share'])} of the labels of {called(row['group'])} equal gold"
        for row in exact.iter_rows(named=True)
    ]
    return Result(shares, sentence(listed(said) or "no label equals gold"), tuple(notes))


def gold_regression(
    judgments: Judgments,
    features: str | Sequence[str],
    target: Target = "error",
    gold: Judgments | None = None,
    *,
    level: float = 0.95,
) -> Result:
    """What each feature adds to a group's labels, to gold, or to the error between them, all features at once.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": 1 + (i % 2), "group": "crowd", "length": i % 5 + i % 2}
    ...         for i in range(20)]
    >>> found = gold_regression(Judgments.of(rows), "length", "label")
    >>> found.frame["term"].to_list(), found.frame["n"].to_list()
    (['intercept', 'length'], [20, 20])

    Linear regression, a fit for each group, with errors clustered by query. Numbers enter as they are; of a text, each
    value but one enters as yes or no, and its coefficient is the difference from that one (nWP for WP, else the most
    frequent). Grades are taken for numbers, as the paper does. A coefficient on gold tells how well a feature
    predicts relevance; on the error, how far judges are misled by it.

    Reference: Kazai et al. (CIKM 2012), Table 6.
    """
    if target not in ("error", "label", "gold"):
        raise BadInput.at("the target", expected="error, label or gold", found=str(target))
    names = features_of(judgments, features)
    frame, notes = plain_labels(judgments) if target == "label" else gold_errors(judgments, gold)
    if not names:
        raise BadInput.at("the features", expected="at least one", found="none")
    frame = frame.with_columns(pl.col(name).fill_nan(None) for name in names if frame[name].dtype.is_float())
    known = frame.drop_nulls(names)
    if known.height < frame.height:
        notes.append(f"{count(frame.height - known.height, 'label')} with an unknown feature left aside")
    if not known.height:
        raise Undefined("no label has all the features known")
    column = {"label": "label", "gold": "_gold", "error": "_error"}[target]
    terms, columns = _design(known, names, notes)
    parts, sure = [], []
    for (group,), rows in known.with_row_index("_row").group_by("group", maintain_order=True):
        mine = rows["_row"].to_numpy()
        fit = clustered_ols(rows[column].to_numpy(), columns[mine], rows["_number"].to_numpy(), terms)
        low, high = fit.intervals(level)
        if fit.left_out:
            notes.append(
                f"{group}: no coefficient for {', '.join(fit.left_out)}: other features tell it, or all are alike"
            )
        table = pl.DataFrame(
            {
                "term": fit.names,
                "coefficient": fit.coefficients,
                "standard_error": fit.errors,
                "low": low,
                "high": high,
                "t": fit.t,
                "p": fit.p,
            }
        )
        size = (pl.lit(fit.n, pl.Int64).alias("n"), pl.lit(fit.clusters, pl.Int64).alias("n_queries"))
        parts.append(table.select(pl.lit(str(group)).alias("group"), pl.lit(target).alias("target"), pl.all(), *size))
        sure += [(str(group), t, b, p) for t, b, p in zip(fit.names[1:], fit.coefficients[1:], fit.p[1:], strict=True)]
    clear = sorted((row for row in sure if row[3] < 0.05), key=lambda row: row[3])
    what = {"error": "the error", "label": "the label", "gold": "gold"}[target]
    said = [f"for {called(group)}, {term} adds {b:+.2g} to {what}" for group, term, b, _ in clear[:3]]
    finding = "; ".join(said) or f"no feature has an effect on {what} beyond chance"
    if not any(np.isfinite(row[3]) for row in sure):
        finding = f"the labels are too few, or too much alike, to tell what features do to {what}"
    return Result(pl.concat(parts).sort("group", maintain_order=True), sentence(finding), tuple(notes))


def gold_errors(
    judgments: Judgments, gold: Judgments | None = None, by: str | Sequence[str] | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """The labels of all groups but gold that have a gold label, with `_gold` and `_error`, and what was left aside."""
    frame, notes = plain_labels(judgments, by)
    if gold is not None and GOLD in frame["group"]:
        raise BadInput.at(
            "the judgments",
            expected="gold labels in one place",
            found="a group gold beside gold labels of their own",
            remedy="leave one of them out",
        )
    if gold is None and GOLD not in frame["group"]:
        raise BadInput.at(
            "the judgments",
            expected="a group called gold",
            found=", ".join(frame["group"].unique().sort()),
            remedy="give the gold labels, or name their group gold",
        )
    trusted = frame if gold is None else plain_labels(gold, by)[0]
    if GOLD in trusted["group"]:
        trusted = trusted.filter(pl.col("group") == GOLD)
    frame = frame.filter(pl.col("group") != GOLD)
    frame, trusted, key = _same_items(frame, trusted)
    votes = trusted.group_by(*key, "label").len("votes")
    votes = votes.filter(pl.col("votes") == pl.col("votes").max().over(key))
    truth = votes.group_by(key).agg(pl.col("label").min().alias("_gold"), pl.len().alias("tied"))
    tied = truth.filter(pl.col("tied") > 1).height
    if tied:
        notes.append(f"gold labels of {count(tied, 'document')} are tied: the lower one counts")
    joined = frame.join(truth.drop("tied"), on=key, how="left", nulls_equal=True, maintain_order="left")
    matched = joined.drop_nulls("_gold")
    if not matched.height:
        raise Undefined("no label is of a document with a gold label")
    if matched.height < joined.height:
        notes.append(f"{count(joined.height - matched.height, 'label')} of documents without a gold label left aside")
    return matched.with_columns(_error=pl.col("label") - pl.col("_gold")), notes


def _same_items(frame: pl.DataFrame, trusted: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Both with the same columns that say what was judged; what one side does not tell is the usual thing."""
    usual = {"aspect": "overall", "surface": "page"}
    key = [name for name in ITEM if name in frame.columns or name in trusted.columns]
    sides = []
    for side in (frame, trusted):
        missing = [pl.lit(usual.get(name), pl.String).alias(name) for name in key if name not in side.columns]
        sides.append(side.with_columns(missing))
    return sides[0], sides[1], key


def _design(frame: pl.DataFrame, features: Sequence[str], notes: list[str]) -> tuple[list[str], Floats]:
    """The columns of a regression: numbers as they are, a text's values as yes or no but for one."""
    terms, columns = list[str](), list[npt.NDArray[np.float64]]()
    for feature in features:
        values = frame[feature]
        if values.dtype.is_numeric():
            terms.append(feature)
            columns.append(values.cast(pl.Float64).to_numpy())
            continue
        texts = values.cast(pl.String)
        counted = (
            frame.select("query", value=texts)
            .group_by("value")
            .agg(pl.len().alias("n"), pl.col("query").n_unique().alias("queries"))
            .sort("n", "value", descending=[True, False])
        )
        found = counted["value"].to_list()
        usual = next((v for v in found if v == "false" or (v[:1] == "n" and v[1:] in found)), found[0])
        common = counted.filter((pl.col("value") != usual) & (pl.col("queries") >= FEWEST))["value"].to_list()
        own, other = common[:MOST_VALUES], len(found) - 1 - len(common[:MOST_VALUES])
        for value in own:
            terms.append(f"{feature}={value}")
            columns.append((texts == value).to_numpy().astype(np.float64))
        if other:
            rare = ~texts.is_in([usual, *own])
            terms.append(f"{feature}=other")
            columns.append(rare.to_numpy().astype(np.float64))
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
        by += f" ({row['error_low']:+.2f} to {row['error_high']:+.2f})"
    right = f"right in {percent(row['correct'])} of {count(int(row['n']), 'label')}"
    return f"{called(group)} {by} and {does(group, 'be')} {right}"
