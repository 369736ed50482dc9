"""What assistive technology meets: axe-core finds nothing serious on any page, light or dark, wide or on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from karat import web as collect
from karat.records import Scale
from karat.records.study_design import Aspect, Platform, Rules, SnippetFirst
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge, all_judges, set_state
from karat.study.queue import next_task
from karat.web.background import LiveFigure
from live_example import LIVE
from simulated import THOROUGH

pytestmark = pytest.mark.evidence

JUDGE = [{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)]
KINDS = {
    "judge": JUDGE,
    "context": [{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}],
    "pair": [{"query": "q1", "subtopic": "1", "left": "up", "right": "down"}],
    "code": [{"query": "q1", "kind": "code", "reason": "fewer adverts"}],
    "support": [{"query": "q1", "doc": "q1-d1", "sentence": "A farrier has a hoof knife."}],
    "nugget": [{"query": "q1", "doc": "q1-d1", "nugget": "A farrier has a hoof knife."}],
    "several": [{"query": "q1", "doc": "q1-d2", "context": ["q1-d0", "q1-d1"]}],
    "snippet": JUDGE,
}
#: What the study says beside the tasks.
WAYS = {"snippet": {"snippet": SnippetFirst(Scale.parse("0=would not open, 1=would open"), "Would you open it?")}}
SIZES = {"wide": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
#: Every look for evidence; for every change one of each scheme and size.
LOOKS = (
    [f"{scheme} {size}" for scheme in ("light", "dark") for size in SIZES] if THOROUGH else ["light phone", "dark wide"]
)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: What can differ in the dark, where the same page has other colours and nothing else (a test holds it).
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def violations(page):
    """What axe-core finds serious or critical in any look, WCAG A and AA."""
    return [f"{look}: {found}" for look in LOOKS for found in seen(page, look)]


def seen(page, look):
    """What axe-core finds in one look of the page as it stands."""
    scheme, size = look.split()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size(SIZES[size])
    axe = pytest.importorskip("axe_playwright_python", reason="no axe-core: pip install axe-playwright-python")
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    rules = COLOURS if scheme == "dark" else RULES
    few = "{runOnly: rules, iframes: false, resultTypes: ['violations']}"  # of what is in order, one example is enough
    found = page.evaluate(f"rules => axe.run(document, {few})", rules)
    assert found["passes"], "axe-core looked at something"
    return [
        f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@pytest.fixture
def still(page):
    """A page that does not move while it is looked at."""
    page.emulate_media(reduced_motion="reduce")
    return page


def at_task(page, study):
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")


def test_in_the_dark_pages_differ_in_colours_only():
    css = (Path(collect.__file__).parent / "static" / "karat.css").read_text(encoding="utf-8")
    (dark,) = re.findall(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}", css)
    assert css.count("prefers-color-scheme") == 1
    assert {name.strip()[:2] for name in re.findall(r"([^:;{]+):", dark)} == {"--"}
    colour = r"#[0-9a-fA-F]{6}"
    assert all(re.fullmatch(rf"{colour}|none", value.strip()) for value in re.findall(r":([^;]+);", dark))


@pytest.mark.parametrize(
    "kind", ["judge", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in KINDS if kind != "judge")]
)
def test_axe_finds_nothing_serious_in_a_task(kind, still, press, serve):
    study = serve(KINDS[kind], aspects=(Aspect("novelty", "says something new"),), **WAYS.get(kind, {}))
    at_task(still, study)
    assert violations(still) == []
    press("o", "1")
    assert violations(still) == []


@pytest.mark.thorough
def test_axe_finds_nothing_serious_in_what_opens_over_a_task(still, press, serve):
    study = serve(JUDGE)
    at_task(still, study)
    press("1", "Enter")
    study.wait_for(1, "answer")
    for key, name in (("?", "help"), ("x", "cant-tell"), ("u", "undo"), ("/", "lookup")):
        press(key)
        still.wait_for_selector(f"#{name}[open]")
        if name in ("undo", "lookup"):
            still.wait_for_selector(f"#{name} ol.past li:not(.soft)")
        assert (name, violations(still)) == (name, [])
        if name == "cant-tell":
            press("Enter")  # without a reason: what is missing is said
            still.wait_for_selector("#cant-hint:not(:empty)")
            assert violations(still) == []
        press("Escape")


@pytest.mark.thorough
def test_axe_finds_nothing_serious_in_the_practice_round(still, press, serve):
    practice = [
        {"query": "q1", "doc": f"q1-d{place}", "gold": 0.0, "note": "It is about something else."} for place in (5, 6)
    ]
    study = serve(JUDGE, practice=practice)
    still.goto(study.link())
    assert "practice round" in still.inner_text("main")
    assert violations(still) == []
    still.goto(f"{study.url}/judge")
    fresh = "() => document.querySelector('.answer') && !document.querySelector('.answer :checked')"
    for key, said in (("0", "right"), ("3", "wrong")):
        still.wait_for_function(fresh)
        assert violations(still) == []
        press(key, "Enter")
        still.wait_for_selector(f"#feedback.{said}[open]")
        assert (said, violations(still)) == (said, [])
        press("Enter")
    still.goto(f"{study.url}/done")
    assert still.inner_text("h1") == "Your work here has ended"
    assert violations(still) == []


@pytest.mark.thorough
def test_axe_finds_nothing_serious_on_the_way_in_and_at_the_end(still, serve):
    platform = Platform(prolific=True, mturk=True, completion_code="C0FFEE")
    rules = Rules(labels=3, apart=0)
    study = serve(JUDGE[:1], platform=platform, rules=rules, aspects=(Aspect("novelty", "says something new"),))
    ways = ["/welcome", "/signin", "/signin?wrong=1", "/signin?wait=30"]
    ways += [f"/message?about={about}" for about in ("link", "closed", "full")]
    for path in (*ways, "/enter?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h"):
        still.goto(study.url + path)
        assert (path, violations(still)) == (path, [])
    assert still.url.endswith("/preview")
    for _ in range(3):  # somebody for whom nothing is free yet, and who has said nothing
        next_task(study.store, add_judge(study.store)[0]["id"])
    still.goto(study.link("late"))
    still.goto(f"{study.url}/done")
    assert still.inner_text("h1") == "One moment"
    assert violations(still) == []
    for row in all_judges(study.store):
        set_state(study.store, row["id"], "paused")
    ends = ("PROLIFIC_PID=p", "workerId=w&assignmentId=a&hitId=h&turkSubmitTo=https://www.mturk.com")
    for parameters in ends:
        still.goto(f"{study.url}/enter?{parameters}")
        assert violations(still) == []
        judge = all_judges(study.store)[-1]  # without an answer there is no code
        task = next_task(study.store, judge["id"]).task
        answer(study.store, judge["id"], task["id"], Answer(label=1.0, aspects={"novelty": None}))
        still.goto(f"{study.url}/done")
        assert still.inner_text("#code") == "C0FFEE"
        assert (parameters, violations(still)) == (parameters, [])


def test_axe_finds_nothing_serious_on_the_dashboard(still, serve):
    drawn = [task | {"probability": 0.5} for task in JUDGE]
    study = serve(drawn, rules=Rules(labels=2), aspects=(Aspect("novelty"),), live=LiveFigure(lambda: LIVE))
    for name, grades in (("ann", (0, 1, 2, 3)), ("bob", (0, 2, 2, 0))):
        judge, _ = add_judge(study.store, name=name)
        for grade in grades:
            task = next_task(study.store, judge["id"]).task
            answer(study.store, judge["id"], task["id"], Answer(label=float(grade), aspects={"novelty": None}))
    still.goto(f"{study.url}/lead")
    still.get_by_label("Name").fill("lead")
    still.get_by_label("Password").fill("a long password")
    still.keyboard.press("Enter")
    still.wait_for_function("() => location.pathname === '/lead'")
    for look in LOOKS:  # its figures are drawn as wide as the window is when they are drawn
        still.set_viewport_size(SIZES[look.split()[1]])
        still.goto(f"{study.url}/lead")
        still.wait_for_selector("#judges tbody tr")
        still.wait_for_selector("#differ tbody tr")
        still.wait_for_selector("#live svg")
        still.click(".live-more summary")
        assert (look, seen(still, look)) == (look, [])


@pytest.mark.thorough
def test_axe_finds_nothing_serious_on_the_dashboard_of_lists_with_a_link_and_what_is_left(still, serve):
    study = serve([{"query": "q1", "left": "up", "right": "down"}], rules=Rules(judges_per_pair=3))
    for name in ("ann", "bob"):
        judge, _ = add_judge(study.store, name=name, source="prolific", external=f"5f{name}0123456789")
        task = next_task(study.store, judge["id"]).task
        answer(study.store, judge["id"], task["id"], Answer(choice="left", reason=f"{name} likes it", seconds=9.0))
    set_state(study.store, judge["id"], "paused", "a break")
    still.goto(f"{study.url}/lead")
    still.get_by_label("Name").fill("lead")
    still.get_by_label("Password").fill("a long password")
    still.keyboard.press("Enter")
    still.wait_for_selector("#pairs tbody tr")
    still.wait_for_selector("#left button")
    still.get_by_role("button", name="Make a link").click()
    still.wait_for_selector("[data-link]")
    assert violations(still) == []
