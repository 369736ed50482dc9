"""The documentation says what the code does: the measures' page is current, the README's examples run."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

import karat as kt
from commands import typed
from karat.cli import karat
from karat.cli.lazy_group import LazyGroup
from karat.measures import MEASURES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_measures_is_current() -> None:
    page = script("make_measures").page()
    assert (ROOT / "docs" / "measures.md").read_text() == page, "run python docs/make_measures.py"


def test_the_page_of_python_is_current_and_names_every_function() -> None:
    page = (ROOT / "docs" / "python-reference.md").read_text()
    assert page == script("make_python").page(), "run python docs/make_python.py"
    assert " object at 0x" not in page
    for name in dir(kt):
        if inspect.isfunction(getattr(kt, name)):
            assert f"\n### kt.{name}\n" in page, name


def test_the_readmes_commands_print_what_the_readme_shows() -> None:
    blocks = re.findall(r"```\n\$ (karat \w+ examples/.*?)\n(.*?)```", README, re.DOTALL)
    assert blocks
    for line, expected in blocks:
        done = typed(line, ROOT)
        assert done.returncode == 0, done.stderr
        assert [shown.rstrip() for shown in done.stdout.splitlines()] == expected.splitlines()


def test_the_readmes_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(ROOT)
    exec(block[1], {})
    said = re.search(r"print\(scores\) +# (.*)", block[1])
    assert said is not None
    assert capsys.readouterr().out.startswith(said[1])


def test_every_command_is_in_the_readme_and_every_option_has_help() -> None:
    for name in karat.loaded:
        assert f"karat {name}" in README, name
    for name, command in every_command(karat, "karat"):
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)


def test_every_command_has_an_example() -> None:
    for name, command in every_command(karat, "karat"):
        if not isinstance(command, click.Group):
            assert f"  {name}" in (command.epilog or ""), name


def test_the_page_of_commands_is_current_and_names_every_option() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    assert page == script("make_reference").page(), "run python docs/make_reference.py"
    for name, command in every_command(karat, "karat"):
        part = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for option in command.params:
            if isinstance(option, click.Option):
                assert f"`{option.opts[-1]}`" in part, (name, option.name)


def test_the_page_of_options_is_current() -> None:
    page = script("make_reference").options_page()
    assert (ROOT / "docs" / "options.md").read_text() == page, "run python docs/make_reference.py"


def test_no_option_has_two_meanings_and_no_meaning_two_names() -> None:
    meanings: dict[str, dict[str, list[str]]] = script("make_reference").meanings()
    assert {name: said for name, said in meanings.items() if len(said) > 1} == {}
    names = [spelled for name in meanings for spelled in name.split(", ")]
    assert len(names) == len({*names}), "a long and a short name always go together"
    said = [text for by_meaning in meanings.values() for text in by_meaning]
    assert len(said) == len({*said})


def test_every_measure_is_documented() -> None:
    page = (ROOT / "docs" / "measures.md").read_text()
    for name in MEASURES:
        assert f"\n## {name}\n" in page, name


def every_command(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in (group.loaded if isinstance(group, LazyGroup) else group.commands).items():
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{before} {name}")


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)
