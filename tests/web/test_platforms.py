"""People from platforms: from where they may come, and what the lead can hold against the platform's list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from fastapi.testclient import TestClient

from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.records import Platform, Scale, StudyDesign
from karat.study.store import Store
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from karat.web.sign_in import set_password

PASSWORD = "correct horse"


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A function that opens a study to a platform and gives a visitor."""
    stores = []

    def served(platform: Platform, docs: str = "") -> Any:
        study = StudyDesign(uuid4().hex, "Served", Scale.parse("bad, good"), platform=platform)
        store = Store.open(str(tmp_path / "karat.db"), study)
        stores.append(store)
        set_password(store, "lead", PASSWORD)
        if docs:
            add_tasks(store, pl.DataFrame({"query": ["q"] * len(docs), "doc": list(docs)}))
        return TestClient(create_app(study, store), follow_redirects=False)

    yield served
    for store in stores:
        store.close()


def test_links_of_prolific_studies_that_are_not_listed_are_refused(visit: Any) -> None:
    client = visit(Platform(prolific=True, prolific_studies=("mine", "pilot")))
    for study, way in (("mine", "/welcome"), ("pilot", "/welcome"), ("other", "/message?about=closed")):
        assert client.get(f"/enter?PROLIFIC_PID=p&STUDY_ID={study}").headers["location"] == way
    for parameters in ("PROLIFIC_PID=p", "PROLIFIC_PID=p&STUDY_ID=", "PROLIFIC_PID=p&STUDY_ID=MINE"):
        refused = client.get(f"/enter?{parameters}")
        assert refused.headers["location"] == "/message?about=closed"
        assert "set-cookie" not in refused.headers


def test_without_a_list_every_prolific_study_may_send_people(visit: Any) -> None:
    client = visit(Platform(prolific=True))
    assert client.get("/enter?PROLIFIC_PID=p&STUDY_ID=any").headers["location"] == "/welcome"


def test_the_list_of_people_says_where_they_came_from(visit: Any) -> None:
    client = visit(Platform(prolific=True, mturk=True))
    client.get("/enter?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1")
    client.get("/enter?workerId=w1&assignmentId=a1&hitId=h1")
    token = client.post("/api/sign-in", json={"name": "lead", "password": PASSWORD}).json()["token"]
    reply = client.get("/api/export/people.jsonl", headers={"Authorization": f"Bearer {token}"})
    rows = [json.loads(line) for line in reply.text.splitlines()]
    names = ("platform_id", "platform_study", "platform_session")
    assert [tuple(row[name] for name in names) for row in rows] == [("p1", "s1", "x1"), ("w1", "h1", "a1")]


def test_the_list_stands_in_the_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text("[platform]\nprolific = true\nprolific_studies = ['a', 'b']\n")
    assert read_study(str(tmp_path)).study.platform.prolific_studies == ("a", "b")


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("prolific = true\nprolific_studies = []", "something in prolific_studies"),
        ("prolific = true\nprolific_studies = [7]", "texts in prolific_studies"),
        ("prolific = true\nprolific_studies = ['']", "texts in prolific_studies"),
        ("prolific = true\nprolific_studies = 'a'", "prolific_studies as list"),
        ("prolific_studies = ['a']", "prolific = true"),
    ],
)
def test_a_slip_in_the_list_is_said(tmp_path: Path, said: str, wrong: str) -> None:
    (tmp_path / "study.toml").write_text(f"[platform]\n{said}\n")
    with pytest.raises(BadInput, match=wrong):
        read_study(str(tmp_path))


def said_so_often(visitor: Any, number: int) -> None:
    token = {"X-CSRF-Token": visitor.get("/api/me").json()["csrf"]}
    for _ in range(number):
        task = visitor.get("/api/task/next").json()["task"]["id"]
        assert visitor.post(f"/api/task/{task}/answer", json={"label": 1}, headers=token).status_code == 200


def test_the_end_shows_the_code_after_so_many_answers_though_there_are_tasks_left(visit: Callable[..., Any]) -> None:
    visitor = visit(Platform(prolific=True, tasks=2), docs="abc")
    visitor.get("/enter?PROLIFIC_PID=p1&STUDY_ID=s")
    said_so_often(visitor, 1)
    assert visitor.get("/done").headers["location"] == "/judge"
    said_so_often(visitor, 1)
    code = visitor.get("/api/me").json()["completion"]["code"]
    shown = visitor.get("/done")
    assert shown.status_code == 200
    assert code in shown.text
    assert "Go on judging" in shown.text
    said_so_often(visitor, 1)
    shown = visitor.get("/done").text
    assert code in shown
    assert "Go on judging" not in shown, "there is nothing left"


