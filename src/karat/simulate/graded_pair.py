"""Two systems that show graded documents, some more that neither shows, and a judge who errs in a known way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.records import Judgments, Runs
from karat.stats.arrays import Bools, Floats, Ints

#: How a judge may err: alike everywhere; kinder to what only B shows; more on some documents; more or less kindly on
#: each query; likewise but hardly ever in the order of a query's documents, as a strong LLM; as the middling one of 33
#: LLMs did on passages of TREC DL 2023 (the LLMJudge challenge: its leniency has a standard deviation of 0.44 grades
#: between queries and of 0.89 within them); or with no regard to the documents.
Erring = Literal["fair", "lenient", "by document", "by query", "llm", "middling llm", "useless"]
#: How far these judges' kindness varies between queries and within them, before labels are rounded and cut off.
SPREADS: dict[Erring, tuple[float, float]] = {"by query": (0.7, 0.6), "llm": (0.7, 0.3), "middling llm": (1.6, 1.4)}
#: Grades from 0 to 3 are cut here on a logistic scale: 60 % of a middling query's documents are worth nothing.
CUTS = np.array([0.4, 1.4, 2.6])
#: What both show, what each shows alone, and what neither shows: documents of each query.
BOTH, ALONE, NEITHER = 6, 4, 16


@dataclass(frozen=True, eq=False)
class GradedPair:
    """A row per document: its query, true grade, label, and rank by each system, which order all of them."""

    query: Ints
    truth: Floats
    label: Floats
    rank: Ints  # documents x 2

    def judgments(self, values: Floats | None = None) -> Judgments:
        """The judge's labels, or other values."""
        return Judgments.of(self._names().with_columns(label=pl.Series(self.label if values is None else values)))

    def gold(self, drawn: Bools, probability: Floats) -> Judgments:
        """Gold labels of the drawn documents, with the chance that each had."""
        frame = self._names().with_columns(label=pl.Series(self.truth), probability=pl.Series(probability))
        return Judgments.of(frame.filter(pl.Series(drawn)))

    def runs(self) -> list[Runs]:
        """The two systems' lists."""
        names = self._names()
        return [
            Runs.check(names.with_columns(rank=pl.Series(self.rank[:, s])), system=name) for s, name in enumerate("AB")
        ]

    def _names(self) -> pl.DataFrame:
        # Zeros in front, so that the order of the names is the order of the numbers.
        return pl.DataFrame(
            {
                "query": pl.Series(self.query).cast(pl.String).str.zfill(6),
                "doc": pl.int_range(len(self.truth), eager=True).cast(pl.String).str.zfill(8),
            }
        )


def graded_pair(queries: int = 100, *, shift: float = 0.0, judge: Erring = "fair", seed: int = 0) -> GradedPair:
    """Two lists per query with 6 of 10 documents in common, 16 documents below both, and a judge's labels of all.

    >>> study = graded_pair(50, judge="by query", seed=1)
    >>> len(study.truth), int(study.truth.max())
    (1500, 3)

    B's own documents are better than A's by `shift` on the logistic scale; with 0 no measure tells the systems apart
    but by chance.
    """
    rng = np.random.default_rng(seed)
    each = BOTH + 2 * ALONE + NEITHER
    query = np.repeat(np.arange(queries), each)
    place = np.tile(np.arange(each), queries)
    kind = np.searchsorted([BOTH, BOTH + ALONE, BOTH + 2 * ALONE], place, side="right")  # both, A, B, neither
    good = rng.normal(0.0, 1.0, queries)[query] + np.array([0.6, -shift / 2, shift / 2, -1.0])[kind]
    truth = np.searchsorted(CUTS, good + rng.logistic(size=len(query))).astype(np.float64)
    label = _labels(rng, truth, kind, query, judge)
    rank = np.empty((len(query), 2), np.int64)
    for s in range(2):
        # The ten it shows in an order that knows a little of their worth, then all others.
        hidden = (kind != 0) & (kind != s + 1)
        key = np.lexsort((-truth * 0.5 + rng.normal(size=len(query)), hidden, query))
        rank[key, s] = place + 1
    return GradedPair(query, truth, label, rank)


def _labels(rng: np.random.Generator, truth: Floats, kind: Ints, query: Ints, judge: Erring) -> Floats:
    if judge == "useless":
        return rng.integers(0, 4, len(truth)).astype(np.float64)
    bias: npt.NDArray[np.floating] = np.zeros(len(truth))
    noise: npt.NDArray[np.floating] = np.full(len(truth), 0.6)
    if judge == "lenient":
        bias = 0.5 * (kind == 2)
    elif judge == "by document":
        noise = rng.choice([0.2, 1.2], len(truth))
        bias = 0.4 * (noise > 1)
    elif judge in SPREADS:
        between, within = SPREADS[judge]
        noise = np.full(len(truth), within)
        bias = rng.normal(0.0, between, int(query[-1]) + 1)[query]
    elif judge != "fair":
        raise BadInput.at(
            "the judge",
            expected="fair, lenient, by document, by query, llm, middling llm or useless",
            found=repr(judge),
        )
    return np.clip(np.rint(truth + bias + noise * rng.normal(size=len(truth))), 0, 3)
