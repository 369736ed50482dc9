"""An engine: where it is, how a query is put to it, and where its hits stand in the answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from karat.advice import advise
from karat.engines import templates
from karat.engines.credentials import parse_headers
from karat.engines.templates import ENV, PLACE, Values
from karat.errors import BadInput
from karat.formats.open_files import File
from karat.formats.read_errors import parse_toml

#: So long a request no engine takes; it is made anew for every query.
MOST_TEMPLATE = 1_000_000
#: What of a hit is taken, by karat's names.
COLUMNS = ("doc", "score", "title", "snippet", "url", "text")
_FORM = re.compile(r"[^\s=&]+=[^&]*(&[^\s=&]+=[^&]*)*")


@dataclass(frozen=True)
class Request:
    """What is sent for a query; variables of the environment are still places in it, so that it may be shown and kept.

    >>> engine = Engine("http://localhost:8983/solr/docs/select?q={{query}}&rows={{depth}}&fl=id,score", system="solr")
    >>> engine.request_for({"query": "horse hooves", "depth": 5}).url
    'http://localhost:8983/solr/docs/select?q=horse%20hooves&rows=5&fl=id,score'
    """

    verb: str
    url: str
    headers: Mapping[str, str]
    body: str | None = None

    @property
    def shown(self) -> str:
        """The request in words, as it goes over the line but for what is secret."""
        lines = [f"{self.verb} {self.url}", *(f"{name}: {value}" for name, value in self.headers.items())]
        return "\n".join(lines + (["", self.body] if self.body is not None else []))

    @cached_property
    def key(self) -> str:
        """A short name of all that can change the answer."""
        return hashlib.sha256(json.dumps([self.shown], ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class Engine:
    """A search engine that is asked over HTTP, or, with `sql`, a PostgreSQL database.

    >>> Engine("http://localhost:9200/docs/_search", template={"query": {"match": {"text": "{{query}}"}}}).system
    'localhost'

    The text of the query stands for `{{query}}` in the URL or the template, escaped; `{{depth}}` is how many documents
    are wanted; with `{{from}}` (how many came before) or `{{page}}` a list is taken page by page. A template is a
    mapping, a JSON text, a form (`q={{query}}&rows=10`), or the name of a file with one. With a template the engine is
    asked by POST, without one by GET, unless `request` says otherwise. `headers` may name variables of the environment
    (`{"Authorization": "env:NAME"}`). Where the hits stand and what is what in them is told from the answer, or named:
    `hits` by a path such as `hits.hits`, `columns` by paths within a hit such as `{"doc": "_source.sku"}`. `sql` has
    the parameters `:query` and `:depth`, and its rows the columns' names.
    """

    url: str
    system: str = ""
    template: str | PathLike[str] | Mapping[str, Any] | None = None
    sql: str | PathLike[str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    request: Literal["GET", "POST"] | None = None
    hits: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", parse_headers(self.headers))
        strange = [name for name in self.columns if name not in COLUMNS]
        if strange:
            raise BadInput.at("the columns", expected=", ".join(COLUMNS), found=", ".join(strange))
        if self.sql is None:
            _check_address(self.url)
        elif self.template is not None or self.request is not None or self.hits is not None or self.headers:
            raise BadInput("a template, headers, GET or POST and a path of hits would do nothing beside SQL")
        object.__setattr__(self, "system", self.system or self._name())
        if not self.system.strip() or not self.system.isprintable():
            raise BadInput.at(advise("--system", "system="), expected="a name", found=ascii(self.system))

    def _name(self) -> str:
        """A name for the engine where nobody gave one: the template's, or the host's."""
        given = self.template if self.sql is None else self.sql
        if isinstance(given, str | PathLike) and not is_text(str(given)):
            return File(str(given)).stem
        return str(urlsplit(self.url).hostname or "postgresql")

    @cached_property
    def statement(self) -> str:
        """The SQL, from its file where it is one."""
        text = str(self.sql)
        return text if is_text(text) else File(text).text

    @cached_property
    def body(self) -> str | None:
        """The template's text."""
        if isinstance(self.template, Mapping):
            return json.dumps(self.template, ensure_ascii=False)
        if self.template is None:
            return None
        text = str(self.template)
        text = (text if is_text(text) else File(text).text).strip()
        if len(text) > MOST_TEMPLATE:
            raise BadInput.at(
                f"the template of {self.system}",
                expected=f"at most {MOST_TEMPLATE:,} characters",
                found=f"{len(text):,}",
            )
        return text

    @cached_property
    def is_form(self) -> bool:
        """Whether the template is a form; what is neither a form nor JSON is refused."""
        assert self.body is not None
        sample: Values = dict.fromkeys(templates.names_in(self.body), "x") | {"depth": 1}
        try:
            json.loads(templates.in_json(self.body, sample))
            return False
        except (ValueError, RecursionError) as error:
            if _FORM.fullmatch(self.body) and not self.body.startswith(("{", "[")):
                return True
            raise BadInput.at(
                f"the template of {self.system}",
                expected="JSON, or a form such as q={{query}}&rows={{depth}}",
                found=f"something else ({error})",
            ) from None

    @property
    def with_secrets(self) -> list[str]:
        """The texts in which variables of the environment may be named."""
        return [self.url, self.body or "", *self.headers.values()]

    def request_for(self, values: Values, secrets: Mapping[str, str] | None = None) -> Request:
        """What is sent for a query: as it is shown, or, with `secrets`, as it goes over the line."""
        names = [name for text in self.with_secrets for name in templates.names_in(text)]
        if "query" not in names:
            raise BadInput.at(
                f"the request of {self.system}",
                expected="a place {{query}} in the URL or the template",
                found="none, so that every query would get the same list",
            )
        # In one pass: a query that looks like a place is a query, and gets nobody's password.
        hidden = {name: f"{{{{{name}}}}}" for name in names if name.startswith(ENV)}
        filled: Values = {**values, **(hidden if secrets is None else secrets)}
        url = templates.in_url(self.url, filled) if secrets is not None else _shown_url(self.url, filled)
        headers = {"Accept": "application/json"}
        body = None
        if self.body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded" if self.is_form else "application/json"
            body = templates.in_url(self.body, filled) if self.is_form else templates.in_json(self.body, filled)
        headers |= {name: templates.in_header(value, filled) for name, value in self.headers.items()}
        return Request(self.request or ("GET" if body is None else "POST"), url, headers, body)


