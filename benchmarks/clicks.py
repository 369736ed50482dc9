"""How long ten million results shown take from Parquet to labels, and how much memory: python benchmarks/clicks.py.

With --events the same log has a row for each event, impressions and clicks, about so many in all.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from karat.simulate.click_log import position_log


def make(path: Path, rows: int, seed: int, events: bool = False) -> None:
    """A log of pages of ten, half a million at a time: 20,000 queries, as often as users ask them (Zipf)."""
    parts = []
    for number, start in enumerate(range(0, rows, 1_000_000)):
        pages = min(1_000_000, rows - start) // 10
        made = position_log(queries=20_000, pages=pages, seed=seed + number, zipf=True).frame
        parts.append(made.with_columns(session=pl.lit(f"{number}-") + pl.col("session")))
    log = pl.concat(parts)
    if events:
        shown, clicked = log.drop("clicked"), log.filter("clicked").drop("clicked")
        log = pl.concat(f.with_columns(action=pl.lit(a)) for f, a in ((shown, "impression"), (clicked, "click")))
    log.write_parquet(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--events", action="store_true")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "log.parquet", Path(folder) / "labels.csv"
        # In another process, so that making the log does not count.
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from pathlib import Path; "
        code += f"import clicks; clicks.make(Path({str(log)!r}), {asked.rows}, {asked.seed}, {asked.events})"
        subprocess.run([sys.executable, "-c", code], check=True)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "karat", "clicks", str(log), "--out", str(out)],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        memory = used.ru_maxrss / 1e6  # of the larger process: making the log takes less
        print(done.stdout.splitlines()[0])
        print(f"{asked.rows:,} rows, {log.stat().st_size / 1e6:.0f} MB")
        print(f"{seconds:.1f} s by the clock, {processor:.1f} s of the processor, {memory:.2f} GB at most")
        print(f"{np.nansum(pl.read_csv(out)['label'].is_not_null()):,} labels")


if __name__ == "__main__":
    main()
