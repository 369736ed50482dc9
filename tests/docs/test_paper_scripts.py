"""The scripts of the papers make every table and figure, and find what was planted."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from simulated import THOROUGH

FOLDER = Path(__file__).parents[2] / "examples" / "papers"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"paper_{name}", FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules.pop("paper", None)
        return module

    return load


@pytest.mark.thorough
def test_users_who_disagree(script, tmp_path: Path) -> None:
    found = script("s0").main(str(tmp_path), engines=12, crowd_queries=60, draws=300, seed=1)
    # 20 and more figures at 95 %: more than four outside would be a chance of 1 in 100.
    assert found.height >= 20
    assert (~found["inside"]).sum() <= 4
    names = {path.name for path in tmp_path.iterdir()}
    assert {f"table-{n}.tex" for n in ("1", "2", "3-kind", "3-quality", "4")} <= names
    assert {f"{name}.svg" for name in ("figure-1", "figures-2-and-3", "figure-4", "figure-5")} <= names


def test_preferences_and_measures(script, tmp_path: Path) -> None:
    found = script("s1").main(str(tmp_path), draws=200, seed=1)
    # 12 figures at 95 %: more than two outside would be a chance of 1 in 50.
    assert (found.height, (~found["inside"]).sum() <= 2) == (12, True)
    assert {f"table-{n}.tex" for n in range(1, 11)} <= {path.name for path in tmp_path.iterdir()}
    # Users mind an empty list: as in the paper, they agree more where one scores 0, whatever the measure.
    zero = (tmp_path / "table-6.tex").read_text()
    row = next(line for line in zero.splitlines() if line.startswith("Agree"))
    assert len({*row.removesuffix(" \\\\").split(" & ")[1:]}) == 1


def test_noisy_judgments(script, tmp_path: Path) -> None:
    found = script("s2").main(str(tmp_path), studies=10_000, queries=150, seed=0)
    assert found["inside"].all()
    names = {path.name for path in tmp_path.iterdir()}
    assert {"table-1.tex", "figure-2.svg", "figure-2.pdf", "section-6-two-scores.tex"} <= names


@pytest.mark.thorough
def test_judging_errors(script, tmp_path: Path) -> None:
    found = script("s3").main(str(tmp_path), queries=25, crowd=18, draws=100, seed=1)
    # Five figures at 95 %: two outside would be a chance of 1 in 40.
    assert (found.height, (~found["inside"]).sum() <= 1) == (5, True)
    names = {path.name for path in tmp_path.iterdir()}
    assert {
        f"table-{n}.tex" for n in ("2-wikipedia", "3-root_url", "4", "4-wikipedia", "5", "6-gold", "6-label", "7")
    } <= names
    assert {f"figure-{n}.svg" for n in (1, 2, 3)} <= names


@pytest.mark.evidence
@pytest.mark.skipif(not THOROUGH, reason="half a minute of charts and tables: make evidence")
def test_context_and_dimensions(script, tmp_path: Path) -> None:
    found = script("s4").main(str(tmp_path), queries=25, seed=1, draws=100)
    # 14 figures at 95 %: more than two outside would be a chance of 1 in 35.
    assert (found.height, (~found["inside"]).sum() <= 2) == (14, True)
    names = {path.name for path in tmp_path.iterdir()}
    assert {f"table-{n}.tex" for n in (1, 2, 3)} | {f"figure-{n}.svg" for n in (2, 3, *range(6, 11))} <= names
    assert {"figures-4-and-5-production.svg", "section-6-reuse.tex", "section-5.1-priming.svg"} <= names
