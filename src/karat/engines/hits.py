"""The hits in an answer, in the engine's order: each with an id, or the answer is not taken."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from karat.advice import advise
from karat.engines.engine import COLUMNS, Engine
from karat.engines.response_shapes import Shape, at, lists_in, plain, shape_of
from karat.errors import KaratError
from karat.records.table import count

_PAGE_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
#: Where engines say what is wrong: Elasticsearch and OpenSearch, Solr, Vespa, Groonga, and others.
_SAID: tuple[str, ...] = (
    "error.root_cause.0.reason",
    "error.reason",
    "error.msg",
    "error.message",
    "root.errors.0.message",
)
_SAID += ("root.errors.0.summary", "header.error.message", "0.3", "message", "error", "detail")


def web_page(text: str) -> str:
    """A page for people, by its title; nothing where it is none.

    >>> web_page("<html><head><title>502 Bad Gateway</title></head></html>"), web_page("{}")
    ('a web page: 502 Bad Gateway', '')
    """
    if not text.lstrip().startswith("<"):
        return ""
    title = _PAGE_TITLE.search(text)
    return "a web page" + (f": {' '.join(title[1].split())[:100]}" if title else "")


def complaint_in(text: str) -> str:
    """What an engine says is wrong.

    >>> complaint_in('{"error": {"root_cause": [], "type": "parsing_exception", "reason": "unknown query"}}')
    'unknown query'
    """
    if page := web_page(text):
        return page
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    said = next((found for path in _SAID if isinstance(found := at(answer, path), str)), text)
    return " ".join(said.split())[:200]


def plain_words(error: str) -> str:
    """What a library says of a connection.

    >>> plain_words("ConnectError: All connection attempts failed"), plain_words("ReadTimeout: ")
    ('that no connection can be made', 'no answer in time (timeout=)')
    """
    kind, _, said = error.partition(": ")
    words = {
        "ConnectError": "that no connection can be made",
        "ConnectTimeout": "that no connection can be made in time",
        "ReadTimeout": f"no answer in time ({advise('--timeout', 'timeout=')})",
        "WriteTimeout": f"no answer in time ({advise('--timeout', 'timeout=')})",
        "RemoteProtocolError": "an answer that breaks off",
        "ReadError": "an answer that breaks off",
    }
    if kind not in words:
        return error
    return words[kind] + ("" if said in ("", "All connection attempts failed") else f" ({said})")


#: The marks that engines put around the words of the query in a snippet.
_MARKS = re.compile(r"</?(em|b|strong|mark)\b[^>]*>", re.IGNORECASE)


class NoHits(KaratError):
    """An answer that cannot be taken: not JSON, of a form that is not known, not whole, or with a hit without an id."""


@dataclass(frozen=True)
class Hit:
    """A document that was found: its id, the engine's score if it gives one, and what it shows of the document."""

    doc: str
    score: float | None
    shown: Mapping[str, str]


@dataclass(frozen=True)
class Hits:
    """The list for a query, each document once, and how it was understood."""

    hits: list[Hit]
    #: Documents that stood in the list again.
    again: int = 0
    understood: str = ""
    #: How many there were, with those that stood there again and those below the depth.
    rows: int = 0


