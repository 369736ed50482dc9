"""An LLM that judges with planted faults: lenient to long documents, fond of the first side, easily talked round.

What it answers stands in one table, as `karat ask` writes it, so that every figure of its sheet can be held against
what was planted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Documents, Judgments, Preferences, Queries, Runs
from karat.simulate.parts import documents_of, numbered
from karat.stats.arrays import Bools, Floats, Ints

#: Grades from 0 to this one.
TOP = 3
#: Where relevance, a number around 0, becomes the next grade.
CUTS = np.array([0.2, 0.9, 1.6])
#: Two systems, and how far each misjudges relevance.
SYSTEMS = {"old": 1.6, "new": 1.2}
#: The words that a document may be made of.
VOCABULARY = np.array([f"word{number}" for number in range(400)])


@dataclass(frozen=True)
class Faults:
    """What is wrong with the judge.

    `lenient` grades are added to all documents, `per_doubling` with each doubling of the length; `noise` is how far it
    misjudges a document whenever it is asked, `wavering` how far one answer strays from the next; queries differ in
    leniency by `by_query`. `raised` has the chance that a document that is not relevant is raised by an alteration,
    `flips` the chance that it goes by the side, which is the first in the share `first` of such pairs; `refused` is
    the chance of no grade. Expected grades are `stretch` times its impression, plus `shift`,
    within the scale.
    """

    lenient: float = 0.2
    per_doubling: float = 0.25
    noise: float = 0.6
    wavering: float = 0.3
    by_query: float = 0.3
    raised: dict[str, float] = field(default_factory=lambda: {"claim": 0.3, "words": 0.15, "orders": 0.6})
    flips: float = 0.25
    first: float = 0.8
    refused: float = 0.05
    stretch: float = 0.8
    shift: float = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class LLMStudy:
    """The judge's table, gold labels of a sample, preferences in both orders, documents, queries and two runs.

    `everything` has the truth of every document that the judge was asked about first: its grade and its length.
    """

    labels: Judgments
    gold: Judgments
    preferences: Preferences
    documents: Documents
    queries: Queries
    runs: Runs
    everything: pl.DataFrame
    faults: Faults

    def __repr__(self) -> str:
        return f"An LLM with planted faults: {self.labels!r}; gold: {self.gold!r}"


def llm_study(
    *,
    queries: int = 60,
    documents: int = 20,
    faults: Faults | None = None,
    gold_share: float = 0.25,
    canaries: int = 3,
    repeats: int = 4,
    pairs: int = 4,
    name: str = "simulated",
    texts: bool = False,
    seed: int = 0,
) -> LLMStudy:
    """A study of one LLM: all documents of all queries, and for each query some repeats, canaries and pairs of lists.

    >>> study = llm_study(queries=10, seed=1)
    >>> study.labels.frame["altered"].drop_nulls().unique().sort().to_list()
    ['claim', 'orders', 'words']

    Gold labels are drawn twice as likely where the judge gave a high grade, and say with which probability. Each fault
    varies from query to query around what was planted. Documents have texts where these are asked for.
    """
    if queries < 1 or documents < 2 or not 0 < gold_share <= 0.5:
        wanted = "a query or more, two documents or more each, a share of gold labels up to a half"
        raise BadInput.at("the study", expected=wanted, found=f"{queries}, {documents}, {gold_share:g}")
    faults, rng = faults or Faults(), np.random.default_rng(seed)
    n = queries * documents
    query = np.repeat(np.arange(queries), documents)
    ids = numbered("q", queries)
    names = {"query": ids[query].to_list(), "doc": documents_of(ids, documents).to_list()}
    relevance = rng.normal(0, 0.5, queries)[query] + rng.normal(0, 1, n)
    grade = np.searchsorted(CUTS, relevance).astype(np.float64)
    doublings = rng.normal(0, 1, n)
    length = np.maximum(np.round(150 * 2**doublings), 5)
    impression = grade + faults.lenient + faults.per_doubling * np.log2(length / 150)
    impression += rng.normal(0, faults.by_query, queries)[query] + rng.normal(0, faults.noise, n)
    label = _answer(impression, faults, rng)
    refused = rng.random(n) < _around(faults.refused, queries, rng)[query]
    expected = np.clip(faults.shift + faults.stretch * impression + rng.normal(0, 0.1, n), 0, TOP)
    first = pl.DataFrame(names).with_columns(
        label=pl.Series(label).set(pl.Series(refused), None),
        outcome=pl.when(pl.Series(refused)).then(pl.lit("refused")).otherwise(pl.lit("graded")),
        expected_grade=pl.Series(expected).set(pl.Series(refused), None),
        mass=pl.Series(np.clip(1 - rng.exponential(0.02, n), 0, 1)).set(pl.Series(refused), None),
        repeat=pl.lit(0),
        cost=pl.Series(np.round(0.0004 * (1 + length / 300), 8)),
    )
    twice = _some(np.arange(n), query, repeats, ~refused, rng)
    second = first[twice].with_columns(
        label=pl.Series(_answer(impression[twice], faults, rng)), outcome=pl.lit("graded"), repeat=pl.lit(1)
    )
    altered = [
        _altered(first, label, query, kind, chance, canaries, (grade == 0) & ~refused, rng)
        for kind, chance in faults.raised.items()
    ]
    frame = pl.concat([first, second, *altered], how="diagonal_relaxed")
    frame = frame.with_columns(judge=pl.lit(name), group=pl.lit("llm"), model=pl.lit(name))
    probability = np.where(label >= 2, 2 * gold_share, gold_share)
    drawn = pl.Series(rng.random(n) < probability)
    gold = pl.DataFrame(names).with_columns(label=pl.Series(grade), probability=pl.Series(probability)).filter(drawn)
    truth = pl.DataFrame(names).with_columns(
        grade=pl.Series(grade), label=pl.Series(label), length=pl.Series(length), impression=pl.Series(impression)
    )
    asked = [" ".join(rng.choice(VOCABULARY, 3, replace=False)) for _ in range(queries)]
    return LLMStudy(
        Judgments.of(frame),
        Judgments.of(gold),
        _preferences(ids, pairs, faults, name, rng),
        _documents(names["doc"], length, query, grade, asked, rng, texts),
        Queries.of({"query": ids, "text": asked}),
        Runs.of(
            pl.concat(
                pl.DataFrame(names).with_columns(system=pl.lit(system), score=relevance + rng.normal(0, noise, n))
                for system, noise in SYSTEMS.items()
            )
        ),
        truth,
        faults,
    )


def _answer(impression: Floats, faults: Faults, rng: np.random.Generator) -> Floats:
    """The grade given for an impression: rounded, within the scale, a little different each time."""
    answer: Floats = np.clip(np.round(impression + rng.normal(0, faults.wavering, len(impression))), 0, TOP)
    return answer + 0.0  # no -0


def _around(chance: float, queries: int, rng: np.random.Generator) -> Floats:
    """Chances that vary from query to query, with this mean."""
    if not 0 < chance < 1:
        return np.full(queries, float(chance))
    return rng.beta(6 * chance, 6 * (1 - chance), queries)


def _some(
    rows: Ints, query: Ints, each: int, which: Bools,
    rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Up to so many rows of each query, drawn among these."""
    order = rng.permutation(rows[which])
    order = order[np.argsort(query[order], kind="stable")]
    place = np.arange(len(order)) - np.searchsorted(query[order], query[order])
    return np.sort(order[place < each])


