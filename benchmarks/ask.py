"""Ten thousand questions to a server that answers at once: is it the server that is waited for, or karat?

Two servers, each a process of its own: one that does the least that a server can (hostile_server.py of the tests), and
one of FastAPI and uvicorn, which checks what it is asked, as servers of models do (local_server.py). Times are seconds
of the processor, which others on the machine change less than the clock's. Starting is what the same command takes for
ten judgments. Making labels is what `--replay` takes beyond that: reading the answers back and writing the table, once
no server is asked any more. Asking is the rest: rendering, calling, storing. The bare loop sends the same bodies by
httpx2's client, as many at a time, and throws the answers away. Of what server and karat do while questions are asked,
whoever does more than half is waited for. All rows are about the same documents, so that memory grows by the judgments
alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostile_server import Apart

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

AT_ONCE, WORDS = 8, 120


def material(folder: Path, judgments: int, documents: int) -> None:
    """Queries, documents of some words each, and a run that shows ten for each query."""
    text = " ".join(f"word{n}" for n in range(WORDS))
    with (folder / "d.jsonl").open("w") as file:
        for n in range(documents):
            file.write(json.dumps({"doc": f"d{n}", "text": f"{n} {text}"}) + "\n")
    queries = judgments // 10
    (folder / "q.jsonl").write_text(
        "".join(json.dumps({"query": f"q{n}", "text": f"about {n}"}) + "\n" for n in range(queries))
    )
    (folder / "a.run").write_text(
        "".join(f"q{n // 10} Q0 d{n % documents} {n % 10 + 1} {10 - n % 10} a\n" for n in range(judgments))
    )


def karat(folder: Path, url: str, *more: str) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and megabytes at most of `karat ask`."""
    words = ["ask", "a.run", "--queries", "q.jsonl", "--documents", "d.jsonl", "--scale", "0..3", "--model", "m"]
    words += ["--url", url, "--out", "llm.csv", "--concurrency", str(AT_ONCE), *more]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"POLARS_MAX_THREADS": "1"},
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def bodies(store: Path) -> list[bytes]:
    """What karat sent, word for word, from its store of answers."""
    made = []
    for (kept,) in sqlite3.connect(store).execute("select request from answers"):
        asked = json.loads(zlib.decompress(kept))
        messages = [{"role": "system", "content": asked["system"]}, {"role": "user", "content": asked["user"]}]
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": asked["schema"]}}
        made.append(json.dumps({"model": "m", "messages": messages, "response_format": schema}).encode())
    return made


def bare(store: Path, url: str) -> tuple[float, float]:
    """Seconds, and seconds of the processor, of the same calls by httpx2 alone, after its import."""
    import httpx2

    todo = iter(bodies(store))
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()

    async def everything() -> None:
        async with httpx2.AsyncClient(limits=httpx2.Limits(max_connections=AT_ONCE)) as client:

            async def work() -> None:
                for body in todo:
                    headers = {"content-type": "application/json"}
                    reply = await client.post(f"{url}/chat/completions", content=body, headers=headers)
                    assert reply.status_code == 200

            await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    asyncio.run(everything())
    after = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """One row for each server and size."""
    from hostile_server import apart

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=10_000)
    parser.add_argument("--python", default=sys.executable, help="whose uvicorn the second server is")
    typed = parser.parse_args()
    servers = {"the least": (), "FastAPI": (typed.python, str(Path(__file__).with_name("local_server.py")))}
    print("| server | judgments | karat | starting | making labels | asking | the server | its share | httpx2's client "
          "alone | a second | again | peak memory |")  # fmt: skip
    print("|---" * 12 + "|")
    for name, command in servers.items():
        with apart(*command) as server, tempfile.TemporaryDirectory() as few:
            material(Path(few), 10, typed.judgments // 10)
            _, start, _ = karat(Path(few), server.url)
            _, empty, _ = karat(Path(few), server.url, "--replay")
            for judgments in (typed.judgments // 10, typed.judgments):
                with tempfile.TemporaryDirectory() as many:
                    row = measured(Path(many), server, judgments, typed.judgments // 10, start, empty)
                print(f"| {name} | {judgments:,} | {' | '.join(row)} |", flush=True)


def measured(folder: Path, server: Apart, judgments: int, documents: int, start: float, empty: float) -> list[str]:
    """A row of the table."""
    material(folder, judgments, documents)
    before = server.busy()
    wall, cpu, peak = karat(folder, server.url)
    busy = server.busy() - before
    labels = karat(folder, server.url, "--replay")[1] - empty
    asking = cpu - start - labels
    alone = bare(folder / "llm.answers.db", server.url)[1]
    again = karat(folder, server.url)[1]
    seconds = [f"{time:.1f} s" for time in (cpu, start, labels, asking, busy)]
    share = f"{busy / (busy + asking):.0%}"
    return [*seconds, share, f"{alone:.1f} s", f"{judgments / wall:,.0f}", f"{again:.1f} s", f"{peak:,.0f} MB"]


if __name__ == "__main__":
    main()
