"""A real search engine of our own: Groonga with 2,000 texts about Python, on a free port, gone afterwards.

It is started as examples/groonga/serve.py starts it. What it answers is held against what Groonga's own command says of
the same database, without a server in between.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import polars as pl
import pytest

T = TypeVar("T")

ROOT = Path(__file__).parents[1]
#: In the words of Groonga's select: documents with all the words, a word of the title counting five times.
WORDS = {
    "table": "Docs",
    "match_columns": "title*5||text",
    "sort_keys": "-_score,_key",
    "output_columns": "_key,_score,title,text",
}


@dataclass(frozen=True)
class Groonga:
    """A running server, its database, and what is in it: doc, title, text."""

    url: str
    database: Path
    documents: pl.DataFrame

    @property
    def select(self) -> str:
        """The address that is asked for lists."""
        words = "&".join(f"{name}={value}" for name, value in WORDS.items())
        return f"{self.url}/d/select?{words}&query={{{{query}}}}&limit={{{{depth}}}}"

    def queries(self, n: int) -> pl.DataFrame:
        """Two words each of a text, drawn evenly over the documents: each finds something."""
        rows, step = [], self.documents.height // n
        for number, (title, text) in enumerate(self.documents.select("title", "text")[::step].head(n).iter_rows()):
            words = [word for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in title][:2]
            rows.append({"query": f"q{number}", "text": " ".join(words) or title})
        return pl.DataFrame(rows)

    def own_order(self, texts: list[str], depth: int) -> list[list[str]]:
        """The lists that Groonga's own command gives for these queries, without HTTP and without karat."""
        told = [f"--{name} {_quoted(value)}" for name, value in WORDS.items()]
        lines = [f"select {' '.join(told)} --limit {depth} --query {_quoted(text)}" for text in texts]
        said = subprocess.run(
            ["groonga", str(self.database)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
        ).stdout
        return [[row[0] for row in json.loads(line)[1][0][2:]] for line in said.splitlines()]


@contextmanager
def with_topics() -> Iterator[str]:
    """The address of Groonga as the example has it, with the topics of `help()`, on another port."""
    script = example()
    with script.running(script.help_topics(), free_port()) as (url, _):
        yield url


@contextmanager
def or_skip(server: AbstractContextManager[T]) -> Iterator[T]:
    """What a server gives; where there is no Groonga the test is skipped, but fails where KARAT_GROONGA=required."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(server)
        except RuntimeError as error:
            if os.environ.get("KARAT_GROONGA") == "required":
                raise
            pytest.skip(str(error))
        yield running


@contextmanager
def server() -> Iterator[Groonga]:
    """Groonga with documents until the end of the block; `RuntimeError` says why there is none."""
    from karat.demo.corpus import python_documents

    documents = python_documents().select("doc", "title", "text").head(2000)
    rows = [{"_key": doc, "title": title, "text": text} for doc, title, text in documents.iter_rows()]
    with example().running(rows, free_port()) as (url, database):
        yield Groonga(url, database, documents)


def example() -> ModuleType:
    """The script of the example."""
    spec = importlib.util.spec_from_file_location("serve_groonga", ROOT / "examples" / "groonga" / "serve.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
