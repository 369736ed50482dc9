"""Ten thousand questions to a server that answers at once: what karat costs beside the calls themselves.

The server is a process of its own, so that the time counted is karat's alone: rendering prompts, calling, storing,
reading the answers and writing the labels. The bare loop sends the same bodies with the same library (httpx2), as many
at a time, and throws the answers away. Times are seconds of the processor, which others on the machine change less than
the clock's; starting is what the same command takes for ten judgments. What karat adds is all that is neither. The
shares are of all the work of both processes once they have started: who has the largest is who is waited for. Both rows
are about the same documents, so that memory grows by the judgments alone.
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


def karat(folder: Path, url: str) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and megabytes at most of `karat ask`."""
    words = ["ask", "a.run", "--queries", "q.jsonl", "--documents", "d.jsonl", "--scale", "0..3", "--model", "m"]
    words += ["--url", url, "--out", "llm.csv", "--concurrency", str(AT_ONCE)]
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
    from hostile_server import apart

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=10_000)
    largest = parser.parse_args().judgments
    heads = (
        "judgments | a second | karat | starting | httpx2 alone | karat adds | server | shares: server | httpx2 | karat"
    )
    print(f"| {heads} | again | peak memory |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for judgments in (largest // 10, largest):
        with apart() as server, tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
            material(Path(few), 10, largest // 10)
            _, start, _ = karat(Path(few), server.url)
            folder = Path(many)
            material(folder, judgments, largest // 10)
            before = server.busy()
            wall, cpu, peak = karat(folder, server.url)
            busy = server.busy() - before
            _, alone = bare(folder / "llm.answers.db", server.url)
            _, again, _ = karat(folder, server.url)
            own, every = cpu - start - alone, busy + cpu - start
            row = [f"{judgments:,}", f"{judgments / wall:,.0f}", f"{cpu:.1f} s", f"{start:.1f} s", f"{alone:.1f} s"]
            row += [f"{own / alone:.0%}", f"{busy:.1f} s", *(f"{part / every:.0%}" for part in (busy, alone, own))]
            row += [f"{again:.1f} s", f"{peak:,.0f} MB"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
