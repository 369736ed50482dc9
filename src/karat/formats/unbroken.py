"""Readers that nothing breaks: what the libraries under them cannot bear is bad input, told with the file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import polars as pl

from karat.errors import BadInput
from karat.formats.open_files import File

P = ParamSpec("P")
T = TypeVar("T")

#: What Polars raises where it cannot go on: a BaseException, which `except Exception` lets pass.
PANIC: type[BaseException] = pl.exceptions.PanicException
WHOLE = "is the file whole? Save or fetch it again"


def unbroken(read: Callable[..., T]) -> Callable[..., T]:
    """A reader whose first argument is a file, with errors in place of panics and exhausted stacks.

    >>> @unbroken
    ... def read(file):
    ...     return read(file)
    >>> read(File("deep.json"))
    Traceback (most recent call last):
    karat.errors.BadInput: deep.json: expected a file that can be read, found lists or objects too deep in each other
    """

    @wraps(read)
    def safe(file: File, *given: object, **named: object) -> T:
        with refuse_unreadable(file):
            return read(file, *given, **named)

    return safe


@contextmanager
def refuse_unreadable(file: File, expected: str = "a file that can be read") -> Iterator[None]:
    """Turn what the libraries raise for a damaged file into `BadInput` with the file's name."""
    try:
        yield
        return
    except RecursionError:
        found, remedy = "lists or objects too deep in each other", ""
    except MemoryError:
        found, remedy = "more than the memory holds", "read a part of it"
    except pl.exceptions.PolarsError as error:
        found, remedy = f"what Polars cannot read ({_first(error)})", WHOLE
    except OSError as error:
        raise BadInput(f"{file.name}: cannot be read ({error.strerror or error})") from None
    except BaseException as error:
        if not isinstance(error, PANIC):
            raise
        found, remedy = "damaged data", WHOLE
    raise BadInput.at(file.name, expected=expected, found=found, remedy=remedy)


def _first(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:100]
