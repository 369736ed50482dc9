"""The text of a document, for readers who see no pages."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

#: A document's HTML is read up to here; a page of a book has some thousand characters.
MOST = 5_000_000
#: And up to so many tags, some two seconds of work. A limit of tags, not of seconds: a page reads alike on every
#: machine, and a model that is asked again sees the same text.
TAGS = 500_000
#: Elements whose content is no text of the page, up to their end tag whatever stands in it.
RAW = ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
#: Elements that are not shown, with what is in them.
UNSEEN = ("template", "noscript")
BLOCKS = {"p", "div", "br", "li", "tr", "section", "article", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "table"}
NAME = re.compile(r"/?[a-z][^\s/>]*", re.IGNORECASE)


def plain_text(row: dict[str, Any]) -> str:
    r"""A document's text; where it has only HTML, what a reader would see of it.

    >>> plain_text({"html": "<title>Hooves</title><p>Trim <b>them</b>.</p><script>x()</script><p>Daily.</p>"})
    'Trim them.\nDaily.'
    """
    if row.get("text"):
        return str(row["text"])
    text = "".join(_Reader(str(row.get("html") or "")[:MOST]).parts())
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


class _Reader:
    """Goes through HTML once, from left to right, whatever stands in it.

    Python's own parser looks for the end of a tag again and again: a page of `<a <a <a` keeps it busy for hours. Here
    no stretch is looked through twice for the same sign.
    """

    def __init__(self, html: str) -> None:
        self.html, self.low = html, html.lower()
        if len(self.low) != len(html):  # some capital letters are longer when small
            self.low = html
        self._last: dict[str, tuple[int, int]] = {}

    def parts(self) -> list[str]:
        """The texts of the page, with a new line for each block."""
        found: list[str] = []
        place, hidden = 0, 0
        for _ in range(TAGS):
            if place >= len(self.html):
                break
            start = self._find("<", place)
            if not hidden:
                found.append(_text(self.html[place:start]))
            if start == len(self.html):
                break
            name = NAME.match(self.html, start + 1)
            if name is None:
                place, shown = self._no_tag(start)
                found += [] if hidden else [shown]
                continue
            place, tag = self._end_of_tag(name.end()), name[0].lower()
            if tag in RAW:
                place = self._find(f"</{tag}", place)
            elif tag.lstrip("/") in UNSEEN:
                hidden = max(hidden + (-1 if tag[0] == "/" else 1), 0)
            elif tag.lstrip("/") in BLOCKS:
                found.append("\n")
        return found

    def _no_tag(self, start: int) -> tuple[int, str]:
        """Past a comment, a declaration, or a `<` that is only a sign."""
        if self.html.startswith("<!--", start):
            return min(self._find("-->", start + 4) + 3, len(self.html)), ""
        if self.html.startswith(("<!", "<?", "</"), start):
            return min(self._find(">", start + 2) + 1, len(self.html)), ""
        return start + 1, "<"

    def _end_of_tag(self, place: int) -> int:
        """Past the `>` of a tag; one within quotes does not count where the quotes end."""
        while True:
            end = self._find(">", place)
            quote = min((self._find(sign, place), sign) for sign in ('"', "'"))
            if quote[0] > end:
                return min(end + 1, len(self.html))
            close = self._find(quote[1], quote[0] + 1)
            if close == len(self.html):
                return min(end + 1, len(self.html))
            place = close + 1

    def _find(self, sign: str, place: int) -> int:
        """Where a sign stands next, or the end; what lies before the place found last is not looked through again."""
        since, found = self._last.get(sign, (0, -1))
        if not since <= place <= found:
            found = self.low.find(sign, place)
            found = len(self.html) if found < 0 else found
            self._last[sign] = (place, found)
        return found


def _text(text: str) -> str:
    """A text without its references; one that stands for no character stays as it is."""
    try:
        return unescape(text)
    except (ValueError, OverflowError):  # a number of thousands of digits
        return text
