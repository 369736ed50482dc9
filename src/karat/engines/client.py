"""Asking an engine over HTTP: again where that may help; what cannot be right for any query ends it at once."""

from __future__ import annotations

import ssl
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin, urlsplit

from karat.advice import advise
from karat.engines.credentials import variables, with_login, without_secrets
from karat.engines.engine import Engine
from karat.engines.hits import Hit, Hits, NoHits, complaint_in, plain_words, read_hits
from karat.engines.http_calls import Reply, call, new_client
from karat.engines.rate_limit import Pace
from karat.engines.response_cache import Answer, KeptAnswers
from karat.engines.templates import Values, names_in
from karat.errors import BadInput

if TYPE_CHECKING:
    import httpx2


#: The places that make it so, and what stands there for the first page.
FIRST = {"from": 0, "page": 1}


@dataclass
class Pages:
    """The pages of a query's list so far, and what to ask for next.

    >>> engine = Engine("http://localhost/search?q={{query}}&skip={{from}}")
    >>> pages = Pages(engine, {"query": "hoof", "depth": 3, **FIRST}, 3)
    >>> pages.add('{"results": [{"id": 7}, {"id": 9}]}')
    >>> pages.whole, engine.request_for(pages.values).url
    (False, 'http://localhost/search?q=hoof&skip=2')
    >>> pages.add('{"results": []}')
    >>> pages.whole, [hit.doc for hit in pages.found.hits]
    (True, ['7', '9'])
    """

    engine: Engine
    values: Values
    depth: int
    whole: bool = False
    found: Hits = field(default_factory=lambda: Hits([]))
    _rows: int = 0
    _number: int = 0

    def add(self, text: str) -> None:
        """Take the next page; the list ends where it is deep enough, or where a page has nothing."""
        page = read_hits(self.engine, text, sys.maxsize)
        known = {hit.doc for hit in self.found.hits}
        new = [hit for hit in page.hits if hit.doc not in known]
        if page.rows and not new:
            raise NoHits(
                f"page {self._number + 1} has the documents of earlier pages again; does the engine read the place "
                f"{' or '.join(f'{{{{{name}}}}}' for name in self._places)}?"
            )
        self._rows += page.rows
        self._number += 1
        self.values = {**self.values, **{name: (self._rows, self._number + 1)[name == "page"] for name in self._places}}
        hits: list[Hit] = [*self.found.hits, *new]
        again = self.found.again + page.again + len(page.hits) - len(new)
        self.whole = not self._places or not page.rows or len(hits) >= self.depth
        self.found = Hits(hits[: self.depth], again, self.found.understood or page.understood, self._rows)

    @property
    def _places(self) -> list[str]:
        """The places for pages in the request; a column of the queries' file that is called so is a text, and none."""
        named = {name for text in (self.engine.url, self.engine.body or "") for name in names_in(text)}
        return [name for name in FIRST if name in named and isinstance(self.values.get(name), int)]


#: The largest answer that is taken; twenty documents with their texts are a thousandth of it.
MOST_BYTES = 64_000_000
#: No query can do better: the key, the address, or the way of asking is wrong.
WRONG = (401, 403, 404, 405, 406, 415)


def _what_to_change(status: int) -> str:
    """What to do about one of these statuses."""
    header = advise("--header", "headers=")
    if status in (401, 403):
        named = advise("--header 'Authorization: env:NAME'", 'headers={"Authorization": "env:NAME"}')
        return f"the key was refused, or none was sent: name its variable by {named}"
    return {
        404: "there is nothing at this address: see the name of the index",
        405: f"it is asked in another way: see {advise('--request', 'request=')}",
        406: f"it wants another header: see {header}",
        415: f"it wants another Content-Type: name it by {header}",
    }[status]


@dataclass(frozen=True)
class Manners:
    """How a server is treated: calls at one time and a second, attempts, patience, and who vouches for its name."""

    concurrency: int = 4
    rate: float | None = None
    attempts: int = 5
    timeout: float = 30.0
    #: The certificates of those who may vouch for a server.
    ca: str | None = None
    insecure: bool = False

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """How a server's certificate is checked."""
        if self.ca is None:
            return not self.insecure
        if self.insecure:
            raise BadInput(
                advise("--ca would do nothing beside --insecure", "ca= would do nothing beside insecure=True")
            )
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            found = error.strerror or str(error)
            raise BadInput.at(self.ca, expected="certificates in a PEM file", found=found) from None


