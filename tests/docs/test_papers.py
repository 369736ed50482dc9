"""The pages of the papers: every command that they list runs, and prints the figures beside it; every word leads on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

from commands import typed
from karat.cli import karat
from karat.cli.help_ import WORDS, lookup, words

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "papers").glob("*-20*.md"))
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))
#: Pages whose commands take seconds; the others hold in make test that commands of a page are found and run.
LONG = ("demeester-2014", "golbus-2014", "kazai-2012", "sanderson-2010")
PAPERS = [pytest.param(page, marks=[pytest.mark.thorough] * (page.stem in LONG), id=page.stem) for page in PAGES]
BLOCK = re.compile(r"^\$ (karat .*)$", re.MULTILINE)
#: Scripts that prepare public research data, and the folder that they write to.
SCRIPT = re.compile(r"^\$ python (examples/\S+) (.* --out (\S+))$", re.MULTILINE)
#: What is in the paper, the command, what is printed there, what karat prints.
ROW = re.compile(r"^\| (.+?) \| (?:`(karat .+?)`)? ?\| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d.,]*\d(?: %)?|\d")


def rows(page: Path) -> list[tuple[str, str, str]]:
    """What is in the paper, the command, and the figures that it is to print."""
    return [(row[0], row[1], row[3]) for row in ROW.findall(table(page)) if row[0] != "in the paper"]


def table(page: Path) -> str:
    """The table of what is in the paper; a page may have others."""
    head, *rest = page.read_text().partition("| in the paper |")[1:]
    return (head + rest[0]).partition("\n\n")[0]


def test_every_paper_has_a_page_and_every_page_rows() -> None:
    listed = re.findall(r"\]\((\w+-\d+\.md)\)", (ROOT / "docs" / "papers" / "README.md").read_text())
    assert sorted(listed) == [page.name for page in PAGES]
    for page in PAGES:
        lines = [line for line in table(page).splitlines() if line.startswith("| ") and "---" not in line]
        assert len(lines) == len(rows(page)) + 1, f"{page.name}: a row that is not read"


@pytest.mark.parametrize("page", PAPERS)
def test_the_commands_of_a_page_print_its_figures(page: Path, tmp_path: Path) -> None:
    for command in BLOCK.findall(page.read_text()):
        assert typed(command, tmp_path).returncode == 0, command
    (tmp_path / "data").symlink_to(DATA)
    scripts = SCRIPT.findall(page.read_text())
    for script, arguments, _ in scripts if DATA.is_dir() else ():
        subprocess.run([sys.executable, ROOT / script, *arguments.split()], cwd=tmp_path, check=True)
    needs_data = ("data/", *(f"{folder}/" for *_, folder in scripts))
    printed, missing = dict[str, str](), []
    for place, command, figures in rows(page):
        if not command or (any(name in command for name in needs_data) and not DATA.is_dir()):
            continue
        if command not in printed:
            done = typed(command, tmp_path)
            refused = figures.startswith("refused: ")
            assert (done.returncode != 0) == refused, (place, command, done.stderr)
            printed[command] = " ".join((done.stderr if refused else done.stdout).split())
        told = printed[command]
        lost = [one for one in NUMBER.findall(figures) if not re.search(rf"(?<![\d.]){re.escape(one)}(?!\d)", told)]
        missing += [(place, lost, told[:400])] if lost else []
    assert not missing


def test_every_word_leads_to_a_command_and_a_page_that_are_there() -> None:
    for word, entry in words().items():
        assert (ROOT / entry["page"]).is_file(), word
        group, command = karat, None
        for part in entry["command"].split()[1:]:
            if part.startswith("-"):
                break
            command = group.loaded[part]
            group = command if hasattr(command, "loaded") else group  # type: ignore[assignment]
        assert command is not None, word


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("isolation", "isolation"),
        ("SERP", "SERP"),
        ("conditional", "conditional"),
        ("self-consistency", "self-consistency"),
        ("FedWeb", "federated"),
        ("IA-PC", "IA-PC"),
        ("CR", "CR"),
    ],
)
def test_the_papers_words_are_understood(asked: str, word: str, tmp_path: Path) -> None:
    assert lookup(asked) == [word]
    told = typed(f"karat help {asked}", tmp_path).stdout
    assert words()[word]["page"] in told
    assert words()[word]["command"] in told


def test_an_unknown_word_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = typed("karat help isolatoin", tmp_path)
    assert done.returncode == 2
    assert "did you mean isolation" in done.stderr


def test_the_page_of_words_is_current() -> None:
    page = run_path(str(ROOT / "docs" / "make_reference.py"))["words_page"]()
    assert (ROOT / "docs" / "words.md").read_text() == page, "run python docs/make_reference.py"


def test_the_words_stand_by_the_alphabet() -> None:
    names = re.findall(r'^"(.+?)" = ', WORDS.read_text(), re.MULTILINE)
    assert names == sorted(names, key=str.casefold)
