"""How the pages stand to people: assistive technology, small screens, dark rooms, strangers."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.records.study import Aspect, Platform, Rules
from karat.store import Answer, answer, next_task
from karat.store.people import add_judge

JUDGE = [{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)]
KINDS = {
    "judge": JUDGE,
    "context": [{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}],
    "pair": [{"query": "q1", "subtopic": "1", "left": "up", "right": "down"}],
    "code": [{"query": "q1", "kind": "code", "reason": "fewer adverts"}],
}
PHONE = {"width": 390, "height": 844}


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


def at_task(page, study):
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious_in_a_task(kind, scheme, page, press, serve):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    study = serve(KINDS[kind], aspects=(Aspect("novelty", "says something new"),))
    at_task(page, study)
    assert violations(page) == []
    press("o", "1")
    assert violations(page) == []


def test_axe_finds_nothing_serious_in_what_opens_over_a_task(page, press, serve):
    page.emulate_media(reduced_motion="reduce")
    study = serve(JUDGE)
    at_task(page, study)
    press("1", "Enter")
    study.wait_for(1, "answer")
    for key, name in (("?", "help"), ("x", "cant-tell"), ("u", "undo"), ("/", "lookup")):
        press(key)
        page.wait_for_selector(f"#{name}[open]")
        assert violations(page) == []
        press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_other_pages(scheme, page, serve):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    study = serve(JUDGE, rules=Rules(labels=2), aspects=(Aspect("novelty"),))
    for name, grades in (("ann", (0, 1, 2, 3)), ("bob", (0, 2, 2, 0))):
        judge, _ = add_judge(study.store, name=name)
        for grade in grades:
            task = next_task(study.store, judge["id"]).task
            answer(study.store, judge["id"], task["id"], Answer(label=float(grade), aspects={"novelty": None}))
    for path in ("/welcome", "/message?about=link", "/signin"):
        page.goto(study.url + path)
        assert violations(page) == []
    page.goto(study.link("zoe"))
    assert violations(page) == []
    page.goto(f"{study.url}/lead")
    page.get_by_label("Name").fill("lead")
    page.get_by_label("Password").fill("a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector("#judges tbody tr")
    page.wait_for_selector("#differ tbody tr")
    assert violations(page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_is_done_on_a_phone_by_touch_without_scrolling_sideways(kind, chromium, serve):
    study = serve(KINDS[kind])
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    context.set_default_timeout(20_000)
    page = context.new_page()
    at_task(page, study)
    wide = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    if kind == "context":
        page.get_by_role("button", name="Open what you have read").tap()
    for choice in {"pair": ("Left is better", "clearly", "better order"), "code": ("number",)}.get(kind, ("good",)):
        box = page.locator(".choice", has_text=choice).first
        box.tap()
        assert box.bounding_box()["height"] >= 44, "a finger hits it"
    page.get_by_role("button", name="Send").tap()
    study.wait_for(1, "answer")
    context.close()


def test_long_words_and_addresses_stay_inside_their_lists_on_a_phone(chromium, serve):
    long = "donaudampfschifffahrtsgesellschaft" * 6
    more = [{"doc": f"x{n}", "title": long, "snippet": long, "url": f"https://example.org/{long}"} for n in range(2)]
    pair = {"query": "q1", "left": "up", "right": "down", "left_docs": '["x0"]', "right_docs": '["x1"]'}
    study = serve([pair], more=more)
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    at_task(page, study)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    spill = """() => [...document.querySelectorAll(".list")].flatMap((list) => [...list.querySelectorAll(".result *")]
        .filter((part) => part.getBoundingClientRect().right > list.getBoundingClientRect().right + 0.5)).length"""
    assert page.evaluate(spill) == 0
    context.close()


def test_a_stranger_is_told_how_judges_come_in(page, serve):
    study = serve(JUDGE)
    page.goto(f"{study.url}/judge")
    assert "personal link" in page.inner_text("main")
    page.goto(f"{study.url}/join/nonsense")
    assert page.inner_text("h1") == "No such link"


def test_a_platforms_judge_gets_the_completion_code_at_the_end(page, press, serve):
    study = serve(JUDGE[:1], platform=Platform(prolific=True, completion_code="C0FFEE"))
    page.goto(f"{study.url}/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=t")
    page.get_by_role("link", name="Begin").click()
    page.wait_for_selector(".answer")
    press("1", "Enter")
    page.wait_for_url("**/done")
    assert page.inner_text("#code") == "C0FFEE"
    link = page.get_by_role("link", name="Return to Prolific").get_attribute("href")
    assert link == "https://app.prolific.com/submissions/complete?cc=C0FFEE"


def test_a_preview_shows_the_guidelines_and_no_way_to_begin(page, serve):
    study = serve(JUDGE[:1], platform=Platform(mturk=True))
    page.goto(f"{study.url}/enter?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert "preview" in page.inner_text("main")
    assert page.get_by_role("link", name="Begin").count() == 0
