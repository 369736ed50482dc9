"""The interface for data: tasks that are sent in."""

from __future__ import annotations

import json
from typing import Any

import pytest


def rows_of(lead: Any) -> int:
    """How many tasks there are."""
    return len(lead.get("/api/export/tasks.jsonl").text.splitlines())


def test_rows_that_repeat_each_other_are_one_task_and_said(served: Any) -> None:
    lead, before = served.lead(), rows_of(served.lead())
    document = {"query": "q", "doc": "new"}
    pair = {"query": "q", "left": "one", "right": "two"}
    turned = {"query": "q", "left": "two", "right": "one"}
    tasks = [document, pair, document, {"query": "q", "doc": "new", "context": "a"}, turned, document]
    said = lead.post("/api/tasks", json={"tasks": tasks}).json()
    assert said["new"] == 3
    assert said["merged"] == [{"row": 3, "with": 1}, {"row": 5, "with": 2}, {"row": 6, "with": 1}]
    assert rows_of(lead) == before + 3
    assert lead.post("/api/tasks", json={"tasks": tasks}).json()["new"] == 0
    said = lead.post("/api/tasks", json={"tasks": [{"query": "q", "doc": "x"}]}).json()
    assert (said["new"], said["merged"], said["known"]) == (1, [], [])


def test_rows_that_are_there_already_are_named_and_what_stands_of_them(served: Any) -> None:
    lead = served.lead()
    same, more, drawn = ({"query": "q", "doc": doc} for doc in "abc")  # there already, two labels each
    tasks = [{"query": "q", "doc": "new"}, same, same, more | {"labels": 5}, drawn | {"probability": 0.5, "labels": 2}]
    said = lead.post("/api/tasks", json={"tasks": tasks}).json()
    assert (said["new"], said["known"], said["labels_kept"]) == (1, [2, 4, 5], [4])
    assert (said["probability_set"], said["probability_kept"]) == ([5], [])
    other = lead.post("/api/tasks", json={"tasks": [drawn | {"probability": 0.25}, same]})
    assert (other.status_code, "another of the same round" in other.text) == (422, True)
    later = [drawn | {"probability": 0.75, "round": 2}]
    assert lead.post("/api/tasks", json={"tasks": later}).json()["known"] == [1]
    said = lead.post("/api/tasks", json={"tasks": [drawn | {"probability": 0.5}, same]}).json()
    assert (said["known"], said["probability_set"], said["probability_kept"]) == ([1, 2], [], [1])
    exported = [json.loads(line) for line in lead.get("/api/export/tasks.jsonl").text.splitlines()]
    found = {row["doc"]: (row["wanted"], row["probability"]) for row in exported}
    assert found == {"a": (2, None), "b": (2, None), "c": (2, 0.75), "new": (2, None)}


def test_gold_labels_of_a_plan_have_a_row_for_what_waits_and_the_dashboard_a_link_to_them(served: Any) -> None:
    lead = served.lead()
    assert "/api/export/gold.csv" not in lead.get("/lead").text
    lead.post("/api/tasks", json={"tasks": [{"query": "q", "doc": "new", "probability": 0.5}]})
    assert "/api/export/gold.csv" in lead.get("/lead").text
    assert lead.get("/api/export/gold.csv").text.splitlines()[1:] == ["q,new,,,judges,0.5"]


@pytest.mark.parametrize("more", [{"labels": 3}, {"probability": 0.5}, {"gold": 1}])
def test_rows_that_ask_the_same_in_two_ways_are_refused_with_their_numbers(served: Any, more: dict[str, Any]) -> None:
    lead, before = served.lead(), rows_of(served.lead())
    tasks = [{"query": "q", "doc": "b2"}, {"query": "q", "doc": "c2"}, {"query": "q", "doc": "b2"} | more]
    refused = lead.post("/api/tasks", json={"tasks": tasks})
    assert refused.status_code == 422
    (name,) = more
    assert f"the tasks row 3: expected the {name} of row 1, which asks the same" in refused.json()["detail"]
    assert rows_of(lead) == before
