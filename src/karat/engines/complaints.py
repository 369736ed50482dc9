"""What goes wrong at an engine, in a line of plain words."""

from __future__ import annotations

import json
import re

from karat.advice import advise
from karat.engines.paths import at

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
