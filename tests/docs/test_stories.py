"""The tutorial, the how-tos, the Python page and the README's demo run, and print what they show."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from pydoc_data.topics import topics

import pytest

import groonga
from commands import typed
from stories import BLOCK, ROOT, holds, same_lists

FETCHING = ROOT / "docs" / "how-to" / "fetch-from-an-engine.md"
COLLEAGUES = ROOT / "docs" / "how-to" / "judge-with-colleagues.md"  # has a server: test_afternoon.py
PAGES = [ROOT / "docs" / "tutorial.md", *sorted({*(ROOT / "docs" / "how-to").glob("*.md")} - {FETCHING, COLLEAGUES})]
#: Stories that take seconds; the demo that the README and the tutorial show is run by demo/test_demo.py, too.
LONG = ("tutorial", "run-a-crowd-study", "trust-an-llm-judge", "watch-gold-labels")
STORIES = [pytest.param(page, marks=[pytest.mark.thorough] * (page.stem in LONG), id=page.stem) for page in PAGES]
#: The topics of `help()` that the page about fetching was written with; another Python has others.
TOPICS = "37b51a0283fe8609"


def said(command: str, folder: Path) -> str:
    done = typed(command, folder)
    assert done.returncode == 0, (command, done.stderr)
    return "\n".join(text.rstrip() for text in done.stdout.splitlines())


@pytest.mark.parametrize("page", STORIES)
def test_a_pages_commands_print_what_it_shows(page: Path, demo_folder: Path, tmp_path: Path) -> None:
    text = page.read_text()
    if "karat-demo/" in text:
        shutil.copytree(demo_folder, tmp_path / "karat-demo")
    if "examples/" in text:
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, shown in BLOCK.findall(text):
        output = said(f"{command} --no-report" if command == "karat demo" else command, tmp_path)
        if "karat-demo" not in text or same_lists():
            holds(output, shown)


def test_the_page_about_fetching_and_its_example_run_with_a_real_engine(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    with groonga.or_skip(groonga.with_topics()) as url:
        engines = tmp_path / "examples" / "groonga" / "engines.toml"
        engines.write_text(engines.read_text().replace("http://localhost:10041", url))
        blocks = BLOCK.findall(FETCHING.read_text())
        assert len(blocks) == 3
        for command, shown in blocks:
            output = said(command, tmp_path).replace(url, "http://localhost:10041")
            if hashlib.sha256(json.dumps(topics).encode()).hexdigest().startswith(TOPICS):
                holds(output, shown)


def test_the_readme_shows_the_verdict_as_the_tutorial_does() -> None:
    blocks = [
        next(shown for command, shown in BLOCK.findall((ROOT / name).read_text()) if command == "karat demo")
        for name in ("README.md", "docs/tutorial.md")
    ]
    assert blocks[0] == blocks[1]


def test_the_python_page_is_twenty_lines_that_run(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert block is not None
    assert len([line for line in block[1].splitlines() if line.strip()]) <= 20
    monkeypatch.chdir(demo_folder.parent)
    exec(block[1], {})
    printed = capsys.readouterr().out
    assert "looks like a spammer: crowd-01" in printed
    assert "is better than bm25" in printed
