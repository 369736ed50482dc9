"""What measures say about the pairs of lists that users compared: the score of either side, and kinds of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels import one_subtopic_each
from karat.measures import Judged, Profile, as_measures
from karat.records import Judgments, LabelsLike, Queries, Result, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import joined
from karat.scoring import Scorer
from karat.stats.arrays import Bools, Floats, Ints
from karat.validity.question_unit import SHOWN, too_deep

#: Scores that differ by less than this do so by rounding only.
ROUNDING = 1e-9
#: The kinds of pairs that a measure's own scores make.
OWN = ("difference", "difference_all", "zero")


@dataclass(frozen=True, eq=False)
class PairScores:
    """Pairs that users compared, with every measure's score of both sides; rows are pairs, columns measures."""

    pairs: pl.DataFrame  # query, (subtopic,) a, b, value, sign
    measures: tuple[str, ...]
    score_a: Floats
    score_b: Floats
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.pairs.height

    @cached_property
    def queries(self) -> int:
        """How many queries the pairs are of."""
        return int(self.query.max()) + 1

    @cached_property
    def difference(self) -> Floats:
        """What each measure gives a above b; NaN where it is undefined, 0 where it is a tie but for rounding."""
        gap = self.score_a - self.score_b
        return np.where(np.abs(gap) <= ROUNDING, 0.0, gap)

    @cached_property
    def users(self) -> Ints:
        """What users prefer: 1 for a, -1 for b, 0 for equal."""
        return self.pairs["sign"].to_numpy().astype(np.int64)

    @cached_property
    def query(self) -> Ints:
        """The number of each pair's query, in the order of the queries' ids."""
        return np.unique(self.pairs["query"].to_numpy(), return_inverse=True)[1].astype(np.int64)

    @property
    def first(self) -> PairScores:
        """The same pairs with the first measure alone."""
        return PairScores(self.pairs, self.measures[:1], self.score_a[:, :1], self.score_b[:, :1], self.notes)


def score_pairs(
    preferred: Result | pl.DataFrame,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object,
    *,
    profile: str | Profile = "trec_eval",
    depth: int = SHOWN,
) -> PairScores:
    """The scores of the two systems of every pair in `preferred` (columns query, a, b, sign and maybe subtopic).

    >>> pairs = pl.DataFrame({"query": ["q"], "a": ["x"], "b": ["y"], "sign": [1]})
    >>> runs = Runs.of({"x": {"q": {"d1": 2.0, "d2": 1.0}}, "y": {"q": {"d2": 2.0, "d1": 1.0}}})
    >>> score_pairs(pairs, Judgments.of({"q": {"d1": 1, "d2": 0}}), runs, "RR").difference.tolist()
    [[0.5]]

    With a column `subtopic`, each subtopic is a query of its own, with its own labels. A system that returned nothing
    scores 0. Pairs of queries without labels are left out and said so. Users saw the first `depth` results of a list:
    what stands below counts for no measure, and a note says which would have looked further down.
    """
    frame = preferred.frame if isinstance(preferred, Result) else preferred
    notes = list(preferred.notes) if isinstance(preferred, Result) else []
    labels, lists = Judgments.of(labels), joined(runs)
    wanted = as_measures(measures)
    if not wanted:
        raise BadInput.at("the measures", expected="at least one, such as nDCG@10", found="none")
    _refuse_unknown(frame, lists)
    seen = lists.frame.join(frame, on="query", how="semi")
    notes += too_deep(wanted, seen, depth)
    # The results that users saw, in the order in which lists are scored.
    place = pl.struct("score", "doc").rank("ordinal", descending=True).over("system", "query")
    lists = Runs(seen.filter(place <= depth), lists.notes)
    listed = lists.frame.select("system", "query").unique()
    unjudged_for_any = 1 - _judged(_sides(frame), labels, lists, depth)
    by = ["query", "subtopic"] if "subtopic" in frame.columns else ["query"]
    if "subtopic" in by:
        if not labels.has("subtopic"):
            raise BadInput.at(
                "the labels",
                expected="a column subtopic, to compare preferences by subtopic",
                found=", ".join(labels.frame.columns),
                remedy="compare by query",
            )
        labels, lists, items = one_subtopic_each(labels, lists)
    else:
        items = labels.frame.select(item="query", query="query").unique(maintain_order=True)
    known = frame.join(items, on=by, nulls_equal=True, maintain_order="left")
    if not known.height:
        raise Undefined(f"none of the {count(frame.height, 'pair')} that users compared has labels")
    if known.height < frame.height:
        missing = count(frame.height - known.height, "pair")
        notes.append(f"{missing} of {frame.height:,} without labels for the {by[-1]}: left out")
    scored = Scorer(labels, wanted, profile=profile, complete=True, draws=0)
    table = scored.score(lists).queries
    if any("udm(" in str(measure) for measure in wanted):
        notes.append("the weights of users who disagree are taken as they are: agreement has no error from them")
    notes += [note for note in scored.labels.notes if note not in notes]
    names = [str(measure) for measure in wanted]
    sides = [
        known.select(query="item", system=side)
        .join(table, on=["query", "system"], how="left", maintain_order="left")
        .select(pl.col(names).fill_null(0.0))
        .to_numpy()
        for side in ("a", "b")
    ]
    notes += _without_list(known, listed)
    if "subtopic" in by:  # a label for another subtopic says nothing about this one
        unjudged = 1 - _judged(_sides(known.drop("query").rename({"item": "query"})), labels, lists, depth)
        notes += _unjudged(unjudged, depth, unjudged_for_any)
    else:
        notes += _unjudged(unjudged_for_any, depth)
    return PairScores(known.drop("item"), tuple(names), sides[0], sides[1], tuple(notes))


