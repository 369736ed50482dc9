"""Two lists side by side, traps, and the coding of reasons, in a real browser by keyboard alone."""

from __future__ import annotations

from sqlalchemy import select

from karat.records.study_design import Rules
from karat.study.tables import judges, tasks

PAIR = {"query": "q1", "subtopic": "1", "left": "up", "right": "down"}
TRAP = {
    "query": "q1",
    "subtopic": "1",
    "left": "up",
    "right": "down",
    "right_query": "q2",
    "trap": True,
    "expected": "left",
}


def at_task(page, url):
    page.goto(url)
    page.get_by_role("link", name="Begin").press("Enter")
    page.wait_for_selector(".answer")


def test_two_lists_are_compared_by_arrows_with_a_strength_and_a_reason(page, press, serve):
    study = serve([PAIR])
    at_task(page, study.link())
    assert "Which tools does a farrier use?" in page.inner_text("#need")
    assert page.locator(".list").count() == 2
    assert page.locator(".list").first.locator(".result").count() == 10
    assert not {"up", "down"} & set(page.inner_text("main").split()), "which system is which is not shown"
    press("ArrowLeft", "ArrowLeft", "Enter")
    assert "Say why" in page.inner_text("#hint")
    press("2", "c")
    page.keyboard.type("the tools come first")
    press("Escape", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["choice"], said["strength"]) == ("left", 2.0)
    assert said["reason"] == "the tools come first"
    assert said["more"]["chips"] == ["better order"]
    assert {said["a"], said["b"]} == {"up", "down"}


def test_after_an_arrow_digits_belong_to_the_next_row_and_never_change_the_side(page, press, serve):
    study = serve([PAIR, PAIR | {"query": "q2"}])
    at_task(page, study.link())
    press("ArrowRight")
    assert page.locator(".at-hand").get_attribute("data-row") == "strength"
    press("2")
    assert page.locator(".at-hand").get_attribute("data-row") == "reasons"
    press("1", "3", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["choice"], said["strength"]) == ("right", 2.0)
    assert said["more"]["chips"] == ["more relevant", "more variety"]
    page.wait_for_function("() => document.querySelector('.answer') && !document.querySelector('.answer :checked')")
    press("ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowDown", "1", "ArrowRight", "Enter")
    said = study.wait_for(2, "answer")[1]
    assert (said["choice"], said["strength"], said["more"]["chips"]) == ("left", 2.0, ["more relevant"])


def test_without_steps_an_arrow_leads_to_the_reasons(page, press, serve):
    study = serve([PAIR], strengths=1)
    at_task(page, study.link())
    press("ArrowLeft", "2", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["choice"], said["strength"], said["more"]["chips"]) == ("left", None, ["better order"])


def test_an_answer_taken_back_comes_with_all_that_was_said(page, press, serve):
    study = serve([PAIR, PAIR | {"query": "q2"}])
    at_task(page, study.link())
    press("3", "2", "1", "c")
    page.keyboard.type("first words")
    press("Escape", "Enter")
    study.wait_for(1, "answer")
    page.wait_for_function("() => document.querySelector('.answer') && !document.querySelector('.answer :checked')")
    press("u")
    page.wait_for_selector("#past button")
    press("u")
    page.wait_for_selector(".answer :checked")
    values = [page.locator(".answer :checked").nth(place).input_value() for place in range(3)]
    assert values == ["right", "2", "more relevant"]
    assert page.input_value(".answer textarea") == "first words"


def test_the_stored_sides_are_those_that_were_shown(page, press, serve):
    study = serve([PAIR])
    at_task(page, study.link())
    first = page.locator(".list").first.locator("h3").first.inner_text()
    press("3", "1", "1", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert said["choice"] == "right"
    assert said["a"] == ("up" if first == "Shoeing a horse, step by step" else "down")


def test_none_relevant_and_equal_ask_for_no_strength(page, press, serve):
    study = serve([PAIR])
    at_task(page, study.link())
    press("4")
    assert not page.get_by_text("How much?").is_visible()
    press("5", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["choice"], said["strength"], said["more"]["chips"]) == ("none", None, ["clearer snippets"])


def test_a_failed_trap_ends_the_judges_work_and_opens_the_slots_again(page, press, serve):
    pairs = [PAIR | {"subtopic": str(n), "query": query} for n in (1, 2, 3) for query in ("q1", "q2")]
    study = serve([*pairs, TRAP], rules=Rules(labels=1, judges_per_pair=1, block=5, invited_failing="reject"))
    at_task(page, study.link())
    answers = 0
    for _ in range(5):
        sides = [page.locator(".list").nth(side).locator(".address").first.inner_text() for side in (0, 1)]
        other = [side for side, url in zip("13", sides, strict=True) if "/q2/" in url and "/q1/" in "".join(sides)]
        press(other[0] if other else "2")
        press(*(("1", "1") if other else ("1",)), "Enter")
        answers += 1
        study.wait_for(answers, "answer")
        if other:
            break
        page.wait_for_function("() => document.querySelector('.answer') && !document.querySelector('.answer :checked')")
    page.wait_for_selector("text=answers of yours were not accepted: a control question was answered wrongly")
    assert page.locator(".answer").count() == 0
    assert len(study.events("reject")) == answers, "every answer is taken back by a row of its own"
    assert len(study.events("answer")) == answers, "and stays in the log"
    with study.store.database.read() as connection:
        assert connection.execute(select(judges.c.state)).scalar_one() == "rejected"
        filled = connection.execute(select(tasks.c.filled, tasks.c.held).where(~tasks.c.trap)).all()
    assert {tuple(row) for row in filled} == {(0, 0)}
    page.reload()
    page.wait_for_selector("text=answers of yours were not accepted: a control question was answered wrongly")


def test_a_reason_is_put_into_classes_by_their_keys(page, press, serve):
    study = serve([{"query": "q1", "kind": "code", "reason": "Left has the tools and no adverts <b>at all</b>."}])
    at_task(page, study.link())
    assert page.inner_text("blockquote") == "Left has the tools and no adverts <b>at all</b>."
    press("Enter")
    assert page.inner_text("#hint") == "Choose at least one class."
    press("2", "q", "1", "1", "Enter")
    assert study.wait_for(1, "answer")[0]["more"]["classes"] == ["specific links", "spam/adverts"]
