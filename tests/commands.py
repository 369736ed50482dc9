"""Commands as tests of several files type them."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner, Result

from karat.cli import karat as commands
from karat.cli import main
from karat.formats import open_files


def run(*words: object) -> Result:
    """What a command prints and its exit code; what goes wrong is raised."""
    found = CliRunner().invoke(commands, [str(word) for word in words])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def karat(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """What a process `karat WORDS` would leave, without one: exit code, output, errors as people read them.

    A process takes a second to load what this one has loaded; tests/cli/test_processes.py holds that both agree.
    """
    out, err = _stream(), _stream()
    threshold = gc.get_threshold()
    try:
        with (
            patch.multiple(sys, argv=["karat", *words], stdin=_stream(given or ""), stdout=out, stderr=err),
            patch.object(sys.modules["__main__"], "__package__", None, create=True),  # else click says python -m pytest
        ):
            code = _exit_code()
    finally:
        gc.set_threshold(*threshold)
    return subprocess.CompletedProcess(["karat", *words], code, _text(out), _text(err))


def typed(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a line `karat ...` of a page leaves, typed in a folder: the shell makes words of it, stars and all."""
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.split("\0")[1:-1]
    with chdir(folder):
        return karat(*words)


def _exit_code() -> int:
    open_files._stream.cache_clear()  # a process has read nothing from its standard input yet
    try:
        main()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
