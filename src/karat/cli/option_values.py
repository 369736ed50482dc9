"""What may stand after an option: one of several names, NAME=VALUE; and several options as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pkgutil import resolve_name
from typing import Any, TypeVar

import click

from karat.errors import BadInput, MissingExtra

#: A command, or the function that one is made of.
Command = TypeVar("Command", bound=Callable[..., Any])
#: What an option gives to a name.
Value = TypeVar("Value")


class OneOf(click.Choice[str]):
    """A choice of names that stand elsewhere, as "karat.judges:MODELS": a command's definition loads nothing."""

    def __init__(self, *places: str) -> None:
        self.places, self.case_sensitive = places, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click sets it once, this looks it up
        """The names there are now, those in a collection or those that a function returns."""
        try:
            found = [resolve_name(place) for place in self.places]
        except ImportError:
            raise MissingExtra.named("collect", "this command") from None
        return tuple(name for names in found for name in (names() if callable(names) else names))


class FormatName(OneOf):
    """A format's name, taken as it is: reading and writing say which there are, as they do in Python."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        return value


def named(
    option: str, texts: Sequence[str], value: Callable[[str], Value], *, expected: str, bare: bool = False
) -> dict[str, Value]:
    """The values of an option that is repeated as NAME=VALUE; a `bare` name has the value of an empty text.

    >>> named("--condition", ["few=0.1"], float, expected="NAME=SHARE, as few=0.1")
    {'few': 0.1}
    >>> named("--condition", ["few"], float, expected="NAME=SHARE, as few=0.1")
    Traceback (most recent call last):
    karat.errors.BadInput: --condition: expected NAME=SHARE, as few=0.1, found "few"
    """
    found = {}
    for text in texts:
        name, equals, said = (text, "", "") if bare and "=" not in text else text.rpartition("=")
        try:
            if not name or not (equals or bare):
                raise ValueError(text)
            found[name] = value(said)
        except ValueError:
            raise BadInput.at(option, expected=expected, found=f'"{text}"') from None
    return found


def as_one(*wanted: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options and arguments as one, in this order."""

    def decorated(command: Any) -> Any:
        for option in reversed(wanted):
            command = option(command)
        return command

    return decorated
