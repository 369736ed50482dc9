"""`karat plan context` shows counts and costs, and writes tasks only when told where."""

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


def test_the_three_schemes_are_shown_and_nothing_is_written(run: str) -> None:
    found = call(run, "--cost-alone", "0.5", "--cost-in-context", "1")
    assert found.exit_code == 0
    assert found.output.startswith("For 10 queries, judging in context costs 41 (cheaper), 115 (as the paper)")
    table = [line.split() for line in found.output.splitlines() if line.startswith(("cheaper ", "paper ", "fuller "))]
    assert [line[-1] for line in table] == ["41", "115", "220"]  # as in the sentence
    assert [path.name for path in Path(run).parent.iterdir()] == ["mine.run"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_tasks_are_written_and_read_back(run: str, ending: str) -> None:
    out = str(Path(run).with_name(f"tasks.{ending}"))
    found = call(run, "--n-judges", "2", "--out", out)
    assert "Wrote" in found.stderr
    tasks = pl.read_csv(out) if ending == "csv" else pl.read_ndjson(out)
    assert tasks.height == 150
    assert tasks.columns[:5] == ["query", "doc", "context", "setting", "judge"]


def test_json_has_the_schemes_and_every_task(run: str) -> None:
    found = json.loads(call(run, "--json").stdout)
    assert [row["judgments"] for row in found["schemes"]["rows"]] == [66, 150, 270]
    assert len(found["plan"]["rows"]) == 150


def test_two_files_of_one_system_name_are_two_systems(run: str) -> None:
    other = Path(run).with_name("other.run")
    other.write_text("\n".join(f"q{n} Q0 e{i} {i + 1} {10 - i} mine" for n in range(10) for i in range(10)))
    found = json.loads(call(run, str(other), "--json").stdout)
    assert [row["judgments"] for row in found["schemes"]["rows"]] == [132, 300, 540]


def test_odd_names_are_refused_before_anything_is_printed(run: str) -> None:
    for words, says in (
        (["--out", "tasks.xlsx"], "ends in .csv"),
        (["--json", "--out", "-"], "choose one"),
        (["--scheme", "best", "--json"], "cheaper or paper or fuller"),
        (["--cost-alone", "-1"], "the cost of a judgment alone: expected a number from 0, found -1"),
    ):
        with pytest.raises(BadInput, match=says):
            call(run, *words)


def test_standard_output_gets_the_tasks_alone(run: str) -> None:
    assert call(run, "--out", "-").stdout.startswith("query,doc,context,setting,judge,session,order,probability\n")
