"""Calls to a server: sent again where that may help, stopped at once where it cannot."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from karat.engines.http_calls import Reply, Stopped, blank, filled, new_client, send
from karat.engines.rate_limit import Pace
from karat.errors import BadInput
from karat.llm.answer_store import RawAnswer
from karat.llm.api_keys import complaint_in, without_key
from karat.llm.dialects import DIALECTS
from karat.llm.outcomes import CUT_OFF, is_cut_off, too_long
from karat.llm.requests import Model, Request

if TYPE_CHECKING:
    import httpx2

_QUOTA = re.compile(r"insufficient.?(quota|funds|balance)|credit balance|billing|exceeded your current quota", re.I)
_NOT_TAKEN = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|not available|extra inputs|"
    r"does not exist|invalid (?:parameter|value|type)|is deprecated|cannot be used|incompatible",
    re.I,
)
_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


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
    #: A call without its content: all go to one address with the same headers.
    _blank: httpx2.Request | None = None

    async def __aenter__(self) -> Self:
        self._http = new_client(self.timeout, self.at_once, "asking a model")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def ask(
        self, request: Request, tokens: float = 0.0, once_more: Callable[[], bool] = lambda: True
    ) -> RawAnswer:
        """The server's answer, after as many attempts as it takes and may; `tokens` are those it may cost.

        `once_more` is called before a further attempt where the last may have to be paid; if it returns False, there is
        no further attempt.
        """
        dialect = DIALECTS[request.model.dialect]
        attempt, lost, answer = 0, 0, RawAnswer(request.key, 0, "", "nothing was sent")
        while attempt < self.attempts:
            attempt += 1
            await self.pace.turn(tokens)
            without = tuple(sorted(self.without))
            body = dialect.body(request, without)
            began = time.monotonic()
            reply = await self._send(_WRITTEN.encode(body).encode())
            status, text, seconds = reply.status, reply.text, time.monotonic() - began
            if status == 200 and not reply.error and is_cut_off(text) and not text.rstrip().endswith("}"):
                # A proxy that gave up: what it passed on cannot be read, and may have to be paid.
                status, text, reply = 0, "", replace(reply, status=0, error=CUT_OFF)
            gone = status == 0 and not reply.unreached
            lost += gone
            said = (status, text, reply.error, time.time(), seconds, attempt, without)
            answer = RawAnswer(request.key, *said, lost=lost)
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
            if gone and attempt < self.attempts and not once_more():
                return answer
            if not await self.pace.again(status, attempt, self.attempts, reply.headers):
                return answer
        return answer

    async def _send(self, content: bytes) -> Reply:
        """One call; an address that is none is the user's to mend."""
        import httpx2

        assert self._http is not None
        try:
            if self._blank is None:
                dialect = DIALECTS[self.model.dialect]
                url = (self.model.url or dialect.default_url).rstrip("/") + dialect.path
                self._blank = blank(self._http, url, {"content-type": "application/json"} | dialect.headers(self.key))
            reply = await send(self._http, filled(self._blank, content), timeout=self.timeout)
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise BadInput.at(
                "--url", expected="an address such as http://localhost:8080/v1", found=str(error)
            ) from None
        if reply.unreached:
            return replace(reply, error=f"{reply.error}, at {self._blank.url}")
        return replace(reply, text=without_key(reply.text, self.key)) if self.key else reply

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
