"""Advice in the terms of the caller: command-line options for the command line, parameters for Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)


def advise(command_line: str, python: str) -> str:
    """Return the advice that the caller can follow.

    Args:
        command_line: What to type in a shell, such as "give --gold".
        python: What to write in Python, such as "give gold=".

    >>> advise("give --gold", "give gold=")
    'give gold='
    >>> with speak_command_line():
    ...     advise("give --gold", "give gold=")
    'give --gold'
    """
    return command_line if on_command_line() else python


def on_command_line() -> bool:
    """Whether a command runs, so that advice is about options."""
    return _on_command_line.get()


@contextmanager
def speak_command_line() -> Iterator[None]:
    """Give advice about command-line options while the block runs."""
    before = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(before)
