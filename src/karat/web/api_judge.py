"""The JSON interface of judges, people and programs alike."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from karat.records.judgments import read_before
from karat.study import answers as answering
from karat.study import people as stored
from karat.study.answers import Outcome
from karat.study.event_log import Answer
from karat.study.progress import judge_progress
from karat.study.queue import held_task, next_task
from karat.web import documents, kinds
from karat.web import responses as replies
from karat.web import schemas as answers
from karat.web import sign_in as people
from karat.web.app_state import AppState
from karat.web.documents import DocName, TaskId
from karat.web.schemas import Reply

Besides = Annotated[
    str,
    Query(
        pattern=r"^(\d{1,9}(,\d{1,9}){0,9})?$", description="tasks in work, with commas, to fetch the one after them"
    ),
]

ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no session or token"},
    403: {"description": "not for this judge now"},
    404: {"description": "no such task for this judge"},
    409: {"description": "not as things stand; what was said is in the log"},
}
router = APIRouter(prefix="/api", tags=["judge"], responses=ERRORS)


def said(model: type[Reply]) -> dict[str, Any]:
    """What a route answers, for the description only; a test holds the answers to it."""
    return {"response_model": None, "responses": {200: {"model": model}}}


@router.get("/me", **said(replies.Me))
def me(request: Request) -> dict[str, Any]:
    """Who I am, what the study asks, how far I am, and, when done, the completion code."""
    running, judge = people.judge_at(request)
    done = judge_progress(running.store, judge)
    session = people.session_token(running, request, people.JUDGE)
    return {
        "name": judge["name"],
        "group": judge["grp"],
        "state": judge["state"],
        "why": judge["why"],
        "excluded": stored.excluded_kinds(running.store).get(judge["id"], []),
        "progress": done,
        "study": running.study.to_dict(),
        "csrf": people.csrf_token(session) if session else None,
        "completion": _completion(running, judge, done),
    }


@router.get("/task/next", **said(replies.NextTask))
def get_next(request: Request, besides: Besides = "") -> dict[str, Any]:
    """My next task, kept for me for a while; the one I hold already, if any."""
    running, judge = people.judge_at(request)
    turn = next_task(running.store, judge["id"], besides=[int(n) for n in besides.split(",") if n])
    said: dict[str, Any] = {"state": turn.state, "task": None, "wait_until": None, "completion": None}
    if turn.task is not None:
        said["task"] = kinds.shown(running.material, turn.task)
    elif turn.wait_until is not None:
        said["wait_until"] = datetime.fromtimestamp(turn.wait_until, UTC).isoformat(timespec="seconds")
    elif (
        turn.state in ("done", "limit")
        and not besides
        and people.takes_code(judge)
        and answering.recent(running.store, judge["id"])
    ):
        said["completion"] = people.completion(running, judge)
    return said


@router.get("/task/{task_id}", **said(replies.TaskShown))
def get_task(request: Request, task_id: TaskId) -> dict[str, Any]:
    """A task that I was given."""
    running, judge = people.judge_at(request)
    return kinds.shown(running.material, held_task(running.store, judge["id"], task_id))


@router.get("/task/{task_id}/text", **said(replies.PageText))
def get_text(request: Request, task_id: TaskId, doc: DocName = None) -> dict[str, Any]:
    """The text of a page: of the task's document, or of another one that the task shows; the context is read then."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    name = documents.shown_in(running, task, doc)
    if name in read_before(task["context"])[-1:]:
        answering.opened(running.store, judge["id"], task["id"], "context")
    front = running.material.front(name)
    return {part: front[part] for part in ("doc", "title", "url")} | {"text": running.material.text(name)}


@router.get("/task/{task_id}/others", **said(replies.Others))
def get_others(request: Request, task_id: TaskId) -> dict[str, Any]:
    """Other results for the task's query, to look things up."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    return {"documents": [running.material.front(doc) for doc in running.panels.documents(running, task)]}


@router.post("/task/{task_id}/answer", **said(replies.OutcomeSaid))
def post_answer(request: Request, task_id: TaskId, body: answers.AnswerBody) -> dict[str, Any]:
    """Answer a task; it is stored when this returns."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    said = kinds.checked(running.study, task, body)
    return _outcome(answering.answer(running.store, judge["id"], task["id"], said))


@router.post("/task/{task_id}/undo", **said(replies.OutcomeSaid))
def post_undo(request: Request, task_id: TaskId, body: answers.KeyBody | None = None) -> dict[str, Any]:
    """Take back my answer to a task, one of the last ten; the task is mine again."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    return _outcome(answering.undo(running.store, judge["id"], task["id"], key=body.key if body else None))


@router.post("/task/{task_id}/skip", **said(replies.OutcomeSaid))
def post_skip(request: Request, task_id: TaskId, body: answers.PutOffBody | None = None) -> dict[str, Any]:
    """Put a task off: it comes back when there is nothing else."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    return _outcome(answering.later(running.store, judge["id"], task["id"], _put_off(body)))


@router.post("/task/{task_id}/cant-tell", **said(replies.OutcomeSaid))
def post_cant_tell(request: Request, task_id: TaskId, body: answers.PutOffBody | None = None) -> dict[str, Any]:
    """Say that I cannot tell, and why; somebody else is asked."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    return _outcome(answering.cant_tell(running.store, judge["id"], task["id"], _put_off(body)))


@router.post("/task/{task_id}/opened", **said(replies.OutcomeSaid))
def post_opened(request: Request, task_id: TaskId, body: answers.OpenedBody) -> dict[str, Any]:
    """Note that I opened the page, the context (which must be read first), or the look-up panel."""
    running, judge = people.judge_at(request)
    task = held_task(running.store, judge["id"], task_id)
    return _outcome(answering.opened(running.store, judge["id"], task["id"], body.what))


@router.get("/answers")
def get_recent(request: Request) -> dict[str, Any]:
    """My last ten answers that stand, newest first."""
    running, judge = people.judge_at(request)
    rows = answering.recent(running.store, judge["id"])
    return {"answers": [_recent(running, row) for row in rows]}


def _recent(running: AppState, row: dict[str, Any]) -> dict[str, Any]:
    said = {name: row[name] for name in ("kind", "label", "choice", "strength", "reason", "comment")}
    return said | {
        "task_id": row["given"],
        "query": running.material.query(row["task_query"], row["task_subtopic"]),
        "title": _title(running, row["task_doc"]),
        "context": running.material.titles(row["task_context"]),
        "aspects": row["more"].get("aspects", {}),
        "snippet": row["more"].get("snippet"),
        "chips": row["more"].get("chips", []),
        "classes": row["more"].get("classes", []),
        "at": datetime.fromtimestamp(row["at"], UTC).isoformat(timespec="seconds"),
    }


def _title(running: AppState, doc: str | None) -> str:
    return "" if doc is None else running.material.front(doc)["title"] or doc


def _put_off(body: answers.PutOffBody | None) -> Answer:
    return Answer(**body.model_dump()) if body else Answer()


def _outcome(done: Outcome) -> dict[str, Any]:
    return {"event": done.event_id, "feedback": done.feedback, "rejected": done.rejected}


def _completion(running: AppState, judge: dict[str, Any], done: dict[str, Any]) -> dict[str, Any] | None:
    enough = people.enough_for(running, judge)
    return people.completion(running, judge) if enough and done["answered"] >= enough else None
