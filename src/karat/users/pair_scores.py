"""What measures say about the pairs of lists that users compared: the score of either side, and kinds of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import polars.selectors as cs

from karat.errors import BadInput, Undefined
from karat.labels import one_subtopic_each
from karat.measures import Judged, Measure, Profile, as_measures
from karat.measures.scorer import Scorer
from karat.records import Documents, Judgments, LabelsLike, Preferences, Queries, Result, Runs, RunsLike
from karat.records.runs import joined
from karat.records.table import count
from karat.stats.arrays import Bools, Floats, Ints
from karat.users.votes import counted, trusted

#: What the shown lists tell by themselves, and what they tell with the documents' snippets.
OF_LISTS = ("list_length",)
OF_SNIPPETS = ("missing_snippets", "snippet_length")


def with_covariates(
    pairs: pl.DataFrame,
    preferences: Preferences,
    runs: Runs,
    names: Sequence[str],
    *,
    documents: Documents | None = None,
    depth: int = 10,
) -> pl.DataFrame:
    """The pairs with a column for each of these names that the answers, the lists or the documents tell.

    >>> pairs = pl.DataFrame({"query": ["q"], "a": ["x"], "b": ["y"]})
    >>> said = Preferences.of([{"query": "q", "left": "y", "right": "x", "choice": "left", "device": "phone"}])
    >>> runs = Runs.of({"x": {"q": {"d1": 2.0, "d2": 1.0}}, "y": {"q": {"d1": 1.0}}})
    >>> with_covariates(pairs, said, runs, ["list_length", "device"]).row(0)
    ('q', 'x', 'y', 1.5, 'phone')

    A column of the preferences is taken as it is where it is text and as a mean over the pair's answers where it is a
    number; with `left_NAME` and `right_NAME`, NAME is the mean of the two sides. Of the lists, down to `depth`:
    `list_length`, their mean number of results, and with `documents` `missing_snippets`, how many results of a list
    have no snippet, and `snippet_length`, the mean number of characters of those that have one. Other names are left
    alone.
    """
    key = [name for name in ("query", "subtopic", "a", "b") if name in pairs.columns]
    answers = counted(trusted(preferences)).frame
    for name in dict.fromkeys(names):
        if name in pairs.columns:
            continue
        sides = [f"{side}_{name}" for side in ("left", "right")]
        if name in answers.columns:
            value = pl.col(name)
        elif {*sides} <= {*answers.columns}:
            value = pl.mean_horizontal(sides)
            if not all(answers[side].dtype.is_numeric() for side in sides):
                expected = f"numbers in {' and '.join(sides)}"
                raise BadInput.at(f"the split {name}", expected=expected, found=str(answers[sides[0]].dtype))
        elif name in (*OF_LISTS, *OF_SNIPPETS):
            pairs = _of_both(pairs, _of_lists(runs, documents, depth, name), name)
            continue
        else:
            continue
        told = answers.select(*key, value.alias(name)).group_by(key).agg(cs.numeric().mean(), (~cs.numeric()).first())
        pairs = pairs.join(told, on=key, how="left", nulls_equal=True, maintain_order="left")
    return pairs


def _of_both(pairs: pl.DataFrame, lists: pl.DataFrame, name: str) -> pl.DataFrame:
    """The mean of both lists of each pair; a system without a list has 0 of everything."""
    for side in ("a", "b"):
        lists_of = lists.rename({"system": side, name: f"_{side}"})
        pairs = pairs.join(lists_of, on=["query", side], how="left", maintain_order="left")
    mean = pl.mean_horizontal(pl.col("_a").fill_null(0), pl.col("_b").fill_null(0))
    return pairs.with_columns(mean.alias(name)).drop("_a", "_b")


def _of_lists(runs: Runs, documents: Documents | None, depth: int, name: str) -> pl.DataFrame:
    """The covariate of every list: system, query, value."""
    place = pl.struct("score", "doc").rank("ordinal", descending=True).over("system", "query")
    shown = runs.frame.filter(place <= depth).select("system", "query", "doc")
    value = pl.len().cast(pl.Float64)
    if name in OF_SNIPPETS:
        if documents is None or not documents.has("snippet"):
            found = "no documents" if documents is None else ", ".join(documents.frame.columns)
            remedy = "give the documents as users saw them, with a column snippet"
            raise BadInput.at(f"the split {name}", expected="documents with snippets", found=found, remedy=remedy)
        snippets = documents.frame.select("doc", _length=pl.col("snippet").str.strip_chars().str.len_chars())
        shown = shown.join(snippets, on="doc", how="left")
        length = pl.col("_length").fill_null(0)
        value = (length == 0).sum() if name == "missing_snippets" else length.filter(length > 0).mean().fill_null(0)
    return shown.group_by("system", "query").agg(value.cast(pl.Float64).alias(name))


#: How many results of a list users see where nothing says otherwise.
SHOWN = 10
#: The columns of a task file that have the lists as they were shown.
LISTS = ("left_docs", "right_docs")


def asked_by(
    preferences: Preferences, labels: Judgments, measures: Sequence[Measure], by: str | None
) -> tuple[str, list[str]]:
    """Whether a pair is of a query or of a subtopic, and a note that says so where both could be.

    >>> from karat.measures import as_measures
    >>> said = Preferences.of([{"query": "q", "subtopic": "1", "left": "a", "right": "b", "choice": "left"}])
    >>> labels = Judgments.of([{"query": "q", "subtopic": "1", "doc": "d", "label": 1}])
    >>> [asked_by(said, labels, as_measures(measure), None)[0] for measure in ("nDCG@10", "alpha_nDCG@10")]
    ['subtopic', 'query']

    A user who was asked about one subtopic has no use for what serves another: by default each subtopic then is a query
    with its own labels. Measures of diversity look at all subtopics of a query and are compared with its mean vote.
    """
    if not preferences.has("subtopic") or not labels.has("subtopic"):
        return by or "query", []
    plain = [str(measure) for measure in measures if not measure.diverse]
    diverse = [str(measure) for measure in measures if measure.diverse]
    if by is None and not diverse:
        return "subtopic", ["users were asked about subtopics: each is compared with its own labels (by subtopic)"]
    if by == "subtopic" or not plain:
        return by or "query", []
    why = "" if by else f", as {', '.join(diverse)} {'is' if len(diverse) == 1 else 'are'} of whole queries"
    return "query", [
        f"{', '.join(plain)}: a document has its highest label for any subtopic (by query{why}), though users were "
        "asked about one; by subtopic each has its own labels"
    ]


def shown_depth(preferences: Preferences, depth: int | None) -> int:
    """How many results of a list users saw: as said, or as the lists that were shown have, or ten.

    >>> row = {"query": "q", "left": "a", "right": "b", "choice": "left", "left_docs": "d1 d2 d3", "right_docs": "d4"}
    >>> shown_depth(Preferences.of([row]), None), shown_depth(Preferences.of([row]), 5)
    (3, 5)
    """
    if depth is not None:
        if depth < 1:
            raise BadInput.at("the depth", expected="1 result of a list or more", found=str(depth))
        return depth
    lists = [preferences.frame[name] for name in LISTS if preferences.has(name)]
    # In a table of text the ids of a list stand in one cell.
    apart = [docs if docs.dtype == pl.List else docs.cast(pl.String).str.split(" ") for docs in lists]
    return max((int(docs.list.len().max() or 0) for docs in apart), default=0) or SHOWN  # type: ignore[arg-type]


def too_deep(measures: Sequence[Measure], lists: pl.DataFrame, depth: int) -> list[str]:
    """A note on the measures that look at results below those that users saw."""
    if not lists.height or int(lists.group_by("system", "query").len()["len"].max()) <= depth:  # type: ignore[arg-type]
        return []
    deep = [measure for measure in measures if measure.cutoff is None or measure.cutoff > depth]
    if not deep:
        return []
    names = ", ".join(str(measure) for measure in deep[:4]) + (", ..." if len(deep) > 4 else "")
    saw = f"users saw {count(depth, 'result')} of a list"
    return [f"{saw}, and {names} look further down: what stands below counts for none"]


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
