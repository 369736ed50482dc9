"""The figures that justified a rejection stay: on the dashboard, in the roster and in exports."""

from __future__ import annotations

import io
from typing import Any
from uuid import uuid4

import polars as pl
import pytest

from karat.records import Rules, Scale
from karat.records.study_design import StudyDesign
from karat.study.answers import answer, reject_judge
from karat.study.event_log import Answer
from karat.study.people import add_judge, set_state
from karat.study.queue import next_task
from karat.study.store import Store
from karat.study.tasks import add_tasks
from karat.web.roster import flags, pair_judges, people_file, roster
from simulated_people import work_through

FIGURES = ("n", "seconds", "agreement", "agreement_low", "n_compared", "accuracy", "n_gold", "leniency", "cant_tell")


@pytest.fixture
def store(database: str) -> Any:
    """Three judges have labelled 40 documents, 20 of them gold; cem is wrong and fast."""
    study = StudyDesign(uuid4().hex, "S", Scale.parse("0..3"), rules=Rules(labels=3))
    opened = Store.open(database, study)
    rows = [{"query": f"q{n % 8}", "doc": f"d{n}", "gold": float(n % 4) if n < 20 else None} for n in range(40)]
    add_tasks(opened, pl.DataFrame(rows, infer_schema_length=None))
    for name, shift, seconds in (("ann", 0, 20.0), ("bob", 0, 30.0), ("cem", 2, 1.5)):
        work_through(opened, add_judge(opened, name=name)[0]["id"], shift, seconds)
    yield opened
    opened.close()


def row_of(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(row for row in rows if name in (row.get("name"), row.get("judge")))


def test_a_rejected_judge_keeps_the_figures_of_the_last_moment(store: Store) -> None:
    before = row_of(roster(store)["rows"], "cem")
    # By hand: of the 20 gold documents with grades 0..3, all are off by two.
    assert (before["n_gold"], before["accuracy"], before["seconds"]) == (20, 0.0, 1.5)
    assert before["as_of"] is None
    reject_judge(store, before["id"], "wrong and fast")
    after = row_of(roster(store)["rows"], "cem")
    assert {name: after[name] for name in FIGURES} == {name: before[name] for name in FIGURES}
    assert (after["answers"], after["state"]) == (0, "rejected")
    assert after["as_of"] is not None
    assert after["likely_spammer"] == before["likely_spammer"]


def test_what_others_say_later_does_not_change_the_figures(store: Store) -> None:
    before = row_of(roster(store)["rows"], "cem")
    reject_judge(store, before["id"], "wrong and fast")
    work_through(store, add_judge(store, name="dan")[0]["id"], 2, 9.0)  # who agrees with cem
    after = row_of(roster(store)["rows"], "cem")
    assert {name: after[name] for name in FIGURES} == {name: before[name] for name in FIGURES}


def test_a_judge_who_goes_on_has_new_figures(store: Store) -> None:
    cem = row_of(roster(store)["rows"], "cem")["id"]
    reject_judge(store, cem, "wrong and fast")
    set_state(store, cem, "active")
    assert row_of(roster(store)["rows"], "cem")["n_gold"] == 20, "until they have said something again"
    add_tasks(store, pl.DataFrame({"query": ["q9"], "doc": ["new"]}))
    task = next_task(store, cem).task
    assert task is not None
    answer(store, cem, task["id"], Answer(label=1.0, seconds=44.0))
    row = row_of(roster(store)["rows"], "cem")
    assert (row["n"], row["seconds"], row["as_of"]) == (1, 44.0, None)


def test_the_export_of_people_has_the_figures_of_rejected_judges(store: Store) -> None:
    cem = row_of(roster(store)["rows"], "cem")
    reject_judge(store, cem["id"], "wrong and fast")
    people = people_file(store, 0).frame
    row = people.filter(pl.col("judge") == "cem").row(0, named=True)
    assert (row["median_seconds"], row["with_gold"], row["n_gold"]) == (1.5, 0.0, 20)
    assert row["with_others"] == pytest.approx(cem["agreement"])
    assert row["figures_as_of"] is not None
    other = people.filter(pl.col("judge") == "ann").row(0, named=True)
    assert (other["median_seconds"], other["with_gold"], other["figures_as_of"]) == (20.0, 1.0, None)


def test_who_failed_a_trap_keeps_the_figures_of_their_pairs(database: str) -> None:
    study = StudyDesign(uuid4().hex, "S", Scale.parse("0..3"), rules=Rules(block=2))
    store = Store.open(database, study)
    pairs = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(6)]
    trap = {"query": "q0", "left": "a", "right": "b", "trap": True, "expected": "left"}
    traps = [trap | {"right_query": f"x{n}"} for n in range(3)]
    add_tasks(store, pl.DataFrame([*pairs, *traps], infer_schema_length=None))
    for source in ("invite", "prolific"):
        judge, _ = add_judge(store, name=source, source=source, external=source)
        seen, failed = 0, False
        while not failed:
            task = next_task(store, judge["id"]).task
            assert task is not None
            right = task["trap"] and seen == 0  # nothing is known of somebody who chose in traps only
            said = Answer(choice="left" if task["turned"] != right else "right", reason="x", seconds=1.25)
            failed = answer(store, judge["id"], task["id"], said).rejected
            seen += not task["trap"]
    found = pair_judges(store)
    store_flags = flags(store)
    store.close()
    for name in ("invite", "prolific"):
        row = row_of(found["rows"], name)
        assert (row["traps_failed"], row["seconds"], row["n"] >= 1) == (1, 1.25, True)
        assert f"failed 1 of {row['traps']} traps" in row["flag"]
        assert row["as_of"] is not None
        assert row["flag"] in store_flags[name]


def test_the_lead_reads_the_figures_of_a_rejected_judge(served_anywhere: Any) -> None:
    here = served_anywhere
    add_tasks(here.store, pl.DataFrame({"query": ["g"] * 4, "doc": list("abcd"), "gold": [2, 2, 2, 2]}))
    judge = add_judge(here.store, name="cem")[0]["id"]
    work_through(here.store, judge, 0, 3.0)
    lead = here.lead()
    before = lead.get("/api/judges").json()["rows"][0]
    lead.post(f"/api/judges/{judge}/reject", json={"why": "fast"})
    after = lead.get("/api/judges").json()["rows"][0]
    assert (after["n_gold"], after["accuracy"], after["seconds"]) == (4, before["accuracy"], 3.0)
    people = pl.read_csv(io.BytesIO(lead.get("/api/export/people.csv").content))
    assert people["median_seconds"].to_list() == [3.0]
