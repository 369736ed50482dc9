"""Calls to a server: sent again where that may help, stopped at once where it cannot."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from karat.ask.answer_store import RawAnswer
from karat.ask.dialects import DIALECTS
from karat.ask.form import clean
from karat.ask.outcome import too_long
from karat.ask.request import Model, Request
from karat.errors import BadInput
from karat.http.calling import Reply, Stopped, call, new_client
from karat.http.pace import Pace

if TYPE_CHECKING:
    import httpx2

_QUOTA = re.compile(r"insufficient.?(quota|funds|balance)|credit balance|billing|exceeded your current quota", re.I)
_NOT_TAKEN = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|not available|extra inputs|"
    r"does not exist|invalid (?:parameter|value|type)|is deprecated|cannot be used|incompatible",
    re.I,
)


@dataclass
class Client:
    """A connection to the server of a model.

    What the server complains about as a parameter that it does not take is left out from then on (`without`).
    """

    model: Model
    key: str | None = None
    pace: Pace = field(default_factory=Pace)
    attempts: int = 6
    timeout: float = 120.0
    at_once: int = 8
    #: What the server does not take.
    without: set[str] = field(default_factory=set)
    _http: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        self._http = new_client(self.timeout, self.at_once, "asking a model")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def ask(self, request: Request, tokens: float = 0.0) -> RawAnswer:
        """The server's answer, after as many attempts as it takes and may; `tokens` are those it may cost."""
        dialect = DIALECTS[request.model.dialect]
        url = f"{request.model.url or dialect.default_url}".rstrip("/") + dialect.path
        headers = dialect.headers(self.key)
        attempt, answer = 0, RawAnswer(request.key, 0, "", "nothing was sent")
        while attempt < self.attempts:
            attempt += 1
            await self.pace.turn(tokens)
            without = tuple(sorted(self.without))
            body = dialect.body(request, without)
            began = time.monotonic()
            reply = await self._send(url, headers, body)
            status, text, seconds = reply.status, reply.text, time.monotonic() - began
            answer = RawAnswer(request.key, status, text, reply.error, time.time(), seconds, attempt, without)
            if status == 200 or too_long(status, text):
                return answer
            name = None
            if status in (400, 403, 422):
                name = not_taken(text, [name for name in dialect.optional if name not in without])
            if name is not None:
                self.without.add(name)
                attempt -= 1  # each name can be learned once, so this ends
                continue
            self._refuse(status, text)
            if not await self.pace.again(status, attempt, self.attempts, reply.headers):
                return answer
        return answer

    async def _send(self, url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Reply:
        """One call; an address that is none is the user's to mend."""
        import httpx2

        assert self._http is not None
        try:
            return await call(self._http, "POST", url, headers=headers, timeout=self.timeout, json=dict(body))
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise BadInput.at(
                "--url", expected="an address such as http://localhost:8080/v1", found=str(error)
            ) from None

    def _refuse(self, status: int, text: str) -> None:
        """Stop where no further call can do better."""
        complaint = complaint_in(text, self.key)
        if status in (401, 403):
            known = "the key was refused" if self.key else "and no key was sent: name its variable by --key-env"
            raise Stopped(f"the server of {self.model.name} says {status}, {known}: {complaint}")
        if status == 402 or (status in (400, 429) and _QUOTA.search(text[:4000])):
            raise Stopped(f"the quota of {self.model.name} is used up: {complaint}")
        if status == 404:
            raise Stopped(f"the server has no model {self.model.name}, or nothing at this address: {complaint}")
        if 300 <= status < 400:
            raise Stopped(f"the server of {self.model.name} sends elsewhere ({status}): name the right --url")


def complaint_in(text: str, key: str | None) -> str:
    """What a server says, in a line; servers repeat parts of a key that they do not know, and those are left out.

    >>> complaint_in("Incorrect API key provided: sk-4sJH*****w8ZP. Look it up.", "sk-4sJHr2abcw8ZP")
    'Incorrect API key provided: ... Look it up.'
    """
    said = clean(" ".join(text.split()))
    if key:
        said = re.sub(rf"{re.escape(key[:4])}\S*", "...", said)
    return said[:300]


def not_taken(complaint: str, sent: list[str]) -> str | None:
    """The parameter that a server complains about, of those that were sent.

    >>> said = "Unsupported parameter: 'max_tokens' is not supported with this model."
    >>> not_taken(said, ["max_tokens", "temperature"]), not_taken("bad grammar", ["temperature"])
    ('max_tokens', None)
    """
    text = complaint[:4000]
    try:
        error = json.loads(complaint).get("error", {})
        named = error.get("param") if isinstance(error, Mapping) else None
    except (ValueError, AttributeError):
        named = None
    if not _NOT_TAKEN.search(text) and named is None:
        return None
    known = {
        "json_schema": r"json_schema|response_format|schema|grammar",
        "json_object": r"json_object|response_format",
    }
    for name in sent:
        pattern = known.get(name, rf"\b{name}\b")
        if re.search(pattern, str(named)) if named else re.search(pattern, text):
            return name
    return None


def key_of(model: Model, variable: str | None = None) -> str | None:
    """The key from the environment, which is its only place; None for a server of one's own that needs none.

    The vendor's key is for the vendor: another address gets a key only if its variable is named.
    """
    if variable is None and model.url:
        return None
    named = variable or DIALECTS[model.dialect].key_variable
    key = os.environ.get(named, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        found = "something that is none" if key else "nothing"
        remedy = "" if variable else "or name a server of your own with --url"
        raise BadInput.at(f"the variable {named}", expected="a key in the environment", found=found, remedy=remedy)
    return key
