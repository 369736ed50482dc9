"""The server is killed in the middle and started again: every answer it acknowledged is there, none twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import polars as pl
import pytest

from karat.formats.example import write_example
from karat.formats.study_folder import read_study
from karat.store import Store
from karat.store.people import add_judge
from karat.store.read_tables import events_frame, judgments
from simulated import studies

JUDGES, TASKS = 12, len(studies(24, 200))


def start(folder: Path, database: str, port: int) -> subprocess.Popen[bytes]:
    """A server of our own, ready to answer."""
    command = [sys.executable, "-m", "karat", "serve", str(folder), "--port", str(port), "--database", database]
    log = (folder / "log").open("ab")
    server = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"POLARS_MAX_THREADS": "1"})
    log.close()
    for _ in range(600):
        if server.poll() is not None:
            raise AssertionError((folder / "log").read_text())
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
        else:
            return server
    raise AssertionError("the server does not start")


@pytest.mark.evidence
def test_every_acknowledged_answer_survives_a_killed_server(database: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_example(str(folder), empty=True)
    rows = [{"query": f"q{n // 10}", "doc": f"d{n}"} for n in range(TASKS)]
    pl.DataFrame(rows).write_csv(folder / "tasks.csv")
    store = Store.open(database, read_study(str(folder)).study)
    tokens = [add_judge(store)[1] for _ in range(JUDGES)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    acknowledged: list[tuple[int, str]] = []
    enough = threading.Event()
    trouble: list[object] = []

    def work(number: int, token: str) -> None:
        """Judge until there is nothing left; an answer without reply is sent again with the same key."""
        headers = {"Authorization": f"Bearer {token}"}
        waiting: tuple[str, bytes, str] | None = None
        idle = 0
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30, verify=False) as client:
            while idle < 3:
                try:
                    if waiting is None:
                        task = client.get("/api/task/next").raise_for_status().json()["task"]
                        if task is None:
                            idle += 1
                            time.sleep(0.2)
                            continue
                        doc = task["document"]["doc"]
                        label = (number + int(doc[1:])) % 2 if int(doc[1:]) % 3 == 0 else 1
                        body = json.dumps({"label": label, "key": f"{doc}"}).encode()
                        waiting = (f"/api/task/{task['id']}/answer", body, doc)
                    path, body, doc = waiting
                    said = client.post(path, content=body, headers={"Content-Type": "application/json"})
                except httpx2.TransportError:
                    time.sleep(0.1)
                    continue
                waiting = None
                if said.status_code == 200:
                    acknowledged.append((number, doc))
                elif said.status_code != 409:
                    trouble.append(said.text)
                if len(acknowledged) >= TASKS * 2 // 3:
                    enough.set()

    server = start(folder, database, port)
    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(tokens)]
    for thread in threads:
        thread.start()
    try:
        assert enough.wait(120)
        server.send_signal(signal.SIGKILL)
        server.wait()
        before = len(acknowledged)
        server = start(folder, database, port)
        for thread in threads:
            thread.join(120)
    finally:
        server.kill()
        server.wait()
    assert not trouble
    assert len(acknowledged) > before, "work went on after the restart"
    said = judgments(store)
    found = {(int(judge.split()[1]) - 1, doc) for judge, doc in said.select("judge", "doc").iter_rows()}
    assert set(acknowledged) == found
    assert said.height == len(found) == len(acknowledged), "none twice"
    for doc, labels in said.group_by("doc", maintain_order=True).agg("label").iter_rows():
        assert len(labels) == (3 if labels[0] != labels[1] else 2), doc
    assert said["doc"].n_unique() == TASKS
    assert events_frame(store).filter(pl.col("kind") == "answer").height == said.height
    store.close()
