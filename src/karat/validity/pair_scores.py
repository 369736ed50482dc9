"""What measures say about the pairs of lists that users compared: the score of either side, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.estimate import Scorer
from karat.labels import one_subtopic_each
from karat.measures import Judged, Profile, as_measures
from karat.records import Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import joined
from karat.stats.arrays import Floats, Ints
from karat.validity.question_unit import SHOWN, too_deep

#: Scores that differ by less than this do so by rounding only.
ROUNDING = 1e-9


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
    lists = Runs(lists.frame.join(frame.select("query").unique(), on="query", how="semi"), lists.notes)
    notes += too_deep(wanted, lists.frame, depth)
    lists = Runs(_first(lists.frame, depth), lists.notes)
    judged, listed = _judged(frame, labels, lists, depth), lists.frame.select("system", "query").unique()
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
    notes += [note for note in scored.labels.notes if note not in notes]
    names = [str(measure) for measure in wanted]
    sides = [
        known.select("item", system=side)
        .join(table, left_on=["item", "system"], right_on=["query", "system"], how="left", maintain_order="left")
        .select(names)
        .fill_null(0.0)
        .to_numpy()
        for side in ("a", "b")
    ]
    notes += _without_list(known, listed)
    if judged < 1 - ROUNDING:
        notes.append(
            f"{100 * (1 - judged):.0f} % of the documents in the top {depth} have no judgment and count as not relevant"
        )
    return PairScores(known.drop("item"), tuple(names), sides[0], sides[1], tuple(notes))


def _judged(frame: pl.DataFrame, labels: Judgments, runs: Runs, depth: int) -> float:
    """The share of the documents in the top of the compared lists that somebody judged, for whatever subtopic."""
    known = labels.frame.select("query").unique()
    shown = pl.concat([frame.select("query", system=side) for side in ("a", "b")]).join(known, on="query", how="semi")
    if not shown.height or not len(runs):
        return 1.0
    table = Scorer(labels, [Judged @ depth], complete=True, draws=0).score(runs).queries
    found = shown.join(table, on=["query", "system"])[str(Judged @ depth)].drop_nans()
    return float(found.to_numpy().mean()) if len(found) else 1.0


def _without_list(pairs: pl.DataFrame, listed: pl.DataFrame) -> list[str]:
    """A note on the systems that users compared for a query for which they returned nothing."""
    sides = pl.concat([pairs.select("query", system=side) for side in ("a", "b")]).unique()
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
    named = pl.concat([frame["a"], frame["b"]]).unique().sort().to_list()
    known = set(runs.systems)
    missing = [name for name in named if name not in known]
    if missing:
        raise BadInput.at(
            "the runs",
            expected=f"the systems that users compared, such as {missing[0]}",
            found=", ".join(runs.systems[:5]) + (", ..." if len(known) > 5 else ""),
            remedy="give the runs of all systems, under the names that the preferences use",
        )


def _first(lists: pl.DataFrame, depth: int) -> pl.DataFrame:
    """The results that users saw: the first so many of each list, in the order in which lists are scored."""
    place = pl.struct("score", "doc").rank("ordinal", descending=True).over("system", "query")
    return lists.filter(place <= depth)
