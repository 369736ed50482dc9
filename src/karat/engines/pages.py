"""A list that an engine gives page by page: the request has a place `{{from}}` or `{{page}}`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from karat.engines.engine import Engine
from karat.engines.hits import Hit, Hits, NoHits, read_hits
from karat.engines.places import Values, names_in

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
