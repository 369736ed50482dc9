"""Ten thousand random histories of the queue of each kind: `benchmarks/queue_histories.py --database postgresql`.

Says how many ran, in how much time, and each that failed, with its seed; then exits with 1. What they find is in
`tests/histories.py`; `--kinds` and `--first` take a part of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import psycopg

from histories import History, NothingKept
from postgres import new_database, server
from random_plans import PLANS

#: So many histories leave rows behind that PostgreSQL took back, and reads past until they are swept away.
SWEPT = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--kinds", nargs="+", choices=list(PLANS), default=list(PLANS))
    parser.add_argument("--histories", type=int, default=10_000, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--stop", type=int, default=5, help="stop after so many failures")
    asked = parser.parse_args()
    failed = 0
    with ExitStack() as stack:
        url, broom = "sqlite://", None
        if asked.database == "postgresql":
            url = new_database(stack.enter_context(server()), "histories")
            broom = stack.enter_context(psycopg.connect(url, autocommit=True))
            # Ten thousand histories ask the same: to plan each question anew takes longer than to answer it.
            broom.execute("ALTER DATABASE histories SET plan_cache_mode = force_generic_plan")
        own = NothingKept.open(url)
        stack.callback(own.close)
        for kind in asked.kinds:
            began, used = time.perf_counter(), time.process_time()
            for seed in range(asked.first, asked.first + asked.histories):
                if broom is not None and seed % SWEPT == 0:
                    broom.execute("VACUUM")
                with own.history():
                    try:
                        History(seed, kind, own).whole()
                    except Exception as error:
                        failed += 1
                        print(f"{kind} {seed}: {type(error).__name__}: {error}", flush=True)
                if failed >= asked.stop:
                    return 1
            spent = (time.perf_counter() - began, time.process_time() - used)
            print(
                f"{asked.database} {kind}: {asked.histories} histories from seed {asked.first}, {failed} failed so far;"
                f" {spent[0]:.0f} s, {spent[1]:.0f} s of processor ({1000 * spent[1] / asked.histories:.1f} ms each)",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