def _shown_url(url: str, values: Values) -> str:
    """A URL with its places filled but for the variables of the environment, which stay readable."""
    return PLACE.sub(
        lambda place: place[0] if templates.name_of(place).startswith(ENV) else templates.in_url(place[0], values), url
    )


def is_text(given: str) -> bool:
    """Whether this is a template or SQL itself, and not the name of a file with one.

    >>> is_text("q={{query}}"), is_text("select id from docs where t = :query"), is_text("my body.json")
    (True, True, False)
    """
    return given.lstrip().startswith("{") or bool(PLACE.search(given)) or ":query" in given or "\n" in given


def _check_address(url: str) -> None:
    """Refuse what is no address of a server, or has a password in it: addresses are shown."""
    try:
        parts = urlsplit(PLACE.sub("x", url))
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        fine &= url.isprintable() and " " not in PLACE.sub("x", url)
        login = parts.username is not None or parts.password is not None
    except ValueError:
        fine, login = False, False
    if fine and login:
        raise BadInput.at(
            "the address",
            expected="none with a name and password in it",
            found="one",
            remedy='put NAME:PASSWORD into a variable and send it by the header "Authorization: Basic env:VARIABLE"',
        )
    if not fine:
        hint = f"for PostgreSQL, say what to ask it by {advise('--sql', 'sql=')}" if url.startswith("postgres") else ""
        there = "" if not Path(url).exists() else " (a file; engines are described in a file that ends in .toml)"
        raise BadInput.at(
            "the address",
            expected="a URL such as http://localhost:9200/docs/_search",
            found=f"{ascii(url) if '@' not in url else 'another form'}{there}",
            remedy=hint,
        )


#: What may stand for a name that is no text.
_KINDS: dict[str, tuple[type, ...]] = {"headers": (dict,), "columns": (dict,), "template": (str, dict)}


def read_engines(path: str | PathLike[str]) -> list[Engine]:
    """The engines in a file; templates and SQL are named as seen from the file.

    [bm25]
    url = "http://localhost:9200/docs/_search"
    template = "bm25.json"

    [hybrid]
    url = "https://search.example.com/v2?q={{query}}&n={{depth}}"
    headers = { Authorization = "Bearer env:SEARCH_TOKEN" }
    columns = { doc = "sku", title = "name" }
    """
    file = File(str(path))
    parts = parse_toml(file.text, file.name)
    if not parts:
        raise BadInput.at(file.name, expected="a part [NAME] for each engine", found="none")
    return [_engine(file.name, name, part, Path(path).parent) for name, part in parts.items()]


def _engine(place: str, name: str, part: Any, folder: Path) -> Engine:
    where = f"{place}, [{name}]"
    known = [one.name for one in fields(Engine) if one.name != "system"]
    if not isinstance(part, Mapping):
        raise BadInput.at(place, expected="a part [NAME] for each engine", found=f'"{name}" outside of one')
    strange = [key for key in part if key not in known]
    if strange:
        raise BadInput.at(where, expected=", ".join(known), found=", ".join(strange))
    if "url" not in part:
        raise BadInput.at(where, expected="url", found="none")
    made = dict(part)
    for key, value in part.items():
        kinds = _KINDS.get(key, (str,))
        flat = key == "template" or not isinstance(value, dict) or all(isinstance(one, str) for one in value.values())
        if not isinstance(value, kinds) or not flat:
            raise BadInput.at(
                f"{where}, {key}", expected="texts by name" if dict in kinds else "a text", found=str(value)
            )
        if key in ("template", "sql") and isinstance(value, str) and not is_text(value):
            made[key] = str(folder / value)
    if part.get("request", "GET") not in ("GET", "POST"):
        raise BadInput.at(f"{where}, request", expected="GET or POST", found=str(part["request"]))
    return Engine(system=name, **made)
