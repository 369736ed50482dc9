"""The documents of the demo: what this machine's own Python says about itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sysconfig
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType

import polars as pl

from karat.simulate.parts import word_list

#: Packages of the standard library that are read as a whole; of the rest, the modules that are one file.
PACKAGES = word_list(
    "asyncio collections concurrent csv dbm email html http importlib json logging multiprocessing pathlib re sqlite3 "
    "string sysconfig tomllib unittest urllib venv wsgiref xml zoneinfo zipfile"
)
#: Modules that are left out: jokes, tools, and what some version between 3.11 and 3.13 has no more.
LEFT_OUT = word_list(
    "aifc antigravity asynchat asyncore cgi cgitb chunk crypt imghdr imp mailcap msilib nntplib ntpath nturl2path "
    "pipes pyclbr pydoc smtpd sndhdr sunau telnetlib this turtle uu xdrlib"
)
#: Packages whose private files hold what the package offers, in some versions.
SHARED = ("pathlib", "zipfile")
#: Where a module's Python text lives in a file with another name, in some versions or in all.
HOMES = {"_pydatetime": "datetime", "_pydecimal": "decimal", "_pyio": "io", "_collections_abc": "collections.abc"}
HOMES |= {"genericpath": "os.path", "posixpath": "os.path"}
#: Modules written in C, which have no Python text to read.
COMPILED = word_list("builtins itertools math time os sys operator zlib gc array sqlite3 datetime")
#: Where the things of these modules say they come from.
INSIDE = ("builtins", "posix", "nt", "_operator")
#: Their methods repeat those of bytes word for word.
TWINS = ("bytearray", "memoryview")
#: What has a docstring in a file.
DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
#: Shorter texts say nothing.
LEAST = 40


def python_documents() -> pl.DataFrame:
    """A few thousand texts about Python: help topics and docstrings, as doc, title, url and text.

    The ids are the names by which Python knows things (`heapq.nsmallest`, `topics.for`), so that they are the same in
    every version that has them. Files are parsed, not run.
    """
    found: dict[str, str] = {}
    for name, text in chain(_topics(), _written(), _compiled()):
        found.setdefault(name, text)
    kept = {name: text for name, text in found.items() if len(text) >= LEAST}
    frame = pl.DataFrame({"doc": list(kept), "text": list(kept.values())}).sort("doc")
    first = pl.col("text").str.split("\n").list.first().str.strip_chars()
    return frame.select(
        "doc",
        title=pl.col("doc"),
        snippet=pl.when(first.str.len_chars() > 160).then(first.str.slice(0, 157) + "...").otherwise(first),
        url=pl.format("pydoc:{}", "doc"),
        text="text",
    )


def _topics() -> Iterator[tuple[str, str]]:
    """The topics of help()."""
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some systems ship Python without it
        return
    for name, text in topics.items():
        lines = text.strip().split("\n")
        # The heading is underlined with stars; the first line of the text would be that heading otherwise.
        body = [line for line in lines if not re.fullmatch(r"[*=\-~^]+", line.strip())]
        yield f"topics.{name}", "\n".join(body).strip()


def _written() -> Iterator[tuple[str, str]]:
    """The docstrings of modules that are written in Python."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [*library.glob("*.py"), *(path for package in PACKAGES for path in (library / package).rglob("*.py"))]
    for path in sorted(files):
        module = _module(path.relative_to(library))
        if module is None:
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, OSError):
            continue
        yield from _docstrings(tree, module)


def _module(path: Path) -> str | None:
    """A file's name as a module; a package's private files belong to the package."""
    parts = [*path.parts[:-1], path.stem]
    if {"test", "tests", "__pycache__", "__main__"} & {*parts}:
        return None
    if parts[0] in HOMES:
        return HOMES[parts[0]]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    public = [part for part in parts if not part.startswith("_")]
    if parts[0] in LEFT_OUT or not public or (public != parts and parts[0] not in SHARED):
        return None
    return ".".join(public)


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, (ast.Module, *DOCUMENTED)):
        text = ast.get_docstring(node)
        if text:
            yield name, text
    if isinstance(node, ast.Module | ast.ClassDef):
        for part in node.body:
            if isinstance(part, DOCUMENTED) and not part.name.startswith("_"):
                yield from _docstrings(part, f"{name}.{part.name}")


def _compiled() -> Iterator[tuple[str, str]]:
    """The docstrings of what is written in C."""
    for name in COMPILED:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for part, current in vars(module).items():
            # Hooks of sys may have been replaced; the documentation is that of the original (sys.__excepthook__).
            thing = vars(module).get(f"__{part}__", current)
            # An alias, or something that another module made or put there, is told elsewhere.
            other = inspect.isclass(thing) and (thing.__name__ != part or thing.__module__ not in (name, *INSIDE))
            other = other or (name == "builtins" and inspect.isfunction(thing))
            if part.startswith("_") or part in TWINS or other or isinstance(thing, ModuleType):
                continue
            yield from _told(thing, f"{name}.{part}")
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if not method.startswith("_"):
                        yield from _told(function, f"{name}.{part}.{method}")


def _told(thing: object, name: str) -> Iterator[tuple[str, str]]:
    # A plain value (a number, a dictionary) has the docstring of its type, which tells nothing of it.
    if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.isgetsetdescriptor(thing):
        # A class that says nothing itself would repeat what its parent says.
        text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
        if isinstance(text, str):
            yield name, inspect.cleandoc(text)