def _altered(
    first: pl.DataFrame, label: Floats, query: Ints, kind: str, chance: float, each: int,
    which: Bools, rng: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Canaries of one kind: the document's own grade, or with the planted chance one or two grades more."""
    rows = _some(np.arange(len(label)), query, each, which, rng)
    moved = rng.random(len(rows)) < _around(chance, int(query.max()) + 1, rng)[query[rows]]
    raised = np.where(moved, np.minimum(label[rows] + rng.integers(1, 3, len(rows)), TOP), label[rows])
    return first[rows].with_columns(
        doc=pl.col("doc") + f"+{kind}",
        label=pl.Series(raised),
        altered=pl.lit(kind),
        altered_from="doc",
        expected_grade=pl.lit(None, pl.Float64),
        mass=pl.lit(None, pl.Float64),
    )


def _preferences(ids: pl.Series, pairs: int, faults: Faults, name: str, rng: np.random.Generator) -> Preferences:
    """Pairs of lists in both orders: either the judge has a preference, or it goes by the side."""
    queries = len(ids)
    query, pair = np.repeat(np.arange(queries), pairs), np.tile(np.arange(pairs), queries)
    by_side = rng.random(len(query)) < _around(faults.flips, queries, rng)[query]
    first, better = rng.random(len(query)) < faults.first, rng.random(len(query)) < 0.5
    shown = []
    for order in (0, 1):
        left = np.where(by_side, first, better == (order == 0))
        names = [pl.format(f"{system}{{}}", pl.lit(pl.Series(pair))) for system in ("ab" if order == 0 else "ba")]
        shown.append(
            pl.select(
                query=pl.lit(ids[query]),
                left=names[0],
                right=names[1],
                choice=pl.when(pl.lit(pl.Series(left))).then(pl.lit("left")).otherwise(pl.lit("right")),
                order=pl.lit(order),
                judge=pl.lit(name),
                group=pl.lit("llm"),
            )
        )
    return Preferences.of(pl.concat(shown))


def _documents(
    docs: list[str], length: Floats, query: Ints, grade: Floats, asked: list[str],
    rng: np.random.Generator, texts: bool,
) -> Documents:  # fmt: skip
    """Documents of so many words; better ones have more of the query's, where texts are asked for."""
    if not texts:
        return Documents.of({"doc": docs, "text": ["w " * int(size) for size in length]})
    bodies = []
    for size, of, good in zip(length.tolist(), query.tolist(), grade.tolist(), strict=True):
        words = asked[of].split()
        has = [word for word in words if rng.random() < 0.2 + 0.2 * good]
        bodies.append(" ".join([*has, *rng.choice(VOCABULARY, max(int(size) - len(has), 1))]))
    return Documents.of({"doc": docs, "text": bodies})
