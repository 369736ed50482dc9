"""The Web Track's topics: queries with their subtopics, in XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.formats.trec_topics import is_classic
from karat.records import Queries

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
