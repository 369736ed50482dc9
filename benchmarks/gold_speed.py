"""How long does a verdict with gold labels take? Commands from process start to the last line, in seconds.

    python benchmarks/gold_speed.py

50 queries with 100 labelled documents each, 300 gold labels drawn by `plan_gold` for nDCG@10; two systems, then sixty.
The seconds of the processor are told beside those of the clock: other programs do not add to them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from karat.plan import plan_gold
from karat.records import Judgments, Runs
from karat.records.runs import together

QUERIES, EACH, GOLD, SYSTEMS = 50, 100, 300, 60


def make(folder: Path) -> list[str]:
    """Labels with errors, runs that know a little of the truth, and gold labels for two of them and for all."""
    rng = np.random.default_rng(1)
    truth = rng.choice(4, QUERIES * EACH, p=[0.6, 0.2, 0.12, 0.08]).astype(float)
    names = pl.DataFrame(
        {
            "query": np.repeat([f"q{n}" for n in range(QUERIES)], EACH),
            "doc": [f"d{n}" for n in range(len(truth))],
        }
    )
    label = np.clip(np.rint(truth + 0.7 * rng.normal(size=len(truth))), 0, 3)
    labels = names.with_columns(label=pl.Series(label))
    labels.write_csv(folder / "labels.csv")
    runs, paths = [], []
    for number in range(SYSTEMS):
        score = truth + rng.normal(size=len(truth))
        run = names.with_columns(system=pl.lit(f"s{number:02}"), score=pl.Series(score))
        runs.append(Runs.of(run))
        paths.append(str(folder / f"s{number:02}.csv"))
        run.write_csv(paths[-1])
    known = names.with_columns(label=pl.Series(truth))
    for some in (2, SYSTEMS):
        plan = plan_gold(Judgments.of(labels), together(runs[:some]), "nDCG@10", GOLD, seed=1).frame
        plan.drop("label").join(known, on=["query", "doc"]).write_csv(folder / f"gold{some}.csv")
    return paths


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = make(folder)
        for systems in (2, SYSTEMS):
            command = [sys.executable, "-m", "karat", "compare", str(folder / "labels.csv"), *paths[:systems]]
            taken = []
            for _ in range(3):
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                subprocess.run(
                    [*command, "--gold", str(folder / f"gold{systems}.csv")],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                )
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                taken.append((spent, time.perf_counter() - start))
            best = min(taken)
            print(
                f"{systems} systems, {GOLD} gold labels: {best[0]:.1f} s of the processor ({best[1]:.1f} by the clock)"
            )


if __name__ == "__main__":
    main()
