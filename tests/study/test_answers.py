"""Answers to tasks: late, put off, taken back, sent twice; each counts as the rules have it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from karat.study.answer_tables import events_frame, judgments
from karat.study.answers import answer, cant_tell, later, recent, undo
from karat.study.event_log import Answer
from karat.study.queue import next_task
from karat.study.store import Conflict
from karat.study.tasks import add_tasks
from queues import documents, place


def test_a_reservation_expires_and_a_late_answer_is_kept_but_counts_only_while_there_is_room(database: str) -> None:
    here = place(database, labels=1, reserve_minutes=10)
    add_tasks(here.store, documents("d"))
    slow, quick = here.judge(), here.judge()
    task = here.next(slow)["id"]
    assert next_task(here.store, quick).state == "wait"
    here.clock.now += 601
    assert here.next(quick)["id"] == task
    answer(here.store, quick, task, Answer(label=2))
    with pytest.raises(Conflict, match="kept but not counted"):
        answer(here.store, slow, task, Answer(label=0, key="k"))
    with pytest.raises(Conflict, match="kept but not counted"):
        answer(here.store, slow, task, Answer(label=0, key="k"))
    assert judgments(here.store)["label"].to_list() == [2]
    late = events_frame(here.store).filter(pl.col("kind") == "late")
    assert late["label"].to_list() == [0]


def test_a_late_answer_counts_when_nobody_took_the_slot(database: str) -> None:
    here = place(database, labels=1, reserve_minutes=10)
    add_tasks(here.store, documents("d"))
    judge = here.judge()
    task = here.next(judge)["id"]
    here.clock.now += 6000
    answer(here.store, judge, task, Answer(label=2))
    assert here.counts() == [(1, 1, 0)]


def test_skips_and_cant_tell_fill_no_slot_and_what_is_put_off_comes_back_last(database: str) -> None:
    here = place(database, labels=1, apart=0)
    add_tasks(here.store, documents("a", "b"))
    judge, other = here.judge(), here.judge()
    first = here.next(judge)["id"]
    later(here.store, judge, first)
    second = here.next(judge)["id"]
    assert second != first
    cant_tell(here.store, judge, second, Answer(reason="not a language I read"))
    assert here.next(judge)["id"] == first
    here.say(judge, 1)
    assert next_task(here.store, judge).state == "done"
    assert here.next(other)["id"] == second
    said = judgments(here.store)
    assert said.filter(pl.col("label").is_null())["comment"].to_list() == ["not a language I read"]


def test_an_undo_is_a_new_row_and_the_task_is_the_judges_again(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents("a", "b"))
    judge = here.judge()
    first = here.say(judge, 1)
    ahead = here.next(judge)["id"]
    undo(here.store, judge, first)
    assert here.next(judge)["id"] == first, "before what was fetched after it"
    assert judgments(here.store).height == 0
    answer(here.store, judge, first, Answer(label=3))
    assert judgments(here.store)["label"].to_list() == [3]
    assert here.next(judge)["id"] == ahead
    log = events_frame(here.store).filter(pl.col("task") == first)
    assert log["kind"].to_list() == ["answer", "undo", "answer"]
    assert log["takes_back"][1] == log["event"][0]
    assert [row["label"] for row in recent(here.store, judge)] == [3]


def test_only_the_last_ten_answers_can_be_taken_back(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents(*(f"d{n}" for n in range(12))))
    judge = here.judge()
    seen = [here.say(judge, 1) for _ in range(11)]
    with pytest.raises(Conflict, match="last 10"):
        undo(here.store, judge, seen[0])
    undo(here.store, judge, seen[1])


def test_an_undo_that_makes_a_third_label_needless_closes_the_slot(database: str) -> None:
    here = place(database, labels=2, apart=1)
    add_tasks(here.store, documents("d"))
    one, two, three = (here.judge() for _ in range(3))
    task = here.say(one, 0)
    here.say(two, 3)
    here.next(three)
    undo(here.store, one, task)
    answer(here.store, one, task, Answer(label=3))
    assert here.counts() == [(2, 2, 1)]
    with pytest.raises(Conflict, match="not counted"):
        answer(here.store, three, task, Answer(label=1))
    assert here.counts() == [(2, 2, 0)]


def test_the_same_key_sent_again_counts_once(database: str) -> None:
    here = place(database, labels=2)
    add_tasks(here.store, documents("a", "b"))
    judge = here.judge()
    task = here.next(judge)["id"]
    one = answer(here.store, judge, task, Answer(label=1, key="k"))
    assert answer(here.store, judge, task, Answer(label=1, key="k")).event_id == one.event_id
    other = here.next(judge)["id"]
    with pytest.raises(Conflict, match="key"):
        answer(here.store, judge, other, Answer(label=1, key="k"))


def test_the_same_answer_sent_twice_at_once_counts_once_and_is_taken_twice(database: str) -> None:
    here = place(database, labels=9)
    add_tasks(here.store, documents(*(f"d{n}" for n in range(12))))
    judge = here.judge()
    with ThreadPoolExecutor(2) as pool:
        for number in range(12):
            task = here.next(judge)["id"]
            said = Answer(label=1, key=f"k{number}")
            one, two = pool.map(lambda _: answer(here.store, judge, task, said), range(2))  # noqa: B023
            assert one == two
