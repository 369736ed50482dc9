"""Two lists side by side: sides by lot, blocks with traps, and what becomes of a judge who fails one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import polars as pl
import pytest

from karat.records import Rules, Scale, StudyDesign
from karat.study.answer_tables import answers_frame, events_frame, judgments
from karat.study.answers import answer, cant_tell, later, reject_judge
from karat.study.event_log import Answer
from karat.study.exports import exported
from karat.study.kinds import CODE, PAIR
from karat.study.people import add_judge, judge_by_id
from karat.study.progress import judge_counts, judge_progress, progress
from karat.study.queue import next_task
from karat.study.store import Closed, Store
from karat.study.tasks import add_tasks
from karat.users import trusted

Open = Callable[..., Store]


@pytest.fixture
def start(database: str) -> Iterator[Open]:
    """Opens a new study with some rules."""
    stores = []

    def new(**rules: Any) -> Store:
        stores.append(
            Store.open(database, StudyDesign(uuid4().hex, "Pairs", Scale.parse("0..3"), rules=Rules(**rules)))
        )
        return stores[-1]

    yield new
    for store in stores:
        store.close()


def pairs(many: int, traps: int = 0) -> pl.DataFrame:
    real = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(many)]
    false = [
        {"query": f"q{n}", "left": "a", "right": "b", "right_query": f"x{n}", "trap": True, "expected": "left"}
        for n in range(traps)
    ]
    return pl.DataFrame([*real, *false], infer_schema_length=None)


def judge(store: Store) -> int:
    return int(add_judge(store)[0]["id"])


def right_answer(task: dict[str, Any]) -> str:
    """What somebody who reads the lists answers to a trap: the side of the system `a`."""
    return "right" if task["turned"] else "left"


def work(store: Store, who: int, many: int, *, careless: bool = False) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    while len(seen) < many and (turn := next_task(store, who)).task is not None:
        task = turn.task
        side = right_answer(task)
        choice = ("left" if side == "right" else "right") if careless else side
        seen.append(task)
        if answer(store, who, task["id"], Answer(choice=choice, reason="because")).rejected:
            break
    return seen


def test_one_of_every_five_is_a_trap(start: Open) -> None:
    store = start(judges_per_pair=1, block=5)
    add_tasks(store, pairs(16, traps=8))
    seen = work(store, judge(store), 100)
    assert sum(not task["trap"] for task in seen) == 16
    for first in range(0, 20, 5):
        assert sum(task["trap"] for task in seen[first : first + 5]) == 1
    assert len({task["item"] for task in seen}) == len(seen), "no pair twice"


def test_sides_are_drawn_for_each_judge_and_stored(start: Open) -> None:
    store = start(judges_per_pair=4)
    add_tasks(store, pairs(20))
    for _ in range(4):
        work(store, judge(store), 20)
    said = answers_frame(store, PAIR)
    assert said.height == 80
    lefts = said.group_by("query").agg(pl.col("left").n_unique())["left"]
    assert (lefts == 2).sum() > 10, "most pairs were shown both ways"
    assert (said.filter(pl.col("choice") == "left")["left"] == "a").all()
    assert (said.filter(pl.col("choice") == "right")["right"] == "a").all()


def test_a_failed_trap_rejects_the_judges_preferences_and_reopens_the_slots(start: Open) -> None:
    store = start(judges_per_pair=1, block=5, invited_failing="reject")
    add_tasks(store, pd := pairs(8, traps=4))
    careless, careful = judge(store), judge(store)
    seen = work(store, careless, 100, careless=True)
    assert seen[-1]["trap"]
    assert answers_frame(store, PAIR).height == 0
    assert progress(store)[0]["filled"] == 0
    assert progress(store)[0]["held"] == 0
    log = events_frame(store)["kind"].to_list()
    assert log.count("answer") == log.count("reject") == len(seen), "what was said is still in the log"
    assert {*log} <= {"joined", "answer", "reject", "rejected"}, (
        "no event of its own, so that numbers do not tell a trap"
    )
    assert judge_counts(store)["traps_failed"] == {careless: 1}
    found = judge_by_id(store, careless)
    assert found is not None
    assert found["state"] == "rejected"
    with pytest.raises(Closed):
        next_task(store, careless)
    work(store, careful, 100)
    assert answers_frame(store, PAIR).filter(~pl.col("trap")).height == 8
    assert pd.height == 12
    exported_notes = trusted(exported(store, "preferences")).notes
    assert "1 judge was rejected in the app and is not among these answers" in exported_notes, "and not 0 failed a trap"


def test_a_failed_trap_leaves_labels_of_documents_alone(start: Open) -> None:
    store = start(judges_per_pair=1, labels=1)
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"]}))
    who = judge(store)
    task = next_task(store, who).task
    assert task is not None
    answer(store, who, task["id"], Answer(label=1))
    add_tasks(store, pairs(5, traps=3))
    work(store, who, 100, careless=True)
    assert (judgments(store).height, answers_frame(store, PAIR).height) == (1, 0)


def test_a_failed_trap_is_told_again_to_whose_connection_was_lost(start: Open) -> None:
    store = start(judges_per_pair=1, block=2)
    add_tasks(store, pairs(6, traps=4))
    who = judge(store)
    while (task := next_task(store, who).task) is not None and not task["trap"]:
        answer(store, who, task["id"], Answer(choice="equal", reason="x"))
    assert task is not None
    wrong = Answer(choice="left" if right_answer(task) == "right" else "right", reason="x", key="k")
    first, again = (answer(store, who, task["id"], wrong) for _ in range(2))
    assert first.rejected
    assert again == first


def test_practice_pairs_stand_as_they_were_written(start: Open) -> None:
    store = start()
    written = pairs(6).with_columns(expected=pl.lit("right"), note=pl.lit("the right one has it"))
    add_tasks(store, written, practice=True)
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"]}))
    who = judge(store)
    for number in range(6):
        task = next_task(store, who).task
        assert task is not None
        assert not task["turned"]
        feedback = answer(store, who, task["id"], Answer(choice="right", key=str(number))).feedback
        assert feedback is not None
        assert feedback["right"]
        assert answer(store, who, task["id"], Answer(choice="right", key=str(number))).feedback == feedback


def test_as_many_traps_may_fail_as_the_rules_allow(start: Open) -> None:
    store = start(judges_per_pair=1, traps_failed=1)
    add_tasks(store, pairs(12, traps=6))
    seen = work(store, judge(store), 100, careless=True)
    assert sum(task["trap"] for task in seen) == 2


def test_a_trap_is_put_off_and_comes_back_like_any_pair(start: Open) -> None:
    store = start(judges_per_pair=1, block=2)
    add_tasks(store, pairs(6, traps=4))
    who = judge(store)
    while (task := next_task(store, who).task) is not None and not task["trap"]:
        work(store, who, 1)
    assert task is not None
    later(store, who, task["id"])
    assert task["id"] in [other["id"] for other in work(store, who, 100)]


def test_the_counter_falls_by_one_with_each_pair_trap_or_not(start: Open) -> None:
    store = start(judges_per_pair=1, block=3)
    add_tasks(store, pairs(12, traps=8))
    who = judge(store)
    mine = judge_by_id(store, who)
    assert mine is not None
    acts = {trap: itertools.cycle([answer, cant_tell, later]) for trap in (False, True)}

    def left() -> int:
        return int(judge_progress(store, mine)["open"])

    seen: list[tuple[str, bool]] = []
    expected = left()
    while (task := next_task(store, who).task) is not None:
        assert left() == expected, "a task in work is still to come"
        what = next(acts[task["trap"]])
        what(store, who, task["id"], Answer(choice=right_answer(task), reason="so"))
        expected -= what is not later
        assert left() == expected, f"{what.__name__} of a {'trap' if task['trap'] else 'pair'}"
        seen.append((what.__name__, task["trap"]))
    assert expected == 0
    assert {*seen} >= {(name, trap) for name in ("answer", "cant_tell", "later") for trap in (False, True)}


def test_a_planned_block_goes_to_one_judge_in_its_order_and_opens_again_when_rejected(start: Open) -> None:
    store = start()
    plan = pairs(4, traps=1).with_columns(block=pl.lit(7), place=pl.Series([2, 1, 3, 5, 4]))
    add_tasks(store, plan)
    one, two = judge(store), judge(store)
    assert [task["query"] for task in work(store, one, 1)] == ["q1"]
    assert next_task(store, two).state == "wait", "the block is another judge's"
    seen = work(store, one, 100)
    assert [task["query"] for task in seen] == ["q0", "q2", "q0", "q3"]
    reject_judge(store, one, "spam")
    assert len(work(store, two, 100)) == 5
    assert answers_frame(store, PAIR)["judge"].unique().to_list() == ["judge 2"]


def test_nobody_begins_a_planned_block_of_which_they_know_a_part(start: Open) -> None:
    store = start()
    rounds = [
        pairs(3, traps=1).with_columns(block=pl.lit(n), place=pl.int_range(1, 5), right=pl.lit("b")) for n in (1, 2)
    ]
    second = rounds[1].with_columns(right_query=pl.when(pl.col("trap")).then(pl.lit("y")).otherwise("right_query"))
    assert add_tasks(store, pl.concat([rounds[0], second])).new == 8
    one, two = judge(store), judge(store)
    assert len(work(store, one, 100)) == 4, "not the second round's trap alone"
    assert len(work(store, two, 100)) == 4


def test_practice_comes_first_tells_right_from_wrong_and_pauses_who_fails(start: Open) -> None:
    store = start(labels=1, practice_pass=0.6)
    practice = pl.DataFrame({"query": ["p", "p"], "doc": ["x", "y"], "gold": [2, 0], "note": ["it says so", None]})
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"]}))
    add_tasks(store, practice, practice=True)
    good, bad = judge(store), judge(store)
    for who, labels in ((good, {"x": 2, "y": 0}), (bad, {"x": 2, "y": 3})):
        for many in (1, 2):
            task = next_task(store, who).task
            assert task is not None
            assert task["practice"]
            feedback = answer(store, who, task["id"], Answer(label=labels[task["doc"]])).feedback
            assert feedback is not None
            assert feedback["right"] == (labels[task["doc"]] == task["gold"])
            assert (feedback["done"], feedback["of"]) == (many, 2)
        assert feedback["passed"] == (who == good)
    task = next_task(store, good).task
    assert task is not None
    assert not task["practice"]
    with pytest.raises(Closed, match="practice"):
        next_task(store, bad)
    assert judgments(store).height == 0, "practice is no judgment"


def test_nobody_practises_where_nothing_is_left_to_do(start: Open) -> None:
    store = start(labels=1)
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"]}))
    first, late = judge(store), judge(store)
    task = next_task(store, first).task
    assert task is not None
    answer(store, first, task["id"], Answer(label=1))
    add_tasks(store, pl.DataFrame({"query": ["p"], "doc": ["x"], "gold": [2]}), practice=True)
    assert next_task(store, late).state == "done"


def test_reasons_are_put_into_classes(start: Open) -> None:
    store = start(labels=1)
    add_tasks(store, pl.DataFrame({"query": ["q"], "reason": ["fewer ads"], "kind": ["code"]}))
    who = judge(store)
    task = next_task(store, who).task
    assert task is not None
    answer(store, who, task["id"], Answer(classes=("spam/adverts", "quality/authority")))
    assert answers_frame(store, CODE).select("reason", "class").rows() == [
        ("fewer ads", "spam/adverts"),
        ("fewer ads", "quality/authority"),
    ]
