"""`karat plan context` shows the plan, and writes it only when told where."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput


@pytest.fixture
def run(tmp_path: Path) -> str:
    path = tmp_path / "mine.run"
    lines = [f"q{n} Q0 d{i} {i + 1} {10 - i} mine" for n in range(10) for i in range(10)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def call(*words: str) -> Result:
    return CliRunner().invoke(karat, ["plan", "context", *words], catch_exceptions=False)


def test_the_plan_is_shown_and_nothing_is_written(run: str) -> None:
    found = call(run, "--n-judges", "2")
    assert found.exit_code == 0
    assert found.output.startswith("150 judgments of 10 queries are to be collected, 70 alone and 80 in context.")
    assert [path.name for path in Path(run).parent.iterdir()] == ["mine.run"]
    assert len(json.loads(call(run, "--json").stdout)["rows"]) == 150


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_tasks_are_written_and_read_back(run: str, ending: str) -> None:
    out = str(Path(run).with_name(f"tasks.{ending}"))
    found = call(run, "--n-judges", "2", "--out", out)
    assert "Wrote" in found.stderr
    tasks = pl.read_csv(out) if ending == "csv" else pl.read_ndjson(out)
    assert tasks.height == 150
    assert tasks.columns[:5] == ["query", "doc", "context", "setting", "judge"]


def test_two_files_of_one_system_name_are_two_systems(run: str) -> None:
    other = Path(run).with_name("other.run")
    other.write_text("\n".join(f"q{n} Q0 e{i} {i + 1} {10 - i} mine" for n in range(10) for i in range(10)))
    found = json.loads(call(run, str(other), "--json").stdout)
    assert len(found["rows"]) == 300


def test_odd_names_are_refused_before_anything_is_printed(run: str) -> None:
    for words, says in (
        (["--out", "tasks.xlsx"], "ends in .csv"),
        (["--json", "--out", "-"], "choose one"),
        (["--share", "1.5"], "a share from 0 to 1"),
    ):
        with pytest.raises(BadInput, match=says):
            call(run, *words)


def test_standard_output_gets_the_tasks_alone(run: str) -> None:
    assert call(run, "--out", "-").stdout.startswith("query,doc,context,setting,judge,session,order,probability\n")
