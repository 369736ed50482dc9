"""Many questions: what is held in memory while they are asked does not grow with their number."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

from karat.cli.ask_inputs import Tops
from karat.engines.http_calls import Reply
from karat.llm.answer_rows import Judge
from karat.llm.answer_store import AnswerStore
from karat.llm.asking import Asker
from karat.llm.client import Client
from karat.llm.panel import Manners, Panel
from karat.llm.requests import Model
from karat.records import Documents, Queries, Runs, Scale
from karat.records.runs import ranked
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material

DOCUMENTS = 50


def most_held(folder: Path, judgments: int) -> int:
    """Bytes that Python holds at most while so many questions are asked about the same documents."""
    run = Runs.of({f"q{n}": {f"d{m}": float(-m) for m in range(DOCUMENTS)} for n in range(judgments // DOCUMENTS)})
    documents = Documents.of([{"doc": f"d{m}", "text": f"Text number {m}. " * 100} for m in range(DOCUMENTS)])
    material = Material(queries=Queries.of([{"query": "q0", "text": "hooves"}]), documents=documents)
    design = StudyDesign("ask", "Labels", Scale.parse("0..3"))
    judge = Judge("m", Asker(design, material, Model("m", url="http://models.example")), Tops([ranked(run)]))
    store = AnswerStore(folder / f"{judgments}.db")
    panel = Panel([judge], store)
    tracemalloc.start()
    try:
        panel.ask(Manners())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert len(store) == judgments
        store.close()


def test_ten_times_the_questions_are_asked_in_the_same_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"choices": [{"message": {"content": '{"grade": "1"}'}, "finish_reason": "stop"}]}

    async def answered(client: Client, content: bytes) -> Reply:
        return Reply(200, json.dumps(said))

    monkeypatch.setattr(Client, "_send", answered)
    most_held(tmp_path, 100)  # what is loaded and kept once
    few, many = most_held(tmp_path, 500), most_held(tmp_path, 5000)
    # A task takes 300 bytes, a question 5,000: of 4,500 more neither is held.
    assert many - few < 4500 * 20


def test_the_documents_at_the_top_of_runs_are_tasks_once_each() -> None:
    runs = [Runs.of({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}), Runs.of({"q": {"d": 3.0, "a": 2.0}, "r": {"a": 1.0}})]
    tasks = Tops([ranked(run, 2) for run in runs])
    assert [(task["query"], task["doc"]) for task in tasks] == [("q", "a"), ("q", "b"), ("q", "d"), ("r", "a")]
    assert (len(tasks), tasks[3], tasks[-1], tasks[1:2]) == (4, {"kind": "judge", "query": "r", "doc": "a"},
                                                          {"kind": "judge", "query": "r", "doc": "a"},
                                                          [{"kind": "judge", "query": "q", "doc": "b"}])  # fmt: skip
    with pytest.raises(IndexError):
        tasks[4]
    assert [*Tops([])] == []
