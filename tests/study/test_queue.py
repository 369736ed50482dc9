"""The queue keeps its rules: overlap, a third label when two differ, nobody twice, what was put off comes last."""

from __future__ import annotations

import itertools
from uuid import uuid4

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.records import Scale, StudyDesign
from karat.study.answer_tables import answers_frame, judgments
from karat.study.answers import answer, cant_tell, opened
from karat.study.event_log import Answer
from karat.study.kinds import PAIR
from karat.study.people import add_judge, judge_by_id, set_state
from karat.study.progress import judge_progress
from karat.study.queue import next_task
from karat.study.store import Closed, Conflict, NotYours, Store
from karat.study.tasks import add_tasks, places_of
from queues import OPEN, documents, place


def test_two_labels_are_asked_for_and_a_third_when_they_differ(database: str) -> None:
    here = place(database, labels=2, apart=1)
    add_tasks(here.store, documents("d"))
    one, two, three, four = (here.judge() for _ in range(4))
    here.say(one, 1)
    assert here.counts() == [(2, 1, 0)]
    here.say(two, 3)
    assert here.counts() == [(3, 2, 0)]
    here.say(three, 3)
    assert next_task(here.store, four).state == "done"
    assert judgments(here.store)["label"].to_list() == [1, 3, 3]


def test_labels_that_differ_by_less_than_asked_need_no_third(database: str) -> None:
    here = place(database, labels=2, apart=2)
    add_tasks(here.store, documents("d"))
    here.say(here.judge(), 1)
    here.say(here.judge(), 2)
    assert here.counts() == [(2, 2, 0)]
    assert next_task(here.store, here.judge()).state == "done"


def test_each_group_labels_every_document(database: str) -> None:
    here = place(database, groups=("crowd", "professional"), labels=1)
    assert add_tasks(here.store, documents("d")).new == 2
    here.say(here.judge(group="crowd"), 1)
    assert next_task(here.store, here.judge(group="crowd")).state == "done"
    here.say(here.judge(group="professional"), 2)
    assert judgments(here.store).select("group", "label").rows() == [("crowd", 1.0), ("professional", 2.0)]


def test_a_judge_gets_no_document_twice_and_the_same_one_after_a_reload(database: str) -> None:
    here = place(database, labels=2, apart=0)
    add_tasks(here.store, documents("a", "b", "c"))
    judge = here.judge()
    first = here.next(judge)
    assert here.next(judge)["id"] == first["id"]
    ahead = next_task(here.store, judge, besides=[first["given"]]).task
    assert ahead is not None
    assert ahead["id"] != first["id"]
    seen = [here.say(judge, 0) for _ in range(3)]
    assert len(set(seen)) == 3
    assert next_task(here.store, judge).state == "done"
    with pytest.raises(Conflict, match="answered"):
        answer(here.store, judge, seen[0], Answer(label=1))


def test_a_document_in_context_must_be_read_after_the_first_and_a_day_after_the_others_alone(database: str) -> None:
    here = place(database, labels=1, hours_apart=24)
    add_tasks(here.store, pl.DataFrame({"query": ["q", "q"], "doc": ["b", "b"], "context": [None, "a"]}))
    judge = here.judge()
    first = here.next(judge)
    answered_alone = first["context"] is None
    if not answered_alone:
        opened(here.store, judge, first["id"], "context")
    answer(here.store, judge, first["id"], Answer(label=1))
    turn = next_task(here.store, judge)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now + 24 * 3600)
    here.clock.now += 24 * 3600 + 1
    second = here.next(judge)
    assert (second["context"] is None) != answered_alone
    if answered_alone:
        with pytest.raises(Conflict, match="read the first document"):
            answer(here.store, judge, second["id"], Answer(label=1))
        opened(here.store, judge, second["id"], "context")
    answer(here.store, judge, second["id"], Answer(label=2))


def test_a_plans_judge_has_all_of_a_query_and_the_sessions_in_order(database: str) -> None:
    here = place(database, hours_apart=24)
    plan = {"query": ["q"] * 4, "doc": list("abab"), "context": [None, None, "c", "c"]}
    plan |= {"judge": ["judge 1"] * 4, "session": [1, 1, 2, 2], "order": [2, 1, 1, 2]}
    add_tasks(here.store, pl.DataFrame(plan))
    one, two = here.judge(), here.judge()
    assert next_task(here.store, two).state == "done", "judge 1 is planned, and there is a judge 1"
    assert here.next(one)["doc"] == "b"
    here.say(one, 1)
    here.say(one, 1)
    assert next_task(here.store, one).state == "wait"
    here.clock.now += 25 * 3600
    assert here.next(one)["context"] == "c"


