"""Sessions: several studies on one machine, whose cookies the browser does not keep apart by port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from karat.records import Scale, StudyDesign
from karat.study.backup import copy_rows
from karat.study.database import Database
from karat.study.people import add_judge
from karat.study.store import Store
from karat.web.app import create_app
from karat.web.sign_in import set_password

PASSWORD = "correct horse"


@pytest.fixture
def study_at(tmp_path: Path) -> Iterator[Callable[..., tuple[TestClient, Store]]]:
    """A function that serves a study from a file, at a port, to a browser with these cookies."""
    stores = []

    def open_there(name: str, port: int, jar: CookieJar, key: str | None = None) -> tuple[TestClient, Store]:
        study = StudyDesign(key or uuid4().hex, name, Scale.parse("bad, good"))
        store = Store.open(str(tmp_path / f"{name}.db"), study)
        stores.append(store)
        set_password(store, "lead", PASSWORD)
        browser: Any = TestClient(
            create_app(study, store), base_url=f"http://127.0.0.1:{port}", cookies=jar, follow_redirects=False
        )
        return browser, store

    yield open_there
    for store in stores:
        store.close()


@pytest.mark.parametrize("key", [None, "a folder that was copied"])
def test_two_studies_at_two_ports_do_not_end_each_others_sessions(study_at: Any, key: str | None) -> None:
    jar = CookieJar()
    served = [study_at(name, port, jar, key) for name, port in (("one", 8001), ("two", 8002))]
    for browser, store in served:
        _, token = add_judge(store, name=f"judge of {store.study_id}")
        browser.get(f"/join/{token}")
        assert browser.post("/signin", data={"name": "lead", "password": PASSWORD}).headers["location"] == "/lead"
    for browser, _ in served:
        assert browser.get("/api/me").status_code == 200
        assert browser.get("/api/progress").status_code == 200
    (first, _), (second, _) = served
    page = first.get("/lead").text
    csrf = page.partition('name="csrf" content="')[2].partition('"')[0]
    assert first.post("/signout", data={"csrf": csrf}).status_code == 303
    assert first.get("/api/progress").status_code == 401
    assert second.get("/api/progress").status_code == 200


def test_a_session_outlives_the_server(study_at: Any) -> None:
    jar = CookieJar()
    before, store = study_at("one", 8001, jar, "same")
    _, token = add_judge(store)
    before.get(f"/join/{token}")
    again, _ = study_at("one", 9001, jar, "same")
    assert again.get("/api/me").status_code == 200


def test_people_stay_signed_in_when_their_study_moves_to_another_database(study_at: Any, tmp_path: Path) -> None:
    jar = CookieJar()
    before, store = study_at("here", 8001, jar, "moved")
    _, token = add_judge(store)
    before.get(f"/join/{token}")
    before.post("/signin", data={"name": "lead", "password": PASSWORD})
    csrf = before.get("/api/me").json()["csrf"]
    with closing(Database.open(str(tmp_path / "there.db"))) as there:
        copy_rows(store.database, there, "moved")
    moved, _ = study_at("there", 8001, jar, "moved")
    assert moved.get("/api/me").json()["csrf"] == csrf  # so a page that is open goes on as it is
    assert moved.post("/api/task/1/skip", headers={"X-CSRF-Token": "forged"}).status_code == 403
    assert moved.post("/api/task/1/skip", headers={"X-CSRF-Token": csrf}).status_code == 404  # no such task
    page = moved.get("/lead").text
    assert moved.post("/signout", data={"csrf": page.partition('name="csrf" content="')[2].partition('"')[0]})
    assert moved.get("/api/progress").status_code == 401
    assert before.get("/api/progress").status_code == 200


def test_a_cookie_of_another_study_opens_nothing(study_at: Any) -> None:
    jar = CookieJar()
    first, store = study_at("one", 8001, jar)
    first.get(f"/join/{add_judge(store)[1]}")
    second, _ = study_at("two", 8002, jar)
    assert first.get("/api/me").status_code == 200
    assert second.get("/api/me").status_code == 401
