"""How labels spread over the grades, for each group of judges and each value of a feature, and where that differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karat.judges.jackknife import Judges
from karat.judges.slices import NOTHING, called, cells, grade_shares, listed, looked_at, ordered, sentence
from karat.labels import ALL, Panel
from karat.records import LabelsLike, Result
from karat.records.number_format import percent
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats
from karat.stats.cluster_robust import Variance, clustered_ols, variance_of_difference
from karat.stats.hypothesis_tests import ordinal_test
from karat.stats.multiple_testing import benjamini_hochberg, holm
from karat.stats.rogan_gladen import half_width, two_sided

#: What is shown of the shares and of the tests.
SHARES = ("group", "feature", "value", "grade", "n", "share")
#: So many pairs of groups are named in notes, more are counted.
MAX_NOTES = 3
TESTS = ("group", "first", "second", "feature", "value", "difference", "p_holm", "p_paired", "p_welch")


def distribution(
    labels: Panel | LabelsLike,
    by: str | Sequence[str] | None = None,
    *,
    judges: Judges = "sample",
    level: float = 0.95,
) -> Result:
    """The share of each grade among a group's labels, over all and for each value of the features in `by`.

    >>> labels = {"group": ["crowd"] * 4, "query": ["a", "a", "b", "b"], "doc": ["1", "2", "1", "2"]}
    >>> found = distribution({**labels, "label": [2, 2, 1, 0]})
    >>> found.frame.select("grade", "n", "share").rows()
    [(0.0, 1, 0.25), (1.0, 1, 0.25), (2.0, 2, 0.5)]

    Intervals are for other queries and, as `judges` are a sample, for other judges like these ("fixed": for these
    judges). Numbers are cut into slices of about equal size. It compares what judges said about their documents: a
    group with better documents has higher grades without being lenient, and `against_gold` tells the two apart.

    Reference: Kazai et al. (CIKM 2012), Fig. 1.
    """
    panel, features, frame, sampled, notes = looked_at(labels, None, by, judges, errors=False)
    shares = grade_shares(frame, "_label", features, notes, sampled, level=level).rename({"_label": "grade"})
    apart = _other_documents(frame)
    if apart:
        notes.append(apart)
    usual = shares.filter(pl.col("feature") == ALL).sort("share", descending=True, maintain_order=True)
    said = [
        f"{called(row['group'])} gave {grade_words(panel, row['grade'])} most often ({percent(row['share'])} of "
        f"{count(row['n_labels'], 'label')})"
        for row in usual.unique("group", keep="first").sort("group").iter_rows(named=True)
    ]
    return Result(shares, sentence(listed(said)), tuple(notes), scale=panel.scale, columns=SHARES)


def grade_words(panel: Panel, grade: float) -> str:
    """A grade in a sentence: by its name, or as grade 2."""
    return panel.said(grade) if panel.scale is not None and panel.scale.named else f"grade {grade:g}"


def _other_documents(frame: pl.DataFrame) -> str:
    """Which groups labelled other documents than the rest: their grades differ for that reason, too."""
    every = frame["_item"].n_unique()
    groups = frame.group_by("_group").agg(pl.col("_item").n_unique()).filter(pl.col("_item") < every).sort("_group")
    if not groups.height:
        return ""
    said = listed([f"{group} {number:,}" for group, number in groups.iter_rows()])
    return f"not all groups labelled all {every:,} documents ({said}): grades differ by documents, not by judges alone"


def distribution_tests(
    labels: Panel | LabelsLike, by: str | Sequence[str] | None = None, *, judges: Judges = "sample", level: float = 0.95
) -> Result:
    """Test whether two groups, or two values of a feature, differ in their labels, adjusted for the number of tests.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": (i + more) % 4, "group": group}
    ...         for i in range(8) for group, more in (("crowd", 1), ("nist", i % 2))]
    >>> distribution_tests(rows).frame.select("first", "second", "n_first", "n_second").rows()
    [('crowd', 'nist', 8, 8)]

    Two groups are compared on the documents that both labelled, and on nothing else: means, numbers, effect and all
    tests. Groups that share documents in fewer than five queries are not compared. The values of a feature are
    compared within a group, on different documents; a feature with more than two values is compared value against the
    rest.

    `difference` is between mean labels, in which documents count alike however many labels they have. Its p and
    interval, and those of the ordinal test (`effect`: how often a label of the first is above one of the second, ties
    by half), allow for labels of one query and, where `judges` are a sample, of one judge. `p_paired` is the paper's
    paired t test: two groups paired by document, two values by query (its mean label for each; the paper does not say
    how it paired). `p_welch` is Welch's t test of documents. Both take documents for independent, so they call
    differences significant too often. Adjusted p values are over all rows: `_holm` controls the probability of any
    false positive, `_bh` the share of false positives.

    Args:
        labels: Relevance labels with the column `group`: a path, a data frame, Judgments or a Panel.
        by: Features whose values are compared, too: columns of the labels.
        judges: "sample" (intervals for judges like these) or "fixed" (for these judges).
        level: Confidence level.

    Returns:
        A row for each comparison.

    Reference: Kazai et al. (CIKM 2012), section 5.2; `holm`, `benjamini_hochberg` and `ordinal_test` in `karat.stats`.
    """
    _, features, frame, sampled, notes = looked_at(labels, None, by, judges, errors=False)
    rows, few, shared = list[dict[str, Any]](), 0, list[_Shared]()
    for feature, cell in cells(frame, features, notes):
        parts = {tuple(map(str, key)): part for key, part in cell.partition_by("_group", "value", as_dict=True).items()}
        groups, values = sorted({group for group, _ in parts}), ordered(cell["value"])
        # What is compared, in words, and the values of both sides, each with the group whose labels they are.
        asked = list[tuple[dict[str, str], list[tuple[str, str]], list[tuple[str, str]]]]()
        for value in values:
            for a, b in combinations([group for group in groups if (group, value) in parts], 2):
                names = {"compared": "groups", "feature": feature, "value": value, "first": a, "second": b}
                asked.append((names, [(a, value)], [(b, value)]))
        for group in groups if feature != ALL else ():
            mine = [value for value in values if (group, value) in parts]
            for value in mine[: 1 if len(mine) == 2 else len(mine)] if len(mine) > 1 else ():
                rest = [other for other in mine if other != value]
                against = rest[0] if len(rest) == 1 else "the rest"
                names = {"compared": "values", "feature": feature, "group": group, "first": value, "second": against}
                asked.append((names, [(group, value)], [(group, other) for other in rest]))
        for names, first, second in asked:
            one, other = (pl.concat(parts[key] for key in side) for side in (first, second))
            between_groups = names["compared"] == "groups"
            if between_groups:
                labelled = (one["_item"].n_unique(), other["_item"].n_unique())
                one, other = one.join(other, on="_item", how="semi"), other.join(one, on="_item", how="semi")
                if feature == ALL:
                    shared.append(
                        _Shared(
                            names["first"], names["second"], one["_item"].n_unique(), one["_query"].n_unique(), labelled
                        )
                    )
            if min(one["_query"].n_unique(), other["_query"].n_unique()) >= FEWEST:
                rows.append(names | _compared(one, other, between_groups, sampled, level))
            elif not (between_groups and feature == ALL):  # those of groups over all documents are named
                few += 1
    notes += _shared_notes(shared)
    if few:
        notes.append(f"{count(few, 'comparison')} not made: fewer than {FEWEST} queries")
    tested = pl.DataFrame(rows, schema=_TESTS, infer_schema_length=None)
    for p in ("p", "p_ordinal"):
        known = tested[p].to_numpy()
        tested = tested.with_columns(
            pl.Series(f"{p}_holm", holm(known)), pl.Series(f"{p}_bh", benjamini_hochberg(known))
        )
    return Result(tested, _tests_said(tested), tuple(notes), columns=TESTS)


_TESTS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(["compared", "feature", "value", "group", "first", "second"], pl.String),
    **dict.fromkeys(["n_first", "n_second", "n_queries"], pl.Int64),
    **dict.fromkeys(["mean_first", "mean_second", "difference", "low", "high", "p"], pl.Float64),
    **dict.fromkeys(["effect", "effect_low", "effect_high", "p_ordinal"], pl.Float64),
    "n_paired": pl.Int64,
    **dict.fromkeys(["t_paired", "df_paired", "p_paired", "t_welch", "df_welch", "p_welch"], pl.Float64),
}


class _Shared(NamedTuple):
    """How many documents two groups share, of how many queries, and how many each labelled."""

    first: str
    second: str
    documents: int
    queries: int
    labelled: tuple[int, int]


def _shared_notes(pairs: Sequence[_Shared]) -> list[str]:
    """Which groups share too few documents to be compared, and which are compared on a part of their documents."""
    too_few = [pair for pair in pairs if pair.queries < FEWEST]
    in_part = [pair for pair in pairs if pair.queries >= FEWEST and pair.documents < max(pair.labelled)]
    few = [
        f"{one.first} and {one.second} are not compared: they share {count(one.documents, 'document')} "
        f"of {count(one.queries, 'query', 'queries')}, {FEWEST} queries are needed"
        for one in too_few
    ]
    part = [
        f"{one.first} and {one.second} are compared on the {count(one.documents, 'document')} both labelled "
        f"({one.first} labelled {one.labelled[0]:,}, {one.second} {one.labelled[1]:,})"
        for one in in_part
    ]
    if len(few) > MAX_NOTES:
        few = [f"{len(few)} pairs of groups are not compared: they share documents of fewer than {FEWEST} queries"]
    if len(part) > MAX_NOTES:
        part = [f"{len(part)} pairs of groups are compared on the documents both labelled, not on all of theirs"]
    return [*few, *part]


def _compared(
    one: pl.DataFrame, other: pl.DataFrame, same_documents: bool, sampled: Collection[str], level: float
) -> dict[str, Any]:
    """All that the tests say about two sets of labels; those of two groups are of the same documents."""
    difference, spread = _difference(one, other, same_documents, sampled)
    error = float(np.sqrt(spread.variance[0])) if spread.variance[0] > NOTHING else np.nan
    reach = half_width(error, level, spread.df[0])
    first_judge, second_judge = (f.select(_whose(sampled)).to_series().to_numpy() for f in (one, other))
    ordinal = ordinal_test(
        one["_label"],
        other["_label"],
        one["_query"],
        other["_query"],
        judges=(first_judge, second_judge) if max(first_judge.max(), second_judge.max()) >= 0 else None,
        items=(one["_item"], other["_item"]) if same_documents else None,
        level=level,
    )
    first, second = (f.group_by("_query", "_item", maintain_order=True).agg(pl.mean("_label")) for f in (one, other))
    return {
        "n_first": first.height,
        "n_second": second.height,
        "n_queries": pl.concat([one["_query"], other["_query"]]).n_unique(),
        "mean_first": first["_label"].mean(),
        "mean_second": second["_label"].mean(),
        "difference": difference,
        "low": difference - reach,
        "high": difference + reach,
        "p": two_sided(difference, error, spread.df[0]),
        "effect": ordinal.effect,
        "effect_low": ordinal.low,
        "effect_high": ordinal.high,
        "p_ordinal": ordinal.p,
        **_paired_t(first, second, "_item" if same_documents else "_query"),
        **_welch_t(first["_label"].to_numpy(), second["_label"].to_numpy()),
    }


def _difference(
    one: pl.DataFrame, other: pl.DataFrame, paired: bool, sampled: Collection[str]
) -> tuple[float, Variance]:
    """The difference of the mean labels of pairs, which count alike however many labels they have."""
    own = pl.mean("_label").over("_item")
    sides = [f.with_columns(weight=1.0 / pl.len().over("_item"), mean=own, judge=_whose(sampled)) for f in (one, other)]
    if paired:
        # What the other side said of the same pair tells how good it is.
        means = [f.select("_item", theirs="mean").unique() for f in sides]
        sides = [f.join(m, on="_item", maintain_order="left") for f, m in zip(sides, reversed(means), strict=True)]
    rows = pl.concat(f.with_columns(first=pl.lit(n == 0)) for n, f in enumerate(sides))
    label, first, weight, query, judge = (
        rows[name].to_numpy() for name in ("_label", "first", "weight", "_query", "judge")
    )
    if (judge < 0).all():
        fit = clustered_ols(label, first[:, None], query, weight=weight)
        return float(fit.coefficients[1]), Variance(fit.errors[1:] ** 2, fit.df[1:])
    return variance_of_difference(
        label, first, weight, query, judge, label - rows["theirs"].to_numpy() if paired else None
    )


def _whose(sampled: Collection[str]) -> pl.Expr:
    """The number of the judge, -1 where the group's judges stand for nobody else."""
    return pl.when(pl.col("_group").is_in(list(sampled))).then("_judge").otherwise(-1)


