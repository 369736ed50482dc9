"""Which documents are worth a gold label? Those that tell the systems apart and whose label may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.estimate import Scorer
from karat.estimate.gold import Gold
from karat.estimate.pool import Pool, shown
from karat.measures import Measure, Profile, as_measures, is_linear, profile_named
from karat.records import Judgments, Runs
from karat.records.base import count
from karat.records.runs import several, together
from karat.stats.draw import draw, inclusion_probabilities

Floats = npt.NDArray[np.float64]

#: No document that counts is less likely to be drawn than this share of the average: a rare one would weigh too much.
FLOOR = 0.2
#: The share of the gold labels that is drawn from all documents alike, for later comparisons with other systems.
UNIFORM = 0.0
#: What a pilot says of one label is tempered by so many labels of the average kind.
FEW = 5


@dataclass(frozen=True, eq=False, repr=False)
class GoldPlan:
    """Documents drawn for gold labels: `query, doc, label` (to be filled in) and the `probability` of each draw.

    `documents` are shown by some system, `counting` of them count more for one system than for another;
    `as_many_uniform` is how many documents drawn uniformly would make the interval as narrow.
    """

    frame: pl.DataFrame
    measure: str
    systems: tuple[str, ...]
    documents: int
    counting: int
    as_many_uniform: float
    seed: int
    notes: tuple[str, ...] = ()
    #: Of how many queries whole ones were drawn; 0 where documents were.
    whole_queries: int = 0

    @property
    def finding(self) -> str:
        """What is to be labelled, and what it is worth, in a sentence."""
        n = self.frame.height
        if self.whole_queries:
            return (
                f"{count(n, 'document')} to label: all that the systems show of "
                f"{count(self.frame['query'].n_unique(), 'query', 'queries')}, drawn from {self.whole_queries:,}."
            )
        said = (
            f"{count(n, 'document')} to label out of {self.documents:,} that the systems show; {self.counting:,} of "
            f"these count more for one system than for another by {self.measure}"
        )
        if np.isnan(self.as_many_uniform) or round(self.as_many_uniform) <= n:
            return said + "."
        saved = 1 - n / self.as_many_uniform
        return f"{said}. Drawn uniformly it would take {self.as_many_uniform:,.0f}: {saved * 100:.0f} % are spared."

    def to_frame(self) -> pl.DataFrame:
        """The documents, with the probability of each."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The plan as one document."""
        return {
            "finding": self.finding,
            "measure": self.measure,
            "systems": list(self.systems),
            "documents": self.documents,
            "counting": self.counting,
            "as_many_uniform": None if np.isnan(self.as_many_uniform) else self.as_many_uniform,
            "seed": self.seed,
            "rows": self.frame.to_dicts(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return self.finding + "".join(f"\n- {note}" for note in self.notes)


def plan_gold(
    runs: Any,
    labels: Any,
    measure: object = "P@10",
    n: int = 300,
    *,
    pilot: Any = None,
    uniform: float = UNIFORM,
    floor: float = FLOOR,
    profile: str | Profile = "trec_eval",
    complete: bool = False,
    seed: int = 0,
) -> GoldPlan:
    """Draw `n` documents for gold labels, the likelier the more they tell the systems apart.

    >>> labels = {f"q{i}": {"x": 1, "y": 0, "z": 1} for i in range(9)}
    >>> a = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(9)}
    >>> b = {f"q{i}": {"x": 2.0, "z": 1.0} for i in range(9)}
    >>> plan = plan_gold({"a": a, "b": b}, labels, "P@2", 6, uniform=0.0)
    >>> plan.frame.height, sorted(set(plan.frame["doc"]))
    (6, ['y', 'z'])

    The probability of a document is in proportion to how differently the systems weigh it times how far its label may
    be off: as the `pilot`, earlier gold labels, has it for its label; alike for all without one. It is capped at 1, and
    not below `floor` times the average wherever the systems differ. The share `uniform` goes to all documents alike, so
    that the labels can serve other comparisons. Measures that are no sums need `plan_gold_queries`. With `complete`,
    queries that a run misses count as empty lists.

    Reference: Neyman's allocation (JRSS 1934) for the difference of two systems.
    """
    one = _one(measure)
    if not is_linear(one):
        raise BadInput.at(
            "the measure",
            expected="one that is a sum over documents: P, CG, DCG, RBP",
            found=str(one),
            remedy="others need whole queries (--whole-queries)",
        )
    _check_number(n)
    for name, share in (("uniform", uniform), ("floor", floor)):
        if not 0 <= share <= 1:
            raise BadInput.at(name, expected="a share from 0 to 1", found=str(share))
    lists, scorer, queries = _study(runs, labels, one, profile, complete)
    known = None if pilot is None else Gold.of(Judgments.of(pilot))
    pool = Pool.of(lists, queries, one, scorer.labels, scorer.topics, scorer.profile, known)
    apart = pool.weight - pool.weight.mean(axis=1, keepdims=True) if len(pool.systems) > 1 else pool.weight
    size = np.sqrt((apart**2).sum(axis=1))
    size[size < 1e-12] = 0.0
    if not size.any():
        raise Undefined("the systems show the same documents with the same weights: no gold label can tell them apart")
    error, notes = _error_size(pool)
    worth = size * error
    counting = size > 0
    share_of_draw = (1 - uniform) * worth / worth.sum() + uniform / len(worth)
    least = np.where(counting, floor * min(n / counting.sum(), 1.0), 0.0)
    probability = inclusion_probabilities(share_of_draw, n, floor=least)
    reachable = int((probability > 0).sum())
    if n > reachable:
        notes.append(f"{count(reachable, 'document')} in all to choose from: every one of them is to be labelled")
    frame = pool.docs.select("query", "doc").with_columns(
        pl.lit(None, dtype=pl.Float64).alias("label"), pl.Series("probability", probability)
    )
    return GoldPlan(
        _shuffled(frame.filter(pl.Series(draw(probability, seed=seed))), seed),
        str(one),
        pool.systems,
        len(worth),
        int(counting.sum()),
        _as_many_uniform(worth, probability),
        seed,
        tuple(notes),
    )


def plan_gold_queries(
    runs: Any,
    labels: Any,
    measure: object,
    n: int = 300,
    *,
    profile: str | Profile = "trec_eval",
    complete: bool = False,
    seed: int = 0,
) -> GoldPlan:
    """Draw whole queries for gold labels, as many as `n` labels allow: all that the systems show of them.

    >>> labels = {f"q{i}": {"x": 1, "y": 0} for i in range(9)}
    >>> run = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(9)}
    >>> plan_gold_queries({"a": run, "b": run}, labels, "nDCG@10", 6).frame["query"].n_unique()
    3

    For measures that are no sums over documents: nDCG, AP, RR, ERR. All queries are as likely as each other. Without a
    cutoff, documents that nobody labelled are left out: they count as not relevant.
    """
    one = _one(measure)
    _check_number(n)
    lists, scorer, queries = _study(runs, labels, one, profile, complete)
    docs = shown(lists, queries, scorer.profile, one.cutoff).select("query", "doc").unique().sort("query", "doc")
    if one.cutoff is None:
        docs = docs.join(scorer.labels.frame.select("query", "doc"), on=["query", "doc"], how="semi")
    each = docs.height / len(queries)
    chosen = min(int(n / each + 1e-9), len(queries))
    if chosen < 2:
        raise Undefined(
            f"{n} gold labels are less than two queries need (about {each:.0f} documents each): ask for "
            f"{2 * each:.0f} or more"
        )
    taken = np.random.default_rng(seed).choice(len(queries), chosen, replace=False)
    names = [queries[place] for place in sorted(taken)]
    frame = docs.filter(pl.col("query").is_in(names)).with_columns(
        pl.lit(None, dtype=pl.Float64).alias("label"), pl.lit(chosen / len(queries)).alias("probability")
    )
    systems = tuple(lists.systems)
    return GoldPlan(_shuffled(frame, seed), str(one), systems, docs.height, docs.height, np.nan, seed, (), len(queries))


def _shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Queries in random order, each one's documents together: labels given so far are then a random part."""
    order = frame.select(pl.col("query").unique().sort().shuffle(seed=seed)).with_row_index("place")
    return frame.join(order, on="query", maintain_order="left").sort("place", maintain_order=True).drop("place")


def _one(measure: object) -> Measure:
    measures = as_measures(measure)
    if len(measures) != 1:
        raise BadInput.at("the measure", expected="one", found=str(len(measures)))
    if measures[0].diverse:
        raise BadInput.at("the measure", expected="one without subtopics", found=str(measures[0]))
    return measures[0]


def _check_number(n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise BadInput.at("the gold labels to draw", expected="1 or more", found=str(n))


def _study(
    runs: Any, labels: Any, measure: Measure, profile: str | Profile, complete: bool
) -> tuple[Runs, Scorer, list[str]]:
    """The runs as one, a scorer for the labels, and the judged queries that all of them (or any, `complete`) have."""
    lists = together(several(runs))
    scorer = Scorer(Judgments.of(labels), [measure], profile=profile_named(profile), draws=0)
    keys = lists.blocks.keys.join(scorer.topics.queries, on="query", how="semi")
    everywhere = keys.group_by("query").len().filter(pl.col("len") >= (1 if complete else len(lists.systems)))
    queries = everywhere["query"].sort().to_list()
    if len(queries) < 2:
        raise Undefined("the runs and the labels share fewer than two queries: nothing to plan")
    return lists, scorer, queries


def _error_size(pool: Pool) -> tuple[Floats, list[str]]:
    """How far a label's gain may be off, for each document: by the pilot's documents with the same label."""
    if not pool.drawn.any():
        return np.ones(len(pool.gold)), ["no pilot: every label is taken to be as likely wrong as any other"]
    squares = (pool.predicted - pool.truth) ** 2 * pool.inverse
    overall = float(squares[pool.drawn].sum() / pool.inverse.sum())
    if overall == 0:
        return np.ones(len(pool.gold)), ["the pilot has no wrong label: all are taken to be as likely wrong"]
    few = FEW * float(pool.inverse.sum()) / int(pool.drawn.sum())
    size = np.empty(len(pool.gold))
    for gain in np.unique(pool.predicted):
        mine = pool.predicted == gain
        size[mine] = np.sqrt((squares[mine].sum() + few * overall) / (pool.inverse[mine].sum() + few))
    pilot = count(int(pool.drawn.sum()), "gold label")
    return size, [f"how far each label may be off is taken from {pilot} of the pilot"]


def _as_many_uniform(worth: Floats, probability: Floats) -> float:
    """How many documents, all as likely, would leave as much to chance in the difference."""
    counts = worth > 0
    left = float((worth[counts] ** 2 * (1 / probability[counts] - 1)).sum() / (worth**2).sum())
    return len(worth) / (1 + left)
