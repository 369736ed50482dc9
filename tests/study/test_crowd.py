"""Fifty judges at once: exactly the labels asked for, none twice, none lost."""

from __future__ import annotations

import threading
from collections import Counter
from uuid import uuid4

import polars as pl
import pytest
from sqlalchemy import select

from karat.records import Rules, Scale, StudyDesign
from karat.study.answer_tables import judgments
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Conflict, Store
from karat.study.tables import tasks
from karat.study.tasks import add_tasks
from simulated import studies

JUDGES, TASKS = 50, len(studies(40, 200))


def grade(judge: int, doc: str) -> float:
    """Half of the documents are disputed: judges with odd numbers grade them higher."""
    number = int(doc)
    return float(number % 3 + (judge % 2 if number % 2 else 0))


@pytest.mark.evidence
def test_fifty_judges_at_once_give_exactly_two_labels_and_a_third_where_they_differ(database: str) -> None:
    study = StudyDesign(uuid4().hex, "Crowd", Scale.parse("0..3"), rules=Rules(labels=2, apart=1))
    store = Store.open(database, study)
    names = [str(n) for n in range(TASKS)]
    add_tasks(store, pl.DataFrame({"query": [f"q{n // 10}" for n in range(TASKS)], "doc": names}))
    judges = [add_judge(store)[0]["id"] for _ in range(JUDGES)]
    acknowledged: list[tuple[int, str]] = []
    trouble: list[BaseException] = []

    def work(judge: int) -> None:
        try:
            while (turn := next_task(store, judge)).task is not None:
                doc = turn.task["doc"]
                answer(store, judge, turn.task["id"], Answer(label=grade(judge, doc), key=doc))
                acknowledged.append((judge, doc))
        except BaseException as error:
            trouble.append(error)

    threads = [threading.Thread(target=work, args=(judge,)) for judge in judges]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble
    # Whoever came when all slots were held went away; a third label may have become due since.
    for judge in judges:
        work(judge)
    said = judgments(store)
    assert said.height == len(acknowledged) == len(set(acknowledged)), "no loss, no double"
    assert said.select("judge", "doc").n_unique() == said.height
    labels = said.group_by("doc", maintain_order=True).agg("label")
    for doc, given in labels.iter_rows():
        assert len(given) == (3 if given[0] != given[1] else 2), doc
    assert labels.height == TASKS
    assert Counter(len(given) for given in labels["label"])[3] > TASKS // 10
    with store.database.read() as connection:
        rows = connection.execute(
            select(tasks.c.wanted, tasks.c.filled, tasks.c.held, tasks.c.open).where(tasks.c.study_id == store.study_id)
        ).all()
    assert all(row.filled == row.wanted and row.held == 0 and not row.open for row in rows)
    store.close()


def test_one_judge_in_eight_windows_is_one_judge(database: str) -> None:
    store = Store.open(database, StudyDesign(uuid4().hex, "Windows", Scale.parse("0..3"), rules=Rules(labels=2)))
    add_tasks(store, pl.DataFrame({"query": ["q"] * 20, "doc": [str(n) for n in range(20)]}))
    judge = add_judge(store)[0]["id"]
    start = threading.Barrier(8, timeout=60)
    taken: list[str] = []
    refused: list[str] = []
    trouble: list[BaseException] = []

    def window() -> None:
        try:
            turn = next_task(store, judge)
            start.wait()  # every window shows the same document, and all answer at once
            while turn.task is not None:
                try:
                    answer(store, judge, turn.task["id"], Answer(label=1.0))
                except Conflict:
                    refused.append(turn.task["doc"])
                else:
                    taken.append(turn.task["doc"])
                turn = next_task(store, judge)
        except BaseException as error:
            trouble.append(error)

    threads = [threading.Thread(target=window) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble
    assert sorted(taken, key=int) == [str(n) for n in range(20)], "each document once"
    assert judgments(store).height == 20
    assert len(refused) >= 7, "the windows did get in each other's way"
    store.close()
