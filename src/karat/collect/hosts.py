"""Under which names the app answers: a request that names another host is refused, so no link can be forged by it."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from fastapi.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

#: An address of IPv6 in brackets, or a name; and a port.
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d+)?", re.ASCII)


def own_hosts(*known: str) -> frozenset[str]:
    """The names of this machine beside those that are known: hosts, or addresses that begin with http.

    >>> sorted(own_hosts("https://judge.example.org:8443", "192.0.2.7") - own_hosts())
    ['192.0.2.7', 'judge.example.org']
    """
    name = socket.gethostname().lower()
    names = {name, f"{name}.local", f"{name.split('.')[0]}.local", "localhost"}
    return frozenset(names | {(urlsplit(host).hostname or "") if "://" in host else host.lower() for host in known})


def host_of(header: str) -> str:
    """The host that a request names, without its port; nothing of what is no name.

    >>> host_of("Judge.example.org:8000"), host_of("[::1]:8000"), host_of("localhost@evil.example")
    ('judge.example.org', '::1', '')
    """
    found = HOST.fullmatch(header.lower())
    return (found[1] or found[2]) if found else ""


class OwnHosts:
    """Refuses requests for other hosts than one's own: these names, this machine, the address that was called."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if it is meant for this app."""
        if scope["type"] == "http" and not all(self._own(name, scope) for name in _named(scope)):
            text = "This study is not served under this name: start karat serve with --public-url and the address.\n"
            await PlainTextResponse(text, 421)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _own(self, name: str, scope: Scope) -> bool:
        if name in self.hosts or (scope.get("server") and name == scope["server"][0]):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return name.endswith(".localhost")


def _named(scope: Scope) -> list[str]:
    return [host_of(value.decode("latin-1")) for header, value in scope["headers"] if header == b"host"]
