"""Scores: what each system got on each measure, with intervals, and how the figures came about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.measures import parse_measure
from karat.measures.label_coverage import COVERAGE, REFUSE_SHARE, ROUNDING, in_percent
from karat.records.number_format import decimals
from karat.records.result import Caution, ResultBase
from karat.stats import FEWEST, Resampling, mean_intervals
from karat.stats.arrays import Floats

#: With fewer queries an interval is a guess.
FEW = 10
MEANS = {
    "system": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}


def means_over_queries(
    queries: pl.DataFrame, systems: Sequence[str], measures: Sequence[str], *, level: float, draws: int, seed: int
) -> tuple[pl.DataFrame, list[str]]:
    """The mean of each system by each measure over the queries on which it is defined, and what to say of few queries.

    >>> queries = pl.DataFrame({"system": ["a", "a"], "query": ["q1", "q2"], "P@1": [1.0, 0.0]})
    >>> means_over_queries(queries, ["a"], ["P@1"], level=0.95, draws=0, seed=0)[0].rows()
    [('a', 'P@1', 0.5, nan, nan, 2)]
    """
    # Resampled in the order of the queries' ids, so that the order of the rows in a file changes nothing.
    by_id = queries.sort("query", maintain_order=True)
    values, owner = by_id.select(measures).to_numpy(), by_id["system"].to_numpy()
    columns = [values[owner == system, place] for system in systems for place in range(len(measures))]
    columns = [column[~np.isnan(column)] for column in columns]
    ends = _intervals(columns, level, draws, seed)
    rows: list[tuple[str, str, float, float, float, int]] = []
    for place, (system, name) in enumerate((system, name) for system in systems for name in measures):
        kept, (low, high) = columns[place], ends[place]
        value, kind = float(kept.mean()) if len(kept) else np.nan, parse_measure(name).mean
        if kind == "geometric":
            value, low, high = np.exp([value, low, high]).tolist()
        elif kind == "sum":
            value, low, high = float(kept.sum()), np.nan, np.nan  # a count is what it is
        rows.append((system, name, value, low, high, len(kept)))
    return pl.DataFrame(rows, schema=MEANS, orient="row"), _on_few([row[-1] for row in rows]) if draws else []


def _intervals(columns: list[Floats], level: float, draws: int, seed: int) -> list[tuple[float, float]]:
    """The interval of each column's mean; columns of one length are resampled together, by the same draws."""
    ends = [(np.nan, np.nan)] * len(columns)
    for size in {len(column) for column in columns} if draws else ():
        places = [place for place, column in enumerate(columns) if len(column) == size]
        together = np.column_stack([columns[place] for place in places])
        for place, low, high in zip(
            places, *mean_intervals(together, level=level, draws=draws, seed=seed), strict=True
        ):
            ends[place] = (float(low), float(high))
    return ends


def _on_few(numbers: list[int]) -> list[str]:
    notes: list[str] = []
    if any(number < FEWEST for number in numbers):
        notes.append(f"no interval for a mean of fewer than {FEWEST} queries: too few to tell")
    few = sorted({number for number in numbers if FEWEST <= number < FEW})
    if few:
        notes.append(Caution(f"{few[0]} queries only: the interval is a guess"))
    return notes


