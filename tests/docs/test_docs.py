"""The documentation says what the code does: the measures' page is current, the README's examples run."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from karat.cli import karat

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_page_of_measures_is_current() -> None:
    path = ROOT / "docs" / "make_measures.py"
    spec = importlib.util.spec_from_file_location("make_measures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "measures.md").read_text() == module.page(), "run python docs/make_measures.py"


def test_the_readmes_commands_print_what_the_readme_shows() -> None:
    blocks = re.findall(r"```\n\$ (karat \w+ examples/.*?)\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for words, expected in blocks:
        command = words.replace("karat", f"{sys.executable} -m karat.cli", 1)
        shown = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert [line.rstrip() for line in shown.splitlines()] == expected.splitlines()


def test_the_readmes_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(ROOT)
    exec(block[1], {})
    said = re.search(r"print\(scores\) +# (.*)", block[1])
    assert said is not None
    assert capsys.readouterr().out.startswith(said[1])


def test_every_command_is_in_the_readme_and_every_option_has_help() -> None:
    for name, command in karat.commands.items():
        assert f"karat {name}" in README, name
        parts = {} if not isinstance(command, click.Group) else command.commands
        for part in parts:
            assert f"karat {name} {part}" in README, part
        for option in [option for one in [command, *parts.values()] for option in one.params]:
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)
