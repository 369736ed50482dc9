"""What the gold labels teach about the judge: the grade to be expected of every document, by a calibrated model.

A judge's label is evidence about the grade, not the grade. The gold labels show how the two go together, and how kindly
each query was judged; every document then has a probability for each grade. No document is predicted from its own gold
label (cross-fitting): only then is what is left of it, gold less prediction, an honest sample of the judge's errors.

Reference: Angelopoulos et al., Prediction-Powered Inference (Science 2023); Zrnic and Candes, Cross-Prediction-Powered
Inference (PNAS 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from karat.correction.gold_sample import Gold
from karat.correction.pool import shown
from karat.errors import BadInput
from karat.measures import Profile, Topics
from karat.records import Judgments, Runs
from karat.stats.arrays import Floats, Ints
from karat.stats.random_intercept import GRID, RandomIntercept, with_and_without

#: Each gold label is predicted from the others of so many parts, less its own.
FOLDS = 5
#: From fewer gold labels nothing is learned about the judge: its labels are taken as they are.
FEWEST = 20


@dataclass(frozen=True, eq=False)
class _Part:
    """A model and what its gold labels say of the queries' intercepts; the rows it is to predict."""

    fit: RandomIntercept
    intercepts: Floats
    rows: Ints


@dataclass(frozen=True, eq=False)
class Calibration:
    """The probability of each of the `grades` for every document, as the gold labels of others have it."""

    grades: Floats
    probability: Floats  # documents x grades
    _x: Floats
    _query: Ints
    _parts: tuple[_Part, ...]
    _order: Ints  # by content

    def expected(self, worth: Floats) -> Floats:
        """The gain to be expected of each document, from the gain of each grade."""
        return self.probability @ worth

    def draws(self, number: int, rng: np.random.Generator) -> Ints:
        """Places of grades drawn for each document (rows), documents of a query together: judged kindly or not."""
        queries = int(self._query.max()) + 1
        # Numbers are dealt to queries and documents in the order of their content.
        at, noise = np.empty((queries, number)), np.empty((len(self._x), number))
        first = np.unique(self._query[self._order], return_index=True)[1]
        at[self._query[self._order][np.sort(first)]] = rng.random((queries, number))
        noise[self._order] = rng.logistic(size=noise.shape)
        found = np.empty((len(self._x), number), np.int64)
        for part in self._parts:
            query, fit = self._query[part.rows], part.fit
            place = (at[:, :, None] > part.intercepts.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
            score = (self._x[part.rows] @ fit.slopes)[:, None] + fit.sigma * GRID[place][query]
            found[part.rows] = np.searchsorted(fit.cuts, score + noise[part.rows])
        return found


def calibrate(
    grade: Floats, x: Floats, query: Ints, *, ties: Floats | None = None, seed: int = 0, folds: int = FOLDS
) -> Calibration:
    """Learn the grades from features such as the judge's label; `grade` is NaN where there is no gold label.

    >>> rng = np.random.default_rng(2)
    >>> truth = rng.integers(0, 2, 400).astype(float)
    >>> label = np.where(rng.random(400) < 0.9, truth, 1 - truth)
    >>> gold = np.where(rng.random(400) < 0.5, truth, np.nan)
    >>> found = calibrate(gold, label[:, None], np.repeat(np.arange(20), 20))
    >>> [round(float(found.expected(found.grades)[label == one].mean()), 1) for one in (0, 1)]
    [0.1, 0.9]

    The model is one of proportional odds with a random intercept for each query. Features are columns of numbers;
    `ties` are more of them by which documents can be told apart without their names.
    """
    rng = np.random.default_rng(seed)
    order = _by_content(x if ties is None else np.column_stack([x, ties]), query)
    gold = order[~np.isnan(grade[order])]
    grades, code = np.unique(grade[gold], return_inverse=True)
    code = code.astype(np.int64)
    queries = int(query.max()) + 1
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    fold = rng.permutation(len(gold)) % folds
    parts, probability = [], np.empty((len(x), len(grades)))
    left_out = [np.zeros(len(gold), bool), *(fold == number for number in range(folds))]
    fits = with_and_without(code, x[gold], query[gold], grades, left_out[1:])
    for fit, out in zip(fits, left_out, strict=True):
        mine = gold[~out]
        rows = gold[out] if out.any() else np.flatnonzero(np.isnan(grade))
        intercepts = fit.intercepts(code[~out], x[mine], query[mine], queries)
        probability[rows] = fit.probabilities(x[rows], query[rows], intercepts)
        parts.append(_Part(fit, intercepts, rows))
    return Calibration(grades, probability, x, query, tuple(parts), order)


def _by_content(known: Floats, query: Ints) -> Ints:
    """Documents in an order that depends on what is known of them, not on their names or those of their queries.

    What is drawn at random goes by it, so that figures stay the same when documents or queries are renamed. Gold grades
    have no say: which part a document is in must not depend on its own.
    """
    queries = int(query.max()) + 1
    columns = [np.round(column, 9) for column in known.T]
    of_query = [np.bincount(query, column, queries) for column in (np.ones(len(query)), *columns)]
    of_query += [np.bincount(query, column * other, queries) for column in columns[:3] for other in columns]
    place = np.empty(queries, np.int64)
    place[np.lexsort([np.round(column, 6) for column in of_query])] = np.arange(queries)
    return np.lexsort([*columns, place[query]]).astype(np.int64)


PAIR = ["query", "doc"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Every document that somebody labelled or gave a gold label, by query: features, gold grade, calibrated grades.

    Documents that a system shows and nobody labelled are there, too, if gold labels were drawn among them; otherwise
    they count as not relevant, as everywhere.
    """

    docs: pl.DataFrame  # query, doc, sorted
    query: Ints  # the number of each document's query
    label: Floats  # NaN where the judge gave none
    grade: Floats  # by gold; NaN where there is none
    probability: Floats  # with which a gold document was drawn
    features: Floats
    ranks: Floats  # documents x systems; 0 where a system does not show it
    notes: tuple[str, ...] = ()
    _drawn: dict[tuple[int, int], Ints] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        runs: Runs,
        queries: Sequence[str],
        topics: Topics,
        profile: Profile,
        gold: Gold,
        columns: pl.DataFrame | None = None,
    ) -> Evidence:
        """The documents of these queries; `columns` has further features beside query and doc."""
        placed = shown(runs, list(queries), profile, None)
        labels = topics.judged.filter(pl.col("query").is_in(list(queries)))
        golden = gold.frame.filter(pl.col("query").is_in(list(queries))).rename({"label": "grade"})
        docs = labels.select(PAIR)
        beyond = golden.select(PAIR).join(docs, on=PAIR, how="anti")
        if beyond.height:
            docs = pl.concat([docs, beyond, placed.select(PAIR)])
        docs = docs.unique().sort(PAIR)
        known = docs.join(labels, on=PAIR, how="left").join(golden, on=PAIR, how="left").sort(PAIR)
        number = {name: place for place, name in enumerate(queries)}
        grade = known["grade"].fill_null(np.nan).to_numpy().astype(np.float64)
        probability = known["probability"].cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
        return cls(
            docs,
            docs["query"].replace_strict(number, return_dtype=pl.Int64).to_numpy().astype(np.int64),
            known["label"].fill_null(np.nan).to_numpy().astype(np.float64),
            grade,
            probability,
            _features(docs, known["label"], placed, len(runs.systems), columns),
            _ranks(docs, placed, runs.systems),
            _missing(docs, columns),
        )

    @property
    def enough(self) -> bool:
        """Whether there are gold labels enough to learn from, and not all of one grade."""
        known = self.grade[~np.isnan(self.grade)]
        return len(known) >= FEWEST and len(np.unique(known)) > 1

    @cached_property
    def calibration(self) -> Calibration:
        """The grades to be expected, each gold document's from the others."""
        # Systems in an order of their own, so that figures do not depend on which was named first.
        place = np.argsort([round(float(ranks @ self.features[:, 0]), 6) for ranks in self.ranks.T], kind="stable")
        return calibrate(self.grade, self.features, self.query, ties=self.ranks[:, place])

    def draws(self, number: int, seed: int) -> Ints:
        """Grades drawn for all documents, as places among the calibration's; the same for every measure."""
        if (number, seed) not in self._drawn:
            self._drawn[number, seed] = self.calibration.draws(number, np.random.default_rng(seed))
        return self._drawn[number, seed]

    def places(self, rows: Ints) -> Ints:
        """The places of these gold documents' grades among the grades of the calibration."""
        return np.searchsorted(self.calibration.grades, self.grade[rows]).astype(np.int64)

    def rows(self, docs: pl.DataFrame) -> Ints:
        """The place of each of these documents, -1 where it is not there."""
        found = docs.select(PAIR).join(self.docs.with_row_index("row"), on=PAIR, how="left", maintain_order="left")
        return found["row"].cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64)


def _features(
    docs: pl.DataFrame, label: pl.Series, placed: pl.DataFrame, systems: int, columns: pl.DataFrame | None
) -> Floats:
    """The label, whether there is one, how high the systems rank the document on average, and further columns."""
    given = label.fill_null(label.mean() if label.count() else 0.0).to_numpy().astype(np.float64)
    found = [given]
    if label.null_count():
        found.append(label.is_null().to_numpy().astype(np.float64))
    found.append(_mean_log_rank(docs, placed, systems))
    if columns is not None:
        known = docs.join(columns, on=PAIR, how="left", maintain_order="left").drop(PAIR)
        found += [column.fill_null(column.mean()).to_numpy().astype(np.float64) for column in known]
    return np.column_stack(found)


def _missing(docs: pl.DataFrame, columns: pl.DataFrame | None) -> tuple[str, ...]:
    """Columns without a value for some documents: the mean stands in for it."""
    if columns is None:
        return ()
    lost = docs.join(columns, on=PAIR, how="left").drop(PAIR).null_count().row(0, named=True)
    return tuple(
        f"{name} has no value for {n:,} of {docs.height:,} documents: the mean is taken"
        for name, n in lost.items()
        if n
    )


def _ranks(docs: pl.DataFrame, placed: pl.DataFrame, systems: Sequence[str]) -> Floats:
    """Where each system ranks each document, 0 for not at all."""
    at = docs.with_row_index("row").join(placed, on=PAIR)
    system = {name: place for place, name in enumerate(systems)}
    found = np.zeros((docs.height, len(systems)))
    column = at["system"].replace_strict(system, return_dtype=pl.Int64).to_numpy()
    found[at["row"].to_numpy(), column] = at["rank"].to_numpy()
    return found


def _mean_log_rank(docs: pl.DataFrame, placed: pl.DataFrame, systems: int) -> Floats:
    """The mean logarithm of a document's rank; a list that misses it is taken to have it just below its end."""
    last = (
        placed.group_by("query", "system")
        .agg(pl.col("rank").max() + 1)
        .group_by("query")
        .agg(pl.col("rank").log().sum().alias("ends"))
    )
    ranked = placed.join(
        placed.group_by("query", "system").agg((pl.col("rank").max() + 1).alias("end")), on=["query", "system"]
    )
    gained = ranked.group_by(PAIR).agg((pl.col("end").log() - pl.col("rank").log()).sum().alias("above"))
    known = docs.join(last, on="query", how="left", maintain_order="left").join(
        gained, on=PAIR, how="left", maintain_order="left"
    )
    mean = (known["ends"].fill_null(0.0) - known["above"].fill_null(0.0)) / systems
    return mean.to_numpy().astype(np.float64)


def further_columns(labels: Judgments, names: Sequence[str]) -> pl.DataFrame | None:
    """These columns of the labels, a mean for each document; `BadInput` where one is no column of numbers."""
    frame = labels.frame
    for name in names:
        if name in frame.columns and not frame.schema[name].is_numeric():
            # A column of a text file that holds numbers alone.
            frame = frame.with_columns(pl.col(name).cast(pl.String).str.strip_chars().replace("", None))
            numbers = frame[name].cast(pl.Float64, strict=False)
            if numbers.null_count() == frame[name].null_count():
                frame = frame.with_columns(numbers)
        if name not in frame.columns or not frame.schema[name].is_numeric():
            numeric = [n for n, kind in frame.schema.items() if kind.is_numeric() and n != "label"]
            raise BadInput.at(
                f'the column "{name}" to calibrate with',
                expected="a column of numbers of the labels" + (f": {', '.join(numeric)}" if numeric else ""),
                found="none of that name" if name not in frame.columns else "text",
            )
        if frame[name].drop_nulls().n_unique() < 2:
            value = next(iter(frame[name].drop_nulls()), None)
            raise BadInput.at(
                f'the column "{name}" to calibrate with',
                expected="values that differ between documents",
                found="no value" if value is None else f"{value:g} everywhere",
            )
    if not names:
        return None
    return frame.group_by(PAIR).agg(pl.col(name).cast(pl.Float64).mean() for name in names)