def _paired_t(first: pl.DataFrame, second: pl.DataFrame, by: str) -> dict[str, Any]:
    """The paired t test of mean labels by document, or by query where the documents differ."""
    means = [f.group_by(by, maintain_order=True).agg(pl.mean("_label")) for f in (first, second)]
    same = means[0].join(means[1], on=by, how="inner", maintain_order="left")
    gap = (same["_label"] - same["_label_right"]).to_numpy()
    n = len(gap)
    variance = gap.var(ddof=1) / n if n > 1 else np.nan
    return {"n_paired": n, **_t_test("paired", float(gap.mean()) if n else np.nan, variance, n - 1.0)}


def _welch_t(x: Floats, y: Floats) -> dict[str, Any]:
    """Welch's t test of documents' mean labels."""
    parts = [v.var(ddof=1) / len(v) if len(v) > 1 else np.nan for v in (x, y)]
    variance = sum(parts)
    weights = sum(part**2 / (len(v) - 1) for part, v in zip(parts, (x, y), strict=True) if len(v) > 1)
    return _t_test("welch", float(x.mean() - y.mean()), variance, variance**2 / weights if weights else np.nan)


def _t_test(kind: str, difference: float, variance: float, df: float) -> dict[str, float]:
    t = difference / np.sqrt(variance) if variance > NOTHING else np.nan
    p = two_sided(difference, np.sqrt(variance), df) if variance > NOTHING else np.nan
    return {f"t_{kind}": float(t), f"df_{kind}": float(df), f"p_{kind}": float(p)}


def _tests_said(tested: pl.DataFrame) -> str:
    if not tested.height:
        return "Nothing to compare: one group only, or too few queries in common."
    compared = count(tested.height, "comparison")
    sure = tested.filter(pl.col("p_ordinal_bh").fill_nan(1) <= 0.05).sort("p_ordinal")
    if not sure.height:
        return f"No significant difference in {compared}."
    row = sure.row(0, named=True)
    where = "" if row["feature"] == ALL else f", {row['feature']} {row['value']}"
    who = (
        f"{row['first']} and {row['second']}{where}"
        if row["compared"] == "groups"
        else f"{called(row['group'])} on {row['feature']} {row['first']} and {row['second']}"
    )
    significant = "is" if sure.height == 1 else "are"
    return (
        f"{sure.height} of {compared} {significant} statistically significant (ordinal test, adjusted for their "
        f"number); the clearest is {who}: mean labels {row['mean_first']:.2f} and {row['mean_second']:.2f}, "
        f"the first higher in {percent(row['effect'])} of cases."
    )
