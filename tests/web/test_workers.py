"""Several processes serve one study on PostgreSQL; when the one that started them is killed, none is left."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path

from karat.engines.http_calls import done as finished
from karat.formats.study_folder import read_study, write_example
from karat.study.answer_tables import judgments
from karat.study.people import add_judge
from karat.study.store import Store
from light_judges import Judge


async def judge(port: int, token: str) -> int:
    """Answer twice, as soon as somebody serves; how many answers were acknowledged."""
    me, done = Judge(port, token), 0
    while done < 2:
        try:
            task = await me.next()
            assert task is not None
            done += (await me.answer(task["id"], {"label": 1, "key": str(task["id"])}))[0] == 200
        except ConnectionError:
            await asyncio.sleep(0.1)
        me.close()  # the next request may go to the other process
    return done


async def everybody(port: int, tokens: list[str]) -> list[int]:
    async with asyncio.timeout(120):
        return await asyncio.gather(*(judge(port, token) for token in tokens))


def free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_two_processes_serve_and_end_with_the_one_that_started_them(postgres: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_example(str(folder), empty=True)
    (folder / "tasks.csv").write_text("query,doc\n" + "".join(f"q{n},d{n}\n" for n in range(20)))
    store = Store.open(postgres, read_study(str(folder)).study)
    tokens = [add_judge(store)[1] for _ in range(8)]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "karat", "serve", str(folder), "--database", postgres, "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen([*command, "--workers", "2"], stdout=log, stderr=log)
    try:
        assert finished(everybody(port, tokens)) == [2] * 8
    finally:
        server.kill()
        server.wait()
    assert judgments(store).height == 16
    end = time.monotonic() + 30
    while not free(port) and time.monotonic() < end:
        time.sleep(0.05)
    assert free(port)
    store.close()
