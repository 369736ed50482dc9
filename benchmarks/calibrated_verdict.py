"""Does the calibrated verdict hold? Coverage, false alarms and width, beside every other way, with known truth.

    python benchmarks/calibrated_verdict.py --keep FOLDER --studies 200 [--judges fair llm] [--queries 100] [--gold 300]
    python benchmarks/calibrated_verdict.py --keep FOLDER --table [--together]

Each study is two systems that do not differ over all queries that might be asked (on the very queries of a study they
do, by chance), a judge's labels of graded documents, and gold labels drawn by `plan_gold` for nDCG@10. Four ways: plain
(the judge's labels alone), as is (the gold labels correct the labels as they are), calibrated, and whole queries (as
many gold labels, all documents of some queries). Two populations: these queries only, and all that might be asked.
Every interval is a row of FOLDER, a file for each cell, so that the table can be made of what is there and grow later;
all cells grow at the same pace. A study of 100 queries and 300 gold labels takes a tenth of a second for P, DCG and
nDCG (`studies_at_once.py`), and four times as long with RR, ERR and whole queries.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import polars as pl

from karat.simulate.graded_pair import Erring, graded_pair
from studies_at_once import Either, by_queries, interval, studies_at_once

MEASURES = ("P@10", "DCG@10", "nDCG@10", "AP@10", "RR@10", "ERR@10")
WAYS = ("plain", "as is", "calibrated", "whole")
POPULATIONS = {True: "these", False: "all"}
COLUMNS = ("judge", "queries", "gold", "seed", "measure", "way", "population", "truth", "low", "high")
CELL = ["judge", "queries", "gold", "measure", "population"]
#: So many studies of a cell at once, then as many of the next.
PACE = 20


def some_studies(
    judge: Erring, queries: int, gold: int, seeds: Sequence[int], measures: Sequence[str] = MEASURES
) -> Iterator[tuple]:
    """Rows (seed, measure, way, population, truth, low, high); low and high are empty where a way refuses."""
    studies = [graded_pair(queries, judge=judge, seed=seed) for seed in seeds]
    drawn = [seed + 1_000_000 for seed in seeds]
    for place, name, truth, ways in studies_at_once(studies, measures, gold, drawn):
        for way, estimate in ways.items():
            yield from ((seeds[place], name, way, *row) for row in _intervals(estimate, truth))


def _intervals(estimate: Either, truth: float) -> Iterator[tuple]:
    """For either population: its name, the truth, and the interval."""
    for fixed, population in POPULATIONS.items():
        yield population, truth if fixed else 0.0, *interval(estimate, fixed)


@dataclass(frozen=True)
class Cell:
    """Studies of one judge and size, and the file of their rows."""

    keep: Path
    judge: Erring
    queries: int
    gold: int

    @property
    def path(self) -> Path:
        """Where the rows are."""
        return self.keep / f"{self.judge.replace(' ', '_')}-{self.queries}-{self.gold}.csv"

    def grow(self, seeds: range, measures: Sequence[str], whole: int) -> None:
        """Studies that the file does not have yet; the first so many of all with whole queries, too."""
        new = not self.path.exists()
        there = set() if new else set(pl.read_csv(self.path, columns=["seed", "measure", "way"]).rows())
        about = (self.judge, self.queries, self.gold)
        missing = [
            seed for seed in seeds if any((seed, one, "calibrated") not in there for one in measures if one != "AP@10")
        ]
        made = list(some_studies(*about, missing, measures)) if missing else []
        for seed in seeds:
            if seed < whole and any((seed, one, "whole") not in there for one in measures):
                study = graded_pair(self.queries, judge=self.judge, seed=seed)
                for name, truth, estimate in by_queries(study, measures, self.gold, seed + 1_000_000):
                    made += [(seed, name, "whole", *row) for row in _intervals(estimate, truth)]
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(COLUMNS)
            writer.writerows([(*about, *row) for row in made])


def table(keep: Path, together: bool) -> pl.DataFrame:
    """A row for each cell and way: how often the interval held the truth, and its median half-width.

    `together` has all judges in one cell.
    """
    kinds = {"low": pl.Float64, "high": pl.Float64, "truth": pl.Float64}
    files = [path for path in sorted(keep.glob("*.csv")) if path.stat().st_size]
    rows = pl.concat([pl.read_csv(path, schema_overrides=kinds) for path in files])
    rows = rows.unique([*CELL, "way", "seed"], keep="last")
    if together:
        rows = rows.with_columns(judge=pl.lit("all"))
    held = (pl.col("low") <= pl.col("truth")) & (pl.col("truth") <= pl.col("high"))
    return rows.group_by([*CELL, "way"]).agg(
        pl.len().alias("studies"),
        pl.col("low").is_not_null().sum().alias("answered"),
        held.mean().alias("held"),
        ((pl.col("high") - pl.col("low")) / 2).median().alias("half"),
    )


def show(keep: Path, together: bool) -> None:
    found = {(*row[:5], row[5]): row[6:] for row in table(keep, together).iter_rows()}
    cells = sorted({key[:3] for key in found}, key=lambda cell: (*cell[1:], cell[0]))
    print("held: share of 95 % intervals that hold the truth (all queries: 1 less it are false alarms), with its")
    print("standard error for the calibrated; half: median half-width; to as is, to whole: the calibrated half-width")
    print("by that of the others; -: refused")
    heads = "".join(f"{way:>17}" for way in WAYS)
    first = f"{'judge':<12}{'queries':>7}{'gold':>6}{'studies':>8}  {'measure':<8}{'about':<6}"
    print(f"{first}{heads}     se  to as is  to whole")
    for judge, queries, gold in cells:
        for measure in MEASURES:
            for population in POPULATIONS.values():
                line, half = "", {}
                for way in WAYS:
                    _, answered, held, width = found.get(
                        (judge, queries, gold, measure, population, way), (0, 0, None, None)
                    )
                    line += f"{f'{held:.3f} {width:.4f}' if answered else '-':>17}"
                    half[way] = width if answered else None
                key = (judge, queries, gold, measure, population, "calibrated")
                if key not in found:
                    continue
                studies, answered, held, _ = found[key]
                line += f"{(held * (1 - held) / answered) ** 0.5:>7.3f}" if answered else f"{'-':>7}"
                for other in ("as is", "whole"):
                    both = half["calibrated"] and half[other]
                    line += f"{half['calibrated'] / half[other]:>10.2f}" if both else f"{'-':>10}"
                print(f"{judge:<12}{queries:>7}{gold:>6}{studies:>8}  {measure:<8}{population:<6}{line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the rows")
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first study")
    parser.add_argument("--whole", type=int, default=10**9, help="whole queries in the first so many studies only")
    parser.add_argument("--judges", nargs="+", default=list(get_args(Erring)), choices=get_args(Erring))
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 100, 400])
    parser.add_argument("--gold", type=int, nargs="+", default=[100, 300, 600, 1000])
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the rest later")
    parser.add_argument("--table", action="store_true", help="only the table of what is there")
    parser.add_argument("--together", action="store_true", help="the judges of a size as one cell")
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    if not asked.table:
        sizes = [(queries, gold) for queries in asked.queries for gold in asked.gold]
        cells = [Cell(asked.keep, judge, *size) for size in sizes for judge in asked.judges]
        start = time.monotonic()
        last, whole = asked.first + asked.studies, asked.first + asked.whole
        for first in range(asked.first, last, PACE):
            for cell in cells:
                if time.monotonic() - start > 60 * asked.minutes:
                    break
                cell.grow(range(first, min(first + PACE, last)), asked.measures, whole)
    show(asked.keep, asked.together)


if __name__ == "__main__":
    main()
