"""Nothing is asked in vain and nothing is forgotten, as it was found: each test is a dead end that there was.

`test_any_history.py` looks for more of them.
"""

from __future__ import annotations

import polars as pl

from karat.labels import consensus
from karat.records import Judgments
from karat.study.answer_tables import judgments
from karat.study.answers import answer, cant_tell, opened
from karat.study.event_log import Answer
from karat.study.progress import what_is_left
from karat.study.queue import next_task
from karat.study.tasks import add_tasks
from queues import documents, place


def test_one_cant_tell_does_not_end_the_second_session(database: str) -> None:
    """As it was found: in a study with context the queue said "done", gave out the code, and asked nothing more."""
    here = place(database, hours_apart=24)
    alone, after = documents("a", "b", "c"), documents("a", "b", "c").with_columns(context=pl.lit("x"))
    plan = pl.concat([alone.with_columns(session=1), after.with_columns(session=2)], how="diagonal")
    add_tasks(here.store, plan.with_columns(judge=pl.lit("judge 1")))
    one, spare = here.judge(), here.judge()
    cant_tell(here.store, one, here.next(one)["id"], Answer(reason="other"))
    unclear = here.next(spare)
    assert unclear["session"] == 1, "somebody else is asked what the planned judge could not tell"
    answer(here.store, spare, unclear["id"], Answer(label=1))
    assert next_task(here.store, spare).state == "done", "the rest is judge 1's"
    here.say(one, 1)
    here.say(one, 1)
    turn = next_task(here.store, one)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now + 24 * 3600)
    assert "3 answers to 3 tasks wait for judge 1, who last" in what_is_left(here.store)[0].text
    here.clock.now += 24 * 3600 + 1
    for _ in range(3):
        task = here.next(one)
        assert task["session"] == 2
        opened(here.store, one, task["id"], "context")
        answer(here.store, one, task["id"], Answer(label=1))
    assert next_task(here.store, one).state == "done"
    assert what_is_left(here.store) == []


def test_what_nobody_there_could_tell_needs_more_people_and_the_lead_is_told(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents("a", "b"))
    one = here.judge()
    cant_tell(here.store, one, here.next(one)["id"], Answer(reason="other"))
    here.say(one, 1)
    assert next_task(here.store, one).state == "done"
    assert [(left.why, left.answers) for left in what_is_left(here.store)] == [("people", 1)]
    assert "1 answer to 1 task needs 1 more person" in what_is_left(here.store)[0].text
    here.say(here.judge(), 1)
    assert what_is_left(here.store) == []


def test_who_reached_the_limit_leaves_the_rest_of_a_query_to_others(database: str) -> None:
    here = place(database, labels=1, one_judge_per_query=True, most_per_judge=2)
    add_tasks(here.store, documents("a", "b", "c"))
    one, two = here.judge(), here.judge()
    here.say(one, 1)
    here.say(one, 1)
    assert next_task(here.store, one).state == "limit"
    here.say(two, 1)
    assert what_is_left(here.store) == []


def test_a_planned_judge_at_the_limit_leaves_the_plan_to_others(database: str) -> None:
    here = place(database, labels=1, most_per_judge=1)
    add_tasks(here.store, documents("a", query="r"))
    one, two = here.judge(), here.judge()
    here.say(one, 1)
    add_tasks(here.store, documents("b").with_columns(judge=pl.lit("judge 1")))
    assert next_task(here.store, two).state == "done", "it is judge 1's, as far as anybody knows"
    assert next_task(here.store, one).state == "limit"
    here.say(two, 1)
    assert what_is_left(here.store) == []


def test_who_said_nothing_waits_for_slots_that_others_merely_keep(database: str) -> None:
    here = place(database, labels=1, reserve_minutes=10)
    add_tasks(here.store, documents("a"))
    slow, quick = here.judge(), here.judge()
    here.next(slow)
    turn = next_task(here.store, quick)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now + 600)
    here.clock.now += 601
    here.say(quick, 1)
    assert next_task(here.store, slow).state == "done"


def test_made_up_people_of_a_platform_cannot_keep_a_whole_study(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents(*(f"d{n}" for n in range(40))))
    known = here.judge()
    made_up = [here.judge(source="prolific", external=f"p{n}") for n in range(30)]
    states = []
    for judge in made_up:
        turn = next_task(here.store, judge)
        states.append(turn.state)
        if turn.task is not None:
            assert next_task(here.store, judge, besides=[turn.task["given"]]).task is None, (
                "one before the first answer"
            )
    assert states == ["task"] * 20 + ["wait"] * 10, "half of what is left to say"
    for _ in range(20):
        here.say(known, 1)
    here.clock.now += 31 * 60
    here.say(made_up[-1], 1)


def test_what_is_asked_again_comes_to_who_answered_it_and_only_after_the_pause(database: str) -> None:
    here = place(database, labels=2, apart=1, repeat_hours=168)
    add_tasks(here.store, pl.concat([documents("a"), documents("a").with_columns(repeat=pl.lit(1))], how="diagonal"))
    one, two, three = (here.judge() for _ in range(3))
    here.say(one, 0)
    here.clock.now += 3600
    here.say(two, 0)
    turn = next_task(here.store, one)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now - 3600 + 168 * 3600)
    assert next_task(here.store, three).state == "done", "who did not answer has nothing to repeat"
    here.clock.now += 168 * 3600
    here.say(one, 3)
    here.say(two, 0)
    assert what_is_left(here.store) == []
    found = judgments(here.store)
    assert found.select("judge", "label", "repeat").rows() == [
        ("judge 1", 0.0, None),
        ("judge 2", 0.0, None),
        ("judge 1", 3.0, 1),
        ("judge 2", 0.0, 1),
    ]
    # METHODS 9: a repeat is evidence about the judge, nothing else; the first label counts.
    assert consensus(Judgments(found.drop("task")), "mean").frame["label"].to_list() == [0.0]
