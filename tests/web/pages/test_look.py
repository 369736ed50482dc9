"""How the pages stand to people: small screens, platforms, strangers."""

from __future__ import annotations

import pytest

from karat.records.study_design import Platform

JUDGE = [{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)]
KINDS = {
    "judge": JUDGE,
    "context": [{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}],
    "pair": [{"query": "q1", "subtopic": "1", "left": "up", "right": "down"}],
    "code": [{"query": "q1", "kind": "code", "reason": "fewer adverts"}],
}
PHONE = {"width": 390, "height": 844}


#: Another document than this one is shown; while the next one is fetched, none is.
ANOTHER = "title => ![undefined, title].includes(document.querySelector('#document-title')?.textContent)"


def at_task(page, study):
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")


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


@pytest.mark.parametrize("kind", ["judge", "pair"])
def test_on_a_wide_screen_the_query_the_task_and_the_questions_begin_on_one_line(kind, page, serve):
    study = serve(KINDS[kind], strengths=1)
    page.set_viewport_size({"width": 1920, "height": 1080})
    at_task(page, study)
    parts = {
        "judge": ("#eyebrow", ".document"),
        "pair": ("#eyebrow", ".list", "[data-row=choice]", "[data-row=reasons]"),
    }
    left = [page.locator(part).first.bounding_box()["x"] for part in parts[kind]]
    assert max(left) - min(left) <= 1


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


def test_a_text_begins_at_the_side_where_its_language_does(page, serve):
    more = [
        {"doc": "x", "title": "كيف تصنع shoe حدوة 🐴", "snippet": "نص عن horse shoe قصير", "url": "https://example.org"}
    ]
    study = serve([{"query": "q1", "doc": "x"}], more=more)
    at_task(page, study)
    sides = """(selector) => {
        const box = document.querySelector(selector), first = document.createRange();
        const text = document.createTreeWalker(box, NodeFilter.SHOW_TEXT).nextNode();
        first.setStart(text, 0), first.setEnd(text, 1);
        const at = first.getBoundingClientRect(), whole = box.getBoundingClientRect();
        return [at.left - whole.left < 30, whole.right - at.right < 30];
    }"""
    assert page.evaluate(sides, "#document-title") == [False, True], "Arabic from the right"
    assert page.evaluate(sides, ".document .snippet") == [False, True]
    assert page.evaluate(sides, ".strip-query h1") == [True, False], "English from the left"


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
    page.wait_for_function("() => location.pathname === '/done'")
    assert page.inner_text("#code") == "C0FFEE"
    link = page.get_by_role("link", name="Return to Prolific").get_attribute("href")
    assert link == "https://app.prolific.com/submissions/complete?cc=C0FFEE"


def test_a_preview_shows_the_guidelines_and_no_way_to_begin(page, serve):
    study = serve(JUDGE[:1], platform=Platform(mturk=True))
    page.goto(f"{study.url}/enter?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert "preview" in page.inner_text("main")
    assert page.get_by_role("link", name="Begin").count() == 0


@pytest.mark.parametrize("platform", ["prolific", "mturk"])
def test_after_what_the_platform_pays_for_the_code_is_shown_and_going_on_is_possible(platform, page, press, serve):
    said = Platform(prolific=True, mturk=True, completion_code="C0FFEE", tasks=2)
    study = serve([{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)], platform=said)
    ways = {
        "prolific": "PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=t",
        "mturk": "assignmentId=a1&hitId=h&workerId=w&turkSubmitTo=https://www.mturk.com",
    }
    page.goto(f"{study.url}/enter?{ways[platform]}")
    page.get_by_role("link", name="Begin").click()
    page.wait_for_selector(".answer")
    page.wait_for_function("() => document.querySelector('#meter-text').textContent === '0 of 2 done'")
    assert page.locator("#code-link").is_hidden()
    first = page.inner_text("#document-title")
    press("1", "Enter")
    page.wait_for_function(ANOTHER, arg=first)
    press("2", "Enter")
    page.wait_for_function("() => location.pathname === '/done'")
    assert page.inner_text("h1") == "Thank you, that is enough"
    assert page.inner_text("#code") == "C0FFEE"
    if platform == "prolific":
        link = page.get_by_role("link", name="Return to Prolific").get_attribute("href")
        assert link == "https://app.prolific.com/submissions/complete?cc=C0FFEE"
    else:
        assert page.locator("form").get_attribute("action") == "https://www.mturk.com/mturk/externalSubmit"
        assert page.get_by_role("button", name="Hand in at Mechanical Turk").is_visible()
    page.get_by_role("link", name="Go on judging").click()
    page.wait_for_selector(".answer")
    page.wait_for_function("() => document.querySelector('#meter-text').textContent === '2 done, 2 open'")
    third = page.inner_text("#document-title")
    press("1", "Enter")
    page.wait_for_function(ANOTHER, arg=third)
    page.get_by_role("link", name="Your code").click()
    page.wait_for_function("() => location.pathname === '/done'")
    page.get_by_role("link", name="Go on judging").click()
    page.wait_for_selector(".answer")
    press("1", "Enter")
    page.wait_for_function("() => location.pathname === '/done'")
    assert page.inner_text("h1") == "Thank you, that was all"
    assert page.inner_text("#code") == "C0FFEE"
