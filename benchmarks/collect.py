"""The judging app under load on both databases, beside the bare framework: how many answers a second, and how soon.

Each judge asks for the next task and answers it, over one kept connection: first 50 without ever stopping to think,
which shows how much the app can do, then a thousand with ten seconds of thought for each answer. The bare framework
answers the same two requests with a fixed text and stores nothing. Server and judges share the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgres
from light_judges import Judge

BARE = """
import sys
import uvicorn
from fastapi import FastAPI
from karat.web.schemas import AnswerBody
app = FastAPI()
TASK = {"id": 1, "kind": "judge", "state": "held", "until": 0.0, "practice": False, "context": None,
        "context_opened": False, "query": {"query": "q1", "text": "q1", "description": "", "subtopic": ""},
        "document": {"doc": "d1", "title": "", "snippet": "", "url": "", "page": False}}
@app.get("/api/task/next")
def get_next(besides: str = ""): return {"state": "task", "task": TASK, "wait_until": None, "completion": None}
@app.post("/api/task/{task_id}/answer")
def answer(task_id: int, body: AnswerBody): return {"event": 1, "feedback": None, "rejected": False}
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


@dataclass
class Load:
    """What a load of judges saw: seconds for each task and answer, errors, and how many answers were acknowledged."""

    took: float = 0.0
    asked: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    #: Answers acknowledged while the server warmed up, and the most memory that it took by then, in megabytes.
    before: int = 0
    memory: float = 0.0

    def cells(self) -> list[str]:
        """Answers a second, and medians and 95th percentiles of answers and tasks in milliseconds."""
        quantiles = [np.quantile(times or [np.nan], q) for times in (self.answered, self.asked) for q in (0.5, 0.95)]
        return [f"{len(self.answered) / self.took:.0f}", *(f"{1000 * value:.0f}" for value in quantiles)]

    def kept(self) -> int:
        """How many answers the server said it has."""
        return self.before + len(self.answered)


async def judge(port: int, token: str, until: float, load: Load, think: float, delay: float) -> None:
    await asyncio.sleep(delay)
    me = Judge(port, token)
    while time.perf_counter() < until:
        try:
            start = time.perf_counter()
            task = await me.next()
            load.asked.append(time.perf_counter() - start)
            if task is None:
                break
            if think:
                await asyncio.sleep(think)
            start = time.perf_counter()
            status, said = await me.answer(task["id"], {"label": 1, "seconds": 3.2})
            if status == 200:
                load.answered.append(time.perf_counter() - start)
            else:
                load.errors.append(f"{status} {said[:100]!r}")
        except (ConnectionError, AssertionError) as error:
            load.errors.append(str(error)[:100])
    me.close()


async def everybody_async(port: int, tokens: list[str], seconds: float, think: float = 0.0) -> Load:
    load, start = Load(), time.perf_counter()
    delays = [think * place / len(tokens) for place in range(len(tokens))]  # people do not come at once
    people = zip(tokens, delays, strict=True)
    await asyncio.gather(*(judge(port, token, start + seconds, load, think, delay) for token, delay in people))
    load.took = time.perf_counter() - start
    return load


def everybody(port: int, tokens: list[str], seconds: float, think: float = 0.0) -> Load:
    return asyncio.run(everybody_async(port, tokens, seconds, think))


