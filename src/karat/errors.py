"""What can go wrong: one tree of errors, so that `except KaratError` catches all of karat's and nothing else.

An error about data says where, what was expected, what was found and what to do about it.

>>> raise BadInput.at("crowd.csv line 17", expected="a grade of the scale 0..3", found='"5"',
...                   remedy="drop it with --drop-bad-labels or extend the scale")
Traceback (most recent call last):
    ...
karat.errors.BadInput: crowd.csv line 17: expected a grade of the scale 0..3, found "5"; drop it \
with --drop-bad-labels or extend the scale
"""

from __future__ import annotations

from typing import Self


class KaratError(Exception):
    """Anything karat says went wrong."""


class BadInput(KaratError, ValueError):
    """The input breaks a rule that the user can mend."""

    @classmethod
    def at(cls, place: str, *, expected: str, found: str, remedy: str = "") -> Self:
        """An error that names place, expectation, finding and remedy."""
        message = f"{place}: expected {expected}, found {found}"
        return cls(f"{message}; {remedy}" if remedy else message)


class EmptyRun(BadInput):
    """A run has no ranked documents, or none for the queries that are asked about."""


class AmbiguousFile(BadInput):
    """A file that could hold several kinds of records, or be in several formats; a command adds what to do about it."""

    place: str
    expected: str
    found: str

    @classmethod
    def at(cls, place: str, *, expected: str, found: str, remedy: str = "") -> Self:
        """An error that keeps its parts."""
        error = super().at(place, expected=expected, found=found, remedy=remedy)
        error.place, error.expected, error.found = place, expected, found
        return error


class Undefined(KaratError):
    """The data is in order but cannot answer the question; `code` names the reason for programs, where it has one."""

    def __init__(self, message: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class NotConverged(KaratError):
    """A fit did not settle; its numbers would mislead."""


class MissingExtra(KaratError, ImportError):
    """A part of karat was asked for whose libraries are not installed."""

    @classmethod
    def named(cls, extra: str, purpose: str) -> Self:
        """The error for a missing extra, with the command that installs it."""
        return cls(
            f"{purpose} needs more libraries; install them with: pip install 'karat[{extra}]' "
            f"(in a clone of karat: pip install '.[{extra}]')"
        )
