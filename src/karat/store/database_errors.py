"""A database that fails, in plain words: what it said, and what to do; never SQL, never what is stored in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from karat.errors import BadInput

#: What a database says that cannot be used now, though the question was in order.
UNREACHABLE = (OperationalError, InterfaceError, NoConnection)
ADDRESS = "a path or postgresql://NAME:PASSWORD@HOST/DATABASE"
#: What to do, by a part of what the database said; the first that fits.
REMEDIES = {
    "locked": "another program works with the file: wait until it is done, or end it",
    "readonly": "see who owns the file and its folder, or name another with --database",
    "unable to open": "see who owns the file and its folder, or name another with --database",
    "disk": "make room on the disk, or keep the database elsewhere with --database",
    "malformed": "the file is damaged: take the last copy of it",
    "not a database": "name another with --database",
    "authentication failed": "see the name and password in the URL",
    "no password": "put the password into the URL: postgresql://NAME:PASSWORD@HOST/DATABASE",
    "permission denied": "the user in the URL needs the right to make and change tables",
    "does not exist": "make it on the server first (createdb), or name another with --database",
}


def in_words(error: Exception) -> str:
    """What a database said, in a line, and what to do about it."""
    found = first_line(error)
    remedy = next((remedy for part, remedy in REMEDIES.items() if part in found.lower()), None)
    if remedy is None and isinstance(error, UNREACHABLE):
        remedy = "see whether the server runs and can be reached"
    return f"{found}; {remedy}" if remedy else found


def first_line(error: Exception) -> str:
    """The first line of what the database itself said."""
    cause = getattr(error, "orig", None) or error
    return next(iter(str(cause).strip().splitlines()), type(cause).__name__)


@contextmanager
def in_plain_words() -> Iterator[None]:
    """For commands: a database that fails is said without SQL; what was not finished is not stored.

    The app itself does not use it: to a browser that is a fault of the server, and it keeps the answer.
    """
    try:
        yield
    except (DBAPIError, NoConnection) as error:
        raise BadInput(f"the database failed: {in_words(error)}") from None
