"""A PostgreSQL server of our own: in a temporary folder, on a free port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or where Debian puts it."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


@contextmanager
def server(*, durable: bool = False) -> Iterator[str]:
    """The URL of a running server, without the database's name; `RuntimeError` says why there is none.

    A server that is not durable would lose data if the machine stopped, and is quicker.
    """
    place = binaries()
    if place is None:
        raise RuntimeError("no PostgreSQL here (initdb and pg_ctl): apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="karat-postgres-"))
    before: list[str] = []
    if os.geteuid() == 0:  # initdb refuses to be root
        folder.chmod(0o777)
        before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")
    environment = {"PATH": f"{place}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder)}

    def run(*command: str) -> None:
        done = subprocess.run(
            [*before, *command], capture_output=True, text=True, env=environment, cwd=folder, timeout=120
        )
        if done.returncode:
            raise RuntimeError(f"PostgreSQL does not start: {(done.stderr or done.stdout).strip()[-300:]}")

    try:
        run(str(place / "initdb"), "-D", data, "-U", "karat", "-A", "trust", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=120"
        if not durable:
            options += " -c fsync=off -c full_page_writes=off"
        log = str(folder / "log")
        run(str(place / "pg_ctl"), "-D", data, "-o", options, "-l", log, "-w", "-t", "60", "start")
        try:
            yield f"postgresql://karat@127.0.0.1:{port}"
        finally:
            run(str(place / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(url: str, name: str) -> str:
    """A new empty database on a server; returns its URL."""
    import psycopg

    with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{url}/{name}"
