"""Asking PostgreSQL: the query is a bound parameter, never a part of the SQL, and every transaction is read-only."""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from karat.advice import advise
from karat.engines.client import Manners
from karat.engines.engine import Engine
from karat.engines.hits import Hits, NoHits, read_hits
from karat.engines.rate_limit import Pace
from karat.engines.response_cache import Answer, KeptAnswers
from karat.engines.templates import PLACE, Values
from karat.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    import psycopg

#: Texts, names and comments, in which nothing is a parameter; casts; parameters; what the driver would take for one.
_TOKEN = re.compile(
    r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(\w*)\$.*?\$\1\$ | --[^\n]* | /\*.*?\*/
    | :: | (?<![\w\]]):([a-zA-Z_]\w*) | %""",
    re.VERBOSE | re.DOTALL,
)


def bound(statement: str, values: Values) -> tuple[str, dict[str, str | int]]:
    """The statement as the driver takes it, and the values that are bound in it.

    >>> bound("select id::text from docs where t @@ plainto_tsquery(:query) and x like '%:query' limit :depth",
    ...       {"query": "'; drop table docs", "depth": 5})[0]
    "select id::text from docs where t @@ plainto_tsquery(%(query)s) and x like '%%:query' limit %(depth)s"
    """
    used: dict[str, str | int] = {}

    def token(found: re.Match[str]) -> str:
        name = found[2]
        if name in values:
            used[name] = values[name]
            return f"%({name})s"
        return found[0].replace("%", "%%")

    made = _TOKEN.sub(token, statement)
    if "query" not in used:
        found = "{{query}}" if PLACE.search(statement) else "none"
        remedy = "a query is a parameter of SQL, and is never put into its text"
        raise BadInput.at(advise("--sql", "sql="), expected="a parameter :query", found=found, remedy=remedy)
    return made, used


@dataclass
class SqlClient:
    """Connections to a database, as many as are asked at once."""

    engine: Engine
    manners: Manners
    kept: KeptAnswers
    answered: bool = False
    _pace: Pace = field(init=False)
    _free: list[psycopg.AsyncConnection[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rate = self.manners.rate
        self._pace = Pace(None if rate is None else 60 * rate)
        parts = urlsplit(self.engine.url)
        if parts.scheme not in ("postgresql", "postgres"):
            raise BadInput.at(
                "the address",
                expected=f"postgresql://NAME@HOST/DATABASE beside {advise('--sql', 'sql=')}",
                found=f"{parts.scheme or 'none'}:",
            )
        #: The address without the password, which is nobody's business.
        self._shown = f"{parts.scheme}://{parts.hostname}:{parts.port or 5432}{parts.path}"

    async def __aenter__(self) -> Self:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtra.named("collect", "fetching from PostgreSQL") from None
        return self

    async def __aexit__(self, *ended: object) -> None:
        for connection in self._free:
            await connection.close()

    def shown(self, values: Values) -> str:
        """What is asked for a query."""
        made, used = bound(self.engine.statement, values)
        told = "\n".join(f"{name} = {value!r}" for name, value in used.items())
        return f"{self._shown}\n{made.strip()}\n{told}"

    def find(self, values: Values, depth: int) -> tuple[Hits, Answer] | None:
        """The hits of a query, where its answer is kept."""
        kept = self.kept.find(self._key(values))
        return None if kept is None else (read_hits(self.engine, kept.text, depth), kept)

    def _key(self, values: Values) -> str:
        return hashlib.sha256(json.dumps([self.shown(values)]).encode()).hexdigest()

    async def ask(self, values: Values, depth: int) -> tuple[Hits, Answer]:
        """The hits of a query, kept before they are returned; `NoHits` says why there are none to take."""
        import psycopg

        made, used = bound(self.engine.statement, values)
        for attempt in range(1, self.manners.attempts + 1):
            await self._pace.turn()
            began = time.monotonic()
            try:
                rows = await self._rows(made, used, depth)
                break
            except psycopg.errors.QueryCanceled:
                raise NoHits(
                    f"no answer within {self.manners.timeout:g} seconds ({advise('--timeout', 'timeout=')})"
                ) from None
            except psycopg.OperationalError as error:
                if not self.answered or not await self._pace.again(0, attempt, self.manners.attempts, {}):
                    raise self._trouble(error) from None
            except psycopg.Error as error:
                raise self._trouble(error) from None
        answer = Answer(json.dumps(rows, default=str), time.time(), time.monotonic() - began)
        try:
            hits = read_hits(self.engine, answer.text, depth)
        except NoHits as error:
            raise BadInput(f"the rows of {self.engine.system}: {error}") from None
        self.kept.add(self._key(values), answer)
        self.answered = True
        return hits, answer

    async def _rows(self, statement: str, values: Values, depth: int) -> list[dict[str, Any]]:
        """The first rows, from a cursor at the server: what is not wanted is not sent."""
        from psycopg.rows import dict_row

        connection = self._free.pop() if self._free else await self._connect()
        try:
            async with connection.transaction(), connection.cursor("karat", row_factory=dict_row) as cursor:
                await cursor.execute(statement, values)
                rows: list[dict[str, Any]] = await cursor.fetchmany(depth)
        except BaseException:
            await connection.close()
            raise
        self._free.append(connection)
        return rows

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        import psycopg

        patience = f"-c statement_timeout={int(1000 * self.manners.timeout)}"
        connection = await psycopg.AsyncConnection.connect(
            self.engine.url, options=patience, connect_timeout=max(2, int(min(self.manners.timeout, 20)))
        )
        await connection.set_read_only(True)
        return connection

    def _trouble(self, error: Exception) -> BadInput | NoHits:
        """What the database said; before its first answer, that is for the user to mend."""
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        password = urlsplit(self.engine.url).password
        said = said.replace(password, "...") if password else said
        if self.answered:
            return NoHits(said)
        return BadInput.at(f"{self.engine.system} at {self._shown}", expected="an answer", found=said)
