"""The app: its routes, its errors in words, and the headers that every answer carries."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.errors import BadInput, KaratError, Undefined
from karat.records.study_design import StudyDesign
from karat.study.database import UNREACHABLE, in_words
from karat.study.store import Closed, Conflict, NotYours, Store
from karat.study.task_material import Material
from karat.web import api_data, api_judge, api_lead, auth_routes, dashboard, documents, pages
from karat.web.addresses import OwnHosts
from karat.web.app_state import VERSION, AppState
from karat.web.background import Beside, LiveFigure
from karat.web.responses import describe
from karat.web.sign_in import MTURK_SITES, Forbidden, NotSignedIn, TooMany
from karat.web.webhooks import Webhooks

#: The code of the answer for each kind of error.
CODES: dict[type[KaratError], int] = {
    NotSignedIn: 401,
    Forbidden: 403,
    Closed: 403,
    NotYours: 404,
    Conflict: 409,
    Undefined: 409,
    BadInput: 422,
    TooMany: 429,
}
#: How many requests are worked on at once: the more wait together, the fewer times the disk is waited for.
THREADS = {"sqlite": 12, "postgresql": 12}
#: A request's body is at most so long (bytes).
LONGEST = 1_000_000


def create_app(
    study: StudyDesign,
    store: Store,
    material: Material | None = None,
    *,
    secure: bool = False,
    public_url: str = "",
    live: LiveFigure | None = None,
    webhooks: Webhooks | None = None,
    beside: Beside | None = None,
    hosts: frozenset[str] | None = None,
) -> FastAPI:
    """The judging app of a study; `secure` when it is reached through https, `live` for a verdict on the way.

    Invite links begin with `public_url`, or as the request did. `webhooks` are sent while the app runs.
    `beside` makes the lead's figures, a thread of this process unless told. Requests for other hosts than `hosts` and
    this machine's are refused, where some are named.
    """
    app = FastAPI(
        title=f"karat: {study.title}",
        version=VERSION,
        description="Judge documents and lists, as a person's page does: a session cookie with X-CSRF-Token, or the "
        "personal token as Authorization: Bearer.",
        docs_url=None,
        redoc_url=None,
        lifespan=_running,
    )
    beside = beside or Beside(store)
    app.state.running = AppState(
        study, store, beside, material or Material(), secure, public_url, live=live, webhooks=webhooks
    )
    for kind in CODES:
        app.add_exception_handler(kind, _said)
    app.add_exception_handler(RequestValidationError, _not_understood)
    for failure in UNREACHABLE:
        app.add_exception_handler(failure, _unreachable)
    for part in (api_judge, api_lead, api_data, documents, auth_routes, pages, dashboard):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=str(files("karat.web") / "static")), name="static")
    describe(app)
    if hosts is not None:
        app.add_middleware(OwnHosts, hosts=hosts)
    app.add_middleware(Guard, study=study, secure=secure)
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Requests are worked on by a few threads: more of them only wait for each other, and the queue gets unfair."""
    running: AppState = app.state.running
    current_default_thread_limiter().total_tokens = THREADS[running.store.database.dialect]
    if running.webhooks is not None:
        running.webhooks.start()
    yield
    if running.webhooks is not None:
        running.webhooks.stop()
    running.beside.close()


async def _said(request: Request, error: Exception) -> Response:
    """An error in words: JSON for programs; a page's visitor who is not signed in is led to where one signs in."""
    code = next(code for kind, code in CODES.items() if isinstance(error, kind))
    if code == 401 and not request.url.path.startswith(("/api", "/document")) and request.method == "GET":
        return RedirectResponse("/signin" if request.url.path.startswith("/lead") else "/welcome", 303)
    headers = {"Retry-After": str(int(error.seconds) + 1)} if isinstance(error, TooMany) else None
    return JSONResponse({"detail": str(error)}, code, headers)


async def _not_understood(request: Request, error: Exception) -> Response:
    """What is wrong with a request, in words; what was sent is not repeated: it may be nothing that JSON can hold."""
    assert isinstance(error, RequestValidationError)
    said = [f"{'.'.join(str(part) for part in wrong['loc'])}: {wrong['msg']}" for wrong in error.errors()[:5]]
    return JSONResponse({"detail": "; ".join(said).encode("ascii", "backslashreplace").decode()}, 422)


async def _unreachable(request: Request, error: Exception) -> Response:
    """The database fails: the visitor is asked to wait, whoever serves is told why in a line."""
    route = request.scope.get("route")  # not the path itself: a personal link is a secret
    place = getattr(route, "path", "a page")
    logging.getLogger("karat").error("%s %s: the database failed: %s", request.method, place, in_words(error))
    if request.url.path.startswith("/api"):
        detail = "the study's database cannot be reached now; try again in a while"
        return JSONResponse({"detail": detail}, 503, {"Retry-After": "5"})
    text = "The study cannot be reached now. What you said is kept; load this page again in a while."
    return pages.message_page(request.app.state.running, "One moment", text, code=503)


class Guard:
    """Headers for every answer, and a limit on the length of requests."""

    def __init__(self, app: ASGIApp, *, study: StudyDesign, secure: bool) -> None:
        self.app = app
        mturk = study.platform.mturk
        outer = " ".join(study.platform.framing_sites) or "'none'"
        forms = " ".join(["'self'", *(MTURK_SITES if mturk else ())])
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            f"font-src 'self'; frame-src 'self'; base-uri 'none'; form-action {forms}; frame-ancestors "
        )
        #: Judges of a platform see their pages in its frame; the lead's are in nobody's.
        self.policies = {True: f"{policy}'none'".encode(), False: f"{policy}{outer}".encode()}
        self.headers = {
            b"referrer-policy": b"same-origin",
            b"x-content-type-options": b"nosniff",
            b"cross-origin-opener-policy": b"same-origin",
            b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
        }
        if secure:
            self.headers[b"strict-transport-security"] = b"max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        fresh = not scope["path"].startswith("/static")
        if not length.isdigit() or int(length) > LONGEST or b"transfer-encoding" in headers:
            refused: Any = JSONResponse({"detail": f"a request of at most {LONGEST} bytes, its length given"}, 413)
            await refused(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                # Scripts import one another: after an update none of them may be an old one.
                more = self.headers | {b"cache-control": b"no-store" if fresh else b"no-cache"}
                more[b"content-security-policy"] = self.policies[scope["path"].startswith(("/lead", "/signin"))]
                added = [(name, value) for name, value in more.items() if name not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, send_with_headers)
