"""How labels spread over the grades, for each group of judges and each value of a feature, and where that differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.judges.slices import (
    ALL,
    called,
    cells,
    features_of,
    grade_shares,
    listed,
    ordered,
    percent,
    plain_labels,
    sentence,
)
from karat.records import Judgments, Result
from karat.records.base import count
from karat.stats import FEWEST
from karat.stats.many import benjamini_hochberg, holm
from karat.stats.ordinal import ordinal_test
from karat.stats.regression import clustered_ols


def distribution(
    judgments: Judgments,
    by: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """The share of each grade among a group's labels, over all and for each value of the features in `by`.

    >>> labels = {"group": ["crowd"] * 4, "query": ["a", "a", "b", "b"], "doc": ["1", "2", "1", "2"]}
    >>> found = distribution(Judgments.of({**labels, "label": [2, 2, 1, 0]}), draws=0)
    >>> found.frame.select("grade", "n", "share").rows()
    [(0.0, 1, 0.25), (1.0, 1, 0.25), (2.0, 2, 0.5)]

    Intervals are bootstrap intervals over queries. Numbers are cut into slices of about equal size. It compares what
    judges said about their documents: a group with better documents has higher grades without being lenient, and
    `against_gold` tells the two apart.

    Reference: Kazai et al. (CIKM 2012), Fig. 1.
    """
    frame, notes = plain_labels(judgments, by)
    shares = grade_shares(frame, "label", features_of(judgments, by), notes, level=level, draws=draws, seed=seed)
    shares = shares.rename({"label": "grade"})
    apart = _other_documents(frame)
    if apart:
        notes.append(apart)
    usual = shares.filter(pl.col("feature") == ALL).sort("share", descending=True, maintain_order=True)
    said = [
        f"{called(row['group'])} gave grade {row['grade']:g} most often ({percent(row['share'])} of "
        f"{count(row['n_labels'], 'label')})"
        for row in usual.unique("group", keep="first").sort("group").iter_rows(named=True)
    ]
    return Result(shares, sentence(listed(said)), tuple(notes))


def _other_documents(frame: pl.DataFrame) -> str:
    """Which groups labelled other documents than the rest: their grades differ for that reason, too."""
    every = frame["_item"].n_unique()
    groups = frame.group_by("group").agg(pl.col("_item").n_unique()).filter(pl.col("_item") < every).sort("group")
    if not groups.height:
        return ""
    said = listed([f"{group} {number:,}" for group, number in groups.iter_rows()])
    return f"not all groups labelled all {every:,} documents ({said}): grades differ by documents, not by judges alone"


def distribution_tests(judgments: Judgments, by: str | Sequence[str] | None = None, *, level: float = 0.95) -> Result:
    """Whether the labels of two groups differ, and those of two values of a feature, allowing for many tests.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": (i + more) % 4, "group": group}
    ...         for i in range(8) for group, more in (("crowd", 1), ("nist", i % 2))]
    >>> distribution_tests(Judgments.of(rows)).frame.select("first", "second", "test", "n_first").rows()
    [('crowd', 'nist', 'paired t', 8)]

    `t` and `p_t` are the paper's t test over query-document pairs (several labels of a pair as their mean): paired
    where two groups labelled the same pairs (at least half of the smaller group's), else Welch's. It takes the pairs of
    one query for independent, which they are not; the interval of `difference` and the ordinal test (`effect`: how
    often a label of the first is above one of the second, ties by half) allow for that. Adjusted p values are over
    all rows: `_holm` against any false alarm, `_bh` for a share of false alarms. A feature with more than two values is
    compared value against the rest; what has fewer than five queries is not compared.

    Reference: Kazai et al. (CIKM 2012), section 5.2; `holm`, `benjamini_hochberg` and `ordinal_test` in `karat.stats`.
    """
    frame, notes = plain_labels(judgments, by)
    rows, few = list[dict[str, Any]](), 0
    for feature, cell in cells(frame, features_of(judgments, by), notes):
        parts = {tuple(map(str, key)): part for key, part in cell.partition_by("group", "value", as_dict=True).items()}
        groups, values = sorted({group for group, _ in parts}), ordered(cell["value"])
        asked: list[tuple[dict[str, str], list[pl.DataFrame], list[pl.DataFrame]]] = []
        for value in values:
            present = [group for group in groups if (group, value) in parts]
            asked += [
                (
                    {"compared": "groups", "feature": feature, "value": value, "first": a, "second": b},
                    [parts[a, value]],
                    [parts[b, value]],
                )
                for a, b in combinations(present, 2)
            ]
        for group in groups if feature != ALL else ():
            mine = [value for value in values if (group, value) in parts]
            for value in mine[: 1 if len(mine) == 2 else len(mine)] if len(mine) > 1 else ():
                rest = [other for other in mine if other != value]
                names = {"first": value, "second": rest[0] if len(rest) == 1 else "the rest"}
                asked.append(
                    (
                        {"compared": "values", "feature": feature, "group": group, **names},
                        [parts[group, value]],
                        [parts[group, other] for other in rest],
                    )
                )
        for names, first, second in asked:
            one, other = pl.concat(first), pl.concat(second)
            if min(one["_number"].n_unique(), other["_number"].n_unique()) < FEWEST:
                few += 1
            else:
                rows.append(names | _compared(one, other, names["compared"] == "groups", level))
    if few:
        notes.append(f"{count(few, 'comparison')} of fewer than {FEWEST} queries not made")
    tested = pl.DataFrame(rows, schema=_TESTS, infer_schema_length=None)
    for p in ("p_t", "p_ordinal"):
        known = tested[p].to_numpy()
        tested = tested.with_columns(
            pl.Series(f"{p}_holm", holm(known)), pl.Series(f"{p}_bh", benjamini_hochberg(known))
        )
    return Result(tested, _tests_said(tested), tuple(notes))


_TESTS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(["compared", "feature", "value", "group", "first", "second"], pl.String),
    **dict.fromkeys(["n_first", "n_second", "n_queries"], pl.Int64),
    **dict.fromkeys(["mean_first", "mean_second", "difference", "low", "high"], pl.Float64),
    "test": pl.String,
    **dict.fromkeys(["t", "df", "p_t", "effect", "effect_low", "effect_high", "p_ordinal"], pl.Float64),
}


def _compared(one: pl.DataFrame, other: pl.DataFrame, may_pair: bool, level: float) -> dict[str, Any]:
    """All that the tests say about two sets of labels."""
    from scipy.special import stdtr

    first, second = (
        f.group_by("_item", maintain_order=True).agg(pl.first("_number"), pl.mean("label")) for f in (one, other)
    )
    x, y = first["label"].to_numpy(), second["label"].to_numpy()
    same = first.join(second, on="_item", how="inner") if may_pair else first.clear()
    if same.height > 1 and same.height * 2 >= min(len(x), len(y)):
        gap = (same["label"] - same["label_right"]).to_numpy()
        fit, at = clustered_ols(gap, np.zeros((len(gap), 0)), same["_number"].to_numpy()), 0
        variance, df, name = gap.var(ddof=1) / len(gap), len(gap) - 1.0, "paired t"
    else:
        query = pl.concat([first["_number"], second["_number"]]).to_numpy()
        is_first = np.arange(len(x) + len(y)) < len(x)
        fit, at = clustered_ols(np.concatenate([x, y]), is_first[:, None], query), 1
        parts = [v.var(ddof=1) / len(v) if len(v) > 1 else np.nan for v in (x, y)]
        variance, name = sum(parts), "Welch t"
        weights = sum(part**2 / (len(v) - 1) for part, v in zip(parts, (x, y), strict=True) if len(v) > 1)
        df = variance**2 / weights if weights else np.nan
    difference = float(fit.coefficients[at])
    low, high = fit.intervals(level)
    t = difference / np.sqrt(variance) if variance > 0 else np.nan
    ordinal = ordinal_test(
        one["label"].to_numpy(),
        other["label"].to_numpy(),
        one["_number"].to_numpy(),
        other["_number"].to_numpy(),
        level=level,
    )
    return {
        "n_first": len(x),
        "n_second": len(y),
        "n_queries": pl.concat([one["_number"], other["_number"]]).n_unique(),
        "mean_first": float(x.mean()),
        "mean_second": float(y.mean()),
        "difference": difference,
        "low": float(low[at]),
        "high": float(high[at]),
        "test": name,
        "t": float(t),
        "df": float(df),
        "p_t": float(2 * stdtr(df, -abs(t))),
        "effect": ordinal.effect,
        "effect_low": ordinal.low,
        "effect_high": ordinal.high,
        "p_ordinal": ordinal.p,
    }


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
