"""Ways of asking that papers use, done by keyboard only: N/A of the whole, snippet then page, statements, own words."""

from __future__ import annotations

import pytest

from karat.records import Scale
from karat.records.study_design import Aspect, SnippetFirst

JUDGE = [{"query": "q1", "doc": "q1-d1"}]
PAPERS = tuple(
    Aspect(name, f"how {name} it is") for name in ("topicality", "novelty", "freshness", "authority", "quality")
)


def at_task(page, study):
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")


def test_not_applicable_is_said_of_the_whole_by_n(page, press, serve):
    question = "How good is it, given what you read?"
    study = serve(JUDGE, aspects=(Aspect("novelty"),), not_applicable=True, question=question)
    at_task(page, study)
    assert question in page.inner_text(".answer")
    press("n", "2", "Enter")
    (said,) = study.wait_for(1, "answer")
    assert (said["label"], said["more"]["aspects"]) == (None, {"novelty": 2.0})


def test_the_snippet_is_graded_before_the_page_is_shown(page, press, serve):
    first = SnippetFirst(Scale.parse("0=would not open, 1=would open"), "Would you open it?")
    study = serve(JUDGE, snippet=first)
    at_task(page, study)
    assert page.locator("[data-row=label]").is_hidden()
    assert not page.locator(".page-frame").count()
    press("o")
    assert not page.locator(".page-frame").count(), "not before the snippet is graded"
    press("1")
    page.wait_for_selector(".page-frame")
    press("3", "Enter")
    (said,) = study.wait_for(1, "answer")
    assert (said["label"], said["more"]["snippet"], said["surface"]) == (3.0, 1.0, "page")


def test_two_documents_are_read_in_order_before_the_third_is_judged(page, press, serve):
    asked = "After these two, how good is it?"
    study = serve([{"query": "q1", "doc": "q1-d2", "context": ["q1-d0", "q1-d1"]}], question_in_context=asked)
    at_task(page, study)
    assert asked in page.inner_text(".answer")
    press("3")
    assert page.locator(".waits").count() == 1
    press("o")
    assert page.locator(".waits").count() == 1, "one of two is read"
    press("o")
    page.wait_for_selector(".document:not(.pinned):not(.waits)")
    press("3", "Enter")
    (said,) = study.wait_for(1, "answer")
    assert said["label"] == 3.0


@pytest.mark.parametrize(("kind", "column"), [("support", "sentence"), ("nugget", "nugget")])
def test_a_statement_is_held_against_the_text_beside_it(kind, column, page, press, serve):
    study = serve([{"query": "q1", "doc": "q1-d1", column: "A farrier has a hoof knife."}])
    at_task(page, study)
    assert "A farrier has a hoof knife." in page.inner_text("main")
    page.wait_for_selector(".page-frame")
    press("2", "Enter")
    (said,) = study.wait_for(1, "answer")
    assert said["choice"] == "partial"


def test_without_suggestions_the_reason_is_written(page, press, serve):
    study = serve([{"query": "q1", "left": "up", "right": "down"}], reasons=(), strengths=1)
    at_task(page, study)
    assert not page.locator("[data-row=reasons]").count()
    press("ArrowLeft", "Enter")
    page.keyboard.type("fewer adverts")
    press("Control+Enter")
    (said,) = study.wait_for(1, "answer")
    assert (said["choice"], said["reason"]) == ("left", "fewer adverts")


@pytest.mark.parametrize("size", [(1280, 720), pytest.param((1440, 900), marks=pytest.mark.thorough), (1920, 1080)])
def test_the_last_aspect_is_never_under_the_send_bar(size, page, press, serve):
    """S4's six rows of six choices each: all that can be reached by scrolling or keys stands above the bar."""
    study = serve(JUDGE, aspects=PAPERS, not_applicable=True)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    at_task(page, study)
    press("3", "3", "3", "3", "3")
    last = page.locator(".answer fieldset").last.bounding_box()
    bar = page.locator(".send-box").bounding_box()
    assert last["y"] + last["height"] <= bar["y"] + 1
    assert bar["y"] + bar["height"] <= size[1], "the bar is on the screen"
    press("n", "Enter")
    study.wait_for(1, "answer")
