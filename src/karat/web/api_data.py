"""The JSON interface for data: everything collected out, tasks and the coding of reasons in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from karat.errors import BadInput
from karat.formats.write import content
from karat.study.answer_tables import answers_frame
from karat.study.exports import exportable, exported
from karat.study.kinds import CODE, PAIR
from karat.study.store import Store
from karat.study.tasks import add_tasks
from karat.web import sign_in as people
from karat.web.api_lead import ERRORS
from karat.web.roster import everything, held_file, paid_ids, people_file
from karat.web.schemas import Body, Name, Text

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
router = APIRouter(prefix="/api", tags=["data"], responses=ERRORS)


class TaskRow(Body):
    """A task: `query` and `doc` (and `context`), or `query`, `left` and `right`, as in a task file."""

    query: Name
    doc: Name | None = None
    context: Name | None = None
    subtopic: Name | None = None
    left: Name | None = None
    right: Name | None = None
    group: Name | None = None
    labels: Annotated[int, Field(ge=1, le=1000)] | None = None
    probability: Annotated[float, Field(gt=0, le=1)] | None = None
    round: Annotated[int, Field(ge=1, le=1000)] | None = None
    drawn_for: Literal["scores", "differences"] | None = None
    gold: Annotated[float, Field(ge=-1e6, le=1e6)] | None = None


class TaskRows(Body):
    """Tasks to add."""

    tasks: list[TaskRow] = Field(min_length=1, max_length=5000)


class Coding(Body):
    """Whom to ask for the classes of reasons, and how many of them for each reason."""

    group: Name | None = None
    labels: int = Field(1, ge=1, le=100)
    note: Text = ""


@router.get("/export/everything.zip", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
async def get_everything(request: Request) -> Response:
    """All of it in one zip: a table each as CSV, the log as JSON lines, the ids to pay."""
    running = await run_in_threadpool(people.lead_at, request)
    data = await running.beside.run(everything, running.study.scale, running.study.platform.tasks)
    named = {"Content-Disposition": 'attachment; filename="everything.zip"'}
    return Response(data, media_type="application/zip", headers=named)


@router.get("/export/pay.txt", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def get_paid(request: Request) -> Response:
    """The platform's ids of all who gave enough answers that stand and are not flagged, one a line, for approval."""
    running = await run_in_threadpool(people.lead_at, request)
    lines = "".join(f"{name}\n" for name in await running.beside.run(paid_ids, running.study.platform.tasks))
    named = {"Content-Disposition": 'attachment; filename="pay.txt"'}
    return Response(lines, media_type="text/plain; charset=utf-8", headers=named)


@router.get("/export/pay-review.csv", response_class=Response, responses={200: {"content": {TYPES["csv"]: {}}}})
async def get_held(request: Request) -> Response:
    """The platform's ids of those who gave enough answers but are flagged, with the flags: look at them first."""
    running = await run_in_threadpool(people.lead_at, request)
    found = await running.beside.run(held_file, running.study.platform.tasks)
    named = {"Content-Disposition": 'attachment; filename="pay-review.csv"'}
    return Response(content(found, "csv", "people"), media_type=TYPES["csv"], headers=named)


@router.get(
    "/export/{what}.{kind}",
    response_class=Response,
    responses={200: {"content": {name: {} for name in TYPES.values()}}},
)
async def get_export(
    request: Request,
    what: Annotated[str, Path(json_schema_extra={"enum": [*exportable()]})],
    kind: Annotated[Literal["csv", "tsv", "jsonl", "parquet"], Path(description="the format")],
) -> Response:
    """What stands now (the log: everything), as a file; cells that a spreadsheet would run are guarded."""
    running = await run_in_threadpool(people.lead_at, request)
    data = await running.beside.run(_file, what, kind, running.study.platform.tasks)
    named = {"Content-Disposition": f'attachment; filename="{what}.{kind}"'}
    return Response(data, media_type=TYPES[kind], headers=named)


def _file(store: Store, what: str, kind: str, enough: int) -> bytes:
    # Whether somebody is likely a spammer is told by figures that the store does not make.
    found = people_file(store, enough) if what == "people" else exported(store, what, store.scale)
    return content(found, kind, what)


@router.post("/tasks")
def post_tasks(request: Request, body: TaskRows) -> dict[str, Any]:
    """Add tasks; those that are there already are not added again, and rows that repeat each other are one task.

    Rows are named by their numbers from 1: `merged` those that repeat another, `known` those that were there already,
    and of these `probability_set` where they had no probability, `probability_kept` where they have another,
    such as that of a later round, and `labels_kept` where they ask for another number of labels, both of which stand. A
    later `round` of gold labels is sent whole, with the rounds before it: `out_of_the_sample` says how many documents
    it leaves out, and `drawn_beside` how many came to a draw that was there, which is right if they are a part of it.
    """
    running = people.lead_at(request)
    rows, numbers, merged = _once(body.tasks)
    added = add_tasks(running.store, pl.DataFrame(rows, infer_schema_length=None))
    said = {
        "known": added.known,
        "probability_set": added.probabilities,
        "probability_kept": added.other_probability,
        "labels_kept": added.other_labels,
    }
    named = {name: sorted({numbers[place] for place in places}) for name, places in said.items()}
    chances = {"out_of_the_sample": len(added.chances.gone), "drawn_beside": len(added.chances.beside)}
    return {"new": added.new, "merged": merged, **named, **chances}


@router.post("/codes")
def post_codes(request: Request, body: Coding | None = None) -> dict[str, Any]:
    """Ask for the classes of every reason that was given for a preference so far."""
    running = people.lead_at(request)
    body = body or Coding(labels=1)
    found = answers_frame(running.store, PAIR).filter(~pl.col("trap")).drop_nulls("reason")
    found = found.unique(["query", "reason"], maintain_order=True)
    group = body.group or running.study.groups[0]
    frame = found.select("query", "subtopic", "reason", kind=pl.lit(CODE.name), group=pl.lit(group), labels=body.labels)
    return {"new": add_tasks(running.store, frame).new if frame.height else 0}


def _once(tasks: list[TaskRow]) -> tuple[list[dict[str, Any]], list[int], list[dict[str, int]]]:
    """Each task once with its row's number, and which rows only repeated one; how often to ask is said by `labels`."""
    first: dict[tuple[Any, ...], tuple[int, dict[str, Any]]] = {}
    merged = []
    for number, task in enumerate(tasks, 1):
        sides = frozenset((task.left, task.right))  # sides are drawn for each judge
        key = (task.query, task.doc, task.context, task.subtopic, sides, task.group)
        earlier, kept = first.setdefault(key, (number, task.model_dump()))
        if earlier == number:
            continue
        for name in ("labels", "probability", "round", "drawn_for", "gold"):
            wanted, found = ("none" if value is None else str(value) for value in (kept[name], getattr(task, name)))
            if wanted != found:
                raise BadInput.at(
                    f"the tasks row {number}",
                    expected=f"the {name} of row {earlier}, which asks the same ({wanted})",
                    found=found,
                )
        merged.append({"row": number, "with": earlier})
    return [row for _, row in first.values()], [number for number, _ in first.values()], merged
