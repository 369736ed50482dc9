"""Does the live interval hold at every look? And the ordinary one, looked at as often? With known truth.

    python benchmarks/live_looks.py --keep FILE [--studies 400] [--judges fair "by query"] [--minutes 10]
    python benchmarks/live_looks.py --keep FILE --table

Two systems that do not differ but by chance, 30 queries, 100 gold labels drawn by `plan_gold` for nDCG@10, which come
in random order; looks after 20, 30, ... 100. Every study is a row of FILE for each measure and population: whether the
truth was outside the live interval at any look, outside the ordinary one at any look, and outside the latter at the
end. Many studies are made at once (`studies_at_once.py`); each look is that of `karat compare --live`
(tests/comparison/test_live.py).
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

from karat.comparison.interim import OnTheWay, on_the_way
from karat.errors import Undefined
from karat.simulate.graded_pair import Erring, graded_pair
from studies_at_once import SideBySide

MEASURES = ("DCG@10", "nDCG@10")
POPULATIONS = {True: "these", False: "all"}
QUERIES, GOLD, LOOKS = 30, 100, tuple(range(20, 101, 10))
COLUMNS = ("judge", "seed", "measure", "population", "live", "ordinary", "at the end")
#: So many studies at once, all looks of each.
PACE = 20


def looks_at_once(
    judge: Erring, seeds: Sequence[int], measures: Sequence[str] = MEASURES, looks: Sequence[int] = LOOKS
) -> Iterator[tuple[int, int, str, bool, float, OnTheWay]]:
    """For each look: the study's seed, the labels so far, the measure, the population, the truth, and what is seen."""
    side = SideBySide([graded_pair(QUERIES, judge=judge, seed=seed) for seed in seeds], measures)
    chance = side.drawn(GOLD, [seed + 10_000 for seed in seeds])
    came = np.full(len(chance), np.inf)
    start = np.searchsorted(side.whole.query, [part.start for part in side.parts])
    for seed, mine in zip(seeds, np.split(np.arange(len(chance)), start[1:]), strict=True):
        drawn = mine[chance[mine] > 0]
        came[drawn] = np.random.default_rng(seed).permutation(len(drawn))
    for labels in looks:
        there = np.where(came < labels, chance * labels / GOLD, np.nan)
        for place, name, ways, pool in side.estimated(there):
            for fixed in POPULATIONS:
                try:
                    late = np.ones(int(pool.drawn.sum()), bool)
                    seen = on_the_way(ways["calibrated"](fixed), pool, late, (labels, GOLD, GOLD), fixed=fixed)
                except Undefined:
                    continue  # so odd a part of the draw that it is refused
                truth = side.difference(place, name) if fixed else 0.0
                yield seeds[place], labels, name, fixed, truth, seen


def missed(judge: Erring, seeds: Sequence[int]) -> Iterator[tuple]:
    """Rows of the file."""
    found: dict[tuple, list[tuple[bool, bool]]] = {}
    for seed, _, name, fixed, truth, seen in looks_at_once(judge, seeds):
        outside = not seen.low <= truth <= seen.high, not seen.once.low <= truth <= seen.once.high
        if seen.known:
            outside = (False, False)
        found.setdefault((judge, seed, name, POPULATIONS[fixed]), []).append(outside)
    for key, outside in found.items():
        live, ordinary = zip(*outside, strict=True)
        yield *key, int(any(live)), int(any(ordinary)), int(ordinary[-1])


def grow(keep: Path, judges: Sequence[Erring], seeds: range, minutes: float) -> None:
    """Studies that the file does not have yet."""
    new, start = not keep.exists(), time.monotonic()
    there = set() if new else set(pl.read_csv(keep, columns=["judge", "seed"]).rows())
    with keep.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        for first in range(seeds.start, seeds.stop, PACE):
            for judge in judges:
                missing = [one for one in range(first, min(first + PACE, seeds.stop)) if (judge, one) not in there]
                if missing and time.monotonic() - start < 60 * minutes:
                    writer.writerows(missed(judge, missing))
                    file.flush()


def show(keep: Path) -> None:
    rows = pl.read_csv(keep)
    print("share of studies in which the truth was outside, with its standard error")
    print(f"{'measure':<10}{'judge':<12}{'about':<7}{'studies':>8}" + "".join(f"{name:>16}" for name in COLUMNS[4:]))
    for key, mine in rows.group_by(["measure", "judge", "population"], maintain_order=True):
        line = "{:<10}{:<12}{:<7}".format(*key) + f"{mine.height:>8}"
        for name in COLUMNS[4:]:
            share = float(mine[name].mean())
            line += f"{share:>9.3f} {(share * (1 - share) / mine.height) ** 0.5:.4f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the file of the rows")
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--judges", nargs="+", default=["fair", "by query"], choices=get_args(Erring))
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the rest later")
    parser.add_argument("--table", action="store_true", help="only the table of what is there")
    asked = parser.parse_args()
    if not asked.table:
        grow(asked.keep, asked.judges, range(asked.studies), asked.minutes)
    show(asked.keep)


if __name__ == "__main__":
    main()
