"""Documents judged faster than anybody reads: the lead is told, and payment waits for a look."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.records import Platform, Rules
from karat.study.answers import answer, reject_judge, undo
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.study.tasks import add_tasks
from karat.web.roster import flags, held_ids, paid_ids, roster

SECONDS = {"ann": 20.0, "bob": 30.0, "cem": 40.0, "fast": 0.2}


def judged(store: Store, name: str, times: list[float], **who: Any) -> int:
    """Someone who judges a document in each of these times."""
    judge = int(add_judge(store, name=name, source="prolific", external=f"id-{name}", **who)[0]["id"])
    for seconds in times:
        task = next_task(store, judge).task
        assert task is not None
        said = Answer(choice="full") if task["kind"] == "support" else Answer(label=1.0)
        answer(store, judge, task["id"], Answer(label=said.label, choice=said.choice, seconds=seconds))
    return judge


def row_of(store: Store, name: str) -> dict[str, Any]:
    return next(row for row in roster(store)["rows"] if row["name"] == name)


@pytest.fixture
def study(serving: Any) -> Any:
    """A study in which ten documents of a kind are judged; its rules are as told."""

    def opened(kind: str = "judge", **rules: Any) -> Any:
        here = serving(platform=Platform(prolific=True, tasks=5), rules=Rules(labels=9, **rules))
        row = {"query": "r", "sentence": "It is so."} if kind == "support" else {"query": "r"}
        add_tasks(here.store, pl.DataFrame([row | {"doc": f"d{n}"} for n in range(10)]))
        return here

    return opened


@pytest.mark.parametrize("kind", ["judge", "support"])
def test_a_median_of_a_fifth_of_a_second_is_flagged_and_held(study: Any, kind: str) -> None:
    here = study(kind)
    for name, seconds in SECONDS.items():
        judged(here.store, name, [seconds] * 8)
    row = row_of(here.store, "fast")
    assert (row["pace"], row["fast"]) == (0.2, 1.0)
    assert row["too_fast"] == "most documents judged in less than 1 second"
    assert flags(here.store) == {"ann": [], "bob": [], "cem": [], "fast": [row["too_fast"]]}
    assert paid_ids(here.store, 5) == ["id-ann", "id-bob", "id-cem"]
    assert held_ids(here.store, 5) == {"id-fast": [row["too_fast"]]}


def test_the_lead_sees_who_is_held_in_every_export(study: Any) -> None:
    here = study()
    for name, seconds in SECONDS.items():
        judged(here.store, name, [seconds] * 8)
    lead = here.lead()
    assert lead.get("/api/export/pay.txt").text == "id-ann\nid-bob\nid-cem\n"
    held = lead.get("/api/export/pay-review.csv").text
    assert held == "platform_id,flags\nid-fast,most documents judged in less than 1 second\n"
    people = pl.read_csv(lead.get("/api/export/people.csv").content)
    assert people.select("judge", "pay").rows() == [
        ("ann", "approve"),
        ("bob", "approve"),
        ("cem", "approve"),
        ("fast", "review"),
    ]
    assert here.judge().get("/api/export/pay-review.csv").status_code == 401


def test_a_tenth_of_the_others_time_is_flagged_though_above_a_second(study: Any) -> None:
    here = study()
    for name, seconds in (SECONDS | {"fast": 3.0}).items():
        judged(here.store, name, [seconds] * 8)
    # By hand: the others' median is 30 s, a fifth of it 6 s; for ann it is the median of 3, 30 and 40 s.
    row = row_of(here.store, "fast")
    assert row["fast_limit"] == pytest.approx(6.0)
    assert row["too_fast"] == "most documents judged in less than 20% of the others' time"
    assert row_of(here.store, "ann")["too_fast"] is None


def test_few_or_slow_or_unknown_times_are_not_flagged(study: Any) -> None:
    here = study()
    judged(here.store, "few", [0.2] * 4)
    judged(here.store, "half", [0.2] * 4 + [20.0] * 5)
    judged(here.store, "two", [30.0] * 8)
    assert all(row["too_fast"] is None for row in roster(here.store)["rows"])
    assert row_of(here.store, "half")["fast"] == pytest.approx(4 / 9)


def test_answers_taken_back_do_not_count_for_speed(study: Any) -> None:
    here = study()
    judge = judged(here.store, "ann", [0.2] * 3 + [9.0] * 3)
    task = next_task(here.store, judge).task
    assert task is not None
    answer(here.store, judge, task["id"], Answer(label=1.0, seconds=0.2))
    assert row_of(here.store, "ann")["too_fast"] is not None
    undo(here.store, judge, task["id"])
    assert row_of(here.store, "ann")["fast"] == 0.5
    first = next_task(here.store, judge).task
    assert first is not None
    answer(here.store, judge, first["id"], Answer(label=1.0, seconds=9.0))
    assert row_of(here.store, "ann")["too_fast"] is None


def test_a_rejected_judge_keeps_the_flag_for_speed(study: Any) -> None:
    here = study()
    judge = judged(here.store, "fast", [0.2] * 8)
    before = row_of(here.store, "fast")
    reject_judge(here.store, judge, "too fast")
    after = row_of(here.store, "fast")
    assert {name: after[name] for name in ("pace", "fast", "too_fast")} == {
        name: before[name] for name in ("pace", "fast", "too_fast")
    }
    assert held_ids(here.store, 5) == {}, "nothing that stands is to be paid"


def test_the_limits_are_settings_and_0_turns_them_off(study: Any, tmp_path: Any) -> None:
    here = study(min_seconds=0.0, min_share_of_median=0.0)
    judged(here.store, "fast", [0.2] * 8)
    assert row_of(here.store, "fast")["too_fast"] is None
    here = study(min_seconds=10.0)
    judged(here.store, "slow", [9.0] * 8)
    assert row_of(here.store, "slow")["too_fast"] == "most documents judged in less than 10 seconds"
    (tmp_path / "study.toml").write_text("[speed]\nmin_seconds = 2.5\nmin_share_of_median = 0.1\n")
    rules = read_study(tmp_path).study.rules
    assert (rules.min_seconds, rules.min_share_of_median) == (2.5, 0.1)
    with pytest.raises(BadInput, match="min_share_of_median"):
        Rules(min_share_of_median=1.5)