#: The ends of an interval are the outermost draws but a few, so a handful of draws has none.
FEWEST_DRAWS = 100
#: How the columns of an interval are called beside the one of the value.
ENDS = {"value": "", "low": "_low", "high": "_high"}
#: Means that differ by less are the same.
SAME = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Scores(ResultBase):
    """Mean scores with intervals over queries.

    `means` has the columns system, measure, value, low, high, n; `queries` has system, query and one column per
    measure, always uncorrected. Values that are undefined are NaN.

    With gold labels, the values in `means` are corrected; `n_gold` says with how many gold labels, and `reason` why a
    score could not be corrected (its value is NaN). `uncorrected` then has the means without gold labels.

    `coverage` says how well the labels cover each system: system, judged_queries, missing_queries, depth and unjudged,
    the share of documents down to that depth without a label. It is empty where scores come without labels.
    """

    means: pl.DataFrame
    queries: pl.DataFrame
    measures: tuple[str, ...]
    profile: str
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...] = ()
    #: The means without gold labels: system, measure, value, low, high, n. None where `means` is uncorrected itself.
    uncorrected: pl.DataFrame | None = None
    coverage: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COVERAGE))

    @classmethod
    def of_queries(
        cls,
        queries: pl.DataFrame,
        measures: Sequence[str],
        *,
        systems: Sequence[str] | None = None,
        counted: pl.Series | None = None,
        profile: str = "trec_eval",
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 0,
        notes: Sequence[str] = (),
    ) -> Scores:
        """Means and intervals from every query's scores: system, query and a column for each measure.

        `systems` are those of the rows, in their order, unless named; `counted` says which rows count for the means.
        """
        Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
        named = queries["system"].unique(maintain_order=True).to_list() if systems is None else systems
        again = next((name for name in named if named.count(name) > 1), None)
        if again is not None:
            raise BadInput.at("the runs", expected="a different name for each system", found=f"two called {again}")
        kept = queries if counted is None else queries.filter(counted)
        means, few = means_over_queries(kept, named, measures, level=level, draws=draws, seed=seed)
        return cls(means, queries, tuple(measures), profile, level, draws, seed, (*notes, *few))

    @property
    def systems(self) -> list[str]:
        """The systems, in the order given."""
        names: list[str] = self.means["system"].unique(maintain_order=True).to_list()
        return names

    @property
    def has_gold(self) -> bool:
        """Whether gold labels were given to correct the scores with."""
        return self.uncorrected is not None

    @property
    def uncorrected_means(self) -> pl.DataFrame:
        """The means that the labels give without gold labels: system, measure, value, low, high, n."""
        return self.means if self.uncorrected is None else self.uncorrected

    def best_first(self, *, uncorrected: bool = False) -> list[str]:
        """Rank the systems by the first measure, highest first, undefined ones last.

        Where gold labels cannot correct that measure, the uncorrected scores decide.
        """
        first = pl.col("measure") == self.measures[0]
        rows = self.means.filter(first)
        if uncorrected or rows["value"].is_nan().all():
            rows = self.uncorrected_means.filter(first)
        names: list[str] = (
            rows.with_columns(pl.col("value").fill_nan(None))
            .sort("value", descending=True, nulls_last=True, maintain_order=True)["system"]
            .to_list()
        )
        return names

    def to_frame(self) -> pl.DataFrame:
        """Return the mean scores: system, measure, value, low, high, n.

        With gold labels, value, low and high are corrected, and further columns are n_gold, uncorrected,
        uncorrected_low, uncorrected_high and reason (why a value is missing).
        """
        if self.uncorrected is None:
            return self.means
        ends = {"value": "uncorrected", "low": "uncorrected_low", "high": "uncorrected_high"}
        by_labels = self.uncorrected.select("system", "measure", *ends).rename(ends)
        return self.means.join(by_labels, on=["system", "measure"], how="left", maintain_order="left").select(
            pl.exclude("reason"), "reason"
        )

    def to_dict(self, by_query: bool = False) -> dict[str, Any]:
        """Return the scores as one document; with `by_query` each query's uncorrected values too."""
        systems = []
        rows = self.to_frame()
        coverage = {row.pop("system"): row for row in self.coverage.iter_rows(named=True)}
        for name in self.best_first():
            mine = rows.filter(pl.col("system") == name).iter_rows(named=True)
            entry: dict[str, Any] = {"system": name, "scores": {row["measure"]: self._document(row) for row in mine}}
            entry |= coverage.get(name, {})
            if by_query:
                values = self.queries.filter(pl.col("system") == name).iter_rows(named=True)
                entry["uncorrected_queries" if self.has_gold else "queries"] = {
                    row["query"]: {measure: _number(row[measure]) for measure in self.measures} for row in values
                }
            systems.append(entry)
        return {
            "finding": self.finding,
            "warnings": list(self.warnings),
            "systems": systems,
            "profile": self.profile,
            "interval": {"level": self.level, "draws": self.draws, "seed": self.seed},
            "notes": list(self.notes),
        }

    def _document(self, row: dict[str, Any]) -> dict[str, Any]:
        """One score for JSON: the corrected one, with the uncorrected one beside it."""
        document = {name: _number(row[name]) for name in ("value", "low", "high")} | {"n": row["n"]}
        if not self.has_gold:
            return document
        by_labels = {name: _number(row[f"uncorrected{end}"]) for name, end in ENDS.items()}
        return document | {"n_gold": row["n_gold"], "uncorrected": by_labels, "reason": row["reason"]}

    def to_latex(self, tested: Sequence[Any] = ()) -> str:
        """The scores as a LaTeX table (booktabs), the highest in bold.

        `tested` are comparisons of the same systems, one for each measure, as `compare(..., baseline="bm25")` gives
        them: stars then mark what differs from the baseline, after Holm's adjustment for all systems and measures.
        """
        # By name and when asked for: scores stand below the tables and must not load them.
        return str(import_module("karat.reports.latex").scores_table(self, tested))

    @property
    def finding(self) -> str:
        """The finding in words: the highest score, corrected where gold labels allow it.

        Where most of a system's documents have no label, no system is said to have the highest.
        """
        known = self.coverage.drop_nulls("unjudged")
        unjudged = known.filter(pl.col("unjudged") > REFUSE_SHARE + ROUNDING)
        if unjudged.height and len(self.systems) > 1:
            shares = dict(unjudged.select("system", "unjudged").iter_rows())
            return (
                f"Cannot say which has the highest {self.measures[0]}: {in_percent(shares, unjudged['depth'][0])} "
                "have no label."
            )
        if self.uncorrected is None:
            return self._by_labels
        first, best = self.measures[0], self.best_first()[0]
        rows = self.means.filter(pl.col("measure") == first)
        row = rows.row(by_predicate=pl.col("system") == best, named=True)
        if math.isnan(row["value"]):
            return f"{self._by_labels} Uncorrected, because {row['reason']}."
        if not row["n_gold"]:  # it counts labels or documents, and gold labels have nothing to correct in it
            return self._by_labels
        by_labels = self.uncorrected.filter(pl.col("measure") == first)
        places = places_of(row)
        plain = float(by_labels.row(by_predicate=pl.col("system") == best, named=True)["value"])
        score = f"{row['value']:.{places}f}"
        if not math.isnan(row["low"]):
            score += f", {self.level * 100:g}% CI [{row['low']:.{places}f}, {row['high']:.{places}f}]"
        gold = f"{row['n_gold']:,} gold label{'' if row['n_gold'] == 1 else 's'}"
        queries = f"{row['n']:,} {'query' if row['n'] == 1 else 'queries'}"
        rest = f"({queries}, corrected with {gold}; uncorrected {plain:.{places}f})"
        if len(self.systems) == 1:
            return f"{best} has {first} {score} {rest}."
        tied = rows.filter((pl.col("value") - row["value"]).abs() < SAME)["system"].to_list()
        text = f"Of {len(self.systems)} systems, {self._best(tied)} {first}: {score} {rest}."
        favoured = self.best_first(uncorrected=True)[0]
        if favoured not in tied:
            highest = float(by_labels.row(by_predicate=pl.col("system") == favoured, named=True)["value"])
            text += f" Uncorrected labels favour {favoured} ({highest:.{places}f})."
        return text

    @property
    def _by_labels(self) -> str:
        first, best = self.measures[0], self.best_first(uncorrected=True)[0]
        rows = self.uncorrected_means.filter(pl.col("measure") == first)
        row = rows.filter(pl.col("system") == best).row(0, named=True)
        value, low, high = row["value"], row["low"], row["high"]
        if math.isnan(value):
            return f"{first} is undefined for every query."
        # Sums in another order may differ in the last digit.
        tied = rows.filter((pl.col("value") - value).abs() < SAME)
        common = tied.select(((pl.col("low") - low).abs() < SAME) & ((pl.col("high") - high).abs() < SAME))
        places = places_of(row) if common.to_series().all() else 4
        said = f"{value:.{places}f}"
        if common.to_series().all():
            said += f" ({self.level * 100:g} % interval {low:.{places}f} to {high:.{places}f})"
        queries = f"{row['n']:,} {'query' if row['n'] == 1 else 'queries'}"
        if len(self.systems) == 1:
            return f"{best} has {first} {said} over {queries}."
        text = f"Of {len(self.systems)} systems, {self._best(tied['system'].to_list())} {first}: {said} over {queries}."
        if rows["n"].n_unique() > 1:
            text += " The means are not over the same queries: compare with care."
        return text

    def _best(self, tied: list[str]) -> str:
        """Who has the highest score, or shares it."""
        if len(tied) == 1:
            return f"{tied[0]} has the highest"
        if len(tied) == len(self.systems):
            return f"{'both' if len(tied) == 2 else 'all'} have the same"
        listed = [*tied[:3], f"{len(tied) - 3} more"] if len(tied) > 4 else tied
        return f"{', '.join(listed[:-1])} and {listed[-1]} share the highest"

    def __repr__(self) -> str:
        lines = [self.finding, *(f"Warning: {warning}." for warning in self.warnings)]
        if len(self.measures) > 1 or len(self.systems) > 1:
            cells = {(row["system"], row["measure"]): _cell(row) for row in self.to_frame().iter_rows(named=True)}
            lines += [
                f"  {name}: " + ", ".join(f"{measure} {cells[name, measure]}" for measure in self.measures)
                for name in self.best_first()[:20]
            ]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes if note not in self.warnings)])

    def shown(self) -> pl.DataFrame:
        """A row for each system, the best first, and a column for each measure with its interval.

        With gold labels, the uncorrected score of a measure stands in the column after it.
        """
        order, frame = pl.DataFrame({"system": self.best_first()}), self.to_frame()
        for measure in self.measures:
            mine = frame.filter(pl.col("measure") == measure)
            ends = {f"{measure}{end}": name for name, end in ENDS.items()}
            if self.has_gold and ((mine["n_gold"] > 0) | mine["value"].is_nan()).any():
                ends[f"{measure}_uncorrected"] = "uncorrected"
            order = order.join(mine.select("system", **ends), on="system", how="left", maintain_order="left")
        return order


def places_of(row: Mapping[str, Any]) -> int:
    """How many decimals a mean score is told with: those that its interval supports, and none for a count."""
    return 0 if parse_measure(row["measure"]).mean == "sum" else decimals(row["low"], row["high"])


def _cell(row: dict[str, Any]) -> str:
    places = places_of(row)
    value = "undefined" if math.isnan(row["value"]) else f"{row['value']:.{places}f}"
    if row.get("reason"):
        return f"{row['uncorrected']:.4f} (uncorrected)"
    cell = value if math.isnan(row["low"]) else f"{value} [{row['low']:.{places}f}, {row['high']:.{places}f}]"
    return f"{cell} (uncorrected {row['uncorrected']:.{places}f})" if row.get("n_gold") else cell


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
