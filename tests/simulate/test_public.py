"""`kt.simulate` makes what `karat simulate` makes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import karat as kt
from karat.cli.simulate import simulate as command

#: The function of each kind of study that the command makes.
FUNCTIONS = {
    "bronze": "bronze_scores",
    "two-systems": "two_systems",
    "judging": "judging_study",
    "context": "context_study",
    "disagreement": "disagreement_study",
    "llm-judge": "llm_study",
    "preferences": "preference_study",
    "clicks": "position_log",
    "interleaving": "team_draft_log",
}


def test_every_simulated_study_has_a_function_in_python() -> None:
    assert {name for section in command.sections.values() for name in section} == FUNCTIONS.keys()
    assert {*FUNCTIONS.values()} <= {*kt.simulate.__all__}


def test_simulate_is_there_without_another_import() -> None:
    line = "import karat as kt; print([run.systems for run in kt.simulate.two_systems(10).runs()])"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[['A'], ['B']]"


@pytest.mark.parametrize("name", ["position_log", "team_draft_log"])
def test_a_simulated_log_is_read_by_the_analysis_of_clicks(name: str) -> None:
    made = getattr(kt.simulate, name)(seed=3)
    log = made if isinstance(made, kt.ClickLog) else made.log
    assert len(kt.Clicks.of(log)) > 0
