"""The pages of judges: the way in, the guidelines, the judging page, the end."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from karat.records.scale import Scale
from karat.study import people as stored
from karat.study.kinds import KINDS
from karat.study.progress import judge_progress, kinds_asked
from karat.study.queue import next_task
from karat.study.store import Closed
from karat.web import sign_in as people
from karat.web.app_state import VERSION, AppState, running_study
from karat.web.kinds import ON_PAGE
from karat.web.sign_in import JUDGE, LEAD, NotSignedIn, csrf_token

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("karat.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(running: AppState, name: str, *, session: str | None = None, code: int = 200, **values: Any) -> HTMLResponse:
    """A page of a study from a template; `session` is the token of the session whose changes it may send."""
    csrf = csrf_token(session) if session else ""
    text = _environment().get_template(name).render(study=running.study, csrf=csrf, version=VERSION, **values)
    return HTMLResponse(text, code)


def paragraphs(text: str) -> list[dict[str, Any]]:
    r"""Guidelines as headings, lists and paragraphs, from text with `#` and `-` as in Markdown.

    >>> paragraphs("# Grades\nRead first.\n\n- one\n- two")
    [{'heading': 'Grades'}, {'text': 'Read first.'}, {'points': ['one', 'two']}]
    """
    parts: list[dict[str, Any]] = []
    for line in [*text.splitlines(), ""]:
        said = line.strip()
        last = parts[-1] if parts else {}
        if not said:
            parts.append({})
        elif said.startswith("#"):
            parts.append({"heading": said.lstrip("# ")})
        elif said.startswith(("- ", "* ")):
            point = said[2:].strip()
            if "points" in last:
                last["points"].append(point)
            else:
                parts.append({"points": [point]})
        elif "text" in last:
            last["text"] += f" {said}"
        elif "points" in last:
            last["points"][-1] += f" {said}"
        else:
            parts.append({"text": said})
    return [part for part in parts if part]


def keyed_levels(scale: Scale) -> list[dict[str, Any]]:
    """The levels with the key that chooses each: the grade itself where all are digits, else the place.

    >>> [level["key"] for level in keyed_levels(Scale.parse("0..2"))]
    ['0', '1', '2']
    >>> [level["key"] for level in keyed_levels(Scale.parse("-2=junk, 0=not, 1=good"))]
    ['1', '2', '3']
    """
    digits = all(grade in range(10) for grade in scale.grades)
    return [
        {
            "grade": level.grade,
            "name": level.name,
            "definition": level.definition,
            "key": f"{level.grade:.0f}" if digits else str(place) if place < 10 else "",
        }
        for place, level in enumerate(scale, 1)
    ]


router = APIRouter(include_in_schema=False)

#: Why somebody does not get in.
MESSAGES = {
    "link": ("No such link", "This link is not known here. Ask whoever invited you for a new one."),
    "full": ("One moment", "Many people come from your place at once. Open the study again in a minute."),
    "closed": ("This way is closed", "This study does not take people from the site that sent you here."),
}


@router.get("/")
def front(request: Request) -> Response:
    """The way in: back to work, or from a platform by its parameters."""
    running = running_study(request)
    if request.query_params:
        return RedirectResponse(f"/enter?{request.url.query}", 303)
    try:
        people.judge_of(running, request)
    except NotSignedIn:
        lead = people.session_token(running, request, LEAD)
        known = lead is not None and stored.session_of(running.store, lead) is not None
        return RedirectResponse("/lead" if known else "/welcome", 303)
    return RedirectResponse("/judge", 303)


@router.get("/message")
def message(request: Request, about: str = "") -> Response:
    """Why there is no way in."""
    heading, text = MESSAGES.get(about, MESSAGES["link"])
    return message_page(running_study(request), heading, text, code=404 if about == "link" else 403)


@router.get("/preview")
def preview(request: Request) -> Response:
    """What somebody sees who has not yet accepted the task on a platform."""
    return _welcome(running_study(request), None, preview=True)


@router.get("/welcome")
def welcome(request: Request) -> Response:
    """What is asked, the grades, and the guidelines."""
    running = running_study(request)
    try:
        judge = people.judge_of(running, request)
    except NotSignedIn:
        text = "Judges come here by their personal link, which the lead of the study sends."
        return message_page(running, "Welcome", text, link="/signin", link_text="Sign in as lead")
    return _welcome(running, judge)


@router.get("/judge")
def judging(request: Request) -> Response:
    """The judging page; its script asks for the tasks."""
    running, judge = people.judge_at(request)
    setup = running.study.to_dict() | {
        "scale": keyed_levels(running.study.scale),
        "owner": f"{running.study.id}-{judge['id']}",
        "enough": people.enough_for(running, judge),
        "kinds": [*ON_PAGE],
    }
    if running.study.snippet is not None:
        setup["snippet"] = setup["snippet"] | {"scale": keyed_levels(running.study.snippet.scale)}
    session = people.session_token(running, request, JUDGE)
    return render(running, "judge.html", session=session, setup=setup, **_asked(running))


@router.get("/done")
def done(request: Request) -> Response:
    """The end: thanks, and the completion code for those who came from a platform, once they have done enough."""
    running, judge = people.judge_at(request)
    progress = judge_progress(running.store, judge)
    said, enough = progress["answered"], people.enough_for(running, judge)
    early = bool(enough) and said >= enough and judge["state"] == "active"
    more = progress["open"] > 0 and (progress["limit"] is None or said < progress["limit"])
    waits = False
    if not early:
        try:
            turn = next_task(running.store, judge["id"])
        except Closed as why:
            said_why = str(why)  # in the lead's words: capitals in them stay
            return message_page(running, "Your work here has ended", f"{said_why[:1].upper()}{said_why[1:]}.")
        if turn.state == "task":
            return RedirectResponse("/judge", 303)
        waits = turn.state == "wait"
    coded = early or (said > 0 and not waits and people.takes_code(judge))
    code = people.completion(running, judge) if coded else dict.fromkeys(("code", "return_to", "assignment"))
    excluded = judge["id"] in stored.excluded_kinds(running.store)
    many = "one answer" if said == 1 else f"{said:,} answers"
    text = f"You gave {many}; all of them are kept."
    if early and more:
        heading, again = "Thank you, that is enough", "Go on judging"
        text += " There are more tasks, if you like; your code is the same."
    elif waits:
        heading, again = "Enough for now", "Look for more tasks"
        text += f" More tasks come for you later: use the same link again{_after(turn.wait_until)}."
        if not said:
            heading = "One moment"
            text = f"Others are at work on all the tasks. Some may come free{_after(turn.wait_until)}: look again then."
    elif not said:
        heading, again = "Nothing to do now", "Look for more tasks"
        text = "There is no task for you at the moment, and you gave no answers"
        text += ": there is no code to hand in." if people.takes_code(judge) else "."
    else:
        heading, again = "Thank you, that was all", "Look for more tasks"
    if excluded and not waits:
        others = "Other answers of yours were" if said else "Your answers were"
        text = f"{text} {others}" if said else others
        text += " not accepted: a control question was answered wrongly."
    return render(
        running,
        "done.html",
        session=people.session_token(running, request, JUDGE),
        heading=heading,
        text=text,
        completion=code["code"],
        back=code["return_to"],
        assignment=code["assignment"],
        platform={"prolific": "Prolific", "mturk": "Mechanical Turk"}.get(judge["source"], ""),
        again=again,
    )


def _after(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime(" after %d %B %H:%M UTC")


def _welcome(running: AppState, judge: dict[str, Any] | None, *, preview: bool = False) -> Response:
    said = judge_progress(running.store, judge) if judge else {"answered": 0, "practice": 0, "practised": 0}
    practice = said["practice"] - said["practised"]
    heading, button, intro = "Welcome", "Begin", ""
    if said["answered"]:
        heading, button = "Welcome back", "Go on"
    elif practice:
        button = "Begin with practice"
        intro = f"First comes a practice round of {practice}, with an explanation after each answer."
    about: dict[str, Any] = {"heading": heading, "intro": intro, "button": button, "preview": preview}
    return render(running, "welcome.html", **about, **_asked(running))


def _asked(running: AppState) -> dict[str, Any]:
    """What is asked: the guidelines, the grades, and the aspects."""
    study, asked = running.study, kinds_asked(running.store)
    grades = not asked or any(KINDS[kind].grades for kind in asked)
    return {
        "guidelines": paragraphs(study.guidelines),
        "levels": keyed_levels(study.scale) if grades else [],
        "aspects": study.aspects if grades else (),
        "first": keyed_levels(study.snippet.scale) if grades and study.snippet is not None else [],
        "sides": any(KINDS[kind].sides for kind in asked),
    }


def message_page(
    running: AppState, heading: str, text: str, *, link: str = "", link_text: str = "", code: int = 200
) -> Response:
    """A page that says one thing."""
    return render(running, "message.html", heading=heading, text=text, link=link, link_text=link_text, code=code)
