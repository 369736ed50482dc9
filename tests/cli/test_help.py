"""`karat --help` as people see it in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from karat.cli import karat
from karat.cli.lazy_group import LazyGroup


def commands(group: click.Group) -> dict[str, click.Command]:
    return group.loaded if isinstance(group, LazyGroup) else group.commands


def groups(group: click.Group, words: list[str]) -> Iterator[tuple[click.Group, list[str]]]:
    yield group, words
    for name, command in commands(group).items():
        if isinstance(command, click.Group):
            yield from groups(command, [*words, name])


@pytest.mark.parametrize(
    ("group", "words"), list(groups(karat, [])), ids=lambda x: " ".join(x) if isinstance(x, list) else ""
)
def test_every_command_has_one_whole_line_in_80_columns(group: click.Group, words: list[str]) -> None:
    shown = CliRunner().invoke(karat, [*words, "--help"], terminal_width=80, max_content_width=80).output
    listed = [
        line
        for line in shown.partition("-h, --help")[2].partition("Examples:")[0].splitlines()[1:]
        if line.startswith("  ") and line.strip()
    ]
    assert sorted(line.split()[0] for line in listed) == sorted(commands(group))
    for line in listed:
        assert len(line) <= 80
        assert line.endswith((".", "?"))
        assert not line.endswith("..."), line
