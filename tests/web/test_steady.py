"""Bodies that no JSON can hold, people who come at once, the same answer twice at once: nothing fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl
import pytest

from karat.records import Platform
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge, all_judges
from karat.study.queue import next_task
from karat.study.tasks import add_tasks


@pytest.mark.parametrize(
    "body",
    [
        b'{"label": NaN}',
        b'{"label": 1e999}',
        b'{"label": 1, "seconds": -Infinity}',
        b'{"label": 1, "comment": "\\ud800"}',
        b'{"label": 1, "key": "\\udfff"}',
        b'{"label": 1, "\\ud800": 1}',
        b'{"label": "\\ud800"}',
        b'{"label": 1, "comment": "\\u0000"}',
        b"\xff\xfe",
        b"[[[",
    ],
)
def test_a_body_that_cannot_be_kept_is_refused_in_words(served: Any, body: bytes) -> None:
    judge = served.judge()
    task = judge.get("/api/task/next").json()["task"]["id"]
    said = judge.post(f"/api/task/{task}/answer", content=body, headers={"Content-Type": "application/json"})
    assert said.status_code in (400, 422), said.text
    assert isinstance(said.json()["detail"], str)
    assert judge.post(f"/api/task/{task}/answer", json={"label": 1}).status_code == 200


@pytest.mark.parametrize("wait", ["²", "٣", "-1", "1e3", "60"])
def test_the_sign_in_page_takes_any_wait(served: Any, wait: str) -> None:
    said = served.client().get("/signin", params={"wait": wait})
    assert (said.status_code, "Wait 60 seconds" in said.text) == (200, wait == "60")


def test_nobody_who_comes_at_once_is_turned_away(serving: Any) -> None:
    here = serving(platform=Platform(prolific=True))
    with ThreadPoolExecutor(12) as pool:
        came = list(
            pool.map(lambda n: here.client().get(f"/enter?PROLIFIC_PID=p{n % 30}").headers["location"], range(36))
        )
    assert came == ["/welcome"] * 36
    assert sorted(row["name"] for row in all_judges(here.store)) == sorted(f"judge {n + 1}" for n in range(30))


def test_a_place_sends_so_many_new_people_a_minute_and_who_is_known_comes_in(served_with_platform: Any) -> None:
    visitor = served_with_platform.client()
    came = [visitor.get(f"/enter?PROLIFIC_PID=p{n}").headers["location"] for n in range(102)]
    assert came == ["/welcome"] * 100 + ["/message?about=full"] * 2
    assert visitor.get("/enter?PROLIFIC_PID=p3").headers["location"] == "/welcome"
    assert "in a minute" in visitor.get("/message?about=full").text


def test_no_code_without_answers(serving: Any) -> None:
    here = serving(platform=Platform(prolific=True, completion_code="C1"))
    for _ in range(2):
        judge = add_judge(here.store)[0]["id"]
        while (task := next_task(here.store, judge).task) is not None:
            answer(here.store, judge, task["id"], Answer(label=1))
    visitor = here.client()
    visitor.get("/enter?PROLIFIC_PID=p")
    assert visitor.get("/api/task/next").json()["completion"] is None
    page = visitor.get("/done").text
    assert "C1" not in page
    assert "no code to hand in" in page
    assert all_judges(here.store)[-1]["completion"] is None
    add_tasks(here.store, pl.DataFrame({"query": ["q"], "doc": ["new"]}))
    token = {"X-CSRF-Token": visitor.get("/api/me").json()["csrf"]}
    task = visitor.get("/api/task/next").json()["task"]["id"]
    visitor.post(f"/api/task/{task}/answer", json={"label": 1}, headers=token)
    assert visitor.get("/api/task/next").json()["completion"]["code"] == "C1"