def _sides(pairs: pl.DataFrame) -> pl.DataFrame:
    """The query and the system of both sides of every pair."""
    return pl.concat([pairs.select("query", system=side) for side in ("a", "b")])


def _judged(shown: pl.DataFrame, labels: Judgments, runs: Runs, depth: int) -> float:
    """The share of the documents in the top of these rankings that have a label."""
    shown = shown.join(labels.frame, on="query", how="semi")
    if not shown.height or not len(runs):
        return 1.0
    table = Scorer(labels, [Judged @ depth], complete=True, draws=0).score(runs).queries
    found = shown.join(table, on=["query", "system"])[str(Judged @ depth)].drop_nans()
    return float(found.to_numpy().mean()) if len(found) else 1.0


def _unjudged(share: float, depth: int, for_any: float | None = None) -> list[str]:
    """A note on documents without a label; by subtopic, `for_any` is the share without a label for any subtopic."""
    if share < ROUNDING:
        return []
    documents = f"{_percent(share)} of the documents in the top {depth} have no label"
    if for_any is None:
        return [f"{documents} and count as not relevant"]
    return [
        f"{documents} for the subtopic that users were asked about and count as not relevant "
        f"({_percent(for_any)} have no label for any subtopic)"
    ]


def _percent(share: float) -> str:
    return "under 1%" if ROUNDING < share < 0.01 else f"{share:.0%}"


def _without_list(pairs: pl.DataFrame, listed: pl.DataFrame) -> list[str]:
    """A note on the systems that users compared for a query for which they returned nothing."""
    sides = _sides(pairs).unique()
    missing = sides.join(listed, on=["system", "query"], how="anti")
    if not missing.height:
        return []
    systems = missing["system"].unique().sort().to_list()
    named = ", ".join(systems[:3]) + (", ..." if len(systems) > 3 else "")
    return [
        f"{missing.height:,} of {count(sides.height, 'list')} compared {'is' if missing.height == 1 else 'are'} not in"
        f" the runs ({named}): a system without a list for the query scores 0"
    ]


