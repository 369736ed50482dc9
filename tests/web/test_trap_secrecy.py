"""A program that sees what a judge's browser sees cannot tell traps and gold documents from ordinary tasks.

It does not read: a trap shows a list for another query, and whoever compares the query with the titles can know that,
person or program. Nothing else may give it away.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from karat.records import Documents, Queries, Rules, Runs, Scale, StudyDesign
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.study.task_material import Material
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from served import Served

QUERIES = [f"q{n}" for n in range(10)]
#: Queries that nobody is asked about: traps show lists for them.
WRONG = [f"w{n}" for n in range(10)]
SYSTEMS = ("amber", "birch", "cedar")
JUDGES = 3
#: What the replies to a task are like; every value seen at a trap or gold document is seen at other tasks.
FACTS = ("shape", "nulls", "held", "codes", "headers", "cached", "said", "said_bytes", "fell")
FACTS += ("panel_changes", "panel_fields", "panel_size", "event_gap", "id_gap")
#: What a program may count and sort tasks by.
FIGURES = ("in_panels_of_others", "place_in_panels", "in_own_panel", "readable", "panel_size")
FIGURES += ("event_gap", "id_gap", "id", "next_is_same_query", "last_is_same_query", "stands_out")


class Study:
    """Ten queries with three pairs each, seven of them with a trap, and eight documents to grade, two of them gold."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(7)
        names = iter(rng.permutation(10_000))
        pools = {query: [f"doc{next(names):05}" for _ in range(20)] for query in [*QUERIES, *WRONG]}
        rows, pairs, graded = [], [], []
        for query, pool in pools.items():
            for system in SYSTEMS:
                for rank, place in enumerate(rng.permutation(16)[:8]):
                    rows.append({"system": system, "query": query, "doc": pool[place], "score": 20.0 - rank})
        #: Drawn at random from all documents, so in no run.
        self.gold = {doc for query in QUERIES[3:] for doc in pools[query][-2:]}
        self.trap_docs = {doc for query in WRONG for doc in pools[query]}
        for query, wrong in zip(QUERIES, WRONG, strict=True):
            pairs += [{"query": query, "left": a, "right": b} for a, b in itertools.combinations(SYSTEMS, 2)]
            trap = {"left": SYSTEMS[0], "right": SYSTEMS[1], "right_query": wrong, "trap": True, "expected": "left"}
            pairs += [{"query": query} | trap] * (query in QUERIES[:7])
            found = sorted({row["doc"] for row in rows if row["query"] == query})
            graded += [{"query": query, "doc": doc} for doc in rng.permutation(found)[:6]]
            graded += [{"query": query, "doc": doc, "gold": 3.0} for doc in self.gold & {*pools[query]}]
        rules = Rules(labels=JUDGES, judges_per_pair=JUDGES, block=4, traps_failed=100, hours_apart=0)
        study = StudyDesign(uuid4().hex, "Study", Scale.parse("0..3"), rules=rules)
        clock = itertools.count(1.7e9, 0.01)  # the same in each run
        self.store = Store.open(str(folder / "karat.db"), study, clock=lambda: next(clock))
        for table in (pairs, graded):
            add_tasks(self.store, pl.DataFrame(table, infer_schema_length=None))
        self.material = Material(
            queries=Queries.of([{"query": q, "text": f"what of {q}"} for q in QUERIES]),
            documents=Documents.of(
                [
                    {"doc": doc, "title": f"Title {doc}", "text": f"Text of {doc} " * int(rng.integers(1, 9))}
                    for pool in pools.values()
                    for doc in pool
                ]
            ),
            runs=[Runs.of([row for row in rows if row["system"] == system]) for system in SYSTEMS],
        )
        self.served = Served(create_app(study, self.store, self.material), self.store)

    def is_secret(self, task: dict[str, Any]) -> bool:
        """Whether a task is a trap or a gold document."""
        return bool({*displayed(task)} & (self.trap_docs | self.gold))


