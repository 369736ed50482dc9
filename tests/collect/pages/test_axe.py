"""What assistive technology meets: axe-core finds nothing serious on any page, light or dark, wide or on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.records.design import Aspect, Platform, Rules
from karat.store import Answer, answer, next_task
from karat.store.people import add_judge

JUDGE = [{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)]
KINDS = {
    "judge": JUDGE,
    "context": [{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}],
    "pair": [{"query": "q1", "subtopic": "1", "left": "up", "right": "down"}],
    "code": [{"query": "q1", "kind": "code", "reason": "fewer adverts"}],
}
SIZES = {"wide": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
LOOKS = [f"{scheme} {size}" for scheme in ("light", "dark") for size in SIZES]


def violations(page):
    """What axe-core finds serious or critical, WCAG A and AA."""
    axe = pytest.importorskip("axe_playwright_python", reason="no axe-core: pip install axe-playwright-python")
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("rules => axe.run(document, {runOnly: rules, iframes: false})", rules)
    assert found["passes"], "axe-core looked at something"
    return [
        f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@pytest.fixture(params=LOOKS)
def looked_at(request, page):
    """The page in each look."""
    scheme, size = request.param.split()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size(SIZES[size])
    return page


def at_task(page, study):
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious_in_a_task(kind, looked_at, press, serve):
    study = serve(KINDS[kind], aspects=(Aspect("novelty", "says something new"),))
    at_task(looked_at, study)
    assert violations(looked_at) == []
    press("o", "1")
    assert violations(looked_at) == []


def test_axe_finds_nothing_serious_in_what_opens_over_a_task(looked_at, press, serve):
    study = serve(JUDGE)
    at_task(looked_at, study)
    press("1", "Enter")
    study.wait_for(1, "answer")
    for key, name in (("?", "help"), ("x", "cant-tell"), ("u", "undo"), ("/", "lookup")):
        press(key)
        looked_at.wait_for_selector(f"#{name}[open]")
        if name in ("undo", "lookup"):
            looked_at.wait_for_selector(f"#{name} ol.past li:not(.soft)")
        assert (name, violations(looked_at)) == (name, [])
        if name == "cant-tell":
            press("Enter")  # without a reason: what is missing is said
            looked_at.wait_for_selector("#cant-hint:not(:empty)")
            assert violations(looked_at) == []
        press("Escape")


def test_axe_finds_nothing_serious_in_the_practice_round(looked_at, press, serve):
    practice = [
        {"query": "q1", "doc": f"q1-d{place}", "gold": 0.0, "note": "It is about something else."} for place in (5, 6)
    ]
    study = serve(JUDGE, practice=practice)
    looked_at.goto(study.link())
    assert "practice round" in looked_at.inner_text("main")
    assert violations(looked_at) == []
    looked_at.goto(f"{study.url}/judge")
    fresh = "() => document.querySelector('.answer') && !document.querySelector('.answer :checked')"
    for key, said in (("0", "right"), ("3", "wrong")):
        looked_at.wait_for_function(fresh)
        assert violations(looked_at) == []
        press(key, "Enter")
        looked_at.wait_for_selector(f"#feedback.{said}[open]")
        assert (said, violations(looked_at)) == (said, [])
        press("Enter")
    looked_at.goto(f"{study.url}/done")
    assert looked_at.inner_text("h1") == "Your work here has ended"
    assert violations(looked_at) == []


def test_axe_finds_nothing_serious_on_the_way_in_and_at_the_end(looked_at, serve):
    platform = Platform(prolific=True, mturk=True, completion_code="C0FFEE")
    study = serve(JUDGE[:1], platform=platform, aspects=(Aspect("novelty", "says something new"),))
    ways = ("/welcome", "/message?about=link", "/message?about=closed", "/signin", "/signin?wrong=1", "/signin?wait=30")
    for path in (*ways, "/enter?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h"):
        looked_at.goto(study.url + path)
        assert (path, violations(looked_at)) == (path, [])
    assert looked_at.url.endswith("/preview")
    judge, _ = add_judge(study.store)
    task = next_task(study.store, judge["id"]).task
    answer(study.store, judge["id"], task["id"], Answer(label=1.0, aspects={"novelty": None}))
    ends = ("PROLIFIC_PID=p", "workerId=w&assignmentId=a&hitId=h&turkSubmitTo=https://www.mturk.com")
    for parameters in ends:
        looked_at.goto(f"{study.url}/enter?{parameters}")
        assert violations(looked_at) == []
        looked_at.goto(f"{study.url}/done")
        assert looked_at.inner_text("#code") == "C0FFEE"
        assert (parameters, violations(looked_at)) == (parameters, [])


def test_axe_finds_nothing_serious_on_the_dashboard(looked_at, serve):
    study = serve(JUDGE, rules=Rules(labels=2), aspects=(Aspect("novelty"),))
    for name, grades in (("ann", (0, 1, 2, 3)), ("bob", (0, 2, 2, 0))):
        judge, _ = add_judge(study.store, name=name)
        for grade in grades:
            task = next_task(study.store, judge["id"]).task
            answer(study.store, judge["id"], task["id"], Answer(label=float(grade), aspects={"novelty": None}))
    looked_at.goto(f"{study.url}/lead")
    looked_at.get_by_label("Name").fill("lead")
    looked_at.get_by_label("Password").fill("a long password")
    looked_at.keyboard.press("Enter")
    looked_at.wait_for_selector("#judges tbody tr")
    looked_at.wait_for_selector("#differ tbody tr")
    assert violations(looked_at) == []