def test_one_judge_per_query_where_the_rules_say_so(database: str) -> None:
    here = place(database, labels=2, one_judge_per_query=True)
    add_tasks(here.store, pl.concat([documents("a", "b"), documents("c", query="r")]))
    one, two, three = (here.judge() for _ in range(3))
    for judge in (one, two):
        here.say(judge, 1)
    for _ in range(2):
        here.say(one, 1)
        here.say(two, 2)
    assert next_task(here.store, three).state == "done"
    table = judgments(here.store).group_by("query", "doc").agg(pl.col("judge").n_unique())
    assert table["judge"].to_list() == [2, 2, 2]


def test_others_tasks_are_not_found_and_paused_judges_get_none(database: str) -> None:
    here = place(database, labels=2)
    add_tasks(here.store, documents("a"))
    one, two = here.judge(), here.judge()
    task = here.next(one)["id"]
    with pytest.raises(NotYours):
        answer(here.store, two, task, Answer(label=1))
    set_state(here.store, one, "paused", "have a rest")
    with pytest.raises(Closed, match="have a rest"):
        next_task(here.store, one)
    with pytest.raises(Closed):
        answer(here.store, one, task, Answer(label=1))
    assert here.counts() == [(2, 0, 0)]
    set_state(here.store, one, "active")
    here.say(one, 1)


def test_another_studys_tasks_are_not_found(database: str) -> None:
    here = place(database)
    add_tasks(here.store, documents("a"))
    there = Store.open(database, StudyDesign(uuid4().hex, "Two", Scale.parse("0..3")))
    OPEN.append(there)
    judge = add_judge(there)[0]["id"]
    task = here.next(here.judge())["id"]
    assert next_task(there, judge).state == "done"
    with pytest.raises(NotYours):
        answer(there, judge, task, Answer(label=1))
    with pytest.raises(NotYours):
        next_task(here.store, judge)


def test_the_same_task_file_adds_nothing_and_a_wrong_one_says_where(database: str) -> None:
    here = place(database)
    frame = documents("a", "b")
    assert (add_tasks(here.store, frame).new, add_tasks(here.store, frame).new) == (2, 0)
    assert add_tasks(here.store, pl.concat([frame, documents("c")])).new == 1
    for wrong, said in (
        ({"query": ["q"], "doc": [None]}, "row 1: expected doc"),
        ({"query": ["q"], "doc": ["d"], "group": ["x"]}, "group of judges"),
        ({"query": ["q"], "left": ["a"], "right": ["a"]}, "two systems"),
        ({"query": ["q"], "left": ["a"], "right": ["b"], "trap": [True]}, "left or right as the expected"),
        ({"query": ["q"], "doc": ["d"], "probability": ["much"]}, "a number as probability"),
    ):
        with pytest.raises(BadInput, match=said):
            add_tasks(here.store, pl.DataFrame(wrong))
    assert len(here.counts()) == 3


def test_a_querys_documents_come_together_in_an_order_of_each_judge(database: str) -> None:
    here = place(database, labels=9)
    names = [f"d{n}" for n in range(8)]
    add_tasks(here.store, pl.concat([documents(*names, query="q"), documents(*names, query="r")]))
    orders = []
    for judge in [here.judge() for _ in range(3)]:
        seen = []
        for _ in range(16):
            seen.append(here.next(judge))
            here.say(judge, 1)
        queries = [task["query"] for task in seen]
        assert queries == sorted(queries) or queries == sorted(queries, reverse=True)
        orders.append(tuple(task["doc"] for task in seen[:8]))
    assert len(set(orders)) > 1
    assert answers_frame(here.store, PAIR).height == 0


def queries_as_the_page_shows_them(here, judge: int) -> list[str]:
    """The queries of a judge's tasks, with the next one always fetched ahead, as the judging page does."""
    shown: list[str] = []
    task = next_task(here.store, judge).task
    while task is not None:
        here.clock.now += 1
        ahead = next_task(here.store, judge, besides=[task["given"]])
        here.clock.now += 10
        answer(here.store, judge, task["id"], Answer(label=1.0))
        shown += [] if task["practice"] else [task["query"]]
        here.clock.now += 1
        task = ahead.task or next_task(here.store, judge).task
    return shown


