"""Gains: what a grade is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.errors import BadInput
from karat.records.scale import ONE_USER
from karat.stats.arrays import Floats

#: 2^grade of a higher grade is no number any more.
STEEPEST = 1000
#: The highest grade for which a function is asked for the gain.
HIGHEST_GRADE_OF_FUNCTIONS = 10


@dataclass(frozen=True)
class Gains:
    """The worth of each grade: the grade itself, 2^grade - 1, or a table.

    >>> Gains.of("exp").apply(np.array([0.0, 1.0, 2.0, -2.0, np.nan])).tolist()
    [0.0, 1.0, 3.0, 0.0, 0.0]
    >>> Gains.of({0: 0, 1: 0.3, 2: 1}).apply(np.array([2.0, 1.0])).tolist()
    [1.0, 0.3]
    """

    name: str
    table: tuple[tuple[float, float], ...] = ()
    #: For udm: at least so many, of so many users, would call it top; and whether low levels are worth nothing.
    at_least: int = 0
    of_users: int = 0
    zero: bool = False

    @classmethod
    def of(cls, gains: str | Mapping[float, float] | Sequence[float] | Callable[[float], float] | Gains) -> Gains:
        """Gains from what a user writes; a function gives the gain of each whole grade from 0 to 10.

        >>> Gains.of(lambda grade: 2**grade - 1), Gains.of([0, 1, 5].__getitem__)
        ('exp', {0:0,1:1,2:5})
        """
        if isinstance(gains, Gains):
            return gains
        if isinstance(gains, str):
            user = re.fullmatch(r"udm\((?:(\d+)/(\d+)|user)(, ?zero=True)?\)", gains)
            if user:
                some, of = ONE_USER if user[1] is None else (int(user[1]), int(user[2]))
                if user[1] is not None and not of:
                    raise _no_users(some, of)
                return udm(some, of, zero=user[3] is not None)
            if gains not in ("identity", "exp"):
                raise BadInput.at("gains", expected="identity, exp, or a value per grade", found=f'"{gains}"')
            return cls(gains)
        if callable(gains):
            return _of_function(gains)
        try:
            pairs = gains.items() if isinstance(gains, Mapping) else enumerate(gains)
            table = tuple(sorted((float(grade), float(gain)) for grade, gain in pairs))
        except (TypeError, ValueError):
            table = ()
        if not table or not np.isfinite(table).all() or min(gain for _, gain in table) < 0:
            raise BadInput.at("gains", expected="a number from 0 up for each grade", found=str(gains))
        return cls("table", table)

    def apply(self, grades: Floats) -> Floats:
        """The gain of each grade; no label, or one below 0 that the table does not name, is worth nothing."""
        if self.name == "udm":
            raise BadInput.at(str(self), expected="weights estimated from judgments", found="none")
        if self.name != "table":
            known = np.where(grades > 0, grades, 0.0)
            if self.name == "exp" and len(known) and known.max() > STEEPEST:
                raise BadInput.at(
                    "gains='exp'",
                    expected=f"grades up to {STEEPEST} for 2^grade",
                    found=f"{known.max():g}",
                    remedy="take gains='identity', or a smaller scale",
                )
            return np.exp2(known) - 1.0 if self.name == "exp" else known
        levels, gains = np.array(self.table).T
        place = np.searchsorted(levels, grades).clip(max=len(levels) - 1)
        named = levels[place] == grades
        strange = ~named & (grades > 0)
        if strange.any():
            expected = f"a gain for the grade {grades[strange][0]:g}"
            raise BadInput.at("gains", expected=expected, found=f"gains for {self} alone")
        return np.where(named, gains[place], 0.0)

    def __str__(self) -> str:
        if self.name == "udm":
            users = "user" if (self.at_least, self.of_users) == ONE_USER else f"{self.at_least}/{self.of_users}"
            return f"udm({users}{',zero=True' if self.zero else ''})"
        if self.name != "table":
            return f"'{self.name}'"
        return "{" + ",".join(f"{_short(grade)}:{_short(gain)}" for grade, gain in self.table) + "}"

    __repr__ = __str__


def _of_function(function: Callable[[float], float]) -> Gains:
    """The gains by a function, as a table that prints and compares like one that was written down."""
    given: dict[float, float] = {}
    for grade in range(HIGHEST_GRADE_OF_FUNCTIONS + 1):
        try:
            gain = function(grade)
        except (LookupError, ValueError, TypeError, ArithmeticError) as error:
            if grade == 0:
                place = f"gains by {getattr(function, '__name__', 'a function')}"
                found = f"{type(error).__name__} ({error})"
                raise BadInput.at(place, expected="a number for the grade 0", found=found) from None
            break  # a table's look-up, which has no higher grade
        if gain is None and grade:
            break
        given[grade] = gain
    gains = Gains.of(given)
    for known in (Gains("identity"), Gains("exp")):
        if len(gains.table) > HIGHEST_GRADE_OF_FUNCTIONS and all(
            known.apply(np.array([grade]))[0] == gain for grade, gain in gains.table
        ):
            return known
    return gains


def udm(at_least: int, of: int, zero: bool = False) -> Gains:
    """Gains from how users disagree: the probability that at least M of N call it top, given the label.

    >>> udm(1, 3)
    udm(1/3)
    >>> udm(*ONE_USER)
    udm(user)

    The judge is among the N; `udm(user)` is about one user who is not the judge, so that top is not worth 1, either.
    The weights are estimated from the judgments that are scored with, or read from a file (`karat disagree`); with
    `zero`, the lowest level, and every one up to grade 0, is worth nothing.
    """
    if not 1 <= at_least <= of and (at_least, of) != ONE_USER:
        raise _no_users(at_least, of)
    return Gains("udm", (), at_least, of, zero)


def _no_users(at_least: int, of: int) -> BadInput:
    """Why M of N users cannot be."""
    return BadInput.at("udm", expected="M from 1 to N in udm(M/N), or udm(user)", found=f"udm({at_least}/{of})")


def _short(value: float) -> str:
    return repr(int(value)) if value == int(value) else repr(value)
