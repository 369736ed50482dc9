"""The description of the interface says who may ask what, and that is how it is."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from karat.study.people import add_judge
from karat.study.tasks import add_tasks
from karat.web import responses as replies

PASSWORD = "correct horse"


def operations(served: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Every method, path and operation of the description, with a path that can be asked."""
    paths = served.client().get("/openapi.json").json()["paths"]
    named = {"{task_id}": "1", "{judge_id}": "1", "{what}": "log", "{kind}": "csv"}
    found = []
    for path, methods in paths.items():
        place = path
        for name, value in named.items():
            place = place.replace(name, value)
        found += [(method, place, about) for method, about in methods.items()]
    return found


def body_of(path: str) -> dict[str, Any]:
    if path.endswith("/tasks"):
        return {"tasks": [{"query": "q", "doc": "a"}]}
    if path.endswith("sign-in"):
        return {"name": "lead", "password": "wrong"}
    return {"what": "page"} if path.endswith("opened") else {}


def test_what_needs_a_session_is_described_so_and_nothing_else(served: Any) -> None:
    lead = served.lead()
    said = served.client().post("/api/sign-in", json={"name": "lead", "password": PASSWORD})
    assert said.status_code == 200, "signing in needs no session"
    needed = 0
    for method, path, about in operations(served):
        body = {"json": body_of(path)} if method == "post" else {}
        closed = served.client().request(method, path, **body).status_code == 401
        if path == "/api/sign-in":
            closed = False  # a wrong password is no missing session
        assert bool(about.get("security")) == closed, path
        needed += closed
    assert needed >= 18
    assert lead.get("/api/progress").status_code == 200


def test_every_scheme_that_is_used_is_described_and_the_other_way_round(served: Any) -> None:
    schemes = served.client().get("/openapi.json").json()["components"]["securitySchemes"]
    used = {name for _, _, about in operations(served) for way in about.get("security", []) for name in way}
    assert used == {*schemes}
    assert {scheme["type"] for scheme in schemes.values()} == {"http", "apiKey"}


@pytest.mark.parametrize("role", ["judge", "lead"])
def test_each_way_that_is_described_is_a_way_in(served: Any, role: str) -> None:
    schemes = served.client().get("/openapi.json").json()["components"]["securitySchemes"]
    if role == "judge":
        token = add_judge(served.store)[1]
        browser = served.client()
        browser.get(f"/join/{token}")
        csrf = browser.get("/api/me").json()["csrf"]
    else:
        browser = served.client()
        said = browser.post("/api/sign-in", json={"name": "lead", "password": PASSWORD}).json()
        token, csrf = said["token"], said["csrf"]
    cookies = dict(browser.cookies)
    for method, path, about in operations(served):
        mine = "judge" if "judge" in about["tags"] else "lead"
        if mine != role or not about.get("security"):
            continue
        body = {"json": body_of(path)} if method == "post" else {}
        for way in about["security"]:
            headers, sent = {}, {}
            for name in way:
                scheme = schemes[name]
                if scheme["type"] == "http":
                    headers["Authorization"] = f"Bearer {token}"
                elif scheme["in"] == "cookie":
                    sent[scheme["name"]] = cookies[scheme["name"]]
                else:
                    headers[scheme["name"]] = csrf
            client = served.client()
            client.cookies.update(sent)
            reply = client.request(method, path, headers=headers, **body)
            assert reply.status_code not in (401, 403), (path, way)
            if method == "post" and len(way) > 1:  # the cookie alone is not enough
                del headers["X-CSRF-Token"]
                assert client.request(method, path, headers=headers, **body).status_code == 403, path


def test_what_judges_are_answered_is_as_described(served: Any) -> None:
    rows = {"query": ["q"], "left": ["one"], "right": ["two"]}
    add_tasks(served.store, pl.DataFrame(rows))
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "doc": ["b"], "context": ["a"]}))
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "reason": ["fewer ads"], "kind": ["code"]}))
    add_tasks(served.store, pl.DataFrame({"query": ["q"], "doc": ["c"], "gold": [1]}), practice=True)
    judge = served.judge()
    replies.Me.model_validate(judge.get("/api/me").json(), strict=True)
    kinds = set()
    while True:
        turn = replies.NextTask.model_validate(judge.get("/api/task/next").json(), strict=True)
        if turn.task is None:
            break
        place = f"/api/task/{turn.task.id}"
        replies.TaskShown.model_validate(judge.get(place).json(), strict=True)
        replies.Others.model_validate(judge.get(f"{place}/others").json(), strict=True)
        if turn.task.context is not None:
            said = judge.post(f"{place}/opened", json={"what": "context"}).json()
            replies.OutcomeSaid.model_validate(said, strict=True)
        body = {"judge": {"label": 1}, "pair": {"choice": "left", "reason": "why"}, "code": {"classes": ["language"]}}
        said = judge.post(f"{place}/answer", json=body[turn.task.kind]).json()
        assert (replies.OutcomeSaid.model_validate(said, strict=True).feedback is not None) == turn.task.practice
        kinds.add((turn.task.kind, turn.task.practice, turn.task.context is not None))
    assert len(kinds) == 5
    assert turn.state == "done"
    paths = served.client().get("/openapi.json").json()["paths"]
    reply = paths["/api/task/next"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert reply == {"$ref": "#/components/schemas/NextTask"}


def test_a_program_reads_the_text_of_the_pages_it_was_given_and_of_no_others(served: Any) -> None:
    judge = served.judge()
    seen = {}
    for _ in range(3):
        task = judge.get("/api/task/next").json()["task"]
        reply = judge.get(f"/api/task/{task['id']}/text")
        found = replies.PageText.model_validate(reply.json(), strict=True)
        seen[found.doc] = found.text
        assert judge.get(f"/document/{task['id']}").status_code == 200
        assert judge.get(f"/api/task/{task['id']}/text", params={"doc": "z"}).status_code == 404
        judge.post(f"/api/task/{task['id']}/answer", json={"label": 1, "surface": "page"})
    assert seen == {"a": "<b>text</b> of a", "b": "<b>text</b> of b", "c": "<b>text</b> of c"}
    assert served.judge().get(f"/api/task/{task['id']}/text").status_code == 404, "another judge's task"
