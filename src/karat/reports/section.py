"""A section of a report: what was found in a sentence, figures, tables, and what a reader should know."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from karat.errors import KaratError
from karat.reports.figure import Figure

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Some columns of a frame under a caption; an interval's ends stand beside its figure."""

    caption: str
    frame: pl.DataFrame
    #: Whether it is folded in until a reader opens it.
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Section:
    """One question of the report and its answer."""

    name: str
    title: str
    #: Paragraphs, the finding first.
    said: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    #: Commands that a reader may type next.
    commands: tuple[str, ...] = ()


def left_out(name: str, title: str, reason: object) -> Section:
    """A section that the data does not allow: it says so in one line.

    >>> left_out("clicks", "Clicks", "there are no clicks").said
    ('Not in this report: there are no clicks.',)
    """
    return Section(name, title, (f"Not in this report: {str(reason).rstrip('.')}.",))


def tried(parts: Sequence[tuple[str, Callable[[], T]]]) -> tuple[list[T], list[str]]:
    """The parts of a section that the data allows, and why the others, by name, are missing."""
    found, missing = list[T](), list[str]()
    for name, part in parts:
        try:
            found.append(part())
        except KaratError as error:
            missing.append(f"no {name}: {error}")
    return found, missing


def opened(said: str, figures: list[Figure]) -> list[Figure]:
    """The figures of one part of a section, the first of them under what was found."""
    return [replace(figure, said=said if place == 0 else "") for place, figure in enumerate(figures)]


def headline(finding: str) -> str:
    """A finding as a title: its first clause, without what stands in brackets.

    >>> headline("Crowd overrates shoes by 0.4 (95 % interval 0.2 to 0.6; 32 pairs); one further finding.")
    'Crowd overrates shoes by 0.4'
    """
    bare = re.sub(r" \([^()]*\)", "", finding)
    return re.split(r";|\. ", bare)[0].rstrip(".")


def joined_notes(*notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes of several results, each once.

    >>> joined_notes(("a", "b"), ("b",))
    ('a', 'b')
    """
    return tuple(dict.fromkeys(note for several in notes for note in several))
