"""Who is asking: leads by password, judges by personal link or platform; the role is checked on every route."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from karat.errors import KaratError
from karat.study import people
from karat.study.store import PLATFORMS, Store
from karat.web.app_state import AppState, place_of, running_study

if TYPE_CHECKING:
    from fastapi import Request, Response

#: Roles, each with a cookie of its own.
JUDGE, LEAD = "karat_judge", "karat_lead"
#: What MTurk sends while somebody only looks at a task.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
MTURK_SITES = ("https://www.mturk.com", "https://workersandbox.mturk.com")
#: So many cookies of a role, one for each study that the browser knows on this machine, are looked up.
MOST_COOKIES = 20
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


class NotSignedIn(KaratError):
    """Nobody is signed in, or somebody with another role."""


class Forbidden(KaratError):
    """The request may be forged: it lacks the session's own token."""


class TooMany(KaratError):
    """Too many wrong tries."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many wrong tries; wait {max(1, round(seconds))} seconds")
        self.seconds = seconds


def judge_of(running: AppState, request: Request) -> dict[str, Any]:
    """The judge who asks, by session or by personal token (Authorization: Bearer ...)."""
    token = _bearer(request)
    if token is not None:
        judge = people.judge_by_token(running.store, token)
        if judge is None:
            raise NotSignedIn("this token is not known")
        return judge
    session = _session(running, request, JUDGE) or {}
    judge = people.judge_by_id(running.store, session["judge_id"]) if session.get("judge_id") else None
    if judge is None:
        raise NotSignedIn("open your personal link again")
    return judge


def judge_at(request: Request) -> tuple[AppState, dict[str, Any]]:
    """The running that serves this request, and the judge who asks."""
    running = running_study(request)
    return running, judge_of(running, request)


def lead_at(request: Request) -> AppState:
    """The running that serves this request, which a lead asks, by session or with its token as Bearer.

    What is done with its store is logged under the lead's name.
    """
    running = running_study(request)
    token = _bearer(request)
    session = people.session_of(running.store, token) if token is not None else _session(running, request, LEAD)
    lead = people.lead_by_id(running.store, session["lead_id"]) if session and session["lead_id"] else None
    if lead is None:
        raise NotSignedIn("sign in as a lead")
    if request.method in UNSAFE:
        running.beside.renew()
    return replace(running, store=replace(running.store, by=lead["name"]))


def sign_in(running: AppState, request: Request, name: str, password: str) -> str:
    """A session for a lead who knows the password; wrong tries are limited, strictly by place, loosely by name.

    Whoever guesses at one place keeps out others at that place only.
    """
    from argon2 import PasswordHasher
    from argon2.exceptions import VerificationError

    place = place_of(request.client.host if request.client else "")
    wait = max(running.wrong_places.wait(place), running.wrong_names.wait(name))
    if wait > 0:
        raise TooMany(wait)
    lead = people.lead_named(running.store, name)
    try:
        # A made-up name takes as long as a wrong password.
        PasswordHasher().verify(lead["password"] if lead else _nobody(), password)
    except VerificationError:
        lead = None
    if lead is None:
        running.wrong_places.failed(place)
        running.wrong_names.failed(name)
        raise NotSignedIn("name or password is wrong")
    return people.start_session(running.store, lead_id=lead["id"])


def set_password(store: Store, name: str, password: str | None = None) -> str:
    """Make a lead, or give a new password (a random one unless told); returns it."""
    from argon2 import PasswordHasher

    password = password or secrets.token_urlsafe(12)
    people.add_lead(store, name, PasswordHasher().hash(password))
    return password


def join(running: AppState, token: str) -> str | None:
    """A session for the judge whose personal link this is; none if it is nobody's."""
    judge = people.judge_by_token(running.store, token)
    return None if judge is None else people.start_session(running.store, judge_id=judge["id"])


