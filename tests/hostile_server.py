"""A real HTTP server that does to its clients what servers of language models do on bad days.

What it does is told by a behaviour: a function from a call to a reply (`vendor_replies` has those of OpenAI and
Anthropic). It runs in a thread of the tests (`running`), remembers every call, and counts how many were open at once;
or in a process of its own (`apart`), where it takes nothing from the process that is measured.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from typing import Any, Literal

Cut = Literal["", "before headers", "after headers", "half body"]


@dataclass(frozen=True)
class Call:
    """A request that came in: its place in the order of all, and how often the same body had come before."""

    number: int
    again: int
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float

    @cached_property
    def body(self) -> dict[str, Any]:
        """What was asked."""
        found: dict[str, Any] = json.loads(self.raw)
        return found

    @cached_property
    def prompt(self) -> str:
        """All that the model is told, as one text."""
        system = {"content": self.body.get("system") or ""}
        contents = [part["content"] for part in [system, *self.body["messages"]]]
        return "\n".join(
            text if isinstance(text, str) else "\n".join(block.get("text", "") for block in text) for text in contents
        )


@dataclass(frozen=True)
class Reply:
    """What goes back: after `delay` seconds, piece by piece with a `pause` after each, whole or `cut`.

    Without `length` the client is not told how much is to come (it comes in chunks). A reply that is cut ends in the
    middle of nothing, of the headers, or of the body.
    """

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0
    pause: float = 0
    length: int | None = None
    cut: Cut = ""


Behaviour = Callable[[Call], Reply]


def whole(reply: Reply) -> bytes:
    """The body in one piece."""
    return reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """The first for the first call, and so on; the last for all that follow."""
    return lambda call: behaviours[min(call.number, len(behaviours) - 1)](call)


def every_question(*behaviours: Behaviour) -> Behaviour:
    """The same, counted for each question by itself: what happens when it is asked again."""
    return lambda call: behaviours[min(call.again, len(behaviours) - 1)](call)


def slow(seconds: float, then: Behaviour) -> Behaviour:
    """Think before answering."""
    return lambda call: replace(then(call), delay=seconds)


def drips(seconds: float, then: Behaviour) -> Behaviour:
    """Thirty pieces over so many seconds: the whole takes long, no single wait does."""

    def behave(call: Call) -> Reply:
        body = whole(then(call))
        size = -(-len(body) // 30)
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        return Reply(pieces, length=len(body), pause=seconds / len(pieces))

    return behave


def cut(where: Cut, then: Behaviour) -> Behaviour:
    """The connection breaks: `before headers`, `after headers`, or in the `half body`."""
    return lambda call: replace(then(call), cut=where)


def web_page(status: int = 200) -> Behaviour:
    """A page for people, as gateways and sign-in pages send it."""
    page = b"<html><head><title>502 Bad Gateway</title></head><body><center>cloudflare</center></body></html>"
    return lambda call: Reply(page, status=status, headers={"content-type": "text/html"})


class HostileServer:
    """A server on a free port of this machine; `behaviour` may be changed while it runs."""

    def __init__(self, behaviour: Behaviour, *, remember: bool = True) -> None:
        self.behaviour = behaviour
        self.remember = remember
        self.calls: list[Call] = []
        self.trouble: list[Exception] = []
        self.answered = 0
        self.open_now = self.open_most = 0
        self.url = ""
        self._seen: Counter[bytes] = Counter()
        self._number = 0

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was asked, in the order in which it came."""
        return [call.body for call in self.calls]

    async def serve(self) -> asyncio.Server:
        """Open the port; every connection is answered from then on."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024, limit=2**20)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Request after request of one client, until either side has enough."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                call = await self._request(reader)
                async with self._counted():
                    reply = self._decide(call)
                    if reply.delay:
                        await asyncio.sleep(reply.delay)
                    await _send(writer, reply)
                if reply.cut:
                    writer.transport.abort()
                    return
        writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> Call:
        """The next request of a connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        again = 0
        if self.remember:
            again = self._seen[raw]
            self._seen[raw] += 1
        call = Call(self._number, again, first.split()[1], headers, raw, time.monotonic())
        self._number += 1
        if self.remember:
            self.calls.append(call)
        return call

    def _decide(self, call: Call) -> Reply:
        """The reply; a mistake in a test's behaviour breaks the connection, and the test when it ends."""
        try:
            return self.behaviour(call)
        except Exception as trouble:
            self.trouble.append(trouble)
            return Reply(cut="before headers")

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.open_now += 1
        self.open_most = max(self.open_most, self.open_now)
        try:
            yield
        finally:
            self.open_now -= 1
            self.answered += 1


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    """Write a reply, or as much of it as is meant to arrive."""
    if reply.cut == "before headers":
        return
    pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
    length = len(reply.body) if isinstance(reply.body, bytes) else reply.length
    headers = {"content-type": "application/json"} | reply.headers
    headers |= {"transfer-encoding": "chunked"} if length is None else {"content-length": str(length)}
    reason = HTTPStatus(reply.status).phrase if reply.status in {*HTTPStatus} else "Unknown"
    head = f"HTTP/1.1 {reply.status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(head.encode() + b"\r\n")
    if reply.cut == "half body":
        body = whole(reply)
        pieces = [body[: len(body) // 2]]
    for piece in () if reply.cut == "after headers" else pieces:
        writer.write(piece if length is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
        if reply.pause:
            await asyncio.sleep(reply.pause)
        await writer.drain()
    if length is None and not reply.cut:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


@contextmanager
def running(behaviour: Behaviour, *, remember: bool = True) -> Iterator[HostileServer]:
    """A server in a thread of its own, until the end of the block."""
    server = HostileServer(behaviour, remember=remember)
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()

    async def main() -> None:
        listening = await server.serve()
        ready.set()
        await done.wait()
        listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def work() -> None:
        try:
            loop.run_until_complete(main())
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="hostile server")
    thread.start()
    ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)
    for trouble in server.trouble:
        raise trouble


@dataclass(frozen=True)
class Apart:
    """A server in a process of its own."""

    url: str
    process: subprocess.Popen[str]

    def busy(self) -> float:
        """Seconds of the processor that it has taken so far."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


@contextmanager
def apart(*command: str) -> Iterator[Apart]:
    """A server in a process of its own that grades everything at once and remembers nothing.

    Another `command` starts another: its address is the first line that it writes, and whatever it reads, it answers
    by the seconds of the processor that it has taken.
    """
    words = command or (sys.executable, __file__)
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Apart(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


if __name__ == "__main__":
    from vendor_replies import graded

    with running(graded(), remember=False) as alone:
        print(alone.url, flush=True)
        for _ in sys.stdin:
            print(time.process_time(), flush=True)
