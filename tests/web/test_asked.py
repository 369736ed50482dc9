"""What papers ask: N/A of the whole, snippet before page, reasons in one's own words, nuggets and cited passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest

from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.labels import select
from karat.records import Documents, Judgments, Queries
from karat.study.answer_tables import judgments
from karat.study.exports import exported
from karat.study.kinds import KINDS
from karat.study.store import Store
from karat.study.task_material import Material
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from queues import OPEN
from served import Served


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def asked(tmp_path: Path, said: str, tasks: dict[str, Any]) -> Served:
    """A study as its study.toml says, served, with some tasks."""
    (tmp_path / "study.toml").write_text(f'id = "{uuid4().hex}"\n[overlap]\nlabels = 1\njudges_per_pair = 1\n{said}')
    design = read_study(tmp_path).study
    store = Store.open(str(tmp_path / "asked.db"), design)
    OPEN.append(store)
    add_tasks(store, pl.DataFrame(tasks))
    found = [{"doc": name, "title": f"Title {name}", "text": f"text of {name}"} for name in "cd"]
    material = Material(queries=Queries.of([{"query": "q", "text": "hooves"}]), documents=Documents.of(found))
    return Served(create_app(design, store, material), store)


def test_not_applicable_may_be_said_of_the_whole_and_the_aspects_are_kept(tmp_path: Path) -> None:
    said = '[scale]\nlevels = ["bad", "good"]\nnot_applicable = true\n[[aspects]]\nname = "novelty"\n'
    here = asked(tmp_path, said, {"query": ["q"], "doc": ["d"], "context": ["c"]})
    judge = here.judge()
    task = judge.get("/api/task/next").json()["task"]["id"]
    judge.post(f"/api/task/{task}/opened", json={"what": "context"})
    assert judge.post(f"/api/task/{task}/answer", json={"aspects": {"novelty": 1}}).status_code == 200
    assert judgments(here.store).select("aspect", "label").rows() == [("overall", None), ("novelty", 1.0)]
    assert judge.get("/api/task/next").json()["state"] == "done", "N/A is an answer: nobody else is asked"


def test_a_snippet_and_its_page_are_two_steps_of_one_task_and_only_the_page_scores(tmp_path: Path) -> None:
    """METHODS 9: a snippet's label beside a page's is never another user's."""
    levels = '[scale]\nlevels = ["0=bad", "1=fair", "2=good"]\nquestion = "Is it good?"\n'
    said = f'{levels}[snippet]\nlevels = ["0=would not open", "2=would open"]\n'
    here = asked(tmp_path, said, {"query": ["q"], "doc": ["d"]})
    judge = here.judge()
    assert judge.get("/api/me").json()["study"]["question"] == "Is it good?"
    path = f"/api/task/{judge.get('/api/task/next').json()['task']['id']}/answer"
    for wrong in ({"label": 2}, {"label": 2, "snippet": 1}):
        assert "snippet's scale" in judge.post(path, json=wrong).json()["detail"]
    assert judge.post(path, json={"label": 1, "snippet": 2, "surface": "page"}).status_code == 200
    labels = exported(here.store, "judgments", here.store.scale)
    assert isinstance(labels, Judgments)
    assert labels.frame.select("surface", "label", "opened").rows() == [("page", 1.0, True), ("snippet", 2.0, False)]
    scored = select(labels, [], strict=True)
    assert scored.frame["label"].to_list() == [1.0]
    assert "of snippets" in " ".join(scored.notes)
    with pytest.raises(BadInput, match="grades of the page's scale"):
        asked(tmp_path, f'{levels}[snippet]\nlevels = ["0=no", "5=yes"]\n', {"query": ["q"], "doc": ["d"]})


def test_reasons_may_be_asked_without_suggestions_and_a_study_of_pairs_alone_shows_no_grades(tmp_path: Path) -> None:
    here = asked(tmp_path, "[pairs]\nreasons = []\n", {"query": ["q"], "left": ["a"], "right": ["b"]})
    judge = here.judge()
    assert judge.get("/api/me").json()["study"]["reasons"] == []
    path = f"/api/task/{judge.get('/api/task/next').json()['task']['id']}/answer"
    assert "a reason in words" in judge.post(path, json={"choice": "left"}).json()["detail"]
    assert judge.post(path, json={"choice": "left", "reason": "fewer ads"}).status_code == 200
    shown = judge.get("/welcome").text
    assert "Left is better" in shown
    assert "not relevant" not in shown, "the scale of documents is not asked"


def test_several_documents_may_be_read_before_in_order(tmp_path: Path) -> None:
    here = asked(tmp_path, "", {"query": ["q"], "doc": ["d"], "context": [["c", "x"]]})
    judge = here.judge()
    task = judge.get("/api/task/next").json()["task"]
    assert ([doc["doc"] for doc in task["before"]], task["context"]["doc"]) == (["c"], "x")
    path = f"/api/task/{task['id']}"
    assert judge.get(f"{path}/text?doc=c").json()["text"] == "text of c"
    assert "read the first document" in judge.post(f"{path}/answer", json={"label": 1}).json()["detail"]
    judge.get(f"{path}/text?doc=x")
    assert judge.post(f"{path}/answer", json={"label": 1}).status_code == 200
    assert judgments(here.store)["context"].to_list() == ['["c", "x"]'], "another item than after one of them"


@pytest.mark.parametrize(
    ("kind", "column", "choices"),
    [
        ("support", "sentence", ("full", "partial", "none", "against")),
        ("nugget", "nugget", ("full", "partial", "none")),
    ],
)
def test_a_sentence_beside_its_passage_and_a_nugget_beside_an_answer(
    kind: str, column: str, choices: tuple[str, ...], tmp_path: Path
) -> None:
    tasks = {"query": ["q"], "doc": ["d"], column: ["Hooves grow a centimetre a month."]}
    here = asked(tmp_path, "", tasks)
    assert add_tasks(here.store, pl.DataFrame(tasks | {column: ["They are of horn."]})).new == 1, "another question"
    assert add_tasks(here.store, pl.DataFrame(tasks)).new == 0
    judge = here.judge()
    task = judge.get("/api/task/next").json()["task"]
    assert (task["kind"], task["document"]["title"]) == (kind, "Title d")
    assert task["statement"] in ("Hooves grow a centimetre a month.", "They are of horn.")
    path = f"/api/task/{task['id']}"
    assert judge.get(f"{path}/text").json()["text"] == "text of d"
    assert "left" in judge.post(f"{path}/answer", json={"choice": "left"}).json()["detail"]
    assert judge.post(f"{path}/answer", json={"choice": choices[1]}).status_code == 200
    table = exported(here.store, KINDS[kind].table.name).frame
    assert table.select("query", "doc", column, "choice").rows() == [("q", "d", task["statement"], choices[1])]
    assert len(judgments(here.store)) == 0, "it is no label of a document: nothing scores it"
