"""The text of a document, for readers who see no pages."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any


def plain_text(row: dict[str, Any]) -> str:
    r"""A document's text; where it has only HTML, what a reader would see of it.

    >>> plain_text({"html": "<title>Hooves</title><p>Trim <b>them</b>.</p><script>x()</script><p>Daily.</p>"})
    'Trim them.\nDaily.'
    """
    if row.get("text"):
        return str(row["text"])
    reader = _Reader()
    reader.feed(row.get("html") or "")
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    """Collects the texts of a page, a line for each block."""

    UNSEEN = ("script", "style", "title", "template", "noscript")
    BLOCKS = ("p", "div", "br", "li", "tr", "section", "article", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "table")

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in self.UNSEEN
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(self._unseen - (tag in self.UNSEEN), 0)
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)
