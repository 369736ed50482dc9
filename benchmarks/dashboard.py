"""The dashboard of a study with 200,000 labels: how soon its figures are there, and whether judges notice it.

Judges who think ten seconds answer twice as long as said: first by themselves, then while a lead's dashboard asks for
all of its figures every five seconds, as the page does. Server and judges share the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl

from collect import Load, everybody_async, free_port, peak, postgres, study, wait_for
from light_judges import Judge

FIGURES = ("/lead", "/api/progress", "/api/agreement", "/api/judges", "/api/live")
EVERY = 5.0


def fill(place: Path, database: str, labels: int) -> str:
    """Two labels each of many documents, by 500 people elsewhere; returns a lead's token."""
    from karat.formats.study_folder import read_study
    from karat.records import Judgments
    from karat.study.imports import import_records
    from karat.study.people import add_lead, lead_named, start_session
    from karat.study.store import Store

    rng, half = np.random.default_rng(0), labels // 2
    truth = rng.integers(0, 4, half)
    frames = []
    for turn in range(2):
        said = np.where(rng.random(half) < 0.7, truth, rng.integers(0, 4, half))
        who = 2 * rng.integers(0, 250, half) + turn
        frames.append(
            pl.DataFrame(
                {
                    "query": [f"x{n // 100}" for n in range(half)],
                    "doc": [f"x{n}" for n in range(half)],
                    "judge": [f"p{n}" for n in who],
                    "label": said.astype(float),
                    "time": time.time() - 6.0 * (half - np.arange(half)) - turn,
                }
            )
        )
    store = Store.open(database, read_study(str(place)).study)
    import_records(store, Judgments(pl.concat(frames)))
    add_lead(store, "lead", "-")
    lead = lead_named(store, "lead")
    token = start_session(store, lead_id=None if lead is None else lead["id"])
    store.close()
    return token


async def look(port: int, token: str, until: float, seen: dict[str, list[float]]) -> None:
    """A lead who has the dashboard open."""
    lead = Judge(port, token)
    while time.perf_counter() < until:
        for path in FIGURES:
            start = time.perf_counter()
            status, said = await lead.ask("GET", path)
            assert status == 200, (path, said[:200])
            seen.setdefault(path, []).append(time.perf_counter() - start)
        await asyncio.sleep(EVERY)
    lead.close()


async def both(port: int, tokens: list[str], lead: str | None, said: argparse.Namespace) -> tuple[Load, dict]:
    seen: dict[str, list[float]] = {}
    judging = everybody_async(port, tokens, said.seconds, said.think)
    looking = [] if lead is None else [look(port, lead, time.perf_counter() + said.seconds, seen)]
    load, *_ = await asyncio.gather(judging, *looking)
    return load, seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=200_000)
    parser.add_argument("--crowd", type=int, default=200, help="judges at once")
    parser.add_argument("--think", type=float, default=10.0, help="seconds of thought for each answer")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--tasks", type=int, default=20_000)
    said = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {"SQLite": str(folder / "karat.db")}
        try:
            places["PostgreSQL"] = postgres.new_database(stack.enter_context(postgres.server(durable=True)), "karat")
        except RuntimeError as error:
            print(f"without PostgreSQL: {error}")
        print(f"{said.labels:,} labels, {said.crowd} judges, {os.cpu_count()} cores; latencies in ms")
        for name, database in places.items():
            place = folder / name
            tokens = study(place, database, said.crowd, said.tasks)
            lead = fill(place, database, said.labels)
            port = free_port()
            command = [sys.executable, "-m", "karat", "serve", str(place), "--database", database, "--port", str(port)]
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                wait_for(port, server)
                asyncio.run(everybody_async(port, tokens, 5.0))  # warm
                for about, who in (("dashboard closed", None), ("dashboard open", lead)):
                    load, seen = asyncio.run(both(port, tokens, who, said))
                    rate, half, most, *_ = load.cells()
                    print(
                        f"{name}, {about}: {rate} answers/s, p50 {half}, p95 {most}, {len(load.errors)} errors, "
                        f"load {os.getloadavg()[0]:.1f}, peak {peak(server.pid):,.0f} MB"
                    )
                for path, times in seen.items():
                    first, usual = 1000 * times[0], 1000 * np.median(times)
                    print(f"  {path:16} first {first:,.0f}, median of {len(times)} {usual:,.0f}")
            finally:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
