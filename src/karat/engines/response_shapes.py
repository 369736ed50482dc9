"""The answers of known engines: where their hits stand, what is what in a hit, and what says that some are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def at(value: Any, path: str) -> Any:
    """What stands at a path; None where nothing does. A name may have dots in it, and `.` is the whole.

    >>> hit = {"_source": {"name": ["Horse"]}, "@search.score": 1.5, "highlight": {"body": ["a <em>hoof</em>"]}}
    >>> at(hit, "_source.name.0"), at(hit, "@search.score"), at(hit, "highlight.*.0"), at(hit, "_source.title")
    ('Horse', 1.5, 'a <em>hoof</em>', None)
    """
    return value if path == "." else _at(value, path.split("."))


def _at(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    if isinstance(value, list):
        if steps[0] == "*":
            return _at(value[0], steps[1:]) if value else None
        place = int(steps[0]) if steps[0].isdecimal() and len(steps[0]) < 10 else len(value)
        return _at(value[place], steps[1:]) if place < len(value) else None
    if not isinstance(value, Mapping):
        return None
    if steps[0] == "*" and value and "*" not in value:
        return _at(next(iter(value.values())), steps[1:])
    for end in range(len(steps), 0, -1):
        name = ".".join(steps[:end])
        if name in value:
            return _at(value[name], steps[end:])
    return None


Paths = Mapping[str, tuple[str, ...]]

#: What people call the parts of a document.
_TITLE = ("title", "name", "headline")
_SNIPPET = ("snippet", "summary", "description", "abstract")
_URL = ("url", "link", "href", "uri")
_TEXT = ("text", "body", "content", "contents")
#: What services call the id of a document, the surest first.
_IDS = ("id", "_id", "doc_id", "docid", "docno", "document_id", "objectID", "_key", "key", "doc", "document.id")
_SCORES = ("score", "_score", "@search.score", "_rankingScore", "text_match", "relevance", "similarity")
#: Where services put their lists.
_LISTS = ("hits", "results", "items", "docs", "documents", "value", "data", "result", "result.points", "matches", ".")


@dataclass(frozen=True)
class Shape:
    """The form of an engine's answers."""

    name: str
    #: The hits of an answer; None where it has another form.
    hits: Callable[[Any], list[Any] | None]
    #: Where the columns stand in a hit, the first that is there.
    columns: Paths
    #: Why the list may not be whole, or the error that the engine reports; nothing where all is well.
    trouble: Callable[[Any], str] = lambda answer: ""
    #: Where the answer keeps snippets by the documents' ids, beside the hits.
    snippets: str = ""


def shape_of(answer: Any) -> Shape | None:
    """The first known shape that an answer has.

    >>> shape_of({"took": 3, "hits": {"hits": [{"_id": "7", "_score": 1.5}]}}).name
    'Elasticsearch or OpenSearch'
    """
    return next((shape for shape in SHAPES if shape.hits(answer) is not None or shape.trouble(answer)), None)


def lists_in(answer: Any) -> list[str]:
    """The paths at which an answer of no known engine has a list of hits."""
    return [path for path in _LISTS if _is_list(at(answer, path))]


def plain(path: str) -> Shape:
    """The shape of an answer with its hits at a path, under the names that people use."""
    return Shape(f"a list at {path}", lambda answer: _list(at(answer, path)), _columns(*_PLACES))


def _list(found: Any) -> list[Any] | None:
    return found if isinstance(found, list) else None


def _is_list(found: Any) -> bool:
    """Whether this can be a list of hits: objects that have something like an id, or nothing found."""
    if not isinstance(found, list):
        return False
    names = (*_IDS, *_URL)
    return all(isinstance(hit, Mapping) and any(at(hit, name) is not None for name in names) for hit in found)


