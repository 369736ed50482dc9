"""What is known of each document before its gold label: the judge's label, where systems rank it, further columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.estimate.calibration import FEWEST, Calibration, calibrate
from karat.estimate.gold_sample import Gold
from karat.estimate.pool import shown
from karat.measures import Profile, Topics
from karat.records import Judgments, Runs
from karat.stats.arrays import Floats, Ints

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