def read_hits(engine: Engine, text: str, depth: int) -> Hits:
    """The hits in an answer's text, down to a depth.

    >>> engine = Engine("http://localhost/search?q={{query}}")
    >>> found = read_hits(engine, '{"results": [{"id": 7, "score": 2.5}, {"id": 9}, {"id": 7}]}', 10)
    >>> [(hit.doc, hit.score) for hit in found.hits], found.again
    ([('7', 2.5), ('9', None)], 1)
    >>> read_hits(engine, "<html><title>502 Bad Gateway</title>", 10)
    Traceback (most recent call last):
    karat.engines.hits.NoHits: expected JSON, found a web page: 502 Bad Gateway
    """
    answer = _parsed(text)
    shape = _shape(engine, answer)
    rows = shape.hits(answer)
    if (trouble := shape.trouble(answer)) or rows is None:
        raise NoHits(trouble or "expected a list of hits, found something else")
    hits, used, seen, again = list[Hit](), dict[str, str](), set[str](), 0
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise NoHits(f"expected an object as hit {place}, found {_kind(row)}")
        paths = {name: (engine.columns[name],) if name in engine.columns else shape.columns[name] for name in COLUMNS}
        found = {name: _first(row, paths[name], used, name) for name in COLUMNS}
        doc = _id(found["doc"])
        if doc is None:
            raise NoHits(_no_id(place, row, paths["doc"], found["doc"]))
        if doc in seen:
            again += 1
            continue
        seen.add(doc)
        shown = {name: said for name in COLUMNS[2:] if (said := _text(found[name]))}
        if shape.snippets and "snippet" not in engine.columns and (said := _text(at(answer, shape.snippets), doc)):
            shown["snippet"] = said
        if "snippet" in shown:
            shown["snippet"] = _MARKS.sub("", shown["snippet"])
        hits.append(Hit(doc, _number(found["score"]), shown))
    told = ", ".join(f"{name} {path}" for name, path in used.items())
    return Hits(hits[:depth], again, f"{shape.name} ({told})" if told else shape.name, len(rows))


def _parsed(text: str) -> Any:
    if page := web_page(text):
        raise NoHits(f"expected JSON, found {page}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        begin = " ".join(text.split())[:60]
        raise NoHits(f'expected JSON, found "{begin}"' if begin else "expected JSON, found nothing") from None


def _shape(engine: Engine, answer: Any) -> Shape:
    known = shape_of(answer)
    if engine.hits is not None:
        named = plain(engine.hits)
        if named.hits(answer) is None and (known is None or not known.trouble(answer)):
            raise NoHits(
                f"expected a list of hits at {engine.hits}, found {_kind(at(answer, engine.hits))}{_top(answer)}"
            )
        return named if known is None else Shape(named.name, named.hits, named.columns, known.trouble, known.snippets)
    if known is not None:
        return known
    lists = lists_in(answer)
    if len(lists) == 1:
        return plain(lists[0])
    if lists:
        raise NoHits(
            f"expected one list of hits, found {' and '.join(lists)}; name the right one by {advise('--hits', 'hits=')}"
        )
    raise NoHits(
        f"expected hits of a known form, found none{_top(answer)}; name their path by {advise('--hits', 'hits=')}"
    )


def _top(answer: Any) -> str:
    """What an answer has at its top, for somebody who looks for the path."""
    if isinstance(answer, Mapping):
        names = ", ".join(list(map(str, answer))[:8])
        return f" (the answer has {names})" if names else " (the answer is empty)"
    return f" (the answer is {_kind(answer)})"


def _first(row: Mapping[str, Any], paths: Iterable[str], used: dict[str, str], name: str) -> Any:
    for path in paths:
        if (found := at(row, path)) is not None:
            used.setdefault(name, path)
            return found
    return None


def _id(found: Any) -> str | None:
    """An id as text: a text or a whole number, also as the only one of a list."""
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found.strip() else None


def _no_id(place: int, row: Mapping[str, Any], paths: Iterable[str], found: Any) -> str:
    wanted, remedy = (
        f"expected an id in hit {place}",
        advise("name its path by --columns doc=PATH", 'name its path by columns={"doc": PATH}'),
    )
    if found is not None:
        return f"{wanted}, a text or a whole number, found {_kind(found)}; {remedy}"
    names = ", ".join(list(map(str, row))[:8])
    return f"{wanted} at {' or '.join(paths)}, found none (the hit has {names}); {remedy}"


def _number(found: Any) -> float | None:
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, str):
        try:
            found = float(found)
        except ValueError:
            return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _text(found: Any, *names: str) -> str:
    """A text, or several with dots between them; of an object, the first of its own or of a name's."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping) and names:
        found = next(iter(found.values()), None)
    if isinstance(found, list):
        return " ... ".join(text for one in found if (text := _text(one)))
    if isinstance(found, int | float) and not isinstance(found, bool):
        return str(found)
    return found.strip() if isinstance(found, str) else ""


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    if isinstance(value, list):
        return f"a list of {count(len(value), 'thing')}"
    return kinds.get(type(value), f"the number {value}")
