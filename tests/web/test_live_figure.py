"""The live verdict in the app: for leads alone, never waited for, and made anew only when something was said."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from karat.errors import BadInput
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.tasks import add_tasks
from karat.web.background import LiveFigure
from web.conftest import serve


def test_who_asks_gets_what_is_there_and_a_new_one_is_made_when_something_was_said() -> None:
    made: list[int] = []
    gate = threading.Event()

    def make() -> dict[str, Any]:
        gate.wait(10)
        made.append(1)
        return {"finding": f"figure {len(made)}"}

    figure = LiveFigure(make)
    assert figure.get(1)["state"] == "at work"
    assert figure.get(1)["state"] == "at work"
    gate.set()
    figure.wait()
    assert figure.get(1) == {"finding": "figure 1"}
    figure._rests_until = 0.0  # it took no time worth a rest
    assert figure.get(2) == {"finding": "figure 1"}
    figure.wait()
    assert figure.get(2) == {"finding": "figure 2"}
    assert len(made) == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [(BadInput("no runs"), "No verdict yet: no runs."), (ZeroDivisionError(), "The verdict could not be worked out.")],
)
def test_what_goes_wrong_is_said_and_judging_goes_on(error: Exception, said: str) -> None:
    def make() -> dict[str, Any]:
        raise error

    figure = LiveFigure(make)
    figure.get(1)
    figure.wait()
    assert figure.get(1)["finding"] == said


def test_only_a_lead_sees_the_verdict_and_only_where_a_plan_drew_documents(tmp_path: Path) -> None:
    figure = LiveFigure(lambda: {"finding": "B is better", "state": "stop"})
    here = serve(str(tmp_path / "karat.db"), live=figure)
    lead, judge = here.lead(), here.judge()
    assert lead.get("/api/live").json()["state"] == "none"
    add_tasks(here.store, pl.DataFrame({"query": ["x"], "doc": ["a"], "probability": [0.5]}))
    assert lead.get("/api/live").json()["state"] == "at work"
    figure.wait()
    assert lead.get("/api/live").json()["finding"] == "B is better"
    for someone in (judge, here.client()):
        assert someone.get("/api/live").status_code == 401
    for path in ("/judge", "/api/me", "/api/task/next", "/welcome"):
        assert "B is better" not in judge.get(path).text
    who, _ = add_judge(here.store, name="ann")
    task = next_task(here.store, who["id"]).task
    assert task is not None
    answer(here.store, who["id"], task["id"], Answer(label=1.0, seconds=1.0))
    assert lead.get("/api/live").json()["finding"] == "B is better"  # the old one, while the next is made
    here.store.close()
