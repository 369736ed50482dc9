r"""Places in a template: what stands in them is escaped for where it goes, and is never read as a place itself.

`{{query}}` is the text of the query; `##query##`, `#$query##` (Quepid) and `%SearchText%` (OpenSearch) mean the same.
`{{depth}}` is how many documents are wanted, `{{from}}` how many earlier pages have brought, `{{page}}` the number of
the page, `{{env:NAME}}` a variable of the environment, and any other name a column of the queries' file.

>>> in_json('{"match": "{{query}}", "size": {{depth}}}', {"query": 'say "hi"', "depth": 5})
'{"match": "say \\"hi\\"", "size": 5}'
>>> in_url("http://localhost/search?q=%SearchText%", {"query": "a&b c"})
'http://localhost/search?q=a%26b%20c'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

from karat.errors import BadInput

PLACE = re.compile(r"\{\{\s*([\w.:-]+)\s*\}\}|##query##|#\$query##|%SearchText%")
#: A text of JSON, or a place outside of one. What was read of a text is never read another way (`+` after `+` and `*`),
#: or else a text takes a hundred times its size in memory.
_TOKEN = re.compile(rf'"(?:[^"\\]++|\\.)*+"|{PLACE.pattern}', re.DOTALL)
#: What the name of a place begins with that stands for a variable of the environment.
ENV = "env:"

Values = Mapping[str, str | int]


def name_of(place: re.Match[str]) -> str:
    """What a place is for."""
    return place[1] or "query"


def names_in(text: str) -> list[str]:
    """The names of all places, each once.

    >>> names_in("q=##query##&n={{ depth }}&again={{query}}")
    ['query', 'depth']
    """
    return list(dict.fromkeys(name_of(place) for place in PLACE.finditer(text)))


def in_url(text: str, values: Values) -> str:
    """A URL or a form with its places filled, escaped as URLs are."""
    return _filled(text, values, lambda value: quote(str(value), safe=""))


def in_header(text: str, values: Values) -> str:
    """A header's value with its places filled, as they are."""
    return _filled(text, values, str)


def in_json(text: str, values: Values) -> str:
    """A JSON text with its places filled: escaped within quotes, a value of their own outside of them.

    >>> in_json('{"a": {{query}}, "size": "{{depth}}"}', {"query": "x", "depth": 5})
    '{"a": "x", "size": 5}'
    """

    def token(found: re.Match[str]) -> str:
        if not found[0].startswith('"'):
            return json.dumps(_value(name_of(found), values), ensure_ascii=False)
        alone = PLACE.fullmatch(found[0][1:-1])
        if alone and isinstance(values.get(name_of(alone)), int):
            return str(values[name_of(alone)])
        return _filled(found[0], values, lambda value: json.dumps(str(value), ensure_ascii=False)[1:-1])

    return _TOKEN.sub(token, text)


def _filled(text: str, values: Values, escaped: Callable[[str | int], str]) -> str:
    return PLACE.sub(lambda place: escaped(_value(name_of(place), values)), text)


def _value(name: str, values: Values) -> str | int:
    if name not in values:
        known = ", ".join(f"{{{{{other}}}}}" for other in values)
        raise BadInput.at(
            f"the place {{{{{name}}}}}",
            expected=f"{known}, or {{{{env:NAME}}}} for a variable of the environment",
            found="another name",
            remedy="a place is named as a column of the queries' file",
        )
    return values[name]
