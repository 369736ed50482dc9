"""Labels cut into slices by the features of query and document: figures for each, and how they are put into words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.judges.features import FEATURES
from karat.records import Judgments
from karat.records.base import count
from karat.records.scale import refuse_many_grades
from karat.stats.regression import clustered_means

Floats = npt.NDArray[np.float64]

#: The value of "no feature, all labels", and the group of judges where none is named.
ALL = "all"
#: Labels are comparable when they are about the same thing.
ITEM = ("query", "doc", "subtopic", "context", "aspect", "surface")
#: More grades than this are measurements, whose distribution is no table.
MOST_GRADES = 101
#: Into how many slices a number is cut.
SLICES = 4


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
    refuse_many_grades(len(grades), MOST_GRADES, "the labels")
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