def shape(said: Any) -> Any:
    """What a reply looks like, without the words: the names and types of its parts."""
    if isinstance(said, dict):
        return {name: shape(value) for name, value in said.items()}
    return [shape(value) for value in said[:1]] if isinstance(said, list) else type(said).__name__


def displayed(task: dict[str, Any]) -> list[str]:
    docs = [task["document"]] if task["kind"] == "judge" else [*task["left"], *task["right"]]
    return [doc["doc"] for doc in docs]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    here = Study(tmp_path_factory.mktemp("study"))
    yield here
    here.store.close()


@pytest.fixture(scope="module")
def sightings(study: Study) -> list[dict[str, Any]]:
    """What the judges' browsers saw at each task, answered at random, with the numbers and headers of all replies."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(JUDGES):
        judge, mine = study.served.judge(), list[dict[str, Any]]()
        while (reply := judge.get("/api/task/next")).json()["task"] is not None:
            task = reply.json()["task"]
            path = f"/api/task/{task['id']}"
            before = judge.get("/api/me").json()["progress"]
            panel = judge.get(f"{path}/others")
            again = judge.get(f"{path}/others")
            page = judge.get(f"/document/{task['id']}", params={"doc": displayed(task)[-1]})
            side = str(rng.choice(["left", "right"]))
            body = {"label": 0} if task["kind"] == "judge" else {"choice": side, "reason": "so"}
            said = judge.post(f"{path}/answer", json=body)
            after = judge.get("/api/me").json()["progress"]
            same = {"date", "content-length"}
            mine.append(
                {
                    "kind": task["kind"],
                    "secret": study.is_secret(task),
                    "query": task["query"]["query"],
                    "docs": displayed(task),
                    "id": task["id"],
                    "event": said.json()["event"],
                    "panel": [result["doc"] for result in panel.json()["documents"]],
                    "panel_changes": panel.content != again.content,
                    "panel_fields": {tuple(bool(value) for value in row.values()) for row in panel.json()["documents"]},
                    "shape": shape(task),
                    "nulls": tuple(sorted(name for name, value in task.items() if not value)),
                    "held": round(task["until"] - 1.7e9, -3),
                    "codes": [each.status_code for each in (reply, panel, page, said)],
                    "headers": [sorted({*each.headers} - same) for each in (reply, panel, page, said)],
                    "cached": [each.headers.get("cache-control") for each in (reply, panel, page, said)],
                    "said": shape(said.json()),
                    "said_bytes": len(re.sub(r"\d+", "", said.text)),
                    "fell": {name: before[name] - after[name] for name in ("answered", "open")},
                }
            )
        for one, other in itertools.pairwise(mine):
            one["event_gap"], other["id_gap"] = other["event"] - one["event"], other["id"] - one["id"]
            one["next_is_same_query"] = other["query"] == one["query"]
            other["last_is_same_query"] = other["query"] == one["query"]
        for one, between, other in zip(mine, mine[1:], mine[2:], strict=False):
            between["stands_out"] = one["query"] == other["query"] != between["query"]
        for task in mine:
            same_query = [other for other in mine if other["query"] == task["query"] and other is not task]
            seen = [sum(doc in other["panel"] for doc in task["docs"]) / len(task["docs"]) for other in same_query]
            task["in_panels_of_others"] = sum(seen) / len(seen) if seen else None
            places = [
                other["panel"].index(doc) for other in same_query for doc in task["docs"] if doc in other["panel"]
            ]
            task["place_in_panels"] = sum(places) / len(places) if places else None
            task["panel_size"] = len(task["panel"])
            task["in_own_panel"] = sum(doc in task["panel"] for doc in task["docs"])
            # Documents can be asked for by name: under which tasks of the query they are found tells where they belong.
            asked = [
                judge.get(f"/document/{other['id']}", params={"doc": doc}).status_code
                for other in same_query[:2]
                for doc in (task["docs"][0], task["docs"][-1])
            ]
            task["readable"] = sum(code == 200 for code in asked) / len(asked)
            if task["kind"] == "pair" and task["secret"]:
                right, wrong = (
                    [doc for doc in task["docs"] if (doc in study.trap_docs) == bad] for bad in (False, True)
                )
                task["right_side"] = sum(doc in task["panel"] for doc in right)
                task["wrong_side"] = sum(doc in task["panel"] for doc in wrong)
        found += mine
    assert len(found) == JUDGES * (10 * 3 + 7 + 10 * 6 + 7 * 2)
    return found


@pytest.mark.parametrize("kind", ["pair", "judge"])
@pytest.mark.parametrize("feature", FACTS)
def test_traps_and_gold_look_like_other_tasks(sightings: list[dict[str, Any]], kind: str, feature: str) -> None:
    """The last task of a judge has no next one, and the first none before it."""
    seen = {
        secret: {
            repr(task[feature])
            for task in sightings
            if (task["kind"], task["secret"]) == (kind, secret) and feature in task
        }
        for secret in (True, False)
    }
    assert seen[True] <= seen[False]


@pytest.mark.parametrize("kind", ["pair", "judge"])
@pytest.mark.parametrize("feature", FIGURES)
def test_no_figure_ranks_traps_or_gold_above_chance(sightings: list[dict[str, Any]], kind: str, feature: str) -> None:
    """The area under the ROC curve stays near one half; 21 of 111 pairs are traps, 42 of 222 documents gold."""
    values = {
        secret: [
            float(task[feature])
            for task in sightings
            if (task["kind"], task["secret"]) == (kind, secret) and task.get(feature) is not None
        ]
        for secret in (True, False)
    }
    wins = mannwhitneyu(values[True], values[False]).statistic
    assert abs(wins / (len(values[True]) * len(values[False])) - 0.5) < 0.2


def test_the_panel_does_not_tell_the_right_side(sightings: list[dict[str, Any]]) -> None:
    """The list for another query has as many documents in the panel as the right one, now more, now fewer."""
    more = [np.sign(task["right_side"] - task["wrong_side"]) for task in sightings if "right_side" in task]
    assert len(more) == JUDGES * 7
    assert abs(np.mean(more)) < 0.6


def test_panels_are_as_long_with_a_trap_as_without(sightings: list[dict[str, Any]]) -> None:
    """Seven queries of ten have a trap, seven gold documents: the length says which for none of them."""
    for kind in ("pair", "judge"):
        assert len({task["panel_size"] for task in sightings if task["kind"] == kind}) == 1


@pytest.mark.parametrize("as_one_file", [True, False])
def test_documents_drawn_for_gold_come_among_others(tmp_path: Path, as_one_file: bool) -> None:
    """A group asked about drawn documents and others gets all of a query in one random order."""
    rng = np.random.default_rng(5)
    pool = [{"query": f"q{query}", "doc": f"q{query}-{doc}"} for query in range(10) for doc in range(12)]
    drawn = {pool[place]["doc"] for place in rng.permutation(len(pool))[:30]}
    study = StudyDesign(uuid4().hex, "Study", Scale.parse("0..3"), rules=Rules(labels=9, hours_apart=0))
    store = Store.open(str(tmp_path / "karat.db"), study)
    plan = [row | {"probability": 0.25 if row["doc"] in drawn else None} for row in pool]
    if as_one_file:
        add_tasks(store, pl.DataFrame(plan, infer_schema_length=None))
    else:
        add_tasks(store, pl.DataFrame(pool))
        add_tasks(store, pl.DataFrame([row for row in plan if row["doc"] in drawn]))
    places, changes = dict[bool, list[int]]({True: [], False: []}), 0
    for _ in range(3):
        judge, last, place = add_judge(store)[0]["id"], "", 0
        while (task := next_task(store, judge).task) is not None:
            place = place + 1 if task["query"] == last else 0
            changes += task["query"] != last
            last = task["query"]
            places[task["doc"] in drawn].append(place)
            answer(store, judge, task["id"], Answer(label=1))
    store.close()
    assert changes == 3 * 10, "all documents of a query come together"
    wins = mannwhitneyu(places[True], places[False]).statistic
    assert abs(wins / (len(places[True]) * len(places[False])) - 0.5) < 0.15
