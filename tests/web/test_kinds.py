"""Kinds of tasks: a new one is an object in the store and one on the page, and goes all the way from file to export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import Field

pytest.importorskip("fastapi", reason="the extra collect is not installed")

from karat.errors import BadInput
from karat.formats.karat_tables import read_tasks
from karat.records import Rules, StudyDesign
from karat.study.exports import exportable, exported
from karat.study.kinds import JUDGE, KINDS, AnswerTable, TaskKind
from karat.study.kinds.kind import typed
from karat.study.task_material import Material
from karat.study.tasks import add_tasks, task_row
from karat.web.kinds import ON_PAGE
from karat.web.kinds.kind import KindOnPage, Task, refuse_others
from karat.web.schemas import AnswerBody, DocumentShown, Reply

ANSWERS = ("yes", "no")
YES_NO = TaskKind(
    "yes-no",
    "Yes or no",
    ("query", "doc"),
    AnswerTable(
        "verdicts",
        "Verdicts",
        typed("query", "doc", "verdict", "judge"),
        lambda row: [{"verdict": row["choice"]}],
    ),
    wanted=lambda rules: rules.labels + 1,
    right="expected",
    choices=ANSWERS,
)


class Shown(Reply):
    page: DocumentShown = Field(description="what to say yes or no to")


def check(study: StudyDesign, task: Task, body: AnswerBody) -> None:
    refuse_others(body, "yes or no", label="a label", classes="classes")
    if body.choice not in ANSWERS:
        raise BadInput.at("choice", expected="yes or no", found=str(body.choice))


def shown(material: Material, task: Task) -> dict[str, Any]:
    return {"page": material.front(task["doc"])}


@pytest.fixture
def yes_no(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kind yes-no is known while a test runs."""
    monkeypatch.setitem(KINDS, YES_NO.name, YES_NO)
    monkeypatch.setitem(ON_PAGE, YES_NO.name, KindOnPage(Shown, shown, check))
    return


def say(judge: Any, **body: Any) -> Any:
    task = judge.get("/api/task/next").json()["task"]
    return judge.post(f"/api/task/{task['id']}/answer", json=body)


@pytest.mark.usefixtures("yes_no")
def test_a_new_kind_goes_from_a_file_of_tasks_through_the_queue_to_the_export(
    served_anywhere: Any, tmp_path: Path
) -> None:
    store, lead = served_anywhere.store, served_anywhere.lead()
    file = tmp_path / "tasks.csv"
    file.write_text("kind,query,doc\nyes-no,r,a\nyes-no,r,b\n")
    table = read_tasks(str(file))
    assert add_tasks(store, table.frame, source=table.source).new == 2
    assert add_tasks(store, table.frame, source=table.source).new == 0, "the same file again adds nothing"
    said = {}
    for name in ("ann", "bob", "cy", "dee"):
        judge = served_anywhere.judge(name=name)
        while (task := judge.get("/api/task/next").json()["task"]) is not None:
            path = f"/api/task/{task['id']}/answer"
            if task["kind"] == "judge":
                judge.post(path, json={"label": 1})
                continue
            doc = task["page"]["doc"]
            assert set(task) == {"id", "kind", "state", "until", "practice", "query", "page"}
            assert judge.post(path, json={"choice": "left"}).status_code == 422
            refused = judge.post(path, json={"choice": "yes", "label": 1}).json()["detail"]
            assert refused == "the answer: expected yes or no, found a label or classes"
            said[doc, name] = "yes" if doc == "a" else "no"
            assert judge.post(path, json={"choice": said[doc, name]}).status_code == 200
    assert sorted(who for _, who in said) == ["ann", "ann", "bob", "bob", "cy", "cy"], "two labels and one more"
    rows = exported(store, "verdicts").frame.sort("doc", "judge").rows()
    assert rows == sorted(("r", doc, verdict, name) for (doc, name), verdict in said.items())
    assert lead.get("/api/export/verdicts.csv").text.splitlines()[0] == "query,doc,verdict,judge"
    assert "verdicts" not in lead.get("/api/export/judgments.csv").text
    kinds = {row["kind"]: (row["answers"], row["wanted"]) for row in lead.get("/api/progress").json()["kinds"]}
    assert kinds == {"judge": (6, 6), "yes-no": (6, 6)}
    assert "/api/export/verdicts.csv" in lead.get("/lead").text


