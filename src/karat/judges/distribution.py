"""How labels spread over the grades, for each group of judges and each value of a feature, and where that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.judges.features import FEATURES
from karat.records import Judgments, Result
from karat.records.base import count
from karat.stats import FEWEST
from karat.stats.many import benjamini_hochberg, holm
from karat.stats.ordinal import ordinal_test
from karat.stats.regression import clustered_means, clustered_ols

Floats = npt.NDArray[np.float64]

#: The value of "no feature, all labels", and the group of judges where none is named.
ALL = "all"
#: Labels are comparable when they are about the same thing.
ITEM = ("query", "doc", "subtopic", "context", "aspect", "surface")
#: More grades than this are measurements, whose distribution is no table.
MOST_GRADES = 101
#: Into how many slices a number is cut.
SLICES = 4


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
    usual = shares.filter(pl.col("feature") == ALL).sort("share", descending=True, maintain_order=True)
    said = [
        f"{called(row['group'])} gave grade {row['grade']:g} most often ({percent(row['share'])} of "
        f"{count(row['n_labels'], 'label')})"
        for row in usual.unique("group", keep="first").sort("group").iter_rows(named=True)
    ]
    return Result(shares, sentence(listed(said)), tuple(notes))


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
        f"{sure.height} of {count(tested.height, 'comparison')} differ beyond chance; most clearly {who}: "
        f"a mean label of {row['mean_first']:.2f} and {row['mean_second']:.2f}, "
        f"the first higher in {percent(row['effect'])} of cases."
    )


# What the analyses by group and feature share.


def plain_labels(judgments: Judgments, by: str | Sequence[str] | None = None) -> tuple[pl.DataFrame, list[str]]:
    """The labels of pages as a whole with a group each, numbered by item and query, and what was left aside."""
    frame, notes = judgments.frame, list[str]()
    name = pl.col("group").fill_null("unnamed") if judgments.has("group") else pl.lit(ALL)
    frame = frame.with_columns(name.alias("group"))
    for column, whole in (("aspect", "overall"), ("surface", "page")):
        if column not in frame.columns:
            continue
        frame = frame.with_columns(pl.col(column).fill_null(whole))
        kept = frame.filter(pl.col(column) == whole)
        if column in _listed(by) or kept.height in (0, frame.height):
            continue
        notes.append(f"{count(frame.height - kept.height, 'judgment')} of another {column} than {whole} left aside")
        frame = kept
    silent = frame["label"].null_count()
    if silent:
        notes.append(f"{count(silent, 'answer')} without a label (can't tell) left aside")
        frame = frame.drop_nulls("label")
    if not frame.height:
        raise BadInput.at("the judgments", expected="at least one label", found="none")
    item = pl.struct(column for column in ITEM if column in frame.columns)
    numbers = {"_item": item.rank("dense"), "_number": pl.col("query").rank("dense")}
    return frame.with_columns(expr.cast(pl.Int64).alias(name) - 1 for name, expr in numbers.items()), notes


def features_of(judgments: Judgments, by: str | Sequence[str] | None) -> list[str]:
    """The names of the features asked for, or an error that says how to have one that is not there."""
    for name in _listed(by):
        if not judgments.has(name):
            remedy = f"make it first with add_features(judgments, ['{name}'], ...)" if name in FEATURES else ""
            found = ", ".join(judgments.frame.columns)
            raise BadInput.at("the judgments", expected=f"a column {name} to compare by", found=found, remedy=remedy)
    return _listed(by)


def _listed(by: str | Sequence[str] | None) -> list[str]:
    return [] if by is None else [by] if isinstance(by, str) else list(dict.fromkeys(by))


def cells(frame: pl.DataFrame, features: Sequence[str], notes: list[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The frame for all, then for each feature, with the slice of each row as `value`; unknown ones are left aside."""
    yield ALL, frame.with_columns(value=pl.lit(ALL, pl.Enum([ALL])))
    for feature in features:
        cut = frame.with_columns(sliced(frame[feature]).alias("value")).drop_nulls("value")
        if cut.height < frame.height:
            notes.append(f"{feature} is unknown for {count(frame.height - cut.height, 'label')}, left aside there")
        if cut.height:
            yield feature, cut


def sliced(values: pl.Series, most: int = SLICES) -> pl.Series:
    """The slice each value falls in, as its name, in order: a text is its own slice, numbers are cut at quantiles.

    >>> sliced(pl.Series([1, 2, 2, 3, 4, 9, 5, 7]), most=3).to_list()
    ['up to 2', 'up to 2', 'up to 2', '3 to 4', '3 to 4', '5 or more', '5 or more', '5 or more']
    """
    if values.dtype == pl.Boolean or not values.dtype.is_numeric():
        texts = pl.repeat(None, len(values), dtype=pl.String, eager=True) if values.dtype.is_nested() else values
        texts = texts.cast(pl.String)
        different = texts.drop_nulls().unique().sort().to_list()
        # Having a feature comes before not having it: WP, nWP; true, false.
        different.sort(key=lambda name: name == "false" or (name[:1] == "n" and name[1:] in different))
        return texts.cast(pl.Enum(different))
    numbers = values.cast(pl.Float64)
    numbers = numbers.set(~numbers.is_finite().fill_null(True), None)
    known = numbers.drop_nulls()
    different = known.unique().sort().to_list()
    if len(different) <= most:
        names = [f"{number:g}" for number in different]
        places = dict(zip(different, names, strict=True))
        return numbers.replace_strict(places, default=None, return_dtype=pl.Enum(names))
    whole = not values.dtype.is_float() or bool((known == known.round()).all())
    # An edge at the lowest value would cut nothing off, which happens when many share it: the next one does.
    quantiles = [float(known.quantile(n / most, "higher") or 0.0) for n in range(1, most)]
    edges = sorted({edge if edge > different[0] else different[1] for edge in quantiles})
    names = _slice_names(edges, whole)
    place = np.searchsorted(edges, known.to_numpy(), "right")
    codes = np.full(len(numbers), -1)
    codes[numbers.is_not_null().to_numpy()] = place
    return pl.Series(codes).replace_strict(dict(enumerate(names)), default=None, return_dtype=pl.Enum(names))


