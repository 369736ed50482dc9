"""The interface does what it says, to those who may, and says why not to the others."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient

from karat.study.answers import answer as answer_stored
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.tasks import add_tasks
from karat.web import sign_in as people

PASSWORD = "correct horse"


def answer(judge: TestClient, **body: Any) -> tuple[int, Any]:
    """Get the next task and answer it."""
    task = judge.get("/api/task/next").json()["task"]
    return task["id"], judge.post(f"/api/task/{task['id']}/answer", json=body)


def test_a_judge_gets_tasks_answers_them_and_takes_one_back(served: Any) -> None:
    judge = served.judge()
    me = judge.get("/api/me").json()
    assert [level["name"] for level in me["study"]["scale"]] == ["bad", "fair", "good"]
    turn = judge.get("/api/task/next").json()
    assert turn["state"] == "task"
    assert turn["task"]["query"]["text"] == "hooves"
    assert turn["task"]["document"]["title"].startswith("Title")
    hidden = {"trap", "expected", "gold", "probability", "a", "b", "turned"}
    assert not hidden & {*turn["task"]}
    ahead = judge.get(f"/api/task/next?besides={turn['task']['id']}").json()["task"]
    assert ahead["id"] != turn["task"]["id"]
    number, said = answer(judge, label=2, seconds=3.5, surface="page", comment="ok", key="k1")
    assert said.status_code == 200
    assert (
        judge.post(f"/api/task/{number}/answer", json={"label": 2, "key": "k1"}).json()["event"] == said.json()["event"]
    )
    assert [row["label"] for row in judge.get("/api/answers").json()["answers"]] == [2]
    assert judge.post(f"/api/task/{number}/undo").status_code == 200
    assert judge.get("/api/answers").json()["answers"] == []
    assert judge.get("/api/task/next").json()["task"]["id"] == number
    assert judge.post(f"/api/task/{number}/skip").status_code == 200
    assert judge.post(f"/api/task/{ahead['id']}/cant-tell", json={"reason": "other"}).status_code == 200
    assert judge.get("/api/me").json()["progress"]["answered"] == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"label": 7}, "a grade of the scale"),
        ({}, "a grade of the scale"),
        ({"label": 1, "choice": "left"}, "a label for a document"),
        ({"label": 1, "aspects": {"beauty": 1}}, "aspects of none"),
        ({"label": 1, "colour": 1}, "Extra inputs"),
        ({"label": 1, "comment": "a\0b"}, "NUL"),
        ({"label": 1, "seconds": -1}, "greater than or equal"),
        ({"label": 1, "surface": "moon"}, "pattern"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_in_words(served: Any, body: dict[str, Any], said: str) -> None:
    _, refused = answer(served.judge(), **body)
    assert refused.status_code == 422
    assert said in str(refused.json()["detail"])


def test_every_aspect_is_graded_or_not_applicable(served_with_platform: Any) -> None:
    judge = served_with_platform.judge()
    number, refused = answer(judge, label=1)
    assert refused.status_code == 422
    assert "novelty" in refused.json()["detail"]
    said = judge.post(f"/api/task/{number}/answer", json={"label": 1, "aspects": {"novelty": None}})
    assert said.status_code == 200


def test_a_pair_needs_a_choice_and_a_reason_and_shows_both_lists(served: Any) -> None:
    judge = served.judge()
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "left": ["one"], "right": ["two"]}))
    for _ in range(3):
        answer(judge, label=1)
    task = judge.get("/api/task/next").json()["task"]
    assert [len(task[side]) for side in ("left", "right")] == [3, 3]
    path = f"/api/task/{task['id']}/answer"
    assert "a reason" in judge.post(path, json={"choice": "left"}).json()["detail"]
    assert judge.post(path, json={"choice": "up", "reason": "x"}).status_code == 422
    assert judge.post(path, json={"choice": "left", "chips": ["more relevant"], "strength": 9}).status_code == 422
    assert judge.post(path, json={"choice": "left", "chips": ["more relevant"]}).status_code == 200


def test_the_context_must_be_opened_first(served: Any) -> None:
    judge = served.judge()
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "doc": ["b"], "context": ["a"]}))
    for _ in range(4):
        task = judge.get("/api/task/next").json()["task"]
        if task["context"] is not None:
            assert judge.post(f"/api/task/{task['id']}/answer", json={"label": 1}).status_code == 409
            assert judge.post(f"/api/task/{task['id']}/opened", json={"what": "context"}).status_code == 200
        assert judge.post(f"/api/task/{task['id']}/answer", json={"label": 1}).status_code == 200


def test_a_program_that_fetched_the_text_of_the_context_has_read_it(served: Any) -> None:
    judge = served.judge()
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "doc": ["b"], "context": ["a"]}))
    met = 0
    for _ in range(4):
        task = judge.get("/api/task/next").json()["task"]
        place = f"/api/task/{task['id']}"
        if task["context"] is not None:
            met += 1
            assert judge.get(f"{place}/text").status_code == 200
            assert judge.post(f"{place}/answer", json={"label": 1}).status_code == 409, "the other document's text"
            assert judge.get(f"{place}/text", params={"doc": task["context"]["doc"]}).status_code == 200
        assert judge.post(f"{place}/answer", json={"label": 1}).status_code == 200
    assert met == 1


def test_every_route_asks_who_is_there(served: Any) -> None:
    nobody, judge, lead = served.client(), served.judge(), served.lead()
    paths = nobody.get("/openapi.json").json()["paths"]
    checked = 0
    for path, methods in paths.items():
        for method, about in methods.items():
            if path == "/api/sign-in":
                continue
            place = path.replace("{task_id}", "1").replace("{judge_id}", "1").replace("{what}.{kind}", "log.csv")
            body = {"what": "page"} if path.endswith("opened") else {"tasks": [{"query": "q", "doc": "a"}]}
            more = {"json": body if path.endswith(("opened", "tasks")) else {}} if method == "post" else {}
            assert nobody.request(method, place, **more).status_code == 401, path
            other = judge if set(about["tags"]) & {"lead", "data"} else lead
            assert other.request(method, place, **more).status_code == 401, path
            checked += 1
    assert checked >= 18
    assert served.client("made up").get("/api/me").status_code == 401


def test_others_tasks_and_tasks_that_are_not_there_are_not_found(served: Any) -> None:
    one, two = served.judge(), served.judge()
    task = one.get("/api/task/next").json()["task"]["id"]
    for number in (task, 999):
        assert two.get(f"/api/task/{number}").status_code == 404
        assert two.get(f"/api/task/{number}/others").status_code == 404
        assert two.get(f"/document/{number}?doc=a").status_code == 404
        for what, body in (("answer", {"label": 1}), ("undo", {}), ("skip", {}), ("cant-tell", {})):
            assert two.post(f"/api/task/{number}/{what}", json=body).status_code == 404, what
        assert two.post(f"/api/task/{number}/opened", json={"what": "page"}).status_code == 404


def test_a_cookie_alone_changes_nothing(served: Any) -> None:
    lead = served.lead()
    token = lead.post("/api/invites", json={"name": "ana"}).json()["token"]
    browser = served.client()
    came = browser.get(f"/join/{token}")
    assert (came.status_code, came.headers["location"]) == (303, "/welcome")
    cookie = came.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert token not in cookie
    me = browser.get("/api/me").json()
    task = browser.get("/api/task/next").json()["task"]["id"]
    path = f"/api/task/{task}/answer"
    assert browser.post(path, json={"label": 1}).status_code == 403
    assert browser.post(path, json={"label": 1}, headers={"X-CSRF-Token": "0" * 64}).status_code == 403
    assert browser.post(path, json={"label": 1}, headers={"X-CSRF-Token": me["csrf"]}).status_code == 200
    assert served.client().get("/join/none").headers["location"] == "/message?about=link"


def test_wrong_passwords_are_limited_and_do_not_tell_names(served: Any) -> None:
    client = served.client()
    said = [client.post("/api/sign-in", json={"name": name, "password": "no"}) for name in ("lead", "nobody") * 3]
    assert [reply.status_code for reply in said] == [401] * 5 + [429]
    assert len({reply.json()["detail"] for reply in said[:5]}) == 1
    assert int(said[5].headers["retry-after"]) > 0
    assert client.post("/api/sign-in", json={"name": "lead", "password": PASSWORD}).status_code == 429


def test_signing_out_ends_the_session(served: Any) -> None:
    browser = served.client()
    assert browser.post("/signin", data={"name": "lead", "password": "x"}).headers["location"] == "/signin?wrong=1"
    assert browser.post("/signin", data={"name": "lead", "password": PASSWORD}).headers["location"] == "/lead"
    token = browser.cookies[people.cookie_name(served.app.state.running, people.LEAD)]
    assert served.client(token).get("/api/progress").status_code == 200
    assert browser.post("/signout", data={"csrf": "x"}).status_code == 403
    assert browser.post("/signout", data={"csrf": people.csrf_token(token)}).status_code == 303
    assert served.client(token).get("/api/progress").status_code == 401


def test_the_course_ends_at_the_count_in_the_heading_whatever_traps_were_answered(served: Any) -> None:
    rows = [
        {"query": "r", "left": "one", "right": "two"},
        {"query": "q", "left": "one", "right": "two", "trap": "true", "expected": "left"},
    ]
    add_tasks(served.store, pl.DataFrame(rows))
    judge = add_judge(served.store)[0]["id"]
    traps = 0
    while (turn := next_task(served.store, judge)).task is not None:
        task = turn.task
        traps += task["trap"]
        side = "right" if task["turned"] else "left"
        given = Answer(label=1.0) if task["kind"] == "judge" else Answer(choice=side, reason="better")
        answer_stored(served.store, judge, task["id"], given)
    said = served.lead().get("/api/progress").json()
    assert traps == 1
    assert said["answers"] == said["history"][-1][1] == 4


def test_the_lead_pauses_releases_and_rejects(served: Any) -> None:
    lead = served.lead()
    made = lead.post("/api/invites", json={}).json()
    judge = served.client(made["token"])
    assert made["link"].endswith(f"/join/{made['token']}")
    answer(judge, label=1)
    path = f"/api/judges/{made['judge']}"
    assert lead.post(f"{path}/pause", json={"why": "lunch"}).status_code == 200
    refused = judge.get("/api/task/next")
    assert (refused.status_code, refused.json()["detail"]) == (403, "lunch")
    lead.post(f"{path}/release")
    assert judge.get("/api/task/next").json()["state"] == "task"
    lead.post(f"{path}/reject", json={"why": "spam, as the US team says"})
    rows = lead.get("/api/export/judgments.csv").text.splitlines()
    assert len(rows) == 1
    assert "Answers of yours were not accepted: spam, as the US team says." in judge.get("/done").text
    named = [lead.post("/api/invites", json={"name": name}) for name in (" ana\n maria ", "ana maria", " ")]
    assert [said.status_code for said in named] == [200, 422, 200]
    assert [said.json().get("name") for said in named] == ["ana maria", None, "judge 3"]
    assert lead.post("/api/judges/999/pause").status_code == 404
    assert lead.post("/api/invites", json={"group": "x"}).status_code == 422


def test_exports_guard_formulas_and_the_log_has_everything(served: Any) -> None:
    lead, judge = served.lead(), served.judge(name='=HYPERLINK("x")')
    number, _ = answer(judge, label=1, comment="=1+1")
    judge.post(f"/api/task/{number}/undo")
    judge.post(f"/api/task/{number}/answer", json={"label": 2, "comment": '@SUM(A1), "really"'})
    reply = lead.get("/api/export/judgments.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="judgments.csv"'
    assert "'@SUM(A1)" in reply.text
    assert "'=HYPERLINK" in reply.text
    log = lead.get("/api/export/log.csv").text
    assert "'=1+1" in log
    assert "undo" in log
    for kind in ("tsv", "jsonl", "parquet"):
        assert lead.get(f"/api/export/tasks.{kind}").status_code == 200
    assert lead.get("/api/export/tasks.exe").status_code == 422


def test_reasons_become_tasks_for_coders(served: Any) -> None:
    judge, lead = served.judge(), served.lead()
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "left": ["one"], "right": ["two"]}))
    for _ in range(3):
        answer(judge, label=1)
    answer(judge, choice="left", reason="fewer adverts")
    assert lead.post("/api/codes").json() == {"new": 1}
    assert lead.post("/api/codes").json() == {"new": 0}
    task = judge.get("/api/task/next").json()["task"]
    assert (task["kind"], task["reason"]) == ("code", "fewer adverts")
    path = f"/api/task/{task['id']}/answer"
    assert judge.post(path, json={"classes": ["nonsense"]}).status_code == 422
    assert judge.post(path, json={"classes": ["spam/adverts"]}).status_code == 200
    assert "spam/adverts" in lead.get("/api/export/codes.csv").text


def test_a_document_is_shown_in_a_page_that_may_do_nothing(served: Any) -> None:
    judge = served.judge()
    task = judge.get("/api/task/next").json()["task"]["id"]
    plain = judge.get(f"/document/{task}?doc=a")
    assert "&lt;b&gt;text&lt;/b&gt;" in plain.text
    page = judge.get(f"/document/{task}?doc=c")
    for headers in (plain.headers, page.headers):
        policy = headers["content-security-policy"]
        assert policy.startswith("sandbox; default-src 'none'")
        assert "allow" not in policy
        assert "script" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
    assert judge.get(f"/document/{task}?doc=secret").status_code == 404
    assert served.client().get(f"/document/{task}?doc=a").status_code in (303, 401)


def test_every_answer_carries_the_headers_and_long_requests_are_refused(served: Any) -> None:
    client = served.client()
    for path in ("/api/me", "/welcome", "/static/karat.css", "/nowhere"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert client.get("/api/me").headers["cache-control"] == "no-store"
    assert client.post("/api/sign-in", content=b" " * 1_000_001).status_code == 413


def test_a_new_link_ends_the_old_one_and_its_sessions_and_is_logged(served_anywhere: Any) -> None:
    served, lead = served_anywhere, served_anywhere.lead()
    judge, old = add_judge(served.store, name="ana")
    browser = served.client()
    browser.get(f"/join/{old}")
    assert browser.get("/api/me").status_code == 200
    made = lead.post(f"/api/judges/{judge['id']}/link").json()
    assert (made["judge"], made["name"], made["group"]) == (judge["id"], "ana", judge["grp"])
    assert browser.get("/api/me").status_code == 401
    assert served.client(old).get("/api/me").status_code == 401
    assert served.client(made["token"]).get("/api/me").json()["name"] == "ana"
    browser.get(f"/join/{made['token']}")
    assert browser.get("/api/me").status_code == 200
    log = [json.loads(line) for line in lead.get("/api/export/log.jsonl").text.splitlines()]
    assert [row["judge"] for row in log if row["kind"] == "new_link"] == ["ana"]
    assert made["token"] not in str(log)
    assert lead.post("/api/judges/99999/link").status_code == 404
    assert served.client(made["token"]).post(f"/api/judges/{judge['id']}/link").status_code == 401
