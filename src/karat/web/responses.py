"""What the main routes of judges answer, for the description of the interface."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import Field

from karat.web.app_state import AppState
from karat.web.kinds import ON_PAGE
from karat.web.schemas import DocumentShown, QueryShown, Reply
from karat.web.sign_in import JUDGE, LEAD, UNSAFE, cookie_name


class TaskShown(*dict.fromkeys(kind.reply for kind in ON_PAGE.values())):  # type: ignore[misc]
    """A task, with what its kind shows: a document to grade, two lists to choose from, a reason to put into classes."""

    id: int = Field(description="under which I was given it; it grows, and says nothing else")
    kind: str = Field(json_schema_extra={"enum": [*ON_PAGE]})
    state: Literal["held", "answered", "cant_tell", "later", "expired", "rejected", "released"]
    until: float = Field(description="kept for me until then, in seconds since 1970")
    practice: bool = Field(description="whether the answer is followed by the right one")
    query: QueryShown


class Completion(Reply):
    """What a judge takes back to a platform."""

    code: str
    return_to: str | None
    assignment: str | None


class NextTask(Reply):
    """The next task, or why there is none."""

    state: Literal["task", "wait", "limit", "done"] = Field(
        description="task: here it is; wait: there are some, later; limit: my share is done; done: nothing is left"
    )
    task: TaskShown | None
    wait_until: str | None = Field(description="state wait: when to ask again, where that is known")
    completion: Completion | None = Field(
        description="state done or limit: the completion code, for judges of a platform"
    )


class Progress(Reply):
    """How far a judge is."""

    answered: int
    open: int = Field(description="what may still come to me")
    practised: int
    practice: int
    limit: int | None


class Me(Reply):
    """Who asks, what the study asks, and how far it is."""

    name: str
    group: str
    state: Literal["active", "paused", "rejected"]
    why: str | None
    excluded: list[str] = Field(description="kinds of tasks that I am given no more: a control question was failed")
    progress: Progress
    study: dict[str, Any] = Field(description="title, scale, aspects, guidelines, groups, reasons, classes, ...")
    csrf: str | None = Field(description="for sessions by cookie: what to send as X-CSRF-Token")
    completion: Completion | None


class Feedback(Reply):
    """Practice: whether it was right, and why; after the last one, whether enough was."""

    right: bool
    gold: float | None
    expected: str | None
    note: str | None
    done: int
    of: int
    correct: int
    passed: bool | None


class OutcomeSaid(Reply):
    """What became of it."""

    event: int = Field(description="the number in the log")
    feedback: Feedback | None
    rejected: bool = Field(
        description="a control question was failed: my answers to this kind of task are taken back, and I get no more"
    )


class PageText(Reply):
    """The text of a document's page."""

    doc: str
    title: str
    url: str
    text: str


class Others(Reply):
    """Other results of the query."""

    documents: list[DocumentShown]


#: For a route that asks for nobody: `openapi_extra=OPEN`.
OPEN: dict[str, Any] = {"security": []}


def describe(app: FastAPI) -> None:
    """Let the app's description say that routes need a session or a token, unless they are `OPEN`."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schema.setdefault("components", {})["securitySchemes"] = _schemes(app.state.running)
            for methods in schema["paths"].values():
                for method, operation in methods.items():
                    role = "judge" if "judge" in operation["tags"] else "lead"
                    operation.setdefault("security", _ways(role, unsafe=method.upper() in UNSAFE))
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _schemes(running: AppState) -> dict[str, Any]:
    bearers = {
        "judge_token": "A judge's personal token: what stands after /join/ in the personal link.",
        "lead_token": "A lead's token, from POST /api/sign-in.",
    }
    cookies = {"judge_cookie": (JUDGE, "a personal link"), "lead_cookie": (LEAD, "signing in")}
    return {
        **{name: {"type": "http", "scheme": "bearer", "description": about} for name, about in bearers.items()},
        **{
            name: {
                "type": "apiKey",
                "in": "cookie",
                "name": cookie_name(running, role),
                "description": f"A session, which {way} begins; changes need X-CSRF-Token besides.",
            }
            for name, (role, way) in cookies.items()
        },
        "csrf": {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRF-Token",
            "description": "The session's own token for changes: `csrf` of GET /api/me or POST /api/sign-in.",
        },
    }


def _ways(role: str, *, unsafe: bool) -> list[dict[str, list[str]]]:
    """Either the token, or the cookie, with the session's own token where something is changed."""
    cookie: dict[str, list[str]] = {f"{role}_cookie": []}
    return [{f"{role}_token": []}, cookie | ({"csrf": []} if unsafe else {})]
