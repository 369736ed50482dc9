"""The Web Track's topics: queries with their subtopics, in XML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import BadInput
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.records import Queries, Source

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


TOPIC = re.compile(r"<top(?:\s[^>]*)?>(.*?)(?=</top>|<top[\s>]|\Z)", re.DOTALL | re.IGNORECASE)
OTHERS = "num|title|desc|narr|dom|smry|con|fac|def|top"
PART = re.compile(rf"<(num|title|desc|narr)>(.*?)(?=</?(?:{OTHERS})\b|\Z)", re.DOTALL | re.IGNORECASE)
#: What stands before the text of each part.
BEFORE = {"num": "number", "title": "topic", "desc": "description", "narr": "narrative"}
TAG = re.compile(r"<[^<>]*>")
START = re.compile(rb"<top[\s>]", re.IGNORECASE)


def read_classic_topics(file: File) -> Queries:
    """Queries with text (the title), description and narrative."""
    text = file.text
    rows, lines = [], []
    for topic in TOPIC.finditer(text):
        line = text.count("\n", 0, topic.start()) + 1
        parts = [(part[1].lower(), part[2]) for part in PART.finditer(topic[1])]
        said = {name: _plain(name, words) for name, words in parts}
        if len(said) < len(parts):
            twice = next(name for place, (name, _) in enumerate(parts) if name in dict(parts[:place]))
            raise BadInput.at(f"{file.name} line {line}", expected=f"a topic with one <{twice}>", found="several")
        if not said.get("num"):
            raise BadInput.at(f"{file.name} line {line}", expected="a topic with <num>", found="none")
        number = said["num"].lstrip("0") or "0" if said["num"].isdigit() else said["num"]
        rows.append((number, said.get("title"), said.get("desc"), said.get("narr")))
        lines.append(line)
    if not rows:
        raise BadInput.at(file.name, expected="topics between <top> and </top>", found="none")
    outside = TAG.sub(" ", TOPIC.sub(" ", text)).split()
    if outside:
        found = " ".join(outside)[:60]
        raise BadInput.at(file.name, expected="nothing but topics between <top> and </top>", found=f'"{found}" outside')
    names = ["query", "text", "description", "narrative"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    frame = frame.select(name for name in names if name == "query" or frame[name].count())
    return Queries.check(frame, source=Source(file.name, pl.Series(lines)))


def _plain(part: str, text: str) -> str:
    """The text without the word before it, in one line."""
    return re.sub(rf"^\s*{BEFORE[part]}\s*:", "", " ".join(text.split()), flags=re.IGNORECASE).strip()


def is_classic(file: File) -> bool:
    """Whether a file begins with a classic topic."""
    return START.search(file.head[:2000]) is not None


add_format(
    Format(
        "trec-topics",
        read_from=(".xml",),
        sniff=lambda file, schema: is_classic(file),
        records={Queries: Narrow(read_classic_topics)},
        holds=lambda file: "queries",
        exact=True,
        only="queries",
    ),
    __name__,
)


KINDS = {"nav": "navigational", "inf": "informational"}


def read_topics(file: File) -> Queries:
    """Queries with subtopics from the Web Track's XML."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(file.content)
    except ElementTree.ParseError as error:
        raise BadInput.at(file.name, expected="topics in XML", found=str(error)) from None
    except (LookupError, ValueError) as error:  # an encoding that Python or the parser does not know
        remedy = 'convert it to UTF-8, and say encoding="UTF-8" in its first line'
        raise BadInput.at(file.name, expected="topics in XML", found=str(error), remedy=remedy) from None
    topics = root.findall(".//topic")
    if not topics:
        raise BadInput.at(file.name, expected="<topic> elements", found=f"<{root.tag}> without any")
    queries, subtopics = [], []
    for topic in topics:
        number = topic.get("number", "")
        queries.append((number, *(_text(topic, tag, file.name) for tag in ("query", "description")), topic.get("type")))
        for part in topic.findall("subtopic"):
            kind = part.get("type", "")
            subtopics.append(
                (number, part.get("number", ""), " ".join((part.text or "").split()), KINDS.get(kind, kind))
            )
    return Queries.check(
        pl.DataFrame(queries, schema=["query", "text", "description", "kind"], orient="row"),
        pl.DataFrame(
            subtopics,
            schema=dict.fromkeys(("query", "subtopic", "description", "kind"), pl.String),
            orient="row",
        ),
    )


def _text(topic: Element, tag: str, name: str) -> str | None:
    found = topic.findall(tag)
    if len(found) > 1:
        place = f"{name}: topic {topic.get('number', '')}"
        raise BadInput.at(place, expected=f"one <{tag}>", found=f"{len(found)}")
    return None if not found or found[0].text is None else " ".join(found[0].text.split())


add_format(
    Format(
        "xml",
        endings=(".xml",),
        sniff=lambda file, schema: file.head.lstrip().startswith(b"<") and not is_classic(file),
        records={Queries: Narrow(read_topics)},
        holds=lambda file: "queries",
        only="topics",
    ),
    __name__,
)