def enter(running: AppState, request: Request, parameters: dict[str, str]) -> tuple[str, str | None]:
    """Somebody from Prolific or MTurk: `session` with its token, `preview`, or `closed` for anything else.

    Ids can be made up: a place sends so many new ones a minute (`full` beyond that), and those who said nothing yet
    keep only a part of the tasks (`queue`).
    """
    platform = running.study.platform
    known = {name: value[:200] for name, value in parameters.items() if "\0" not in value}
    group = platform.group or running.study.groups[0]
    kept: tuple[str, ...]
    if platform.prolific and known.get("PROLIFIC_PID"):
        if platform.prolific_studies and known.get("STUDY_ID") not in platform.prolific_studies:
            return "closed", None
        kept = ("STUDY_ID", "SESSION_ID")
        source, external = "prolific", known["PROLIFIC_PID"]
    elif platform.mturk and known.get("assignmentId"):
        if known["assignmentId"] == PREVIEW or not known.get("workerId"):
            return "preview", None
        kept = ("assignmentId", "hitId", "turkSubmitTo")
        source, external = "mturk", known["workerId"]
    else:
        return "closed", None
    details = {name: known[name] for name in kept if name in known}
    if people.judge_from(running.store, source, external) is None:
        place = place_of(request.client.host if request.client else "")
        if running.newcomers.wait(place) > 0:
            return "full", None
        running.newcomers.failed(place)
    judge, _ = people.add_judge(running.store, group=group, source=source, external=external, details=details)
    if judge["details"] is None or details:
        people.keep_details(running.store, judge["id"], details)
    return "session", people.start_session(running.store, judge_id=judge["id"])


def takes_code(judge: dict[str, Any]) -> bool:
    """Whether a judge takes a completion code back: only who came from a platform has somewhere to hand it in."""
    return judge["source"] in PLATFORMS


def enough_for(running: AppState, judge: dict[str, Any]) -> int:
    """After how many answers a judge is given the completion code though there are tasks left; 0: never."""
    return running.study.platform.tasks if takes_code(judge) else 0


def completion(running: AppState, judge: dict[str, Any]) -> dict[str, Any]:
    """What a judge takes back to the platform: a code, and where to hand it in."""
    details = json.loads(judge["details"] or "{}")
    code = _kept_code(running, judge)
    back = None
    if judge["source"] == "prolific":
        back = f"https://app.prolific.com/submissions/complete?cc={code}" if re.fullmatch(r"[\w-]+", code) else None
    elif judge["source"] == "mturk" and details.get("turkSubmitTo") in MTURK_SITES:
        back = f"{details['turkSubmitTo']}/mturk/externalSubmit"
    return {"code": code, "return_to": back, "assignment": details.get("assignmentId")}


def csrf_token(token: str) -> str:
    """The token that a session's own pages send with every change; other sites cannot know it."""
    return hashlib.sha256(f"csrf {token}".encode()).hexdigest()


def cookie_name(running: AppState, role: str) -> str:
    """The name of the cookie with which a role comes to this study."""
    return f"{role}_{running.mark}"


def session_token(running: AppState, request: Request, role: str) -> str | None:
    """The token of the session that the browser has in this role.

    A study that moved to another database has cookies of another name there. Its sessions moved along, so a browser
    without the new cookie is known by one from before: its token is in no other study's database.
    """
    own = request.cookies.get(cookie_name(running, role))
    if own is not None:
        return own
    others = [token for name, token in request.cookies.items() if name.startswith(f"{role}_")]
    return next((token for token in others[:MOST_COOKIES] if people.session_of(running.store, token)), None)


def check_csrf(running: AppState, request: Request, role: str, given: str | None) -> None:
    """Refuse a change that does not come from the session's own pages."""
    token = session_token(running, request, role)
    if not token or not given or not hmac.compare_digest(csrf_token(token).encode(), given.encode()):
        raise Forbidden("this page is out of date; load it again")


def set_cookie(running: AppState, response: Response, role: str, token: str) -> None:
    """Hand a session to the browser; scripts cannot read it."""
    framed = running.study.platform.framing_sites and running.secure  # MTurk shows the study inside its own page
    response.set_cookie(
        cookie_name(running, role),
        token,
        max_age=int(people.SESSION),
        httponly=True,
        secure=running.secure,
        samesite="none" if framed and role == JUDGE else "lax",
        path="/",
    )


def _session(running: AppState, request: Request, role: str) -> dict[str, Any] | None:
    token = session_token(running, request, role)
    if not token:
        return None
    session = people.session_of(running.store, token)
    if session is not None and request.method in UNSAFE:
        check_csrf(running, request, role, request.headers.get("x-csrf-token"))
    return session


def _bearer(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def _kept_code(running: AppState, judge: dict[str, Any]) -> str:
    """The study's code, or the judge's own, made once; kept with the judge, so that the lead sees who was given it."""
    common = running.study.platform.completion_code
    if judge["completion"] and judge["completion"] == (common or judge["completion"]):
        return str(judge["completion"])
    code = common or secrets.token_hex(5).upper()
    return people.keep_completion(running.store, judge["id"], code, again=bool(common))


@cache
def _nobody() -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(secrets.token_urlsafe(12))
