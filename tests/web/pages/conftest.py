"""A study made for the tests of the pages, served on a free port, and a real browser to look at it with."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("fastapi", reason="the extra collect is not installed")

from karat.records import Documents, Queries, Runs, Scale
from karat.records.scale import Level
from karat.records.study_design import Rules, StudyDesign
from karat.study.people import add_judge
from karat.study.store import Store
from karat.study.tables import events
from karat.study.task_material import Material
from karat.study.tasks import add_tasks
from karat.web.app import create_app
from karat.web.background import LiveFigure
from karat.web.sign_in import set_password

SCALE = Scale(
    (
        Level(0.0, "bad", "Of no use for this need."),
        Level(1.0, "fair", "Touches the need, little more."),
        Level(2.0, "good", "Answers a part of the need."),
        Level(3.0, "perfect", "Nothing more is wanted."),
    )
)
STUDY = StudyDesign(
    id="browser",
    title="Old trades",
    scale=SCALE,
    guidelines="Imagine that you typed the query and want what is described.\n\n- Judge the page.\n- Do not guess.",
    strengths=2,
)
QUERIES = [
    {"query": "q1", "text": "how to shoe a horse", "description": "Steps and tools for putting new shoes on a horse."},
    {"query": "q2", "text": "dry stone wall repair", "description": "How a gap in a wall without mortar is closed."},
]
SUBTOPICS = [
    {"query": "q1", "subtopic": "1", "description": "Which tools does a farrier use?"},
    {"query": "q2", "subtopic": "1", "description": "Which stones come first when a wall is mended?"},
]
TITLES = {
    "q1": {
        "Shoeing a horse, step by step": "Pull the old shoe, trim the hoof, fit the new one hot, nail it on, clinch.",
        "The farrier's tools": "Hoof knife, nippers, rasp, clinch cutter, hammer, anvil: what each is for.",
        "Horse shows this summer": "Dates, places and tickets of all shows between June and September.",
        "Hoof care in winter": "Snow balls under the foot; what pads and grease can do against them.",
        "How often does a horse need new shoes?": "Every six weeks as a rule, more often on hard roads.",
        "Riding shoes and boots: the sale": "Up to half off, this week only. Order now and pay later.",
        "Hot or cold?": "Two ways of fitting a shoe, and when a farrier chooses which.",
        "Anatomy of the hoof": "Wall, sole, frog and white line: where a nail may go and where never.",
        "Barefoot horses": "Some live without iron. Which ones, on which ground, with how much trimming.",
        "A day at the forge": "A photo story of four farriers, their dogs and their coffee.",
        "Nails, sizes and where to buy them": "A table of nail sizes for light, riding and draught breeds.",
        "Lost a shoe on a ride?": "How to pull a hanging shoe without harm and how to get home.",
    },
    "q2": {
        f"Mending a dry stone wall, part {part}": "Strip out the gap, sort the stones, then build two faces."
        for part in range(1, 13)
    },
}
EVERYWHERE = "A horse that works on roads wants shoes; most horses are shod every six weeks."


def documents() -> list[dict[str, Any]]:
    """Twelve documents for each query."""
    found = []
    for query, titles in TITLES.items():
        for place, (title, said) in enumerate(titles.items()):
            url = f"https://example.org/{query}/{place}"
            text = f"{said} {EVERYWHERE}"
            page = f"<h1>{title}</h1><p>{text}</p><p>{text}</p>"
            row = {"doc": f"{query}-d{place}", "title": title, "snippet": text, "url": url, "text": text, "html": page}
            found.append(row)
    return found


def runs() -> list[Runs]:
    """Two systems that order the documents of a query one way and the other."""
    made = []
    for name, way in (("up", 1), ("down", -1)):
        rows = [
            {"system": name, "query": query, "doc": f"{query}-d{place}", "score": float(-way * place)}
            for query in TITLES
            for place in range(12)
        ]
        made.append(Runs.of(pl.DataFrame(rows)))
    return made


@dataclass
class Served:
    """A study that is being served."""

    url: str
    store: Store
    study: StudyDesign

    def link(self, name: str = "ann", group: str | None = None) -> str:
        """A personal link."""
        _, token = add_judge(self.store, name=name, group=group)
        return f"{self.url}/join/{token}"

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The log's rows of some kinds."""
        with self.store.database.read() as connection:
            rows = [dict(row) for row in connection.execute(events.select().order_by(events.c.id)).mappings()]
        return [row | {"more": json.loads(row["more"] or "{}")} for row in rows if row["kind"] in kinds]

    def wait_for(self, number: int, *kinds: str) -> list[dict[str, Any]]:
        """The log's rows of some kinds, once there are so many."""
        end = time.monotonic() + 20
        while len(found := self.events(*kinds)) < number and time.monotonic() < end:
            time.sleep(0.01)
        assert len(found) == number, f"{len(found)} events of {kinds}"
        return found


@contextmanager
def served(
    folder: Path,
    tasks: list[dict[str, Any]],
    *,
    practice: list[dict[str, Any]] | None = None,
    rules: Rules | None = None,
    more: list[dict[str, Any]] | None = None,
    live: LiveFigure | None = None,
    **changes: Any,
) -> Iterator[Served]:
    """Serve a study with these tasks until the end of the block."""
    import uvicorn

    study = replace(STUDY, rules=rules or Rules(labels=1, judges_per_pair=1), **changes)
    store = Store.open(str(folder / "karat.db"), study)
    add_tasks(store, pl.DataFrame(tasks, infer_schema_length=None))
    if practice:
        add_tasks(store, pl.DataFrame(practice, infer_schema_length=None), practice=True)
    set_password(store, "lead", "a long password")
    found = Documents.of(pl.DataFrame([*documents(), *(more or [])], infer_schema_length=None))
    queries = Queries.of(pl.DataFrame(QUERIES), pl.DataFrame(SUBTOPICS))
    app = create_app(study, store, Material(queries=queries, documents=found, runs=runs()), live=live)
    # The socket is bound here and handed over: between asking for a free port and taking it, others may.
    door = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    end = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < end, "the server did not start in time"
        time.sleep(0.005)
    try:
        yield Served(f"http://127.0.0.1:{door.getsockname()[1]}", store, study)
    finally:
        server.should_exit = True
        # It says goodbye in two tenths of a second, for which the next test, with a server of its own, need not wait.
        ending = threading.Thread(target=_ended, args=(thread, door, store))
        ending.start()
        ENDING.append(ending)


#: What ends the servers of tests that are over.
ENDING: list[threading.Thread] = []


def _ended(server: threading.Thread, door: socket.socket, store: Store) -> None:
    server.join(10)
    door.close()
    store.close()


@pytest.fixture(scope="package", autouse=True)
def goodbyes() -> Iterator[None]:
    """In the end no server is left."""
    yield
    for ending in ENDING:
        ending.join()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """A function that serves a study with some tasks until the test is over."""
    with ExitStack() as stack:
        yield lambda tasks, **changes: stack.enter_context(served(tmp_path, tasks, **changes))


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page of its own; the test fails if a script broke or the page's own policy was violated."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(20_000)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
    page.wrong = wrong
    yield page
    context.close()
    assert not wrong


@pytest.fixture
def press(page: Any) -> Callable[..., None]:
    """Press keys one after the other, nothing else."""

    def keys(*names: str) -> None:
        for name in names:
            page.keyboard.press(name)

    return keys