def _refuse_unknown(frame: pl.DataFrame, runs: Runs) -> None:
    missing = sorted({*frame["a"], *frame["b"]} - {*runs.systems})
    if missing:
        raise BadInput.at(
            "the runs",
            expected=f"the systems that users compared, such as {missing[0]}",
            found=", ".join(runs.systems[:5]) + (", ..." if len(runs.systems) > 5 else ""),
            remedy="give the runs of all systems, under the names that the preferences use",
        )


def split_pairs(compared: PairScores, split: str, measure: int, queries: Queries | None = None) -> dict[str, Bools]:
    """Which pairs belong to which part of a split, by the part's name.

    >>> pairs = pl.DataFrame({"query": ["q1", "q2"], "a": ["x", "x"], "b": ["y", "y"], "sign": [1, 1]})
    >>> both = PairScores(pairs, ("P@10",), np.array([[0.5], [0.3]]), np.array([[0.0], [0.2]]))
    >>> {name: which.tolist() for name, which in split_pairs(both, "zero", 0).items()}
    {'one scores 0': [True, False], 'both score above 0': [False, True]}

    "difference" splits at the mean absolute difference of the pairs that the measure does not tie (the paper's
    Table 1), "difference_all" at that of all pairs, ties counting 0 (its Table 5), "zero" by whether one side scores 0
    (pairs in which both do are tied, and in neither part); anything else is a covariate of the pairs, a number split at
    its mean, or a column that queries or their subtopics have, such as kind: by subtopic, the subtopics' own column is
    meant where it is there.
    """
    gap = np.abs(compared.difference[:, measure])
    if split == "difference":
        untied = gap > 0
        border = float(gap[untied].mean()) if untied.any() else np.nan
        return {"small difference": gap <= border, "large difference": gap > border}
    if split == "difference_all":
        border, which = float(np.nanmean(gap)) if (~np.isnan(gap)).any() else np.nan, "(mean of all pairs)"
        return {f"small difference {which}": gap <= border, f"large difference {which}": gap > border}
    if split == "zero":
        zero_a = np.abs(compared.score_a[:, measure]) <= ROUNDING
        zero_b = np.abs(compared.score_b[:, measure]) <= ROUNDING
        return {"one scores 0": zero_a ^ zero_b, "both score above 0": ~zero_a & ~zero_b}
    values = _column(compared, split, queries)
    if values.dtype.is_numeric():
        numbers = values.cast(pl.Float64).fill_nan(None)
        if numbers.drop_nulls().n_unique() > 2:
            border = float(numbers.drop_nulls().to_numpy().mean())
            below, above = (which.fill_null(False).to_numpy() for which in (numbers <= border, numbers > border))
            return {f"{split} up to {border:.3g}": below, f"{split} above {border:.3g}": above}
        values = pl.Series([None if number is None else f"{number:g}" for number in numbers], dtype=pl.String)
    parts = values.drop_nulls().unique().sort()
    return {f"{split} {value}": (values == value).fill_null(False).to_numpy() for value in parts}


def _column(compared: PairScores, name: str, queries: Queries | None) -> pl.Series:
    """A column of the pairs, of their subtopics or of their queries, one value for each pair."""
    pairs = compared.pairs
    if name in pairs.columns and name not in ("query", "a", "b", "sign", "value"):
        return pairs[name] if pairs[name].dtype.is_numeric() else pairs[name].cast(pl.String)
    sources = [] if queries is None else [(queries.subtopics, ["query", "subtopic"]), (queries.frame, ["query"])]
    sources = [(source, key) for source, key in sources if {*key} <= {*pairs.columns}]
    for source, key in sources:
        if name in source.columns and name not in key and source[name].null_count() < source.height:
            found = pairs.select(key).join(source.select(*key, name), on=key, how="left", maintain_order="left")[name]
            if found.null_count() < len(found):
                return found.cast(pl.String)
    have = sorted({column for source, _ in sources for column in source.columns} - {"query", "subtopic"})
    raise BadInput.at(
        "the split",
        expected=" or ".join([*OWN, "list_length", "a column that tells these pairs or queries apart"]),
        found=f'"{name}"',
        remedy=f"the queries have {', '.join(have)}" if have else "give the queries, with a column of this name",
    )
