"""Clients that send half a request and wait, or do not read: judges are served all the same."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import uvicorn

from karat.engines.http_calls import done as finished
from karat.formats.study_folder import write_example
from karat.web.server import FewLines, Patient

HALF = b"POST /api/task/1/answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
WHOLE = b"GET /welcome HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_more_half_sent_requests_than_descriptors_stop_nobody(tmp_path: Path) -> None:
    """A thousand where 1,024 descriptors are allowed, 500 where 470 are: the connections that wait longest go."""
    folder, port = tmp_path / "study", free_port()
    write_example(str(folder), empty=True)

    def few_descriptors() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (470, 470))

    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "karat", "serve", str(folder), "--port", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=few_descriptors)
    slow: list[socket.socket] = []
    try:
        assert b"200 OK" in ask(port, patience=60)
        for number in range(500):
            slow.append(socket.create_connection(("127.0.0.1", port), timeout=20))
            slow[-1].sendall(HALF + b"\r\n{" * (number % 2))
        start = time.monotonic()
        assert b"200 OK" in ask(port, patience=20)
        assert time.monotonic() - start < 10
        assert (folder / "log").stat().st_size < 20_000, (folder / "log").read_text()[-2000:]
    finally:
        for one in slow:
            one.close()
        server.kill()
        server.wait()


def ask(port: int, patience: float) -> bytes:
    """What the server answers to a whole request, as soon as it does."""
    end = time.monotonic() + patience
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=patience) as one:
                one.sendall(WHOLE)
                said = b"".join(iter(lambda: one.recv(65536), b""))
                if said:
                    return said
        except OSError:
            pass
        assert time.monotonic() < end, "no answer"
        time.sleep(0.05)


class Quick(Patient):
    most, sending, reading = 5, 0.4, 0.4
    waiting = {}  # noqa: RUF012


async def long_answer(scope: dict, receive: object, send: object) -> None:
    """Reads the whole request, then answers with more than anybody's buffers hold."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(500 if scope["path"] == "/long" else 1):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def closed(reader: asyncio.StreamReader) -> bool:
    """Whether the other side ends the connection within a while."""
    try:
        return await asyncio.wait_for(reader.read(1), 5) == b""
    except ConnectionError:
        return True


def test_half_a_head_half_a_body_and_a_reader_who_stops_have_their_time() -> None:
    async def try_all() -> None:
        config = uvicorn.Config(long_answer, port=free_port(), http=Quick, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        people = [await asyncio.open_connection("127.0.0.1", config.port) for _ in range(4)]
        parts = (b"", HALF, HALF + b"\r\n{", b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        for (_, writer), said in zip(people, parts, strict=True):
            writer.write(said)
        # Somebody who sends slowly but steadily is heard, and the next request has its own time.
        reader, writer = await asyncio.open_connection("127.0.0.1", config.port)
        for _ in range(2):
            await asyncio.sleep(0.25)
            writer.write(HALF)
            await asyncio.sleep(0.25)
            writer.write(b"\r\n0123456789")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            while (size := int(await reader.readline(), 16)) or await reader.readline() != b"\r\n":
                await reader.readexactly(size + 2)
        for (reader, _), name in zip(people[:3], ("nothing", "half a head", "half a body"), strict=True):
            assert await closed(reader), name
        assert len(server.server_state.connections) <= 1, "who does not read is gone, too"
        for _, each in [*people, (None, writer)]:
            each.close()
        server.should_exit = True
        await running
        assert not Quick.waiting

    finished(try_all())


def test_a_newcomer_beyond_the_limit_is_let_in_for_who_waits_longest() -> None:
    class Full(Patient):
        most, sending = 3, 30.0
        waiting = {}  # noqa: RUF012

    async def try_it() -> None:
        config = uvicorn.Config(long_answer, port=free_port(), http=Full, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        people = [await asyncio.open_connection("127.0.0.1", config.port) for _ in range(4)]
        assert await closed(people[0][0])
        reader, writer = people[3]
        writer.write(WHOLE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        for _, each in people:
            each.close()
        server.should_exit = True
        await running

    finished(try_it())


def test_a_log_that_repeats_itself_is_cut_short_and_says_so() -> None:
    now = [0.0]
    few = FewLines(3, clock=lambda: now[0])
    lines = [logging.makeLogRecord({"msg": "line %d", "args": (n,)}) for n in range(10)]
    assert [few.filter(line) for line in lines] == [True] * 3 + [False] * 7
    now[0] = 61.0
    last = logging.makeLogRecord({"msg": "next"})
    assert few.filter(last)
    assert last.getMessage() == "next (7 lines were left out before this one)"
