"""A section of a report: what was found in a sentence, figures, tables, and what a reader should know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from karat.errors import KaratError, Undefined
from karat.reports.figure import Figure

#: How the one paragraph of a section begins for which there is nothing in the data.
MISSING = "Not in this report: "


@dataclass(frozen=True, eq=False)
class Table:
    """Some columns of a frame under a caption; an interval's ends stand beside its figure."""

    caption: str
    frame: pl.DataFrame
    #: Whether it is folded in until a reader opens it.
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Section:
    """One question of the report, or a part of it, and its answer."""

    #: Paragraphs, the finding first.
    said: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    #: Commands that a reader may type next.
    commands: tuple[str, ...] = ()
    #: Where it stands on the page, and its question.
    name: str = ""
    title: str = ""

    @property
    def missing(self) -> bool:
        """Whether the data allows nothing of it."""
        return self.said[0].startswith(MISSING)


def section_of(parts: Mapping[str, Callable[[], Section]]) -> Section:
    """The parts that the data allows as one section; why others, by name, are missing is a note.

    What the first part found opens the section; what another found stands above its first figure, unless its title
    says it all.
    """
    found, missing = list[Section](), list[str]()
    for name, make in parts.items():
        try:
            found.append(make())
        except KaratError as error:
            missing.append(f"no {name}: {error}")
    if not found:
        raise Undefined("; ".join(missing))
    said, figures = [*found[0].said], [*found[0].figures]
    for part in found[1:]:
        if part.figures:
            told = " ".join(part.said)
            again = told.rstrip(".") == part.figures[0].title
            figures += [replace(part.figures[0], said="" if again else told), *part.figures[1:]]
        else:
            said += part.said
    tables = tuple(table for part in found for table in part.tables)
    notes = dict.fromkeys(note for part in found for note in part.notes)
    commands = tuple(command for part in found for command in part.commands)
    return Section(tuple(said), tuple(figures), tables, (*notes, *missing), commands)


def headline(finding: str) -> str:
    """A finding as a title: its first clause, without what stands in brackets.

    >>> headline("Crowd overrates shoes by 0.4 (95 % interval 0.2 to 0.6; 32 pairs); one further finding.")
    'Crowd overrates shoes by 0.4'
    """
    bare = re.sub(r" \([^()]*\)", "", finding)
    return re.split(r";|\. ", bare)[0].rstrip(".")