def wait_for(port: int, server: subprocess.Popen) -> None:
    for _ in range(3000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            sys.exit("the server ended")
        time.sleep(0.1)
    sys.exit("the server does not answer")


def study(folder: Path, database: str, judges: int, tasks: int) -> list[str]:
    """A study with so many tasks and judges; returns the judges' tokens."""
    from karat.formats.study_folder import read_study, write_example
    from karat.study.people import add_judge
    from karat.study.store import Store

    write_example(str(folder), empty=True)
    rows = "".join(f"q{n // 20},d{n}\n" for n in range(tasks))
    (folder / "tasks.csv").write_text("query,doc\n" + rows)
    store = Store.open(database, read_study(str(folder)).study)
    tokens = [add_judge(store)[1] for _ in range(judges)]
    store.close()
    return tokens


def race(name: str, command: list[str], tokens: list[str], said: argparse.Namespace) -> list[tuple[str, Load]]:
    """A server under both loads, and how much of the processors it took."""
    port = free_port()
    server = subprocess.Popen([*command, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        few = tokens[: said.judges]
        warm = everybody(port, few, 2.0)
        quick = everybody(port, few, said.seconds)
        quick.before, quick.errors, quick.memory = len(warm.answered), [*warm.errors, *quick.errors], peak(server.pid)
        crowd = everybody(port, tokens, said.seconds, said.think)
        crowd.memory = peak(server.pid)
        return [(name, quick), (name, crowd)]
    finally:
        server.terminate()
        server.wait()


def peak(server: int) -> float:
    """The most memory that a server and the processes it started took, in megabytes; where the system tells."""
    tree, most = {server}, 0.0
    statuses = sorted(Path("/proc").glob("[0-9]*/status"), key=lambda path: int(path.parent.name))
    for path in statuses:
        try:
            status = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        except OSError:
            continue  # it has just ended
        if int(status["Pid"]) in tree or int(status["PPid"]) in tree:
            tree.add(int(status["Pid"]))
            most += int(status.get("VmHWM", "0 kB").split()[0]) / 1000
    return most


def stored(database: str, place: Path) -> tuple[int, int]:
    """How many answers stand in the study, and how many pairs of judge and document there are among them."""
    from karat.formats.study_folder import read_study
    from karat.study.answer_tables import judgments
    from karat.study.store import Store

    store = Store.open(database, read_study(str(place)).study, made=False)
    found = judgments(store)
    store.close()
    return found.height, found.select("judge", "doc").n_unique()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=50, help="who never stop to think")
    parser.add_argument("--crowd", type=int, default=1000, help="judges at once who think")
    parser.add_argument("--think", type=float, default=10.0, help="seconds of thought for each answer")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2, help="processes that serve PostgreSQL")
    said = parser.parse_args()
    people = max(said.judges, said.crowd)
    rows: list[list[tuple[str, Load]]] = []
    failed: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {"karat, SQLite": (str(folder / "karat.db"), [])}
        try:
            url = stack.enter_context(postgres.server(durable=True))
            workers = ["--workers", str(said.workers)]
            places["karat, PostgreSQL"] = (postgres.new_database(url, "karat"), workers)
        except RuntimeError as error:
            print(f"without PostgreSQL: {error}")
        rows.append(race("bare FastAPI", [sys.executable, "-c", BARE], ["x"] * people, said))
        for number, (name, (database, more)) in enumerate(places.items()):
            place = folder / f"study{number}"
            tokens = study(place, database, people, said.tasks)
            command = [sys.executable, "-m", "karat", "serve", str(place), "--database", database, *more, "--port"]
            rows.append(race(name, command, tokens, said))
            many = sum(load.kept() for _, load in rows[-1])
            errors = [error for _, load in rows[-1] for error in load.errors]
            there, apart = stored(database, place)
            print(
                f"{name}: {many:,} answers acknowledged, {there:,} are there, {apart:,} of them different, "
                f"{len(errors)} errors {errors[:3] or ''}"
            )
            if not many == there == apart or errors:
                failed.append(name)
    print(
        f"{said.tasks:,} documents, {said.seconds:g} s each, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        "latencies in ms"
    )
    abouts = (f"{said.judges} without a pause", f"{said.crowd:,} thinking {said.think:g} s")
    for place, about in enumerate(abouts):
        print(f"\n{about:22} answers/s  answer p50  p95   next p50  p95  peak MB")
        for name, load in (row[place] for row in rows):
            many, *cells = load.cells()
            print(
                f"{name:22} {many:>9}  {cells[0]:>10} {cells[1]:>4}  {cells[2]:>9} {cells[3]:>4}  {load.memory:>7,.0f}"
            )
    if failed:
        sys.exit(f"answers lost, doubled or refused: {', '.join(failed)}")


if __name__ == "__main__":
    main()
