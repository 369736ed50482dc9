"""The JSON interface of leads: progress, quality, people, and everything collected."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from karat.study import people as stored
from karat.study.answers import reject_judge, withdraw
from karat.study.progress import what_is_left
from karat.study.store import Conflict, NotYours
from karat.web import sign_in as people
from karat.web.addresses import HERE_ONLY, here_only
from karat.web.app_state import running_study
from karat.web.dashboard import overview
from karat.web.responses import OPEN
from karat.web.schemas import Body, Name, Text

JudgeId = Annotated[int, Path(ge=1, le=2**31 - 1)]
ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no lead is signed in"},
    403: {"description": "the request lacks the session's token"},
    404: {"description": "not found"},
}
router = APIRouter(prefix="/api", tags=["lead"], responses=ERRORS)


class SignIn(Body):
    """A lead's name and password."""

    name: Name
    password: Text


class Invite(Body):
    """A judge to invite."""

    name: Name | None = None
    group: Name | None = None


class Why(Body):
    """The reason, which the judge is shown."""

    why: Text = ""


@router.post("/sign-in", responses={429: {"description": "too many wrong tries"}}, openapi_extra=OPEN)
def sign_in(request: Request, response: Response, body: SignIn) -> dict[str, Any]:
    """Sign in as a lead; programs send the token as Authorization: Bearer."""
    running = running_study(request)
    token = people.sign_in(running, request, body.name, body.password)
    people.set_cookie(running, response, people.LEAD, token)
    return {"token": token, "csrf": people.csrf_token(token)}


@router.get("/progress")
async def get_progress(request: Request) -> dict[str, Any]:
    """Tasks and labels by group and kind, the course so far, and when it should be done, with an interval."""
    running = await run_in_threadpool(people.lead_at, request)
    return await running.beside.figure("progress", None, overview)  # tasks come and go without a line in the log


class Withdrawn(Body):
    """Which tasks to withdraw: by their numbers (as the export of tasks has them), or a part of what is left."""

    tasks: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] = Field(default_factory=list, max_length=10_000)
    group: Name | None = Field(None, description="what is left: the group ...")
    left: Name | None = Field(None, description="... why (people, theirs, open, limit, nobody) ...")
    judge: Name | None = Field(None, description="... and whom it waits for")
    why: Text = ""


@router.post("/tasks/withdraw")
def post_withdraw(request: Request, body: Withdrawn) -> dict[str, Any]:
    """Ask for nothing more of some tasks; what was said to them stays, and what is in work counts."""
    running = people.lead_at(request)
    ids = {*body.tasks}
    for part in what_is_left(running.store) if body.left else []:
        if (part.group, part.why, part.judge) == (body.group, body.left, body.judge):
            ids.update(part.ids)
    return {"withdrawn": withdraw(running.store, sorted(ids), body.why or "withdrawn by the lead")}


@router.post("/invites")
def post_invite(request: Request, body: Invite) -> dict[str, Any]:
    """Invite a judge: a personal link, shown this once."""
    running = people.lead_at(request)
    name = " ".join((body.name or "").split()) or None  # in one line, and not the same as another but for a space
    return _shown_once(request, *stored.add_judge(running.store, group=body.group, name=name))


@router.post("/judges/{judge_id}/link")
def post_link(request: Request, judge_id: JudgeId) -> dict[str, Any]:
    """Give a judge a new personal link, shown this once; the old one and the sessions it opened end."""
    running = people.lead_at(request)
    return _shown_once(request, *stored.new_token(running.store, judge_id))


@router.post("/judges/{judge_id}/pause")
def post_pause(request: Request, judge_id: JudgeId, body: Why | None = None) -> dict[str, Any]:
    """Give a judge no more tasks; what they hold is free for others, what they said stays."""
    return _state(request, judge_id, "paused", (body.why if body else "") or "the lead has paused your work")


@router.post("/judges/{judge_id}/release")
def post_release(request: Request, judge_id: JudgeId) -> dict[str, Any]:
    """Let a judge go on, with tasks of every kind."""
    done = _state(request, judge_id, "active", "")
    stored.readmit(people.lead_at(request).store, judge_id)
    return done


@router.post("/judges/{judge_id}/reject")
def post_reject(request: Request, judge_id: JudgeId, body: Why | None = None) -> dict[str, Any]:
    """Reject all that a judge said; the slots are open again."""
    running = people.lead_at(request)
    reject_judge(running.store, judge_id, (body.why if body else "") or "rejected by the lead")
    return {"judge": judge_id, "state": "rejected"}


def _shown_once(request: Request, judge: dict[str, Any], token: str) -> dict[str, Any]:
    running = running_study(request)
    link = (running.public_url or str(request.base_url).rstrip("/")) + str(
        request.app.url_path_for("join", token=token)
    )
    said = {"judge": judge["id"], "name": judge["name"], "group": judge["grp"], "token": token, "link": link}
    return said | {"note": HERE_ONLY if here_only(urlsplit(link).hostname or "") else ""}


def _state(request: Request, judge_id: int, state: str, why: str) -> dict[str, Any]:
    running = people.lead_at(request)
    judge = stored.judge_by_id(running.store, judge_id)
    if judge is None:
        raise NotYours("there is no such judge")
    if state == "paused" and judge["state"] == "rejected":
        raise Conflict(f"{judge['name']} was rejected meanwhile: {judge['why']}")
    stored.set_state(running.store, judge_id, state, why)
    return {"judge": judge_id, "state": state}