def test_people_of_prolific_and_mturk_come_in_are_known_again_and_get_their_code(served_with_platform: Any) -> None:
    here = served_with_platform
    browser = here.client()
    entry = "/enter?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x"
    assert browser.get(entry).headers["location"] == "/welcome"
    me = browser.get("/api/me").json()
    assert me["completion"] is None
    task = browser.get("/api/task/next").json()["task"]["id"]
    body = {"label": 1, "aspects": {"novelty": 2}}
    browser.post(f"/api/task/{task}/answer", json=body, headers={"X-CSRF-Token": me["csrf"]})
    again = here.client()
    again.get(entry)
    me = again.get("/api/me").json()
    assert me["progress"]["answered"] == 1
    assert me["completion"]["code"] == "C1DONE"
    assert me["completion"]["return_to"] == "https://app.prolific.com/submissions/complete?cc=C1DONE"
    looks = here.client()
    shown = looks.get("/enter?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert (shown.headers["location"], "set-cookie" in shown.headers) == ("/preview", False)
    worker = here.client()
    worker.get("/enter?assignmentId=a&hitId=h&workerId=w&turkSubmitTo=https://evil.example")
    judge = worker.get("/api/me").json()
    assert judge["name"] != "w", "a platform's id is not a name"
    assert here.client().get("/enter").headers["location"] == "/message?about=closed"


def test_an_invited_judge_is_given_all_tasks_and_no_code(serving: Any) -> None:
    here = serving(platform=Platform(prolific=True, completion_code="C1DONE", tasks=1))
    invited = here.judge(name="ann")
    assert '"enough": 0' in invited.get("/judge").text, "the page does not stop after one answer"
    for many in (1, 2, 3):
        task = invited.get("/api/task/next").json()["task"]["id"]
        assert invited.post(f"/api/task/{task}/answer", json={"label": 1}).status_code == 200
        assert invited.get("/api/me").json()["completion"] is None
        if many < 3:
            assert invited.get("/done").headers["location"] == "/judge"
    turn = invited.get("/api/task/next").json()
    assert (turn["state"], turn["completion"]) == ("done", None)
    shown = invited.get("/done").text
    assert "that was all" in shown
    assert "code" not in shown.lower()
    (row,) = here.lead().get("/api/judges").json()["rows"]
    assert row["completion"] is None, "nor does the lead's table have one"


def test_the_lead_sees_which_platform_id_was_given_which_code(served_with_platform: Any) -> None:
    here, lead = served_with_platform, served_with_platform.lead()
    browser = here.client()
    browser.get("/enter?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x")
    me = browser.get("/api/me").json()

    def known() -> tuple[Any, ...]:
        (row,) = lead.get("/api/judges").json()["rows"]
        return row["source"], row["external"], row["completion"]

    assert known() == ("prolific", "p1", None)
    task = browser.get("/api/task/next").json()["task"]["id"]
    body = {"label": 1, "aspects": {"novelty": 2}}
    browser.post(f"/api/task/{task}/answer", json=body, headers={"X-CSRF-Token": me["csrf"]})
    lead.get("/api/judges")
    assert browser.get("/api/me").json()["completion"]["code"] == "C1DONE"
    assert known() == ("prolific", "p1", "C1DONE")
    head, row = lead.get("/api/export/people.csv").text.splitlines()
    said = dict(zip(head.split(","), row.split(","), strict=True))
    assert (said["platform_id"], said["completion_code"], said["answers"]) == ("p1", "C1DONE", "1")
    assert "token" not in head
    assert browser.get("/api/export/people.csv").status_code in (401, 403)


def test_a_platforms_frame_shows_judges_their_pages_and_nobody_the_leads(served_with_platform: Any) -> None:
    browser = served_with_platform.client()
    framed = browser.get("/preview").headers["content-security-policy"]
    sites = framed.partition("frame-ancestors ")[2].split()
    assert {"https://worker.mturk.com", "https://workersandbox.mturk.com"} <= {*sites}
    assert all(re.fullmatch(r"https://[a-z]+\.mturk\.com", site) for site in sites), "no wildcard, no site of others"
    for page in ("/lead", "/signin"):
        assert browser.get(page).headers["content-security-policy"].endswith("frame-ancestors 'none'")


def test_a_study_that_is_not_on_a_platform_lets_nobody_in_from_there(served: Any) -> None:
    assert served.client().get("/enter?PROLIFIC_PID=p").headers["location"] == "/message?about=closed"


def test_study_toml_names_the_sites_that_may_frame_the_pages(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        f'id = "{uuid4().hex}"\ntitle = "Framed"\n[platform]\nmturk = true\nframe_ancestors = ["https://crowd.example.org"]\n'
    )
    study = read_study(str(tmp_path)).study
    store = Store.open(str(tmp_path / "karat.db"), study)
    policy = TestClient(create_app(study, store)).get("/preview").headers["content-security-policy"]
    store.close()
    assert policy.endswith("frame-ancestors https://crowd.example.org")


@pytest.mark.parametrize(
    "site", ["https://*.amazonaws.com", "*", "https:", "https://a.example/path", "https://a.example; script-src *", ""]
)
def test_a_frame_ancestor_is_one_site_by_its_whole_name(site: str) -> None:
    with pytest.raises(BadInput, match="frame_ancestors: expected sites by their whole names, such as https://worker"):
        Platform(frame_ancestors=(site,))
