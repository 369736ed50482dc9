"""One call to a server: its answer whole and in time, or why there is none; nobody is followed elsewhere."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from karat.errors import KaratError, MissingExtra

if TYPE_CHECKING:
    import httpx2


#: More than any answer that is wanted; a server that sends more is not listened to.
MOST_BYTES = 4_000_000


class Stopped(KaratError):
    """Asking on is no use: the key, the quota, the address or the budget does not allow it, or nobody answers."""


@dataclass(frozen=True)
class Reply:
    """What came back: status (0 where nothing came), body, what went wrong, and the server's headers."""

    status: int
    text: str = ""
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether no connection was made at all.
    unreached: bool = False


def new_client(timeout: float, at_once: int, purpose: str, *, verify: ssl.SSLContext | bool = True) -> Any:
    """A client for so many calls at once, an `httpx2.AsyncClient`; `MissingExtra` says what to install.

    A redirect is an answer like any other: a call that was meant for one server, with its key, goes to no other.
    """
    try:
        import httpx2
    except ImportError:
        raise MissingExtra.named("http", purpose) from None
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    patience = httpx2.Timeout(timeout, connect=min(timeout, 20.0), pool=None)
    if verify is True:
        verify = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx2.AsyncClient(limits=limits, timeout=patience, follow_redirects=False, verify=verify)


@cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Whom this machine trusts: read once for all clients, as it takes longer than a call, and anew if named anew."""
    import httpx2

    return httpx2.create_ssl_context()


def blank(client: httpx2.AsyncClient, url: str, headers: Mapping[str, str]) -> httpx2.Request:
    """A call without its content, for the many that differ in nothing else: put together and checked once."""
    made = client.build_request("POST", url, headers=dict(headers))
    del made.headers["content-length"]
    return made


def filled(like: httpx2.Request, content: bytes) -> httpx2.Request:
    """A call as a blank one has it, with its content."""
    import httpx2

    return httpx2.Request(like.method, like.url, headers=like.headers, content=content, extensions=like.extensions)


async def call(
    client: httpx2.AsyncClient,
    verb: str,
    url: str,
    *,
    headers: Mapping[str, str],
    timeout: float,
    content: bytes | None = None,
    most: int = MOST_BYTES,
) -> Reply:
    """Send one call and take its answer.

    What cannot be an address raises `httpx2.UnsupportedProtocol` or `httpx2.InvalidURL`.
    """
    request = client.build_request(verb, url, headers=dict(headers), content=content)
    return await send(client, request, timeout=timeout, most=most)


async def send(client: httpx2.AsyncClient, request: httpx2.Request, *, timeout: float, most: int = MOST_BYTES) -> Reply:
    """Send a call that is put together, and take its answer."""
    import httpx2

    try:
        # A server may send a byte now and then for ever: the whole call has its time, too.
        async with asyncio.timeout(2 * timeout):
            reply = await client.send(request, stream=True)
            try:
                parts, size = [], 0
                async for part in reply.aiter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        return Reply(reply.status_code, "", f"an answer of more than {most:,} bytes", reply.headers)
            finally:
                await reply.aclose()
            text = b"".join(parts).decode("utf-8", errors="replace")
            return Reply(reply.status_code, text, "", reply.headers)
    except TimeoutError:
        return Reply(0, error=f"no answer within {2 * timeout:g} seconds")
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL):
        raise
    except httpx2.HTTPError as error:
        unreached = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        return Reply(0, error=f"{type(error).__name__}: {error}"[:200], unreached=unreached)


T = TypeVar("T")


def done(work: Coroutine[Any, Any, T]) -> T:
    """What some work gives, waited for; where a loop runs already, as in a notebook, in a thread of its own.

    >>> async def work(): return 7
    >>> done(work())
    7
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


async def each(things: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int) -> None:
    """Do the work for each thing, `at_once` of them at a time; the first error is raised when all have stopped.

    Nothing is taken from `things` before there is a worker for it, so that there may be any number.

    >>> seen = []
    >>> async def work(number): seen.append(number)
    >>> done(each(range(3), work, at_once=2)); seen
    [0, 1, 2]
    """
    todo, stop = iter(things), asyncio.Event()

    async def worker() -> None:
        try:
            for thing in _until(stop, todo):
                await work(thing)
        except BaseException:
            stop.set()
            raise

    ended = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    failed = [one for one in ended if isinstance(one, BaseException)]
    if failed:
        raise failed[0]


def _until(stop: asyncio.Event, todo: Iterator[T]) -> Iterator[T]:
    while not stop.is_set():
        try:
            thing = next(todo)
        except StopIteration:
            return
        yield thing
