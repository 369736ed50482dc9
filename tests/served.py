"""A study that is being served, and people who call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import polars as pl
from fastapi import FastAPI
from fastapi.testclient import TestClient

from karat.records import Documents, Queries, Rules, Runs, Scale, StudyDesign
from karat.study.people import add_judge
from karat.study.store import Store
from karat.study.task_material import Material
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from karat.web.sign_in import set_password

PASSWORD = "correct horse"


@dataclass
class Served:
    """A running study; `judge()` and `lead()` are clients with their tokens."""

    app: FastAPI
    store: Store

    def client(self, token: str | None = None) -> TestClient:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return TestClient(self.app, headers=headers, follow_redirects=False)

    def judge(self, **more: Any) -> TestClient:
        return self.client(add_judge(self.store, **more)[1])

    def lead(self) -> TestClient:
        said = self.client().post("/api/sign-in", json={"name": "lead", "password": PASSWORD})
        return self.client(said.json()["token"])


def serve(database: str, **more: Any) -> Served:
    """A study with three documents of a query, two runs and a trap."""
    live = more.pop("live", None)
    rules = more.pop("rules", Rules(labels=2, judges_per_pair=2, hours_apart=0))
    study = StudyDesign(uuid4().hex, "Served", Scale.parse("bad, fair, good"), rules=rules, **more)
    store = Store.open(database, study)
    frame = pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"]})
    add_tasks(store, frame)
    documents = [
        {"doc": name, "title": f"Title {name}", "text": f"<b>text</b> of {name}", "html": None} for name in "abc"
    ]
    documents[2]["html"] = "<script>alert(1)</script><p>page</p>"
    runs = [
        Runs.of([{"system": s, "query": q, "doc": d, "score": 1.0} for q in ("q", "r") for d in "abc"])
        for s in ("one", "two")
    ]
    material = Material(
        queries=Queries.of([{"query": "q", "text": "hooves"}]), documents=Documents.of(documents), runs=runs
    )
    set_password(store, "lead", PASSWORD)
    return Served(create_app(study, store, material, live=live), store)