@pytest.mark.usefixtures("yes_no")
def test_a_new_kind_is_practised_by_its_own_right_answers(served: Any) -> None:
    row = {"kind": "yes-no", "query": "q", "doc": "a", "expected": "no"}
    add_tasks(served.store, pl.DataFrame([row, row | {"doc": "b", "expected": "yes"}]), practice=True)
    judge = served.judge()
    right = [say(judge, choice="no").json()["feedback"]["right"] for _ in range(2)]
    assert sorted(right) == [False, True]
    (found,) = served.lead().get("/api/judges").json()["rows"]
    assert (found["practice"], found["practice_right"]) == (2, 1)
    with pytest.raises(BadInput, match="expected yes, no in the column expected, found left"):
        task_row(row | {"expected": "left"}, "here", None)


def test_a_kind_that_grades_keeps_to_the_rules_of_documents(served_anywhere: Any, monkeypatch: Any) -> None:
    store = replace(served_anywhere.store, rules=Rules(labels=2, apart=1, hours_apart=24))
    monkeypatch.setitem(KINDS, "stars", replace(JUDGE, name="stars"))
    monkeypatch.setitem(ON_PAGE, "stars", ON_PAGE["judge"])
    served_anywhere.app.state.running = replace(served_anywhere.app.state.running, store=store)
    rows = [{"kind": "stars", "query": "r", "doc": "b"}, {"kind": "stars", "query": "r", "doc": "c", "context": "a"}]
    add_tasks(store, pl.DataFrame(rows, infer_schema_length=None))
    for label in (0, 2, 1):
        judge = served_anywhere.judge()
        while (turn := judge.get("/api/task/next").json())["task"] is not None:
            task = turn["task"]
            judge.post(f"/api/task/{task['id']}/opened", json={"what": "context"})
            judge.post(f"/api/task/{task['id']}/answer", json={"label": label if task["kind"] == "stars" else 1})
        assert turn["state"] == "wait", "of a query's documents, one alone and the other in context a day later"
    tasks = exported(store, "tasks").frame.filter(kind="stars")
    assert tasks["wanted"].max() == 3, "a third label: two of three judges had the same document"


def test_every_kind_of_the_store_has_a_page_with_its_script() -> None:
    assert ON_PAGE.keys() == KINDS.keys()
    scripts = files("karat.web") / "static" / "kinds"
    assert {f"{name}.js" for name in KINDS} | {"parts.js"} == {script.name for script in scripts.iterdir()}
    assert len(set(exportable())) == len(exportable())


def test_a_question_keeps_its_name_in_databases_that_are_there() -> None:
    """The names as they were first made: a file of tasks that is loaded again adds nothing after an update."""
    known = {
        '["judge", "", "q", "d", "c", null, [["", "q"], ["", "q"]], null]': {"doc": "d", "context": "c"},
        '["judge", "", "q", "d", null, null, [["", "q"], ["", "q"]], null, "snippet"]': {
            "doc": "d",
            "closed": True,
            "surface": "snippet",
        },
        '["judge", "practice", "q", "d", null, null, [["", "q"], ["", "q"]], null]': {
            "doc": "d",
            "practice": True,
            "gold": 1,
        },
        '["pair", "", "q", null, null, "s", [["a", "q"], ["b", "x"]], null]': {
            "subtopic": "s",
            "description": "what it means",
            "left": "b",
            "left_query": "x",
            "right": "a",
        },
        '["code", "", "q", null, null, null, [["", "q"], ["", "q"]], "fewer ads"]': {"reason": "fewer ads"},
    }
    for text, raw in known.items():
        row = task_row({"query": "q"} | raw, "here", None)
        assert KINDS[row["kind"]].item(row) == sha256(text.encode()).hexdigest(), text


def test_only_the_files_of_kinds_ask_for_a_kind_by_name() -> None:
    named = re.compile(r'kind\b[^=\n]*(==|!=|\bin\b)[^=\n]*"(judge|pair|code)"')
    for folder in ("karat.study", "karat.web"):
        for file in Path(str(files(folder))).glob("*.py"):
            assert not named.search(file.read_text()), file.name
