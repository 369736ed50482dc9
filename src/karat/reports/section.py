"""A section of a report: what was found in a sentence, figures, tables, and what a reader should know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from karat.comparison import Comparison
from karat.comparison.many_systems import family_p
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


def in_a_few_words(found: Comparison) -> str:
    """The verdict as a title."""
    if found.verdict == "cannot say":
        return f"Cannot say which is better by {found.measure}"
    return found.headline().rstrip(":")


@dataclass(frozen=True)
class Interval:
    """A difference and the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def direction(self) -> int:
        """1 where more than nothing is shown, -1 where less, 0 where neither is."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0

    def __str__(self) -> str:
        return f"{self.low:+z.3f} to {self.high:+z.3f}"


@dataclass(frozen=True, eq=False)
class Told:
    """Two systems of a comparison; every difference is `b` less `a`, in sentences as in charts.

    Where gold labels put another system first than the labels as they are do, these two are told of: that is where the
    labels mislead. Otherwise the first two are. Of two systems b is the second of the comparison, of more the best.
    A baseline is a, and b the best of the others.
    """

    found: Comparison
    a: str
    b: str

    @classmethod
    def of(cls, found: Comparison) -> Told:
        """The pair to tell of, by the means of the labels as they are."""
        first, second, *more = found.systems
        if not more or found.baseline is not None:
            return cls(found, first, second)
        if found.by_query.height:
            naive = found.by_query.select(pl.col(found.systems).mean()).row(0, named=True)
            leader = max(found.systems, key=lambda name: naive[name])
            second = leader if leader != first else second
        return cls(found, second, first)

    def by(self, method: str) -> Interval | None:
        """The difference by a method, none where it is silent."""
        mine = (pl.col("method") == method) & (pl.col("system_a") == self.a) & (pl.col("system_b") == self.b)
        rows = self.found.methods.filter(mine)
        if not rows.height or math.isnan(rows["low"][0]):
            return None
        value, low, high = (float(rows[name][0]) for name in ("difference", "low", "high"))
        return Interval(value, low, high)

    def naive_against_corrected(self) -> str:
        """What the labels as they are would have said, beside what gold labels say; empty where neither can."""
        if self.found.method == "plain":
            return (
                "The labels are taken as they are: errors of the judges may move this. With gold labels of some "
                "documents the verdict would hold in spite of them."
            )
        plain, chosen = self.by("plain"), self.by(self.found.method)
        if plain is None or chosen is None:
            return ""
        shown = chosen.direction if self._shown_among_all() else 0
        ends = f"{self.b} less {self.a}: {plain.value:+z.3f}, {self.found.level * 100:g} % interval {plain}"
        if plain.direction == shown:
            return f"Taken as they are, the labels say the same ({ends})."
        return (
            f"Taken as they are, the labels would say that {self._words(plain.direction)} ({ends}); "
            f"with gold labels, {self._words(shown)} ({chosen.value:+z.3f}, {chosen})."
        )

    def against_truth(self, truth: float) -> str:
        """Whether the planted truth lies in each interval, in words."""
        said = f"This study is simulated in part: the true difference of {self.b} less {self.a} is {truth:+z.3f}."
        for method, who in (("plain", "labels as they are"), (self.found.method, "corrected labels")):
            interval = None if who == "corrected labels" and method == "plain" else self.by(method)
            if interval is not None:
                inside = interval.low <= truth <= interval.high
                said += f" The interval of the {who}, {interval}, {'holds' if inside else 'misses'} it."
        return said

    def _shown_among_all(self) -> bool:
        """Whether the difference is shown allowing for all pairs of systems, as the verdict does."""
        pairs = self.found.pairs
        if not pairs.height:
            return True
        mine = (pairs["a"].is_in([self.a, self.b]) & pairs["b"].is_in([self.a, self.b])).to_numpy()
        return bool(family_p(pairs)[mine][0] < 1 - self.found.level)

    def _words(self, direction: int) -> str:
        if direction == 0:
            return f"no difference between {self.b} and {self.a} is shown"
        better, worse = (self.b, self.a) if direction > 0 else (self.a, self.b)
        return f"{better} is better than {worse}"
