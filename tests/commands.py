"""Commands as tests of several files type them."""

from __future__ import annotations

from click.testing import CliRunner, Result

from karat.cli import karat


def run(*words: object) -> Result:
    """What a command prints and its exit code; what goes wrong is raised."""
    found = CliRunner().invoke(karat, [str(word) for word in words])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found