def _slice_names(edges: list[float], whole: bool) -> list[str]:
    if not whole:
        middle = [f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges)]
        return [f"under {edges[0]:.6g}", *middle, f"{edges[-1]:.6g} or more"]
    ends = [(int(low), int(high) - 1) for low, high in pairwise(edges)]
    middle = [f"{low}" if low == high else f"{low} to {high}" for low, high in ends]
    return [f"up to {int(edges[0]) - 1}", *middle, f"{int(edges[-1])} or more"]


def ordered(values: pl.Series) -> list[str]:
    """The slices that occur, in order."""
    return values.unique().sort().cast(pl.String).to_list()


@dataclass(frozen=True, eq=False)
class Means:
    """The mean of some columns in each cell, with bootstrap intervals over queries."""

    cells: pl.DataFrame
    mean: Floats
    low: Floats
    high: Floats


def cell_means(
    frame: pl.DataFrame, columns: Sequence[str], shares: Sequence[bool], *, level: float, draws: int, seed: int
) -> Means:
    """Means of the columns over the labels of each group and `value`; `shares` says which are of zeros and ones."""
    if not 0 < level < 1:
        raise BadInput.at("the interval's level", expected="a share such as 0.95", found=str(level))
    if draws < 0 or seed < 0:
        raise BadInput.at("the bootstrap", expected="0 draws or more, and such a seed", found=f"{draws}, seed {seed}")
    key = ["group", "value"]
    sums = frame.group_by(*key, "query").agg(pl.len().alias("_n"), pl.col(columns).sum())
    size = {"n": pl.col("_n").sum().cast(pl.Int64), "n_queries": pl.len().cast(pl.Int64)}
    table = sums.group_by(key).agg(**size).sort(key)
    # Queries are numbered in the order of their ids, so that the order of the rows changes nothing.
    sums = sums.with_columns(_query=pl.col("query").rank("dense").cast(pl.Int64) - 1)
    sums = sums.join(table.select(key).with_row_index("_cell"), on=key).sort("_cell", "_query")
    mean, low, high = clustered_means(
        sums.select("_n", *columns).to_numpy(),
        sums["_cell"].to_numpy().astype(np.int64),
        sums["_query"].to_numpy(),
        shares,
        level=level,
        draws=draws,
        seed=seed,
    )
    return Means(table, mean, low, high)


def grade_shares(
    frame: pl.DataFrame,
    column: str,
    features: Sequence[str],
    notes: list[str],
    *,
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """The share of every value of `column` in each cell, a row for each: n, share and its interval."""
    grades = frame[column].unique().sort().to_list()
    if len(grades) > MOST_GRADES:
        raise BadInput.at(
            "the labels",
            expected=f"at most {MOST_GRADES} different grades",
            found=f"{len(grades):,}",
            remedy="round the labels to the grades of a scale",
        )
    names = [f"_{i}" for i in range(len(grades))]
    frame = frame.with_columns(
        (pl.col(column) == grade).cast(pl.Float64).alias(name) for name, grade in zip(names, grades, strict=True)
    )
    parts = []
    for feature, cut in cells(frame, features, notes):
        means = cell_means(cut, names, [True] * len(names), level=level, draws=draws, seed=seed)
        many, k = means.cells.height, len(grades)
        rows = means.cells[np.repeat(np.arange(many), k)].with_columns(
            pl.lit(feature).alias("feature"),
            pl.col("value").cast(pl.String),
            pl.Series(column, grades * many, dtype=pl.Float64),
            *(
                pl.Series(name, numbers.ravel())
                for name, numbers in (("share", means.mean), ("low", means.low), ("high", means.high))
            ),
        )
        parts.append(rows)
    return pl.concat(parts).select(
        "group",
        "feature",
        "value",
        column,
        (pl.col("share") * pl.col("n")).round().cast(pl.Int64).alias("n"),
        "share",
        "low",
        "high",
        n_labels="n",
        n_queries="n_queries",
    )


_CALLED = {ALL: "the judges", "crowd": "the crowd", "professional": "the professionals", "llm": "the LLM"}


def called(group: str) -> str:
    """The group as a sentence names it."""
    return _CALLED.get(group, group)


def does(group: str, verb: str) -> str:
    """The verb as it goes with the group's name."""
    many = called(group) in ("the judges", "the professionals")
    if verb == "be":
        return "are" if many else "is"
    return verb if many else verb + "s"


def listed(said: Sequence[str], most: int = 3) -> str:
    """What there is to say, and of how many more groups the table says it.

    >>> listed(["a errs", "b errs", "c errs", "d errs", "e errs"])
    'a errs; b errs; c errs; 2 more groups in the table'
    """
    more = [f"{count(len(said) - most, 'more group')} in the table"] if len(said) > most + 1 else []
    return "; ".join([*said[: most if more else None], *more])


def sentence(words: str) -> str:
    """The words with a full stop, and with a capital unless a name like gpt-4 comes first."""
    return f"{words[:1].upper() if words.partition(' ')[0].isalpha() else words[:1]}{words[1:]}."


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.314)
    '31 %'
    """
    return f"{100 * share:.0f} %"
