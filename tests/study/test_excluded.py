"""A failed trap of an invited judge: their choices between lists go, and everything else goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.records import Rules
from karat.study.answer_tables import answers_frame, events_frame, judgments
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.kinds import PAIR
from karat.study.people import add_judge, all_judges, readmit
from karat.study.progress import judge_counts, judge_progress, what_is_left
from karat.study.queue import next_task
from karat.study.store import Closed, Store
from karat.study.tasks import add_tasks
from queues import Place, place

TRAP = {"query": "q0", "left": "a", "right": "b", "right_query": "x", "trap": True, "expected": "left"}


def mixed(database: str, **rules: Any) -> Place:
    """A study of six documents, four pairs and three traps."""
    here = place(database, labels=1, judges_per_pair=1, block=2, **rules)
    pairs = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(4)]
    traps = [TRAP | {"query": f"q{n}"} for n in range(3)]
    add_tasks(here.store, pl.DataFrame([*pairs, *traps], infer_schema_length=None))
    add_tasks(here.store, pl.DataFrame({"query": ["q9"] * 6, "doc": list("abcdef")}))
    return here


def careless(here: Place, judge: int) -> list[dict[str, Any]]:
    """All that a judge is given who gets every trap wrong; pairs are answered, too, until the first trap fails."""
    seen = []
    while (task := next_task(here.store, judge).task) is not None:
        wrong = "left" if task["turned"] else "right"
        said = Answer(choice=wrong, reason="x") if task["kind"] == "pair" else Answer(label=1.0)
        seen.append(task | {"rejected": answer(here.store, judge, task["id"], said).rejected})
    return seen


def state(store: Store, judge: int) -> str:
    return next(str(row["state"]) for row in all_judges(store) if row["id"] == judge)


def test_an_invited_judge_who_fails_a_trap_goes_on_with_documents(database: str) -> None:
    here = mixed(database)
    judge = here.judge(name="ann")
    seen = careless(here, judge)
    at = next(place for place, task in enumerate(seen) if task["trap"])
    assert seen[at]["rejected"]
    assert all(task["kind"] == "judge" for task in seen[at + 1 :]), "no more pairs"
    assert judgments(here.store).height == 6, "all documents are judged"
    assert answers_frame(here.store, PAIR).height == 0, "a judge who fails a trap is in no count of preferences"
    assert state(here.store, judge) == "active"
    (row,) = (row for row in all_judges(here.store) if row["id"] == judge)
    assert judge_progress(here.store, row)["open"] == 0, "pairs are not counted as still to come"
    log = events_frame(here.store)
    assert log.filter(pl.col("kind") == "excluded").height == 1
    assert log.filter(pl.col("kind") == "rejected").height == 0


def test_a_platforms_judge_who_fails_a_trap_is_rejected(database: str) -> None:
    here = mixed(database)
    judge = here.judge(source="prolific", external="p1")
    with pytest.raises(Closed, match="control question"):
        careless(here, judge)
    assert state(here.store, judge) == "rejected"


def test_the_rules_may_reject_or_only_flag_invited_judges(database: str) -> None:
    here = mixed(database, invited_failing="reject")
    with pytest.raises(Closed, match="control question"):
        careless(here, here.judge())
    here = mixed(database, invited_failing="flag")
    judge = here.judge()
    seen = careless(here, judge)
    assert not any(task["rejected"] for task in seen)
    assert sum(task["kind"] == "pair" for task in seen) > 4
    assert judge_counts(here.store)["traps_failed"][judge] > 0, "which is what the lead sees"
    assert state(here.store, judge) == "active"
    with pytest.raises(BadInput, match="exclude, flag or reject"):
        Rules(invited_failing="fire")


def test_study_toml_says_what_a_failed_trap_means(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[traps]\ninvited_failing = "flag"\n')
    assert read_study(tmp_path).study.rules.invited_failing == "flag"
    (tmp_path / "study.toml").write_text('[traps]\ninvited_failing = "fire"\n')
    with pytest.raises(BadInput, match=r"study.toml.*invited_failing.*exclude, flag or reject"):
        read_study(tmp_path)


def test_others_do_the_pairs_that_an_excluded_judge_leaves(database: str) -> None:
    here = mixed(database)
    careless(here, here.judge(name="ann"))
    (left,) = what_is_left(here.store)
    assert (left.why, left.answers) == ("people", 4), "ann cannot give them"
    bob = here.judge(name="bob")
    while (task := next_task(here.store, bob).task) is not None:
        right = "right" if task["turned"] else "left"
        answer(here.store, bob, task["id"], Answer(choice=right, reason="x"))
    assert what_is_left(here.store) == []


def test_a_pair_fetched_ahead_is_not_taken_after_the_trap(database: str) -> None:
    here = mixed(database)
    judge = here.judge()
    wrong = {True: "left", False: "right"}
    task = next_task(here.store, judge).task
    while task is not None:
        ahead = next_task(here.store, judge, besides=[task["given"]]).task
        said = Answer(choice=wrong[task["turned"]], reason="x") if task["kind"] == "pair" else Answer(label=1.0)
        failed = answer(here.store, judge, task["id"], said).rejected
        if failed and ahead is not None and ahead["kind"] == "pair":
            with pytest.raises(Closed, match="control question"):
                answer(here.store, judge, ahead["id"], Answer(choice="left", reason="x"))
        task = next_task(here.store, judge).task
    assert answers_frame(here.store, PAIR).height == 0


@pytest.mark.parametrize("planned", ["judge", "block"])
def test_others_go_on_with_what_was_planned_for_an_excluded_judge(database: str, planned: str) -> None:
    here = place(database, labels=1, judges_per_pair=1)
    rows: list[dict[str, Any]] = [{"query": f"q{n}", "left": "a", "right": "b", "place": n} for n in range(1, 4)]
    rows.insert(1, TRAP | {"place": 9})
    by = {"judge": "ann", "session": 1} if planned == "judge" else {"block": "7"}
    rows = [row | by for row in rows]
    later = [{"query": "q9", "doc": doc, "session": 2, "judge": "ann"} for doc in "abc"]
    add_tasks(here.store, pl.DataFrame([*rows, *later], infer_schema_length=None))
    ann = here.judge(name="ann")
    seen = careless(here, ann)
    assert sum(task["kind"] == "judge" for task in seen) == 3, "the second session comes, too"
    bob = here.judge(name="bob")
    while (task := next_task(here.store, bob).task) is not None:
        right = "right" if task["turned"] else "left"
        answer(here.store, bob, task["id"], Answer(choice=right, reason="x"))
    assert answers_frame(here.store, PAIR).filter(~pl.col("trap")).height == 3
    assert what_is_left(here.store) == []


def test_the_lead_readmits_an_excluded_judge(database: str) -> None:
    here = mixed(database)
    judge = here.judge()
    met = {task["id"] for task in careless(here, judge)}
    readmit(here.store, judge)
    task = next_task(here.store, judge).task
    assert task is not None
    assert task["kind"] == "pair"
    assert task["id"] not in met, "what was taken back is for others"


def test_someone_else_is_not_excluded(database: str) -> None:
    here = mixed(database)
    careless(here, here.judge())
    other, _ = add_judge(here.store)
    kinds = set()
    while (task := next_task(here.store, other["id"]).task) is not None:
        kinds.add(task["kind"])
        right = "right" if task["turned"] else "left"
        answer(here.store, other["id"], task["id"], Answer(choice=right, reason="x"))
    assert kinds == {"pair"}
