"""Labels cut into slices by the features of query and document: figures for each, and how they are put into words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.features import FEATURES
from karat.judges.jackknife import Judges, sampled_groups
from karat.labels import ALL, Panel
from karat.labels.panel import MOST_GRADES
from karat.records import Judgments, LabelsLike
from karat.records.scale import refuse_many_grades
from karat.records.table import count
from karat.stats import FEWEST, check_level
from karat.stats.arrays import Floats
from karat.stats.cluster_robust import variance_of_means
from karat.stats.rogan_gladen import half_width, wilson
from karat.stats.student_t import johnson_ends, third_moments

#: Into how many slices a number is cut.
SLICES = 4
#: A variance that is rounding.
NOTHING = 1e-20


def features_of(labels: Panel | LabelsLike, by: str | Sequence[str] | None) -> list[str]:
    """The names of the features asked for, or an error that says how to have one that is not there."""
    there = labels.frame.columns if isinstance(labels, Panel) else Judgments.of(labels).frame.columns
    for name in listed_features(by):
        if name not in there:
            remedy = f"make it first with add_features(judgments, ['{name}'], ...)" if name in FEATURES else ""
            found = ", ".join(there)
            raise BadInput.at("the judgments", expected=f"a column {name} to compare by", found=found, remedy=remedy)
        if name.startswith("_"):  # names of the columns that are made beside it
            raise BadInput.at("the column to compare by", expected="a name without _ before it", found=name)
    return listed_features(by)


def listed_features(by: str | Sequence[str] | None) -> list[str]:
    """One name, several or none as a list."""
    return [] if by is None else [by] if isinstance(by, str) else list(dict.fromkeys(by))


class Looked(NamedTuple):
    """Labels to look at by features, the groups whose judges are a sample, and what to know about them."""

    panel: Panel
    features: list[str]
    frame: pl.DataFrame
    sampled: Collection[str]
    notes: list[str]


def looked_at(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None,
    by: str | Sequence[str] | None,
    judges: Judges,
    *,
    errors: bool,
    weighed: bool = False,
) -> Looked:
    """The labels with these features; their `errors` against gold where these are asked for (`errors_of`)."""
    features = features_of(labels, by)
    panel = Panel.of(labels, gold, apart=features)
    frame, drawn = errors_of(panel, features, weighed=weighed) if errors else (labels_of(panel, features), [])
    sampled, about = sampled_groups(panel, judges)
    return Looked(panel, features, frame, sampled, [*panel.notes, *drawn, *about])


def labels_of(panel: Panel, features: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each label with its numbers and features, in an order that does not depend on how the rows came."""
    own = {"_query": panel.query, "_item": panel.item, "_judge": panel.judge, "_label": panel.value}
    group = pl.Series("_group", panel.groups).gather(panel.group)
    known = [pl.Series(name, values) for name, values in own.items()]
    frame = pl.DataFrame([group, *known, *(panel.feature(name) for name in features)])
    frame = frame.with_columns(_weight=pl.lit(1.0))
    return frame.sort("_query", "_item", "_judge", "_label", maintain_order=True)


