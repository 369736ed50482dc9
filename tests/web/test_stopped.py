"""A server that is told to end closes what it has open: the one file of the database then has all that was said."""

from __future__ import annotations

import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from karat.formats.study_folder import write_example


@pytest.mark.parametrize("how", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_a_copy_of_the_database_by_hand_is_whole_once_the_server_was_stopped(tmp_path: Path, how: int) -> None:
    """Also where the lead has looked, for whom another process holds the database open."""
    folder = tmp_path / "study"
    write_example(str(folder), empty=True)
    (folder / "tasks.csv").write_text("query,doc\nq,a\nq,b\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "karat", "serve", str(folder), "--port", str(port), "--invite", "ana"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = ""
        while "Stop with" not in said:
            said += (line := server.stderr.readline())
            assert line, said
        password = said.partition("password ")[2].split()[0]
        token = said.partition("/join/")[2].split()[0]
        with httpx2.Client(base_url=f"http://localhost:{port}", timeout=60) as client:
            while True:
                try:
                    me = {"Authorization": f"Bearer {token}"}
                    task = client.get("/api/task/next", headers=me).json()["task"]["id"]
                    break
                except httpx2.ConnectError:
                    time.sleep(0.05)
            assert client.post(f"/api/task/{task}/answer", json={"label": 1}, headers=me).status_code == 200
            lead = client.post("/api/sign-in", json={"name": "lead", "password": password}).json()["token"]
            assert client.get("/api/judges", headers={"Authorization": f"Bearer {lead}"}).status_code == 200
        server.send_signal(how)
        rest = server.stderr.read()
    assert (server.returncode, rest) == (0, "")
    shutil.copy(folder / "karat.db", tmp_path / "by-hand.db")
    with closing(sqlite3.connect(tmp_path / "by-hand.db")) as connection:
        assert connection.execute("SELECT count(*) FROM events WHERE kind = 'answer'").fetchone() == (1,)