@dataclass
class HttpClient:
    """A connection to an engine, from its first request to its last."""

    engine: Engine
    manners: Manners
    kept: KeptAnswers
    secrets: Mapping[str, str] = field(init=False)
    #: Whether the engine has given hits since this client was made.
    answered: bool = False
    _pace: Pace = field(init=False)
    _http: httpx2.AsyncClient | None = None

    def __post_init__(self) -> None:
        self.secrets = variables(self.engine.with_secrets)
        rate = self.manners.rate
        self._pace = Pace(None if rate is None else 60 * rate)

    async def __aenter__(self) -> Self:
        how = self.manners
        self._http = new_client(how.timeout, how.concurrency, "fetching from an engine", verify=how.verify)
        return self

    async def __aexit__(self, *ended: object) -> None:
        if self._http is not None:
            await self._http.aclose()

    def shown(self, values: Values) -> str:
        """What is sent for a query, as people may see it."""
        return self.engine.request_for(values).shown

    def find(self, values: Values, depth: int) -> tuple[Hits, Answer] | None:
        """The hits of a query, where all its answers are kept."""
        pages, answers = Pages(self.engine, values, depth), list[Answer]()
        while not pages.whole:
            kept = self.kept.find(self.engine.request_for(pages.values).key)
            if kept is None:
                return None
            pages.add(kept.text)
            answers.append(kept)
        return pages.found, _all(answers)

    async def ask(self, values: Values, depth: int) -> tuple[Hits, Answer]:
        """The hits of a query, kept before they are returned; `NoHits` says why there are none to take."""
        pages, answers = Pages(self.engine, values, depth), list[Answer]()
        while not pages.whole:
            key = self.engine.request_for(pages.values).key
            answer = self.kept.find(key)  # of some pages, it may be there
            try:
                if answer is not None:
                    pages.add(answer.text)
            except NoHits:  # other paths are named now
                answer = None
            if answer is None:
                answer = await self._answer(pages.values)
                self._take(pages, answer)
                self.kept.add(key, answer)
            answers.append(answer)
        return pages.found, _all(answers)

    def _take(self, pages: Pages, answer: Answer) -> None:
        try:
            pages.add(answer.text)
        except NoHits as error:
            # What nobody can read is no fault of the query: the first one tells before others are sent.
            if not self.answered and "only part of the hits" not in str(error):
                raise BadInput(f"the answer of {self.engine.system}: {self._clean(str(error))}") from None
            raise NoHits(self._clean(str(error))) from None
        self.answered = True

    async def _answer(self, values: Values) -> Answer:
        """What the engine says to a request, asked again where that may help."""
        reply, began = Reply(0, error="nothing was sent"), time.monotonic()
        for attempt in range(1, self.manners.attempts + 1):
            await self._pace.turn()
            began = time.monotonic()
            reply = await self._send(values)
            self._refuse(reply)
            if not await self._pace.again(reply.status, attempt, self.manners.attempts, reply.headers):
                break
        if reply.status != 200:
            raise NoHits(self._said(reply))
        if reply.error:
            raise NoHits(reply.error)
        return Answer(reply.text, time.time(), time.monotonic() - began)

    async def _send(self, values: Values) -> Reply:
        import httpx2

        assert self._http is not None
        request = self.engine.request_for(values, self.secrets)
        headers = {name: with_login(name, value) for name, value in request.headers.items()}
        body = None if request.body is None else request.body.encode(errors="replace")
        try:
            return await call(
                self._http,
                request.verb,
                request.url,
                headers=headers,
                timeout=self.manners.timeout,
                content=body,
                most=MOST_BYTES,
            )
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise BadInput.at("the address", expected="a URL of a server", found=self._clean(str(error))) from None
        except UnicodeError:
            raise BadInput.at("a header", expected="letters that can be sent", found="others") from None

    def _refuse(self, reply: Reply) -> None:
        """Stop where no query can do better."""
        where = f"{self.engine.system} at {urlsplit(self.engine.url).netloc}"
        if "CERTIFICATE_VERIFY_FAILED" in reply.error:
            raise BadInput.at(
                where,
                expected="a certificate that somebody known vouches for",
                found=reply.error.partition("failed: ")[2].partition(" (_ssl")[0] or "another",
                remedy=advise(
                    "name those who vouch for it by --ca FILE, or take it as it is with --insecure",
                    'name those who vouch for it by ca="FILE", or take it as it is with insecure=True',
                ),
            )
        if 300 <= reply.status < 400:
            location = urljoin(self.engine.url, reply.headers.get("location", ""))
            raise BadInput.at(
                where,
                expected="an answer",
                found=f"{reply.status}, which sends elsewhere: {self._clean(location)[:200]}",
                remedy="name that address if it is the right one; nothing was sent there",
            )
        if self.answered:
            return
        if reply.unreached:
            raise BadInput.at(where, expected="a server that answers", found=plain_words(reply.error))
        if reply.status in WRONG:
            raise BadInput.at(
                where, expected="an answer", found=self._said(reply), remedy=_what_to_change(reply.status)
            )

    def _said(self, reply: Reply) -> str:
        """What a server complains of, in a line."""
        if not reply.status:
            return self._clean(plain_words(reply.error))
        said = self._clean(complaint_in(reply.text))
        return f"status {reply.status}{f': {said}' if said else ''}"

    def _clean(self, text: str) -> str:
        return without_secrets(text, self.secrets)


def _all(answers: list[Answer]) -> Answer:
    """The last answer, with the seconds of all."""
    return replace(answers[-1], seconds=sum(answer.seconds for answer in answers))
