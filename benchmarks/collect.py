"""The judging app under load: 50 judges at once on both databases, beside the bare framework.

Each judge asks for the next task and answers it, over one kept connection: first without ever stopping to think, which
shows how much the app can do, then with two seconds of thought for each answer, as people who hurry. The bare framework
answers the same two requests with a fixed text and stores nothing. Server and judges share the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
JUDGES, SECONDS, THINK = 50, 15.0, 2.0

BARE = """
import sys
import uvicorn
from fastapi import FastAPI
from karat.collect.answers import AnswerBody
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


async def call(reader, writer, method: str, path: str, token: str, body: bytes = b"") -> tuple[int, bytes]:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length"))
    return int(lines[0].split()[1]), await reader.readexactly(length)


async def judge(
    port: int, token: str, until: float, asked: list[float], answered: list[float], think: float, delay: float
) -> None:
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        start = time.perf_counter()
        code, said = await call(reader, writer, "GET", "/api/task/next", token)
        asked.append(time.perf_counter() - start)
        task = json.loads(said)["task"]
        assert code == 200, said
        if task is None:
            break
        if think:
            await asyncio.sleep(think)
        body = b'{"label": 1, "seconds": 3.2}'
        start = time.perf_counter()
        code, said = await call(reader, writer, "POST", f"/api/task/{task['id']}/answer", token, body)
        assert code == 200, said
        answered.append(time.perf_counter() - start)
    writer.close()


def load(port: int, tokens: list[str], seconds: float, think: float = 0.0) -> tuple[float, list[float], list[float]]:
    asked: list[float] = []
    answered: list[float] = []

    async def everybody() -> float:
        start = time.perf_counter()
        delays = [think * place / len(tokens) for place in range(len(tokens))]
        people = zip(tokens, delays, strict=True)
        await asyncio.gather(*(judge(port, t, start + seconds, asked, answered, think, d) for t, d in people))
        return time.perf_counter() - start

    return asyncio.run(everybody()), asked, answered


def wait_for(port: int, server: subprocess.Popen) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            sys.exit("the server ended")
        time.sleep(0.1)


def study(folder: Path, database: str, judges: int, tasks: int) -> list[str]:
    """A study with so many tasks and judges; returns the judges' tokens."""
    from karat.formats.example import write_example
    from karat.formats.study_folder import read_study
    from karat.store import Store
    from karat.store.people import add_judge

    write_example(str(folder), empty=True)
    rows = "".join(f"q{n // 20},d{n}\n" for n in range(tasks))
    (folder / "tasks.csv").write_text("query,doc\n" + rows)
    store = Store.open(database, read_study(str(folder)).study)
    tokens = [add_judge(store)[1] for _ in range(judges)]
    store.close()
    return tokens


def race(
    name: str, command: list[str], port: int, tokens: list[str], seconds: float
) -> list[tuple[str, float, list[str]]]:
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        load(port, tokens, 2.0)  # warm
        loads = [load(port, tokens, seconds, think) for think in (0.0, THINK)]
    finally:
        server.kill()
        server.wait()
    rows = []
    for took, asked, answered in loads:
        cells = [f"{len(answered) / took:.0f}"]
        for times in (answered, asked):
            cells += [f"{1000 * np.quantile(times, q):.0f}" for q in (0.5, 0.95)]
        rows.append((name, len(answered) / took, cells))
    return rows


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=JUDGES)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--tasks", type=int, default=20_000)
    said = parser.parse_args()
    spec = importlib.util.spec_from_file_location("postgres", ROOT / "tests" / "postgres.py")
    postgres = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(postgres)
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {"karat, SQLite": str(folder / "karat.db")}
        try:
            url = stack.enter_context(postgres.server(durable=True))
            places["karat, PostgreSQL"] = postgres.new_database(url, "karat")
        except RuntimeError as error:
            print(f"without PostgreSQL: {error}")
        port = free_port()
        tokens = ["x"] * said.judges
        rows.append(race("bare FastAPI", [sys.executable, "-c", BARE, str(port)], port, tokens, said.seconds))
        for number, (name, database) in enumerate(places.items()):
            place = folder / f"study{number}"
            tokens = study(place, database, said.judges, said.tasks)
            port = free_port()
            command = [sys.executable, "-m", "karat", "serve", str(place), "--port", str(port)]
            rows.append(race(name, [*command, "--database", database], port, tokens, said.seconds))
    print(
        f"{said.judges} judges, {said.tasks:,} documents, {said.seconds:g} s each, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; latencies in ms"
    )
    for place, about in enumerate(("without a pause", f"thinking {THINK:g} s")):
        print(f"\n{about:20} answers/s  answer p50  p95   next p50  p95   of bare")
        for name, rate, (many, *cells) in (row[place] for row in rows):
            share = f"{rate / rows[0][place][1]:.0%}"
            print(f"{name:20} {many:>9}  {cells[0]:>10} {cells[1]:>4}  {cells[2]:>9} {cells[3]:>4}  {share:>7}")


if __name__ == "__main__":
    main()
