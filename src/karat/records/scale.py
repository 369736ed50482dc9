"""The scale on which judges grade: ordered levels with names, definitions and gains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

import polars as pl

from karat.errors import BadInput

#: As many grades as a scale may have: nobody tells more apart.
MOST_GRADES = 1_000


@dataclass(frozen=True)
class Level:
    """One grade of a scale: the number stored, the word shown, what it means, and what it is worth."""

    grade: float
    name: str
    definition: str = ""
    gain: float | None = None


@dataclass(frozen=True)
class Scale:
    """Ordered levels, lowest first. Grades below 0 (TREC's -2, junk) are worth nothing.

    >>> scale = Scale.parse("bad, fair, good, excellent, perfect")
    >>> scale
    Scale('0=bad, 1=fair, 2=good, 3=excellent, 4=perfect')
    >>> scale.top.name
    'perfect'
    >>> Scale.parse("-2..2").grades
    (-2.0, -1.0, 0.0, 1.0, 2.0)
    >>> Scale.parse("-2=junk, 0=not, 1=relevant").gains
    {-2.0: 0.0, 0.0: 0.0, 1.0: 1.0}
    """

    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        grades = [level.grade for level in self.levels]
        if not all(isfinite(grade) for grade in grades):
            raise BadInput.at("the scale", expected="numbers as grades", found=", ".join(map(str, grades)))
        names = [level.name.casefold() for level in self.levels]
        if len(grades) < 2:
            raise BadInput.at("the scale", expected="at least two levels", found=str(len(grades)))
        if grades != sorted(set(grades)):
            raise BadInput.at("the scale", expected="grades that rise from level to level", found=str(grades))
        if len(set(names)) < len(names):
            raise BadInput.at("the scale", expected="a different name for each level", found=", ".join(names))

    @classmethod
    def parse(cls, text: str) -> Scale:
        """A scale written as `0..3`, as `bad, fair, good`, or as `-2=junk, 0=not, 1=relevant`."""
        try:
            if ".." in text:
                low, high = (int(end) for end in text.split(".."))
                if low >= high:
                    raise ValueError(text)
                if high - low >= MOST_GRADES:
                    raise BadInput.at("the scale", expected=f"at most {MOST_GRADES:,} grades", found=f"{low}..{high}")
                return cls(tuple(Level(float(g), str(g)) for g in range(low, high + 1)))
            levels = []
            for place, part in enumerate(text.split(",", MOST_GRADES)):
                grade, equals, name = part.partition("=")
                levels.append(Level(float(grade), name.strip()) if equals else Level(float(place), part.strip()))
        except ValueError as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput.at(
                "the scale", expected="0..3, or bad,fair,good, or 0=not,1=relevant", found=f'"{text}"'
            ) from None
        return cls(tuple(levels))

    @classmethod
    def of(cls, grades: Iterable[float] | Mapping[float, str]) -> Scale:
        """A scale from grades, or from grades and their names.

        >>> Scale.of({0: "no", 1: "yes"})
        Scale('0=no, 1=yes')
        """
        if isinstance(grades, Mapping):
            return cls(tuple(Level(float(g), str(grades[g])) for g in sorted(grades)))
        return cls(tuple(Level(float(g), f"{g:g}") for g in sorted(set(grades))))

    @property
    def grades(self) -> tuple[float, ...]:
        """The grades, lowest first."""
        return tuple(level.grade for level in self.levels)

    @property
    def top(self) -> Level:
        """The highest level."""
        return self.levels[-1]

    def name(self, grade: float) -> str:
        """What a grade is called; a number that is no grade of this scale stands for itself.

        >>> Scale.parse("bad, fair, good").name(2.0), Scale.parse("0..3").name(2.0), Scale.parse("0..3").name(1.5)
        ('good', '2', '1.5')
        """
        return next((level.name for level in self.levels if level.grade == grade), f"{grade:g}")

    @property
    def named(self) -> bool:
        """Whether the levels have names that say more than their numbers."""
        return any(level.name != f"{level.grade:g}" for level in self.levels)

    @property
    def gains(self) -> dict[float, float]:
        """What each grade is worth: its own gain where one is set, else the grade, and never below 0."""
        return {v.grade: max(v.grade, 0.0) if v.gain is None else v.gain for v in self.levels}

    def read(self, labels: pl.Series) -> pl.Series:
        """Grades from texts or numbers; null where a value is none of this scale's.

        >>> Scale.parse("bad,fair,good").read(pl.Series(["Good", "1", "2.0", "5"])).to_list()
        [2.0, 1.0, 2.0, None]
        """
        numbers = labels.cast(pl.Float64, strict=False)
        grades = numbers.set(~numbers.is_in(list(self.grades)), None)
        if labels.dtype != pl.String:
            return grades
        words = {level.name.casefold(): level.grade for level in self.levels}
        named = labels.str.strip_chars().str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Float64)
        return named.zip_with(named.is_not_null(), grades)

    def __iter__(self) -> Iterator[Level]:
        return iter(self.levels)

    def __str__(self) -> str:
        whole = [int(g) for g in self.grades if g == int(g)]
        plain = all(level.name == f"{level.grade:g}" for level in self.levels)
        if plain and whole == list(range(whole[0], whole[0] + len(self.levels))):
            return f"{whole[0]}..{whole[-1]}"
        if plain:
            return ", ".join(level.name for level in self.levels)
        return ", ".join(f"{level.grade:g}={level.name}" for level in self.levels)

    def __repr__(self) -> str:
        return f"Scale('{self}')"


#: The "M of N" of weights for one user who is not the judge, as files have it.
ONE_USER = (1, 0)


def users_who_agree(at_least: int, of: int) -> str:
    """Whom a weight is about, in words.

    >>> users_who_agree(2, 3), users_who_agree(*ONE_USER)
    ('at least 2 of 3 users', 'another user')
    """
    return "another user" if (at_least, of) == ONE_USER else f"at least {at_least} of {of} users"


def nothing_below(worth: Mapping[float, float]) -> dict[float, float]:
    """The worth of each grade, with nothing for grades up to 0; where all are above 0, for the lowest.

    >>> nothing_below({-2.0: 0.1, 0.0: 0.2, 1.0: 0.3}), nothing_below({1.0: 0.1, 2.0: 0.5})
    ({-2.0: 0.0, 0.0: 0.0, 1.0: 0.3}, {1.0: 0.0, 2.0: 0.5})
    """
    bound = max(min(worth), 0.0)
    return {grade: 0.0 if grade <= bound else weight for grade, weight in worth.items()}


def refuse_many_grades(number: int, most: int, place: str = "the judgments") -> None:
    """Labels with more different grades than some analysis can set in a table are refused."""
    if number > most:
        raise BadInput.at(
            place,
            expected=f"at most {most} different grades",
            found=f"{number:,}",
            remedy="round the labels to the grades of a scale",
        )
