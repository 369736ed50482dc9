"""What scoring by Spark costs a row, and whether that foretells more rows and cores: python benchmarks/cluster.py.

One core scores two sizes, which give the cost of starting a job and of a row; the formula of docs/scale.md then says
what the larger size should take on two cores, and that is timed, too. Wants a quiet machine: the times are those of
the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

#: A job of its own in a process of its own: master, folder. Prints seconds of three runs after a first one.
JOB = """
import json, os, sys, time
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import karat.spark
spark = (SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
         .config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "8")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
labels, runs = (spark.read.parquet(f"{sys.argv[2]}/{name}.parquet") for name in ("labels", "runs"))
seen = []
for _ in range(int(sys.argv[3]) + 1):
    start = time.perf_counter()
    karat.spark.score(labels, runs, ["nDCG@10", "AP"]).queries.write.format("noop").mode("overwrite").save()
    seen.append(time.perf_counter() - start)
print(json.dumps(seen[1:]))
spark.stop()
"""


def make(folder: Path, rows: int, seed: int) -> None:
    """A run of 1,000 documents a query, ten of them judged."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    number = np.arange(rows)
    run = pl.select(
        query=pl.lit("q") + pl.Series(number // 1000).cast(pl.String),
        doc=pl.lit("d") + pl.Series(rng.permutation(rows)).cast(pl.String),
        score=pl.Series(rng.random(rows)),
    )
    run.write_parquet(folder / "runs.parquet")
    run[::100].select("query", "doc", label=pl.Series(rng.integers(0, 3, len(run[::100])))).write_parquet(
        folder / "labels.parquet"
    )


def took(master: str, folder: Path, repeat: int) -> float:
    """The quickest of some runs."""
    command = [sys.executable, "-c", JOB, master, str(folder), str(repeat)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    return float(min(json.loads(done.stdout.splitlines()[-1])))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=5_000_000)
    arguments.add_argument("--repeat", type=int, default=3)
    asked = arguments.parse_args()
    few = asked.rows // 5
    with tempfile.TemporaryDirectory() as place:
        small, large = Path(place) / "small", Path(place) / "large"
        make(small, few, 1)
        make(large, asked.rows, 1)
        size = (large / "runs.parquet").stat().st_size / asked.rows
        one, all_ = (took("local[1]", folder, asked.repeat) for folder in (small, large))
        row = (all_ - one) / (asked.rows - few)
        start = all_ - row * asked.rows
        print(
            f"one core: {few:,} rows {one:.2f} s, {asked.rows:,} rows {all_:.2f} s; {size:.0f} bytes a row in Parquet"
        )
        print(f"so a job costs {start:.2f} s to start and {row * 1e6:.2f} microseconds a row and core")
        two = took("local[2]", large, asked.repeat)
        said = start + row * asked.rows / 2
        print(f"two cores: the formula says {said:.2f} s, it took {two:.2f} s ({two / said:.2f} times as long)")


if __name__ == "__main__":
    main()
