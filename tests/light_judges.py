"""Judges that take little of the machine: one kept connection each, requests written by hand, all in one thread."""

from __future__ import annotations

import asyncio
import json
from typing import Any


class Judge:
    """Somebody with a personal token who asks a server on this machine."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.head = (
            f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        )
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """The status and the body of an answer; `ConnectionError` when there is none."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        try:
            writer.write(f"{method} {path} {self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            start = head.lower().index(b"content-length:") + 15
            said = await reader.readexactly(int(head[start : head.index(b"\r", start)]))
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise ConnectionError(str(error)) from None
        if b"\r\nconnection: close" in head.lower():
            self.close()
        return int(head[9:12]), said

    async def next(self) -> dict[str, Any] | None:
        """The next task, if there is one."""
        status, said = await self.ask("GET", "/api/task/next")
        assert status == 200, said
        task: dict[str, Any] | None = json.loads(said)["task"]
        return task

    async def answer(self, task: int, said: dict[str, Any]) -> tuple[int, bytes]:
        """Answer a task."""
        return await self.ask("POST", f"/api/task/{task}/answer", json.dumps(said).encode())

    def close(self) -> None:
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None
