"""Does the calibrated verdict hold? Coverage, false alarms and width, beside every other way, with known truth.

    python benchmarks/calibrated_verdict.py --keep FOLDER --studies 200 [--judges fair llm] [--queries 100] [--gold 300]
    python benchmarks/calibrated_verdict.py --keep FOLDER --table [--together]

Each study is two systems that do not differ over all queries that might be asked (on the very queries of a study they
do, by chance), a judge's labels of graded documents, and gold labels drawn by `plan_gold` for nDCG@10. Four ways: plain
(the judge's labels alone), as is (the gold labels correct the labels as they are), calibrated, and whole queries (as
many gold labels, all documents of some queries). Two populations: these queries only, and all that might be asked.
Every interval is a row of FOLDER, a file for each cell, so that the table can be made of what is there and grow later;
all cells grow at the same pace. A study of 100 queries and 300 gold labels takes a quarter of a second for three
measures, most of it for fitting the judge (six fits) and for drawing grades (64 times).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.estimate.estimate import Estimate
from karat.estimate.evidence import Evidence
from karat.estimate.gold_pool import pool_for
from karat.estimate.gold_queries import by_whole_queries
from karat.estimate.gold_sample import Gold
from karat.estimate.one_step import corrected
from karat.estimate.ppi import powered
from karat.measures import is_linear, match
from karat.plan import plan_gold, plan_gold_queries
from karat.records import Judgments, Runs
from karat.records.runs import together
from karat.scoring import Scorer
from karat.simulate.graded_pair import Erring, GradedPair, graded_pair

MEASURES = ("P@10", "DCG@10", "nDCG@10", "AP@10", "RR@10", "ERR@10")
WAYS = ("plain", "as is", "calibrated", "whole")
POPULATIONS = {True: "these", False: "all"}
COLUMNS = ("judge", "queries", "gold", "seed", "measure", "way", "population", "truth", "low", "high")
CELL = ["judge", "queries", "gold", "measure", "population"]
#: So many studies of a cell, then as many of the next.
PACE = 10
#: One estimate for either population.
Either = Callable[[bool], Estimate]


def one_study(
    judge: Erring, queries: int, gold: int, seed: int, *, measures: Sequence[str] = MEASURES, whole: bool = True
) -> Iterator[tuple]:
    """Rows (measure, way, population, truth, low, high) of one study; low and high are empty where a way refuses."""
    study = graded_pair(queries, judge=judge, seed=seed)
    runs, labels = together(study.runs()), study.judgments()
    scorer = Scorer(labels, list(measures), draws=0)
    asked = scorer.topics.queries["query"].to_list()
    right = _scores(runs, Scorer(study.judgments(study.truth), list(measures), draws=0))
    judged = _scores(runs, scorer)
    single = _filled(plan_gold(labels, runs, "nDCG@10", gold, seed=seed + 1_000_000).frame, study)
    evidence = Evidence.of(runs, asked, scorer.topics, scorer.profile, single)
    if whole:
        some = _filled(plan_gold_queries(labels, runs, "nDCG@10", gold, seed=seed + 1_000_000).frame, study)
        learned = Evidence.of(runs, asked, scorer.topics, scorer.profile, some)
    for name, measure in zip(measures, scorer.measures, strict=True):
        mine = scorer.by(measure)
        ways = _single(runs, mine, single, evidence, asked, judged[name])
        if whole:
            ways["whole"] = _whole(runs, mine, some, learned if learned.enough else None, asked, judged[name])
        values = judged[name]
        ways["plain"] = lambda fixed, values=values: _plain(values, fixed)
        for way, estimate in ways.items():
            for fixed, population in POPULATIONS.items():
                truth = float(np.diff(right[name].mean(axis=0))[0]) if fixed else 0.0
                yield name, way, population, truth, *_interval(estimate, fixed)


def _interval(estimate: Either, fixed: bool) -> tuple[float | None, float | None]:
    try:
        made = estimate(fixed)
    except Undefined:
        return None, None
    found = made.difference(0, 1)
    if made.is_known(0, 1):
        return found.difference - 1e-9, found.difference + 1e-9
    return (None, None) if np.isnan(found.low) else (found.low, found.high)


def _scores(runs: Runs, scorer: Scorer) -> dict[str, np.ndarray]:
    """By measure: a row for each query, a column for each system."""
    lists = match(runs, scorer.topics, scorer.profile)
    found = {}
    for measure in scorer.measures:
        wide = lists.keys.with_columns(score=pl.Series(measure.score(lists))).pivot("system", index="query")
        found[str(measure)] = wide.sort("query").select(runs.systems).to_numpy()
    return found


def _filled(plan: pl.DataFrame, study: GradedPair) -> Gold:
    truth = study.judgments(study.truth).frame.select("query", "doc", "label")
    return Gold.of(Judgments.of(plan.drop("label").join(truth, on=["query", "doc"])))


def _plain(values: np.ndarray, fixed: bool) -> Estimate:
    if fixed:
        raise Undefined("labels that are right leave nothing to chance on these queries")
    return Estimate.of_values("plain", ("A", "B"), values)


def _single(
    runs: Runs, scorer: Scorer, gold: Gold, evidence: Evidence, asked: list[str], judged: np.ndarray
) -> dict[str, Either]:
    """Gold labels of single documents: labels as they are, and calibrated."""
    measure, pool = scorer.measures[0], pool_for(runs, asked, scorer, gold)
    if pool is None:
        return dict.fromkeys(("as is", "calibrated"), _whole(runs, scorer, gold, evidence, asked, judged))
    if not is_linear(measure):
        return {"as is": _no_sum, "calibrated": _once(lambda: corrected(runs, scorer, pool, evidence))}
    calibration = evidence.calibration
    gains = calibration.expected(measure.worth(calibration.grades, scorer.topics, scorer.profile))
    sharp = pool.with_predicted(gains[evidence.rows(pool.docs)])
    return {
        "as is": lambda fixed: powered(pool, fixed=fixed),
        "calibrated": lambda fixed: powered(sharp, fixed=fixed, tuned=False, labels=pool),
    }


def _no_sum(fixed: bool) -> Estimate:
    raise Undefined("no sum over documents")


def _once(make: Callable[[], Callable[..., Estimate]]) -> Either:
    made: list[Callable[..., Estimate]] = []

    def either(fixed: bool) -> Estimate:
        if not made:
            made.append(make())
        return made[0](fixed=fixed)

    return either


def _whole(
    runs: Runs, scorer: Scorer, gold: Gold, evidence: Evidence | None, asked: list[str], judged: np.ndarray
) -> Either:
    return lambda fixed: by_whole_queries(runs, scorer, gold, asked, judged, evidence, fixed=fixed)


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
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(COLUMNS)
            for seed in seeds:
                ways = ("calibrated", "whole") if seed < whole else ("calibrated",)
                if all((seed, measure, way) in there for measure in measures for way in ways):
                    continue
                made = one_study(self.judge, self.queries, self.gold, seed, measures=measures, whole=seed < whole)
                writer.writerows([(self.judge, self.queries, self.gold, seed, *row) for row in list(made)])
                file.flush()


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
    parser.add_argument("--whole", type=int, default=10**9, help="whole queries in the first so many studies only")
    parser.add_argument("--judges", nargs="+", default=list(get_args(Erring)), choices=get_args(Erring))
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 100, 400])
    parser.add_argument("--gold", type=int, nargs="+", default=[100, 300, 600, 1000])
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--table", action="store_true", help="only the table of what is there")
    parser.add_argument("--together", action="store_true", help="the judges of a size as one cell")
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    if not asked.table:
        sizes = [(queries, gold) for queries in asked.queries for gold in asked.gold]
        cells = [Cell(asked.keep, judge, *size) for size in sizes for judge in asked.judges]
        for first in range(0, asked.studies, PACE):
            for cell in cells:
                cell.grow(range(first, min(first + PACE, asked.studies)), asked.measures, asked.whole)
    show(asked.keep, asked.together)


if __name__ == "__main__":
    main()
