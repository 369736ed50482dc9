"""What the lead does and takes home: who to pay, what to withdraw, everything in one file, links that work."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

import polars as pl
from fastapi.testclient import TestClient

from karat.records import Platform, Preferences, Rules
from karat.study.answers import answer, cant_tell
from karat.study.event_log import Answer
from karat.study.exports import exported
from karat.study.imports import import_records
from karat.study.people import add_judge, all_judges, remove_lead
from karat.study.queue import next_task
from karat.study.tasks import add_tasks
from karat.users import trusted
from karat.web.roster import paid_ids, pair_judges
from karat.web.sign_in import set_password


def table(client: TestClient, name: str) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(client.get(f"/api/export/{name}.csv").content))


def test_the_people_file_says_who_did_what_and_who_is_to_be_paid(serving: Any) -> None:
    here = serving(platform=Platform(prolific=True, tasks=2), rules=Rules(labels=9, apart=0, hours_apart=0))
    add_tasks(here.store, pl.DataFrame({"query": ["g"], "doc": ["a"], "gold": [2]}))
    good, bad, idle = (add_judge(here.store, source="prolific", external=f"p{n}")[0]["id"] for n in range(3))
    for judge, label in ((good, 2), (bad, 0)):
        while (task := next_task(here.store, judge).task) is not None:
            answer(here.store, judge, task["id"], Answer(label=label, seconds=30, away=6))
    lead = here.lead()
    lead.post(f"/api/judges/{bad}/reject", json={"why": "one grade to all"})
    people = table(lead, "people").sort("platform_id")
    assert people["platform_id"].to_list() == ["p0", "p1", "p2"]
    assert people["answers"].to_list() == [4, 0, 0]
    assert people["rejected"].to_list() == [0, 4, 0]
    assert people["why"].to_list() == [None, "one grade to all", None]
    assert people["minutes"].to_list() == [2.0, 2.0, 0.0], "four answers of 30 seconds each, rejected or not"
    assert people["minutes_away"].to_list() == [0.4, 0.4, 0.0]
    assert people.select("gold_seen", "gold_right").rows() == [(1, 1), (1, 0), (0, 0)]
    assert "flags" in people.columns
    assert lead.get("/api/export/pay.txt").text == "p0\n"
    assert here.judge().get("/api/export/pay.txt").status_code == 401
    assert idle


def test_who_was_given_the_code_is_paid_though_little_was_left_to_ask_and_kept_labels_are_paid(serving: Any) -> None:
    here = serving(platform=Platform(prolific=True, tasks=20), rules=Rules(labels=1, block=2, judges_per_pair=1))
    for name in ("code", "none"):  # the second comes when nothing is left
        visitor = here.client()
        visitor.get(f"/enter?PROLIFIC_PID={name}")
        token = {"X-CSRF-Token": visitor.get("/api/me").json()["csrf"]}
        while (turn := visitor.get("/api/task/next").json())["task"] is not None:
            visitor.post(f"/api/task/{turn['task']['id']}/answer", json={"label": 1}, headers=token)
        assert (turn["state"], turn["completion"] is None) == ("done", name == "none")
    assert paid_ids(here.store, 20) == ["code"], "three answers were all that there was to say"
    failed = add_judge(here.store, source="prolific", external="failed")[0]["id"]
    pair = {"query": "r", "left": "one", "right": "two"}
    trap = pair | {"right_query": "q", "trap": True, "expected": "left"}
    for more in ([{"query": "q", "doc": "x"}], [pair, trap]):
        add_tasks(here.store, pl.DataFrame(more, infer_schema_length=None))
        while all_judges(here.store)[-1]["state"] != "rejected" and (task := next_task(here.store, failed).task):
            wrong = "left" if task["turned"] else "right"
            said = Answer(label=1) if task["kind"] == "judge" else Answer(choice=wrong, reason="so")
            answer(here.store, failed, task["id"], said)
    assert all_judges(here.store)[-1]["state"] == "rejected", "a trap was failed"
    assert paid_ids(here.store, 1) == ["code", "failed"], "the label stands, and is paid for"
    assert paid_ids(here.store, 2) == ["code"]


def test_of_two_leads_who_reject_at_once_the_first_ones_reason_stands(serving: Any) -> None:
    here = serving(rules=Rules(labels=1, hours_apart=0))
    lead, judge = here.lead(), add_judge(here.store)[0]["id"]
    task = next_task(here.store, judge).task
    assert task is not None
    answer(here.store, judge, task["id"], Answer(label=1))
    for why in ("at random", "spam"):
        assert lead.post(f"/api/judges/{judge}/reject", json={"why": why}).status_code == 200
    said = lead.post(f"/api/judges/{judge}/pause", json={})
    assert (said.status_code, said.json()["detail"]) == (409, "judge 1 was rejected meanwhile: at random")
    person = all_judges(here.store)[0]
    assert (person["state"], person["why"]) == ("rejected", "at random")
    assert exported(here.store, "log").frame["kind"].to_list().count("rejected") == 1


def test_what_nobody_can_tell_is_withdrawn_and_what_was_said_stays(serving: Any) -> None:
    here = serving(rules=Rules(labels=1, hours_apart=0))
    judge = add_judge(here.store)[0]["id"]
    task = next_task(here.store, judge).task
    assert task is not None
    cant_tell(here.store, judge, task["id"], Answer(reason="other"))
    while (task := next_task(here.store, judge).task) is not None:
        answer(here.store, judge, task["id"], Answer(label=1))
    lead = here.lead()
    (left,) = lead.get("/api/progress").json()["left"]
    assert (left["why"], left["answers"]) == ("people", 1)
    said = lead.post("/api/tasks/withdraw", json={"group": left["group"], "left": left["why"], "judge": left["judge"]})
    assert said.json() == {"withdrawn": 1}
    after = lead.get("/api/progress").json()
    assert (after["left"], after["answers"], after["wanted"]) == ([], 2, 2)
    assert next_task(here.store, add_judge(here.store)[0]["id"]).state == "done"


def test_everything_is_in_one_zip(serving: Any) -> None:
    here = serving()
    judge = add_judge(here.store)[0]["id"]
    task = next_task(here.store, judge).task
    assert task is not None
    answer(here.store, judge, task["id"], Answer(label=1))
    packed = zipfile.ZipFile(io.BytesIO(here.lead().get("/api/export/everything.zip").content))
    assert {"judgments.csv", "preferences.csv", "tasks.csv", "people.csv", "log.jsonl", "pay.txt"} <= {
        *packed.namelist()
    }
    assert packed.read("judgments.csv").decode().count("\n") == 2
    assert here.client().get("/api/export/everything.zip").status_code == 401


def test_a_link_that_others_cannot_open_is_said(serving: Any) -> None:
    here = serving()
    lead = here.lead()
    assert lead.post("/api/invites", json={}).json()["note"] == ""
    local = TestClient(here.app, base_url="http://localhost:8000", headers=dict(lead.headers))
    assert "this machine only" in local.post("/api/invites", json={}).json()["note"]


def test_judges_of_lists_have_sides_speed_and_agreement_and_the_rules_say_how_many_traps_may_fail(serving: Any) -> None:
    here = serving(rules=Rules(judges_per_pair=3, block=3, traps_failed=1, hours_apart=0), groups=("judges",))
    real = [{"query": f"r{n}", "left": "one", "right": "two"} for n in range(6)]
    trap = {"left": "one", "right": "two", "right_query": "x", "trap": True, "expected": "left"}
    traps = [trap | {"query": f"r{n}"} for n in range(3)]
    add_tasks(here.store, pl.DataFrame([*real, *traps], infer_schema_length=None))
    judges = [add_judge(here.store)[0]["id"] for _ in range(3)]
    failed = 0
    for place, judge in enumerate(judges):
        while (task := next_task(here.store, judge).task) is not None:
            if task["kind"] == "judge":
                cant_tell(here.store, judge, task["id"], Answer(reason="other"))
                continue
            right, wrong = ("right", "left") if task["turned"] else ("left", "right")
            fails = bool(task["trap"]) and place == 0 and not failed
            failed += fails
            answer(here.store, judge, task["id"], Answer(choice=wrong if fails else right, reason="so", seconds=9.0))
    pairs = here.lead().get("/api/judges").json()["pairs"]
    assert [row["n"] for row in pairs["rows"]] == [6, 6, 6]
    assert {row["agreement"] for row in pairs["rows"]} == {1.0}
    assert "100 % of 18 answers" in pairs["agreement"]
    assert failed == 1
    kept = trusted(exported(here.store, "preferences"))
    assert len(kept) == 18, "one failed trap is allowed, in the analysis as in the app"
    assert "failed more than 1 trap" in " ".join(kept.notes)


def test_a_models_choices_beside_peoples_change_no_figure_of_people(serving: Any) -> None:
    here = serving(rules=Rules(judges_per_pair=2, block=5, hours_apart=0))
    add_tasks(here.store, pl.DataFrame([{"query": f"r{n}", "left": "one", "right": "two"} for n in range(6)]))
    for _ in range(2):
        judge = add_judge(here.store)[0]["id"]
        while (task := next_task(here.store, judge).task) is not None:
            right = Answer(choice="right" if task["turned"] else "left", reason="so", seconds=9.0)
            answer(here.store, judge, task["id"], Answer(label=1) if task["kind"] == "judge" else right)
    before = pair_judges(here.store)
    said = [{"query": f"r{n}", "left": "one", "right": "two", "choice": "right"} for n in range(6)]
    import_records(here.store, Preferences(pl.DataFrame(said).with_columns(judge=pl.lit("m"), group=pl.lit("llm"))))
    after = pair_judges(here.store)
    assert (after["finding"], after["agreement"]) == (before["finding"], before["agreement"])
    assert after["rows"][:2] == before["rows"]
    (model,) = after["rows"][2:]
    assert (model["judge"], model["n"], model["agreement"], model["compared"]) == ("m", 6, 0.0, 6)


def test_links_begin_with_the_public_address_whatever_host_a_request_names(serving: Any) -> None:
    here = serving()
    lead = here.lead()
    here.app.state.running = replace(here.app.state.running, public_url="https://judge.example.org")
    forged = TestClient(here.app, base_url="http://evil.example", headers=dict(lead.headers))
    said = forged.post("/api/invites", json={}).json()
    assert said["link"] == f"https://judge.example.org/join/{said['token']}"
    assert said["note"] == ""


def test_each_lead_has_a_password_and_the_log_says_who_did_what(serving: Any) -> None:
    here = serving()
    ana = set_password(here.store, "ana")
    token = here.client().post("/api/sign-in", json={"name": "ana", "password": ana}).json()["token"]
    both = {"ana": here.client(token), "lead": here.lead()}
    judge = both["lead"].post("/api/invites", json={}).json()["judge"]
    both["ana"].post(f"/api/judges/{judge}/pause", json={"why": "a break"})
    both["ana"].post("/api/tasks", json={"tasks": [{"query": "q", "doc": "new"}]})
    both["lead"].post(f"/api/judges/{judge}/reject", json={})
    log = exported(here.store, "log").frame.with_columns(by=pl.col("more").str.json_path_match("$.by"))
    done = log.filter(pl.col("by").is_not_null()).select("kind", "by").rows()
    assert done == [("joined", "lead"), ("paused", "ana"), ("tasks_added", "ana"), ("rejected", "lead")]
    remove_lead(here.store, "ana")
    assert both["ana"].get("/api/progress").status_code == 401
    assert both["lead"].get("/api/progress").status_code == 200
    assert here.client().post("/api/sign-in", json={"name": "ana", "password": ana}).status_code == 401