@pytest.mark.parametrize("practised", [["q0", "q1"], ["q0", "q1", "q2", "q0"], ["q2", "q2"], ["other"]])
def test_a_query_is_finished_before_the_next_after_practice(database: str, practised: list[str]) -> None:
    here = place(database, labels=1, practice_pass=0.0)
    frames = [documents(*(f"{query}-{n}" for n in range(6)), query=query) for query in ("q0", "q1", "q2")]
    add_tasks(here.store, pl.concat(frames))
    rows = {"query": practised, "doc": [f"p{n}" for n in range(len(practised))], "gold": [1.0] * len(practised)}
    add_tasks(here.store, pl.DataFrame(rows), practice=True)
    shown = queries_as_the_page_shows_them(here, here.judge())
    assert len(shown) == 18
    assert sum(one != other for one, other in itertools.pairwise(shown)) == 2, shown


def test_documents_that_a_plan_drew_come_in_random_order_unless_it_has_one(database: str) -> None:
    """Those with a label so far are a random part of the draw, which documents kept together by query are not."""
    here = place(database, labels=1)
    names = [f"d{n}" for n in range(6)]
    drawn = pl.concat([documents(*names, query=f"q{n}") for n in range(20)]).with_columns(probability=pl.lit(0.5))
    add_tasks(here.store, drawn)
    judge = here.judge()

    def met(number: int) -> list[str]:
        found = []
        for _ in range(number):
            found.append(here.next(judge)["query"])
            here.say(judge, 1)
        return found

    # 30 of 120 at random meet 16.6 of 20 queries on average, with a standard deviation of 1.4; by query they meet 5.
    assert len(set(met(30))) > 12
    here = place(database, labels=1)
    whole = drawn.sort("query").with_columns(order=pl.int_range(pl.len()))
    add_tasks(here.store, whole.sample(fraction=1.0, shuffle=True, seed=1))
    judge = here.judge()
    assert met(12) == ["q0"] * 6 + ["q1"] * 6


def test_a_judges_counter_has_what_may_still_come_to_this_judge(database: str) -> None:
    here = place(database, labels=2, apart=0)
    add_tasks(here.store, documents("a", "b", "c", "d"))
    ann, bob = here.judge(name="ann"), here.judge(name="bob")

    def counted(number: int) -> tuple[int, int]:
        judge = judge_by_id(here.store, number)
        assert judge is not None
        found = judge_progress(here.store, judge)
        return found["answered"], found["open"]

    assert counted(ann) == (0, 4)
    for number in range(3):
        task = next_task(here.store, ann).task
        assert task is not None
        assert counted(ann) == (number, 4 - number), "the task in work is open still"
        answer(here.store, ann, task["id"], Answer(label=1.0))
        assert counted(ann) == (number + 1, 3 - number)
    last = next_task(here.store, ann).task
    assert last is not None
    cant_tell(here.store, ann, last["id"], Answer(reason="other"))
    assert counted(ann) == (3, 0)
    assert counted(bob) == (0, 4)


def test_what_was_kept_before_the_clock_was_set_back_comes_free(database: str) -> None:
    here = place(database, labels=1, reserve_minutes=30, judges_per_pair=1)
    pair = pl.DataFrame({"query": ["r"], "left": ["a"], "right": ["b"], "block": ["1"]})
    add_tasks(here.store, pl.concat([documents("d"), pair], how="diagonal"))
    one, two = here.judge(), here.judge()
    here.clock.now += 72 * 3600
    kept = here.next(one)
    second = next_task(here.store, one, besides=[kept["given"]]).task
    assert second is not None
    here.clock.now -= 72 * 3600
    free = here.next(two)
    answer(here.store, two, free["id"], Answer(label=1) if free["doc"] else Answer(choice="left", reason="x"))
    free = here.next(two)
    assert {free["doc"]} | {kept["doc"], second["doc"]} == {"d", None}, "the document and the block of pairs"
    here.clock.now += 1
    assert here.next(two)["given"] == free["given"], "and a clock put right by seconds takes nothing away"
    here.clock.now -= 2
    assert next_task(here.store, one).task is None


@pytest.mark.thorough
def test_the_places_of_300_000_queries_fit_any_database(database: str) -> None:
    """PostgreSQL's integers end at 2**31 - 1, which 214,748 queries reached."""
    places = places_of([f"q{n // 2}" for n in range(600_000)], np.random.default_rng(0))
    assert 0 <= min(places) < max(places) < 2**31
    assert np.ptp(np.reshape(places, (-1, 2)), axis=1).max() == 1, "a query's rows are together"
    here = place(database)
    plan = {"query": ["p"], "left": ["a"], "right": ["b"], "block": ["99999999999999999999"], "place": [2**31 - 1]}
    assert add_tasks(here.store, pl.DataFrame(plan)).new == 1
