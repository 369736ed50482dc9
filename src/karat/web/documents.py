"""Documents are not to be trusted: they are shown in a frame of their own that may do nothing."""

from __future__ import annotations

import re
from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse

from karat.study.queue import held_task
from karat.study.store import NotYours
from karat.web import sign_in as people
from karat.web.app_state import AppState

#: No script, no form, no frame, nothing loaded from anywhere, no way to the page around it.
POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "private, max-age=600",
}
#: Text documents have explicit colours for both schemes, so they never depend on what is behind the frame.
PLAIN = (
    "<!doctype html><meta charset='utf-8'><style>:root{{color-scheme:light dark;background:#fff;color:#1d1f23}}"
    "@media (prefers-color-scheme:dark){{:root{{background:#1d2025;color:#eceae5}}}}"
    "body{{font:16px/1.5 system-ui,sans-serif;unicode-bidi:plaintext;margin:1rem;max-width:75ch;"
    "white-space:pre-wrap;overflow-wrap:anywhere}}</style>{text}"
)
#: HTML documents are always rendered in their light colours, which authors test most, so every judge sees the same.
#: In a layer, because `!important` there wins over any `!important` of the document; the colours are only a default.
LIGHT = "<style>@layer karat{:root{color-scheme:only light!important;background:#fff;color:#1d1f23}}</style>"
#: The start of an HTML document that has to stay in front: without it, browsers switch to quirks mode.
DOCTYPE = re.compile(r"(?>\ufeff|\s|<!--.*?-->)*+<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)
STYLE = re.compile(r"<style\b.*?(?:</style|\Z)", re.IGNORECASE | re.DOTALL)
SCHEME = re.compile(r"\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)", re.IGNORECASE)
#: Elements for which browsers open connections though the policy forbids the load, or that steer a page.
REACHING = re.compile(
    r"<(?=(?:iframe|frame|frameset|object|embed|applet|portal|fencedframe|link|meta|base)(?:[\s/>]|$))", re.IGNORECASE
)
TaskId = Annotated[int, Path(ge=1, le=2**31 - 1)]
DocName = Annotated[str | None, Query(max_length=2000, description="the document's id; of two lists it is needed")]
router = APIRouter(tags=["judge"])


@router.get(
    "/document/{task_id}",
    response_class=HTMLResponse,
    responses={401: {"description": "no session or token"}, 404: {"description": "no such document for this judge"}},
)
def document(
    request: Request,
    task_id: TaskId,
    doc: DocName = None,
) -> HTMLResponse:
    """A page as people see it, in a frame that may do nothing; as plain text: GET /api/task/{task_id}/text."""
    running, judge = people.judge_at(request)
    name = shown_in(running, held_task(running.store, judge["id"], task_id), doc)
    return page(running.material.row(name))


def shown_in(running: AppState, task: dict[str, Any], doc: str | None) -> str:
    """A document that a task or its look-up panel shows, the one to judge unless another is named."""
    name = doc or task["doc"]
    if name is None or not (
        name in running.material.displayed(task) or name in running.panels.documents(running, task)
    ):
        raise NotYours("there is no such document in this task")
    return str(name)


def page(row: dict[str, Any]) -> HTMLResponse:
    """A document as a page that may do nothing: its own HTML where there is some, its text otherwise."""
    html = row.get("html")
    content = (
        disarmed(in_light_colours(html))
        if html
        else PLAIN.format(text=escape(row.get("text") or "There is no text of this document."))
    )
    return HTMLResponse(content, headers=HEADERS)


def in_light_colours(html: str) -> str:
    """Make an HTML document readable whatever colour scheme the judge's browser prefers.

    The document gets a light default for its colours, and its own rules for dark schemes never apply.

    >>> in_light_colours("<!DOCTYPE html><p>One").replace(LIGHT, "[default]")
    '<!DOCTYPE html>[default]<p>One'
    >>> in_light_colours("<style>@media (prefers-color-scheme: dark) {}</style>").removeprefix(LIGHT)
    '<style>@media (max-width: 0) {}</style>'
    """
    start = DOCTYPE.match(html)
    at = start.end() if start else 0
    fixed = STYLE.sub(lambda style: SCHEME.sub(_always_light, style[0]), html[at:])
    return html[:at] + LIGHT + fixed


def _always_light(query: re.Match[str]) -> str:
    """A media condition that is true for light and false for dark."""
    return "(min-width: 0)" if query[1].lower() == "light" else "(max-width: 0)"


def disarmed(html: str) -> str:
    """HTML whose frames, links to resources, and the like are unknown elements: nothing reaches for another site.

    >>> disarmed('<p>One</p><IFRAME src="https://example.org"></IFRAME>')
    '<p>One</p><off-IFRAME src="https://example.org"></IFRAME>'

    The policy forbids these loads, too; but Chromium opens a connection for a frame before it looks at the policy, and
    the other site would know that somebody reads. A start tag has its name right after `<`, so nothing slips through.
    """
    return REACHING.sub("<off-", html)