def errors_of(panel: Panel, features: Sequence[str] = (), *, weighed: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """The labels of documents that have a gold one, with `_gold` and `_error`, and what to know about the gold sample.

    `weighed` says whether a document counts with 1 / the probability with which it was drawn for gold.
    """
    if not panel.has_gold:
        raise BadInput.at(
            "the judgments",
            expected="a group called gold",
            found=", ".join(panel.groups),
            remedy="give the gold labels, or name their group gold",
        )
    judged = panel.of_judges()
    judged = judged.kept(~np.isnan(judged.truth))
    if not len(judged.item):
        raise Undefined("no label is of a document with a gold label")
    frame = labels_of(judged, features)
    item = frame["_item"].to_numpy()
    frame = frame.with_columns(_gold=pl.Series(panel.grades[panel.gold[item]]))
    frame = frame.with_columns(_error=pl.col("_label") - pl.col("_gold"))
    if not np.ptp(panel.gold_weight[panel.gold >= 0]) > 0:
        return frame, []
    drawn = "gold documents were drawn with different probabilities"
    if not weighed:
        return frame, [f"{drawn}, but count alike here"]
    weight = pl.Series(panel.gold_weight[item])
    return frame.with_columns(_weight=weight), [f"{drawn}: each counts with 1 / its probability"]


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
        return numbers.replace_strict(different, names, default=None, return_dtype=pl.Enum(names))
    whole = not values.dtype.is_float() or bool((known == known.round()).all())
    # An edge at the lowest value would cut nothing off, which happens when many share it: the next one does.
    quantiles = [float(known.quantile(n / most, "higher") or 0.0) for n in range(1, most)]
    edges = sorted({edge if edge > different[0] else different[1] for edge in quantiles})
    names = _slice_names(edges, whole)
    place = pl.Series(np.searchsorted(edges, numbers.to_numpy(), "right")).set(numbers.is_null(), None)
    return place.replace_strict(range(len(names)), names, default=None, return_dtype=pl.Enum(names))


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


def cell_means(
    frame: pl.DataFrame, columns: Sequence[str], shares: Sequence[bool], sampled: Collection[str], *, level: float
) -> tuple[pl.DataFrame, dict[str, Floats]]:
    """Means of the columns over the labels of each group and `value`; `shares` says which are of zeros and ones.

    The cells (group, value, n, n_queries, n_judges), and of each the means and the `_low` and `_high` ends.

    Errors are clustered by query, and by judge in the groups whose judges are a sample. With fewer than five queries,
    or where all labels are alike, there is no interval; but a share that is 0 everywhere ends where so many queries
    could still have missed it (exact binomial bound). Other shares have Wilson's interval, for as many labels as their
    spread amounts to; other means have Johnson's, which allows for values that lie to one side.
    """
    check_level(level)
    key = ["_group", "value"]
    size = {"n": pl.len(), "n_queries": pl.col("_query").n_unique(), "n_judges": pl.col("_judge").n_unique()}
    table = frame.group_by(key).agg(**{name: of.cast(pl.Int64) for name, of in size.items()}).sort(key)
    parts = frame.partition_by(key, as_dict=True)
    mean, low, high = (np.full((table.height, len(columns)), np.nan) for _ in range(3))
    of_shares = np.asarray(shares, dtype=np.bool_)
    for at, (group, value, _, queries, judges) in enumerate(table.iter_rows()):
        rows = parts[group, value]
        values, weight = rows.select(columns).to_numpy(), rows["_weight"].to_numpy()
        by_judge = rows["_judge"].to_numpy() if group in sampled else None
        mean[at], spread = variance_of_means(values, weight, rows["_query"].to_numpy(), by_judge)
        if queries < FEWEST or (by_judge is not None and judges < 2):
            continue
        alike = values.min(axis=0) == values.max(axis=0)
        mean[at, alike] = values[0, alike]
        error = np.sqrt(np.where((spread.variance > NOTHING) & ~alike, spread.variance, np.nan))
        third = third_moments(values, weight, rows["_query"].to_numpy())
        of_means = johnson_ends(mean[at], error, np.asarray(half_width(1.0, level, spread.df)), third)
        # A share is as certain as so many independent labels would make it.
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = wilson(mean[at], mean[at] * (1 - mean[at]) / error**2, level, spread.df)
        low[at], high[at] = (np.where(of_shares, *both) for both in zip(ends, of_means, strict=True))
        missed = 1 - ((1 - level) / 2) ** (1 / queries)
        never, always = of_shares & alike & (mean[at] == 0), of_shares & alike & (mean[at] == 1)
        low[at, never], high[at, never] = 0.0, missed
        low[at, always], high[at, always] = 1 - missed, 1.0
    return table.rename({"_group": "group"}), {"": mean, "_low": low, "_high": high}


def grade_shares(
    frame: pl.DataFrame,
    column: str,
    features: Sequence[str],
    notes: list[str],
    sampled: Collection[str],
    *,
    level: float,
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
        table, means = cell_means(cut, names, [True] * len(names), sampled, level=level)
        given = cut.group_by("_group", "value").agg(pl.col(names).sum()).sort("_group", "value")
        rows = table.rename({"n": "n_labels"})[np.repeat(np.arange(table.height), len(grades))].with_columns(
            pl.col("value").cast(pl.String),
            pl.Series(column, grades * table.height, dtype=pl.Float64),
            pl.Series("n", given.select(names).to_numpy().ravel().astype(np.int64)),
            *(
                pl.Series(name, numbers.ravel())
                for name, numbers in zip(("share", "low", "high"), means.values(), strict=True)
            ),
            feature=pl.lit(feature),
        )
        parts.append(rows)
    sizes = ["n_labels", "n_queries", "n_judges"]
    return pl.concat(parts).select("group", "feature", "value", column, "n", "share", "low", "high", *sizes)


_CALLED = {
    ALL: "the judges",
    "judges": "the judges",
    "crowd": "the crowd",
    "professional": "the professionals",
    "llm": "the LLM",
}


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


#: The words of karat's own with which a sentence may begin; any other first word is a name.
_OPENINGS = ("the", "for", "no", "against")


def sentence(words: str) -> str:
    """The words with a full stop, and with a capital unless the name of a group comes first.

    >>> sentence("the crowd errs"), sentence("gptA errs")
    ('The crowd errs.', 'gptA errs.')
    """
    own = words.partition(" ")[0] in _OPENINGS
    return f"{words[:1].upper() if own else words[:1]}{words[1:]}."
