"""How labels spread over the grades, for each group of judges and each value of a feature, and where that differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.judges.population import Judges
from karat.judges.slices import NOTHING, called, cells, grade_shares, listed, looked_at, ordered, sentence
from karat.labels import ALL, Panel
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.records.number_format import percent
from karat.stats import FEWEST
from karat.stats.arrays import Floats
from karat.stats.correction import half_width, two_sided
from karat.stats.many import benjamini_hochberg, holm
from karat.stats.rank_sum import ordinal_test
from karat.stats.regression import clustered_ols
from karat.stats.two_way import Variance, variance_of_difference

#: What is shown of the shares and of the tests.
SHARES = ("group", "feature", "value", "grade", "n", "share")
TESTS = ("group", "first", "second", "feature", "value", "difference", "p_holm")


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
    """Whether the labels of two groups differ, and those of two values of a feature, allowing for many tests.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": (i + more) % 4, "group": group}
    ...         for i in range(8) for group, more in (("crowd", 1), ("nist", i % 2))]
    >>> distribution_tests(rows).frame.select("first", "second", "test", "n_first").rows()
    [('crowd', 'nist', 'paired t', 8)]

    `difference` is that of the mean label of query-document pairs, over the pairs that two groups share where these are
    at least half of the smaller group's, else over all; `p` and the interval allow for labels of one query, and of one
    judge where `judges` are a sample. So does the ordinal test (`effect`: how often a label of the first is above one
    of the second, ties by half). `t` and `p_t` are the paper's t test (paired, or Welch's), which takes pairs of one
    query, and of one judge, for independent, and so calls differences certain that are not. Adjusted p values are over
    all rows: `_holm` against any false alarm, `_bh` for a share of false alarms. A feature with more than two values is
    compared value against the rest; what has fewer than five queries is not compared.

    Reference: Kazai et al. (CIKM 2012), section 5.2; `holm`, `benjamini_hochberg` and `ordinal_test` in `karat.stats`.
    """
    _, features, frame, sampled, notes = looked_at(labels, None, by, judges, errors=False)
    rows, few = list[dict[str, Any]](), 0
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
            if min(one["_query"].n_unique(), other["_query"].n_unique()) < FEWEST:
                few += 1
            else:
                rows.append(names | _compared(one, other, names["compared"] == "groups", sampled, level))
    if few:
        notes.append(f"{count(few, 'comparison')} of fewer than {FEWEST} queries not made")
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
    "test": pl.String,
    **dict.fromkeys(["t", "df", "p_t"], pl.Float64),
}


def _compared(
    one: pl.DataFrame, other: pl.DataFrame, may_pair: bool, sampled: Collection[str], level: float
) -> dict[str, Any]:
    """All that the tests say about two sets of labels."""
    first, second = (f.group_by("_item", maintain_order=True).agg(pl.mean("_label")) for f in (one, other))
    same = first.join(second, on="_item", how="inner") if may_pair else first.clear()
    paired = same.height > 1 and same.height * 2 >= min(first.height, second.height)
    mine, theirs = (f.join(same, on="_item", how="semi") if paired else f for f in (one, other))
    difference, spread = _difference(mine, theirs, paired, sampled)
    error = float(np.sqrt(spread.variance[0])) if spread.variance[0] > NOTHING else np.nan
    reach = half_width(error, level, spread.df[0])
    first_judge, second_judge = (f.select(_whose(sampled)).to_series().to_numpy() for f in (one, other))
    complete = paired and same.height == first.height == second.height
    ordinal = ordinal_test(
        one["_label"],
        other["_label"],
        one["_query"],
        other["_query"],
        judges=(first_judge, second_judge) if max(first_judge.max(), second_judge.max()) >= 0 else None,
        items=(one["_item"], other["_item"]) if complete else None,
        level=level,
    )
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
        **_paper_test(first["_label"].to_numpy(), second["_label"].to_numpy(), same, paired),
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


def _paper_test(x: Floats, y: Floats, same: pl.DataFrame, paired: bool) -> dict[str, Any]:
    """The t test of pairs, as if they were independent."""
    if paired:
        gap = (same["_label"] - same["_label_right"]).to_numpy()
        difference, variance, df = float(gap.mean()), gap.var(ddof=1) / len(gap), len(gap) - 1.0
    else:
        parts = [v.var(ddof=1) / len(v) if len(v) > 1 else np.nan for v in (x, y)]
        difference, variance = float(x.mean() - y.mean()), sum(parts)
        weights = sum(part**2 / (len(v) - 1) for part, v in zip(parts, (x, y), strict=True) if len(v) > 1)
        df = variance**2 / weights if weights else np.nan
    t = difference / np.sqrt(variance) if variance > 0 else np.nan
    p = two_sided(difference, np.sqrt(variance), df)
    return {"test": "paired t" if paired else "Welch t", "t": float(t), "df": float(df), "p_t": p}


def _tests_said(tested: pl.DataFrame) -> str:
    if not tested.height:
        return "There is nothing to compare: one group, or too few queries."
    sure = tested.filter(pl.col("p_ordinal_bh").fill_nan(1) <= 0.05).sort("p_ordinal")
    if not sure.height:
        return f"No difference in {count(tested.height, 'comparison')} is beyond chance."
    row = sure.row(0, named=True)
    where = "" if row["feature"] == ALL else f", {row['feature']} {row['value']}"
    who = (
        f"{row['first']} and {row['second']}{where}"
        if row["compared"] == "groups"
        else (f"{called(row['group'])} on {row['feature']} {row['first']} and {row['second']}")
    )
    return (
        f"{sure.height} of {count(tested.height, 'comparison')} differ beyond chance by the ordinal test; most clearly "
        f"{who}: a mean label of {row['mean_first']:.2f} and {row['mean_second']:.2f}, "
        f"the first higher in {percent(row['effect'])} of cases."
    )
