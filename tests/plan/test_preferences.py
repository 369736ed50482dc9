"""Planning a study of preferences: pairs and judges by hand, and the power that was planned in simulated studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from commands import typed
from karat.errors import BadInput, Undefined
from karat.plan import plan_preferences
from karat.plan.preference_power import majority
from karat.stats.hypothesis_tests import binomial_p
from simulated import about, studies


def test_the_majority_of_two_judges_by_hand() -> None:
    """Each right .56, wrong .24, equal .2: right both, or one of them and the other equal."""
    right, wrong = majority(2, 0.7, 0.2)
    assert right == pytest.approx(0.56**2 + 2 * 0.56 * 0.2)
    assert wrong == pytest.approx(0.24**2 + 2 * 0.24 * 0.2)


def test_judges_who_never_err_leave_the_test_of_a_coin() -> None:
    """Of n pairs all decided, the fewest from which on a two-sided test at 0.05 sees 75 % with power 80 %."""
    planned = plan_preferences(0.75, judge_right=1.0, equal=0.0, judges=[1]).frame.row(0, named=True)

    def chance(n: int) -> float:
        edge = next(wins for wins in range(n + 2) if binom.sf(wins - 1, n, 0.5) <= 0.025)
        return float(binom.sf(edge - 1, n, 0.75))

    short = [n for n in range(5, 120) if chance(n) < 0.8]
    assert planned["pairs"] == short[-1] + 1
    assert planned["seen"] == pytest.approx(0.75)


def test_more_judges_need_fewer_pairs_and_the_fewest_answers_are_named() -> None:
    found = plan_preferences(0.7, judges=[8, 1, 3])
    assert found.frame["judges"].to_list() == [1, 3, 8]
    assert found.frame["pairs"].is_sorted(descending=True)
    assert found.frame.filter("cheapest")["answers"].item() == found.frame["answers"].min()
    assert found.finding.startswith(f"{found.frame['pairs'][0]} pairs with one judge each show with power 80 %")


@pytest.mark.evidence
@pytest.mark.parametrize("judges", [1, 3, 8])
def test_the_planned_power_comes_out(judges: int) -> None:
    pairs = plan_preferences(0.7, judges=[judges]).frame["pairs"].item()
    number = len(studies(600, 20000))
    rng = np.random.default_rng(judges)
    vote = rng.choice([1, 0, -1], p=[0.56, 0.2, 0.24], size=(number, pairs, judges)).sum(axis=2)
    measure = np.where(rng.random((number, pairs)) < 0.7, 1, -1)
    agree, disagree = (np.sum(np.sign(vote) * measure == way, axis=1) for way in (1, -1))
    known: dict[tuple[int, int], bool] = {}
    for counts in zip(agree.tolist(), disagree.tolist(), strict=True):
        known.setdefault(counts, counts[0] > counts[1] and binomial_p(*counts) < 0.05)
    shown = np.mean([known[counts] for counts in zip(agree.tolist(), disagree.tolist(), strict=True)])
    # The promise holds for so many pairs and all more, so the power may be a little above.
    assert shown == about(0.81, number, off=0.012)


def test_what_cannot_be_planned_is_said() -> None:
    with pytest.raises(BadInput, match=r"above 0\.5"):
        plan_preferences(0.5)
    with pytest.raises(Undefined, match="is seen as"):
        plan_preferences(0.7, more_than=0.69, judges=[1])


def test_the_plan_from_the_command_line(tmp_path: Path) -> None:
    done = typed("karat plan preferences --agreement 0.75 --judges-each 8", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "63 pairs with 8 judges each (504 answers) show with power 80 %" in " ".join(done.stdout.split())
