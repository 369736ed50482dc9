"""Ways in and out: personal links, the platforms' entry, signing in and out; each leads to a page."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import RedirectResponse

from karat.study import people as stored
from karat.web import sign_in as people
from karat.web.app_state import AppState, running_study

router = APIRouter(include_in_schema=False)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, without the character NUL, which PostgreSQL does not take; the guard limits its length."""
    text = (await request.body()).decode("utf-8", errors="replace")
    fields = parse_qs(text, max_num_fields=20, errors="replace")
    return {name: values[0].replace("\0", "") for name, values in fields.items()}


Form = Annotated[dict[str, str], Depends(form_of)]


@router.get("/join/{token}", name="join")
def join(request: Request, token: Annotated[str, Path(max_length=200)]) -> RedirectResponse:
    """A judge's personal link."""
    running = running_study(request)
    session = people.join(running, token)
    return _with_session(running, people.JUDGE, session) if session else RedirectResponse("/message?about=link", 303)


@router.get("/enter")
def enter(request: Request) -> RedirectResponse:
    """Where Prolific and MTurk send people, with their parameters."""
    running = running_study(request)
    state, session = people.enter(running, request, dict(request.query_params))
    if session is None:
        return RedirectResponse("/preview" if state == "preview" else f"/message?about={state}", 303)
    return _with_session(running, people.JUDGE, session)


@router.post("/signin")
def sign_in(request: Request, form: Form) -> RedirectResponse:
    """A lead's name and password from the page."""
    running = running_study(request)
    try:
        token = people.sign_in(running, request, form.get("name", ""), form.get("password", ""))
    except people.NotSignedIn:
        return RedirectResponse("/signin?wrong=1", 303)
    except people.TooMany as error:
        return RedirectResponse(f"/signin?wait={int(error.seconds) + 1}", 303)
    return _with_session(running, people.LEAD, token)


@router.post("/signout")
def sign_out(request: Request, form: Form) -> RedirectResponse:
    """End the lead's session, here and in the database."""
    running = running_study(request)
    people.check_csrf(running, request, people.LEAD, form.get("csrf"))
    stored.end_session(running.store, people.session_token(running, request, people.LEAD) or "")
    response = RedirectResponse("/signin", 303)
    response.delete_cookie(people.cookie_name(running, people.LEAD), path="/")
    return response


def _with_session(running: AppState, role: str, token: str) -> RedirectResponse:
    response = RedirectResponse("/lead" if role == people.LEAD else "/welcome", 303)
    people.set_cookie(running, response, role, token)
    return response
