"""Whatever people do: when all judges hear "done", every task has what it wants, or the lead is told what is left
and why."""

from __future__ import annotations

import pytest

from histories import History, NothingKept
from karat.study.database import Database
from random_plans import PLANS
from simulated import studies


@pytest.mark.parametrize("kind", list(PLANS))
def test_when_all_hear_done_everything_is_there_or_the_lead_is_told(kind: str, database: str) -> None:
    """Each step as a transaction of its own, as judges' are."""
    own = Database.open("sqlite://" if database.endswith(".db") else database)
    for seed in range(2):
        History(seed, kind, own).whole()
    own.close()


@pytest.mark.evidence
@pytest.mark.parametrize("kind", list(PLANS))
def test_of_many_more_histories(kind: str, database: str) -> None:
    """`python benchmarks/queue_histories.py` has the ten thousands."""
    own = NothingKept.open("sqlite://" if database.endswith(".db") else database)
    for seed in studies(5, 200):
        with own.history():
            History(seed, kind, own).whole()
    own.close()
