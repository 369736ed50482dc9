"""`karat plan power` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commands import karat
from karat.simulate.two_systems import two_systems

ROOT = Path(__file__).parents[2]
EXAMPLE = [str(ROOT / "examples" / "python-docs" / name) for name in ("qrels.txt", "bm25.run", "title.run")]


@pytest.fixture
def study(tmp_path: Path) -> list[str]:
    """Labels, two runs and a pilot of gold labels of a simulated comparison, as files."""
    made = two_systems(100, difference=0.05, seed=1)
    drawn = made.draw_gold(300, seed=2)
    made.judgments().frame.write_csv(tmp_path / "labels.csv")
    for run, name in zip(made.runs(), "AB", strict=True):
        rows = run.frame.rows(named=True)
        lines = [f"{r['query']} Q0 {r['doc']} {r['rank']} {100 - r['rank']} {name}\n" for r in rows]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    made.gold(drawn, np.full(len(drawn), 300 / len(drawn))).frame.write_csv(tmp_path / "pilot.csv")
    return [str(tmp_path / name) for name in ("labels.csv", "A.run", "B.run", "pilot.csv")]


def test_the_first_line_is_the_answer() -> None:
    done = karat("plan", "power", "--difference", "0.02", "--sd-difference", "0.2", "-m", "P@10")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "To detect a difference of 0.02 in P@10 with 80% power you need 787 queries."
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_costs_mark_the_cheapest_share() -> None:
    words = [
        "--difference",
        "0.02",
        "--sd-difference",
        "0.2",
        "--gold-variance",
        "0.005",
        "--pool",
        "8",
        "--cost-query",
        "5",
    ]
    done = karat("plan", "power", *words, "--cost-gold", "1")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.rstrip().endswith("yes")]
    assert line.split() == ["0.300", "1,016", "2,439", "7,519", "yes"]
    document = json.loads(karat("plan", "power", *words, "--cost-gold", "1", "--json").stdout)
    assert [row["gold_share"] for row in document["shares"] if row["cheapest"]] == [0.3]


def test_the_spread_comes_from_files(study: list[str]) -> None:
    done = karat("plan", "power", *study[:3], "-m", "P@10", "--difference", "0.05", "--gold", study[3], "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    # True: variance 0.0172, and the labels' is a little more; eight documents of a query count for one system only.
    assert 0.1 < document["sd"] < 0.17
    assert document["pool"] == 8
    assert 0.005 < document["gold_variance"] < 0.02
    assert len(document["shares"]) == 5
    plain = karat("plan", "power", *study[:3], "-m", "nDCG@10", "--difference", "0.05")
    assert "in nDCG@10 with 80% power you need" in plain.stdout
    assert "95% CI [" in plain.stdout


def test_the_example_runs() -> None:
    done = karat("plan", "power", *EXAMPLE, "-m", "P@10", "--difference", "0.05")
    assert done.returncode == 0, done.stderr
    assert "estimated from the labels of 12 queries" in done.stdout.replace("\n  ", " ")


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        ([], "give --sd-difference, or LABELS RUN_A RUN_B", 2),
        (["--sd-difference", "0"], "the standard deviation: expected a number above 0", 2),
        (["--sd-difference", "0.2", "--gold", "pilot.csv"], "expected LABELS RUN_A RUN_B with it, found no files", 2),
        (["--sd-difference", "0.2", "--gold-share", "0.5"], "give a pilot with --gold, or --gold-variance", 2),
        (["--sd-difference", "0.2", "--power", "1"], "the power: expected a share above alpha", 2),
        (["--sd-difference", "1e9"], "out of reach", 1),
        (["labels.csv", "a.run", "--sd-difference", "0.2"], "expected no files with it", 2),
        (["labels.csv"], "expected LABELS RUN_A RUN_B", 2),
    ],
)
def test_bad_questions_get_answers_that_help(words: list[str], said: str, code: int) -> None:
    done = karat("plan", "power", "--difference", "0.02", *words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_power_without_a_difference_asks_for_one() -> None:
    done = karat("plan", "power", "--sd-difference", "0.2")
    assert (done.returncode, done.stderr) == (
        2,
        "karat: give the smallest difference worth detecting, such as --difference 0.02\n",
    )
