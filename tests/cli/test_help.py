"""`karat --help` as people see it in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from karat.cli import karat


def groups(group: click.Group, words: list[str]) -> Iterator[tuple[click.Group, list[str]]]:
    yield group, words
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from groups(command, [*words, name])


@pytest.mark.parametrize(
    ("group", "words"), list(groups(karat, [])), ids=lambda x: " ".join(x) if isinstance(x, list) else ""
)
def test_every_command_has_one_whole_line_in_80_columns(group: click.Group, words: list[str]) -> None:
    shown = CliRunner().invoke(karat, [*words, "--help"], terminal_width=80, max_content_width=80).output
    listed = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == sorted(group.commands)
    for line in listed:
        assert len(line) <= 80
        assert line.endswith((".", "?"))
        assert not line.endswith("..."), line
