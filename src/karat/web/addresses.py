"""Under which address others reach the app: what invite links begin with."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from fastapi.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from karat.errors import BadInput

#: Said of a link that others cannot open.
HERE_ONLY = (
    "This link works on this machine only. For others in the network start karat serve with --host 0.0.0.0; behind a "
    "proxy, with --public-url."
)
#: Addresses on which a server listens for everybody.
EVERYWHERE = ("0.0.0.0", "::")


def served_at(host: str, port: int) -> str:
    """The address of a server that listens there, as others in the network know it where they can reach it.

    >>> served_at("127.0.0.1", 8000), served_at("192.0.2.7", 80), served_at("2001:db8::7", 8000)
    ('http://localhost:8000', 'http://192.0.2.7:80', 'http://[2001:db8::7]:8000')
    """
    name = network_address() if host in EVERYWHERE else host
    name = "localhost" if here_only(name) else name
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def network_address() -> str:
    """This machine's address in its network; localhost where it has none. Nothing is sent."""
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as asked:
                asked.connect((elsewhere, 9))  # of a datagram: only which way it would go
                return str(asked.getsockname()[0])
        except OSError:
            continue
    return "localhost"


def here_only(host: str) -> bool:
    """Whether an address is known on this machine alone.

    >>> here_only("localhost"), here_only("127.0.0.1"), here_only("::1"), here_only("192.0.2.7")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def public_address(text: str) -> str:
    """The address that a lead gives as the public one, without a slash at its end.

    >>> public_address("https://judge.example.org/")
    'https://judge.example.org'
    """
    try:
        parts = urlsplit(text)
        more = parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.port == 0
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and not more
    except ValueError:
        plain = False
    if not plain:
        expected = "an address such as https://judge.example.org or http://192.0.2.7:8000"
        raise BadInput.at("--public-url", expected=expected, found=f'"{text}"')
    return text.rstrip("/")


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