def _columns(
    *inside: str, doc: tuple[str, ...] = (), score: tuple[str, ...] = _SCORES, **more: tuple[str, ...]
) -> Paths:
    """The usual names of columns, within these parts of a hit."""

    def names(of: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{part}{name}" for part in inside for name in of)

    usual = {"title": names(_TITLE), "snippet": names(_SNIPPET), "url": names(_URL), "text": names(_TEXT)}
    return {"doc": doc or (*_IDS, *_URL), "score": score} | usual | more


#: Parts of a hit that services put a document's fields into.
_PLACES = ("", "document.", "payload.", "fields.", "_source.")


def _elastic_trouble(answer: Any) -> str:
    if at(answer, "timed_out") is True:
        return "the engine's time was up: only part of the hits"
    failed = at(answer, "_shards.failed")
    if isinstance(failed, int) and failed > 0:
        return f"{failed} of {at(answer, '_shards.total')} shards failed: only part of the hits"
    return ""


def _solr_trouble(answer: Any) -> str:
    said = at(answer, "error.msg")
    if said and at(answer, "responseHeader") is not None:
        return str(said)
    partial = at(answer, "responseHeader.partialResults")
    return "partialResults: only part of the hits" if partial in (True, "true", "omitted") else ""


def _vespa_hits(answer: Any) -> list[Any] | None:
    root = at(answer, "root")
    if not isinstance(root, Mapping) or not (
        {"children", "coverage"} & {*root} or "totalCount" in _map(root, "fields")
    ):
        return None
    found = root.get("children", [])  # where nothing is found there are none
    return [hit for hit in found if not str(at(hit, "id")).startswith("group:")] if isinstance(found, list) else None


def _vespa_trouble(answer: Any) -> str:
    errors = at(answer, "root.errors")
    if isinstance(errors, list) and errors:
        return str(at(errors, "0.message") or at(errors, "0.summary") or "an error")
    degraded = at(answer, "root.coverage.degraded")
    why = [name for name, set_ in degraded.items() if set_ is True] if isinstance(degraded, Mapping) else []
    return f"degraded ({', '.join(why)}): only part of the hits" if why else ""


def _groonga_hits(answer: Any) -> list[Any] | None:
    """Groonga's rows as objects, from answers of its command versions 1 and 3."""
    if isinstance(answer, Mapping) and isinstance(at(answer, "body.columns"), list):
        names, rows = [at(column, "name") for column in at(answer, "body.columns")], at(answer, "body.records")
    elif isinstance(answer, list) and isinstance(at(answer, "0.0"), int) and isinstance(at(answer, "1.0.0"), list):
        found = answer[1][0]
        if len(found) < 2 or not isinstance(found[1], list):
            return None
        names, rows = [at(column, "0") for column in found[1]], found[2:]
    else:
        return None
    fine = isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(names) for row in rows)
    return [dict(zip(names, row, strict=True)) for row in rows] if fine else None


def _groonga_trouble(answer: Any) -> str:
    if isinstance(answer, list) and isinstance(at(answer, "0.0"), int) and answer[0][0] != 0:
        return str(at(answer, "0.3") or f"return code {answer[0][0]}")
    code = at(answer, "header.return_code")
    return str(at(answer, "header.error.message") or f"return code {code}") if isinstance(code, int) and code else ""


def _map(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


#: Known engines; the first that an answer fits counts.
SHAPES = (
    Shape(
        "Elasticsearch or OpenSearch",
        lambda answer: _list(at(answer, "hits.hits")),
        _columns(
            *("_source.", "fields."),
            doc=("_id",),
            score=("_score",),
            snippet=("highlight.*", *(f"_source.{name}" for name in _SNIPPET)),
        ),
        _elastic_trouble,
    ),
    Shape(
        "Solr",
        lambda answer: _list(at(answer, "response.docs")),
        _columns("", doc=("id",), score=("score",)),
        _solr_trouble,
        snippets="highlighting",
    ),
    Shape(
        "Vespa",
        _vespa_hits,
        _columns("fields.", doc=("fields.documentid", "id"), score=("relevance",)),
        _vespa_trouble,
    ),
    Shape(
        "Groonga",
        _groonga_hits,
        _columns("", doc=("_key", "_id"), score=("_score",)),
        _groonga_trouble,
    ),
)
