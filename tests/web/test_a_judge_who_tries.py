"""A judge who tries to tell traps, systems and sides from all that is sent, counted and refused; and finds nothing."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from sqlalchemy import event

from karat.records import Documents, Queries, Rules, Runs, Scale, StudyDesign
from karat.study.store import Store
from karat.study.task_material import Material
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from served import Served

TRAP = {"left": "good", "right": "bad", "right_query": "x0", "trap": True, "expected": "left"}


@pytest.fixture
def crafty(tmp_path: Any) -> Any:
    """Twelve pairs and six traps of two systems whose documents nobody can tell apart by name."""
    study = StudyDesign(uuid4().hex, "Pairs", Scale.parse("0..3"), rules=Rules(judges_per_pair=9, block=3))
    store = Store.open(str(tmp_path / "karat.db"), study)
    queries = [f"q{n}" for n in range(12)]
    real = [{"query": query, "left": "good", "right": "bad"} for query in queries]
    add_tasks(store, pl.DataFrame([*real, *({"query": q} | TRAP for q in queries[:6])], infer_schema_length=None))
    docs = [f"{q}-{n}" for q in [*queries, "x0"] for n in range(6)]
    runs = [
        Runs.of(
            [
                {"system": s, "query": q, "doc": f"{q}-{n}", "score": 9.0 - rank}
                for q in [*queries, "x0"]
                for rank, n in enumerate(tops)
            ]
        )
        for s, tops in (("good", (0, 1, 2)), ("bad", (3, 4, 5)))
    ]
    material = Material(
        queries=Queries.of([{"query": q, "text": f"what of {q}"} for q in queries]),
        documents=Documents.of([{"doc": doc, "title": "Title", "text": "Text"} for doc in docs]),
        runs=runs,
    )
    yield Served(create_app(study, store, material), store)
    store.close()


def shape(said: Any) -> Any:
    """What a reply looks like, without the words: the names and types of its parts."""
    if isinstance(said, dict):
        return {name: shape(value) for name, value in said.items()}
    return [shape(value) for value in said[:1]] if isinstance(said, list) else type(said).__name__


def test_pairs_and_traps_are_answered_counted_and_refused_alike(crafty: Any) -> None:
    seen: dict[bool, list[Any]] = {True: [], False: []}
    numbers, first_of_first = [], []
    for _ in range(4):
        judge = crafty.judge()
        acts = {trap: ["later", "cant-tell", "answer"] for trap in (True, False)}
        while (turn := judge.get("/api/task/next").json())["task"] is not None:
            task = turn["task"]
            trap = {doc["doc"].split("-")[0] for doc in task["left"]} != {d["doc"].split("-")[0] for d in task["right"]}
            path = f"/api/task/{task['id']}"
            good = next(side for side in ("left", "right") if task[side][0]["doc"].endswith("-0"))
            before = judge.get("/api/me").json()["progress"]
            act = acts[trap].pop() if acts[trap] else "answer"
            body = {"choice": good, "reason": "so"} if act == "answer" else {"reason": "other"}
            said = judge.post(f"{path}/{'skip' if act == 'later' else act}", json=body)
            after = judge.get("/api/me").json()["progress"]
            others = judge.get(f"{path}/others").json()["documents"]
            again = (
                judge.post(f"{path}/answer", json={"choice": good, "reason": "so"}).status_code if act != "later" else 0
            )
            fell = {name: before[name] - after[name] for name in ("answered", "open")}
            seen[trap].append((act, said.status_code, shape(said.json()), fell, shape(task), len(others), again))
            numbers.append((task["id"], trap))
            if others and not trap:
                first_of_first.append(int(others[0]["doc"].split("-")[1]) < 3)
    kinds = {trap: {repr(row) for row in rows if row[0] != "later"} for trap, rows in seen.items()}
    assert kinds[True] == kinds[False]
    assert {row[0] for row in seen[True]} == {row[0] for row in seen[False]} == {"answer", "cant-tell", "later"}
    assert {tuple(row[3].items()) for row in seen[True] + seen[False] if row[0] == "later"} == {
        (("answered", 0), ("open", 0))
    }
    assert 0 < sum(first_of_first) < len(first_of_first), "the first of the others is of no run in particular"
    ids = [number for number, _ in numbers]
    assert len({*ids}) >= 60
    by_rank = sorted({*numbers})
    traps = [place for place, (_, trap) in enumerate(by_rank) if trap]
    assert abs(sum(traps) / len(traps) / len(by_rank) - 0.5) < 0.15, (
        "numbers of tasks say when they were given, no more"
    )


def test_sides_fall_by_lot(crafty: Any) -> None:
    left = []
    for _ in range(5):
        judge = crafty.judge()
        for _ in range(12):
            task = judge.get("/api/task/next").json()["task"]
            left.append(task["left"][0]["doc"].endswith("-0"))
            good = "left" if left[-1] else "right"
            judge.post(f"/api/task/{task['id']}/answer", json={"choice": good, "reason": "so"})
    assert 0.25 < sum(left) / len(left) < 0.75


def test_a_trap_takes_the_database_the_same_work_as_a_pair(crafty: Any) -> None:
    """Seconds tell how much is done: as many statements to find the next one, the same ones to keep the answer."""
    done: list[str] = []

    @event.listens_for(crafty.store.database.engine, "checkout")
    def follow(connection: Any, *_: Any) -> None:
        connection.set_trace_callback(lambda said: done.append(re.sub(r"'[^']*'|[0-9.]+", "?", said)))

    asked: dict[bool, list[int]] = {True: [], False: []}
    answered: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for _ in range(3):
        judge = crafty.judge()
        for _ in range(12):
            done.clear()
            task = judge.get("/api/task/next").json()["task"]
            trap = len({doc["doc"].split("-")[0] for side in ("left", "right") for doc in task[side]}) > 1
            asked[trap].append(len(done))
            good = next(side for side in ("left", "right") if task[side][0]["doc"].endswith("-0"))
            done.clear()
            judge.post(f"/api/task/{task['id']}/answer", json={"choice": good, "reason": "so"})
            answered[trap].add(tuple(done))
    assert len(asked[True]) == 12, "one of three"
    # A judge's first one has no query before it: one statement less.
    assert [{*sorted(numbers)[3:]} for numbers in asked.values()] == [{max(asked[True])}] * 2, asked
    assert len(answered[True]) == len(answered[False]) == 1
    assert answered[True] == answered[False]


def test_a_document_with_a_known_grade_is_asked_about_like_any_other(crafty: Any) -> None:
    """Wrong answers to it are taken like right ones; only the lead is told."""
    known = {f"q{n}-0": 3.0 for n in range(4)}
    rows = [{"query": f"q{n}", "doc": f"q{n}-{d}", "gold": known.get(f"q{n}-{d}")} for n in range(4) for d in (0, 1)]
    add_tasks(crafty.store, pl.DataFrame(rows, infer_schema_length=None))
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    judge = crafty.judge()
    while (turn := judge.get("/api/task/next").json())["task"] is not None:
        task = turn["task"]
        path = f"/api/task/{task['id']}"
        if task["kind"] != "judge":
            judge.post(f"{path}/cant-tell", json={"reason": "other"})
            continue
        before = judge.get("/api/me").json()["progress"]
        texts = [shape(task), shape(judge.get(f"{path}/others").json()["documents"])]
        said = judge.post(f"{path}/answer", json={"label": 0})
        fell = before["open"] - judge.get("/api/me").json()["progress"]["open"]
        undone = judge.post(f"{path}/undo", json={})
        again = judge.post(f"{path}/answer", json={"label": 1})
        texts += [(reply.status_code, shape(reply.json())) for reply in (said, undone, again)]
        seen[task["document"]["doc"] in known].add(repr([*texts, fell, "gold" in repr(task)]))
    assert len(seen[True]) == 1
    assert seen[True] == seen[False]
