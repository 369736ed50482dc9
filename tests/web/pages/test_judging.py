"""Judging documents in a real browser, by keyboard alone: nothing said is lost, whatever happens to the page."""

from __future__ import annotations

from karat.records.study_design import Aspect, Rules

FOUR = [{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)]


def at_task(page, url):
    page.goto(url)
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Begin").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer")


def title(page):
    return page.inner_text("#document-title")


def moved_on(page, before):
    """Another document than this one is shown."""
    page.wait_for_function("title => document.querySelector('#document-title')?.textContent !== title", arg=before)
    page.wait_for_selector("#document-title")


def fresh(page):
    """A document is shown of which nothing has been said yet."""
    page.wait_for_function("() => document.querySelector('.answer') && !document.querySelector('.answer :checked')")


def back_at(page, wanted):
    """This document is shown."""
    page.wait_for_function("title => document.querySelector('#document-title')?.textContent === title", arg=wanted)


def test_a_document_is_judged_by_a_digit_and_enter_and_the_next_one_is_there(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    seen = [title(page)]
    press("2", "Enter")
    moved_on(page, seen[0])
    press("ArrowDown", "ArrowDown", "c")
    page.keyboard.type("a fair page, 3 stars")
    press("Escape", "Enter")
    said = study.wait_for(2, "answer")
    assert [row["label"] for row in said] == [2.0, 1.0]
    assert said[1]["comment"] == "a fair page, 3 stars"
    assert said[0]["surface"] == "snippet"
    assert 0 <= said[0]["seconds"] < 10
    assert said[0]["away"] < 10


def test_the_end_is_thanks_and_every_document_has_its_label(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    for number in range(4):
        press("3", "Enter")
        study.wait_for(number + 1, "answer")
        if number < 3:
            fresh(page)
    page.wait_for_function("() => location.pathname === '/done'")
    assert "4 answers" in page.inner_text("main")
    assert len({row["task_id"] for row in study.events("answer")}) == 4


def test_the_page_is_shown_on_request_and_that_is_logged(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    assert page.locator("iframe").count() == 0
    press("o")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").first.inner_text() == title(page)
    press("1", "Enter")
    assert study.wait_for(1, "opened")[0]["more"]["what"] == "page"
    assert study.wait_for(1, "answer")[0]["surface"] == "page"


def test_enter_without_a_grade_says_what_is_missing_and_sends_nothing(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    press("Enter")
    assert page.inner_text("#hint") == "Choose a grade."
    assert not study.events("answer")


def test_aspects_are_graded_row_by_row_and_may_not_apply(page, press, serve):
    study = serve(FOUR, aspects=(Aspect("novelty", "says something new"), Aspect("authority")))
    at_task(page, study.link())
    press("2", "n", "Enter")
    assert "every row" in page.inner_text("#hint")
    press("3", "ArrowUp", "ArrowUp", "ArrowLeft", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["label"], said["more"]["aspects"]) == (1.0, {"novelty": None, "authority": 3.0})


def test_undo_shows_the_last_answers_and_gives_one_again(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    first = title(page)
    for number, key in enumerate("03"):
        press(key, "Enter")
        study.wait_for(number + 1, "answer")
        fresh(page)
    third = title(page)
    press("u")
    page.wait_for_selector("#past button")
    assert [text.split("\n")[-1] for text in page.locator("#past button").all_inner_texts()] == ["perfect", "bad"]
    press("2")
    back_at(page, first)
    assert page.input_value(":checked") == "0"
    press("1", "Enter")
    study.wait_for(3, "answer")
    assert len(study.wait_for(1, "undo")) == 1
    back_at(page, third)


def test_cant_tell_needs_a_reason_and_later_puts_the_task_back(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    first = title(page)
    press("x", "Enter")
    assert page.inner_text("#cant-hint") == "Choose a reason or write one."
    press("2", "Enter")
    assert study.wait_for(1, "cant_tell")[0]["reason"] == "not a language I read"
    moved_on(page, first)
    second = title(page)
    press("l")
    study.wait_for(1, "later")
    moved_on(page, second)
    for _ in range(2):
        now = title(page)
        press("1", "Enter")
        moved_on(page, now)
    assert title(page) == second, "what was put off comes last"


def test_help_and_look_up_open_by_key_and_close_by_escape(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    press("?")
    assert page.locator("#help").is_visible()
    press("Escape", "/")
    page.wait_for_function("() => document.querySelectorAll('#lookup-list li').length > 5")
    page.keyboard.type("winter")
    page.wait_for_function("() => document.querySelectorAll('#lookup-list li').length < 5")
    press("Escape", "2", "Enter")
    study.wait_for(1, "answer")
    assert study.events("opened")[0]["more"]["what"] == "lookup"


def test_the_words_of_the_query_are_marked_in_any_form(page, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    marks = {text.lower() for text in page.locator(".document mark").all_inner_texts()}
    assert {"horse", "horses", "shoes"} <= marks
    assert not marks & {"a", "how", "to", "the", "walls"}


def test_a_context_must_be_opened_before_the_document_can_be_judged(page, press, serve):
    study = serve([{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}])
    at_task(page, study.link())
    press("2", "Enter")
    assert "first" in page.inner_text("#hint")
    assert not study.events("answer")
    press("o")
    page.frame_locator("iframe").locator("h1").first.wait_for()
    press("2", "Enter")
    assert study.wait_for(1, "answer")[0]["label"] == 2.0
    assert study.events("opened")[0]["more"]["what"] == "context"


def test_practice_tells_what_was_expected_and_why(page, press, serve):
    items = [
        {"query": "q1", "doc": "q1-d0", "gold": 3, "note": "It answers the whole question."},
        {"query": "q1", "doc": "q1-d2", "gold": 0, "note": "A show is no shoe."},
    ]
    study = serve(FOUR, practice=items, rules=Rules(practice_pass=0.5))
    at_task(page, study.link())
    assert "PRACTICE" in page.inner_text("#eyebrow").upper()
    assert page.locator(".send-box button").count() == 1, "nobody is offered what would be refused"
    right = {"Shoeing a horse, step by step": "3", "Horse shows this summer": "0"}
    press(right[title(page)], "Enter")
    page.wait_for_selector("#feedback[open]")
    assert page.inner_text("#feedback-title").startswith("Yes")
    press("Enter")
    fresh(page)
    press("1", "Enter")
    page.wait_for_selector("#feedback[open].wrong")
    assert page.inner_text("#feedback-title") in ("We expected: perfect", "We expected: bad")
    assert "Practice is over: 1 of 2 as expected." in page.inner_text("#feedback-score")
    assert page.inner_text("#feedback-text") in ("It answers the whole question.", "A show is no shoe.")
    press("Enter")
    page.wait_for_function("() => document.querySelector('#eyebrow').textContent === 'Query'")
    assert page.locator(".send-box button").count() == 3
    assert not study.events("answer")


def test_a_reload_keeps_the_task_and_what_was_half_said(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    before = title(page)
    press("1", "c")
    page.keyboard.type("half a thought")
    page.reload()
    page.wait_for_selector(".answer")
    assert title(page) == before
    assert page.input_value(":checked") == "1"
    assert page.input_value(".answer textarea") == "half a thought"
    press("Enter")
    assert study.wait_for(1, "answer")[0]["comment"] == "half a thought"


def test_after_a_reload_digits_go_to_the_first_row_that_lacks_an_answer(page, press, serve):
    study = serve(FOUR, aspects=(Aspect("novelty"), Aspect("authority")))
    at_task(page, study.link())
    press("3")
    page.reload()
    page.wait_for_selector(".answer :checked")
    assert page.locator(".at-hand").get_attribute("data-row") == "novelty"
    press("1", "2", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert (said["label"], said["more"]["aspects"]) == (3.0, {"novelty": 1.0, "authority": 2.0})


def test_undo_tells_a_document_alone_from_the_same_after_another(page, press, serve):
    alone = {"query": "q1", "doc": "q1-d1"}
    study = serve([alone, alone | {"context": "q1-d0"}], rules=Rules(labels=1, hours_apart=0))
    at_task(page, study.link())
    for number in range(2):
        if page.locator("#context-title").count():
            press("o")
        press("2", "Enter")
        study.wait_for(number + 1, "answer")
        if not number:
            fresh(page)
    page.wait_for_function("() => location.pathname === '/done'")
    listed = page.evaluate("fetch('/api/answers').then(said => said.json())")["answers"]
    assert sorted(answer["context"] for answer in listed) == ["", "Shoeing a horse, step by step"]


def test_enter_begins_and_the_question_mark_shows_the_keys_that_there_are(page, press, serve):
    study = serve(FOUR, aspects=(Aspect("novelty"),))
    page.goto(study.link())
    press("?")
    page.wait_for_selector("#help[open]")
    keys = page.locator("#help dt").all_inner_texts()
    assert keys[0].split() == ["0", "1", "2", "3"], "the keys of the grades"
    press("Enter")
    assert page.url.endswith("/welcome"), "Enter does not begin while the help is open"
    page.wait_for_selector("#help", state="hidden")
    press("Enter")
    page.wait_for_selector(".answer")
    press("?")
    page.wait_for_selector("#help[open]")
    assert page.locator("#help dt").all_inner_texts()[0].split() == ["0", "1", "2", "3"]


def test_a_dialog_that_closes_takes_no_further_key(page, press, serve):
    # Asked in the same moment: a frame later the browser takes the focus from what is hidden anyway.
    closed = "() => { document.querySelector('dialog[open]').close(); return document.activeElement.id; }"
    study = serve(FOUR)
    page.goto(study.link())
    press("?")
    page.wait_for_selector("#help[open]")
    assert page.evaluate(closed) == "heading"
    press("?")
    page.wait_for_selector("#help[open]")
    press("Escape", "Enter")
    page.wait_for_selector(".answer")
    for key, opened in (("?", "#help"), ("x", "#cant-tell"), ("/", "#lookup"), ("u", "#undo")):
        page.evaluate("document.activeElement.blur()")  # as after a click beside everything
        press(key)
        page.wait_for_selector(f"{opened}[open]")
        assert page.evaluate(closed) == "query"
    press("?", "Escape", "2", "Enter")
    assert study.wait_for(1, "answer")[0]["label"] == 2.0


def test_answers_given_without_a_connection_arrive_once_it_is_back(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    first = title(page)
    page.wait_for_timeout(300)  # the next task has been fetched ahead
    page.context.set_offline(True)
    press("2", "Enter")
    moved_on(page, first)
    page.wait_for_selector("#banner:not([hidden])")
    assert "kept in this browser" in page.inner_text("#banner")
    assert "go on judging" in page.inner_text("#banner")
    press("3", "Enter")
    page.wait_for_function("() => document.querySelector('#banner').textContent.includes('the next task comes then')")
    assert "go on judging" not in page.inner_text("#banner")
    assert not study.events("answer")
    page.context.set_offline(False)
    assert [row["label"] for row in study.wait_for(2, "answer")] == [2.0, 3.0]
    page.wait_for_selector(".answer")
    page.wait_for_selector("#banner", state="hidden")


def test_an_answer_that_a_reload_interrupted_is_sent_again_and_counts_once(page, press, serve):
    study = serve(FOUR)
    at_task(page, study.link())
    page.wait_for_timeout(300)
    # The server takes the answer, but its reply never arrives.
    page.route("**/answer", lambda route: (route.fetch(), route.abort()))
    press("2", "Enter")
    page.wait_for_selector("#banner:not([hidden])")
    assert len(study.events("answer")) == 1
    page.unroute("**/answer")
    with page.expect_response("**/answer") as again:
        page.reload()
    assert again.value.ok
    page.wait_for_selector(".answer")
    assert len(study.events("answer")) == 1


def test_an_answer_that_the_server_keeps_failing_on_is_set_aside_and_told_and_the_next_ones_are_sent(
    page, press, serve
):
    study = serve(FOUR)
    at_task(page, study.link())
    first = title(page)
    page.wait_for_timeout(300)  # the next task has been fetched ahead
    page.route("**/answer", lambda route: route.fulfill(status=500, json={"detail": "no"}), times=5)
    press("2", "Enter")
    moved_on(page, first)
    for _ in range(4):
        with page.expect_response("**/answer"):
            page.evaluate("dispatchEvent(new Event('online'))")  # so as not to wait for the next try
    page.wait_for_function(
        "() => document.querySelector('#banner').textContent.startsWith('Not taken: the server fails')"
    )
    assert not study.events("answer")
    press("3", "Enter")
    assert [row["label"] for row in study.wait_for(1, "answer")] == [3.0]
    assert page.inner_text("#banner").startswith("Not taken"), "long enough to be read"


def test_time_away_is_kept_apart_from_time_at_work(page, press, serve):
    study = serve(FOUR)
    page.clock.install()
    at_task(page, study.link())
    page.clock.run_for(5_000)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.clock.run_for(40_000)
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    press("2", "Enter")
    said = study.wait_for(1, "answer")[0]
    assert 4 <= said["seconds"] <= 8
    assert 38 <= said["away"] <= 43


def test_two_judges_never_see_each_others_answers(page, press, serve, chromium):
    study = serve(FOUR, rules=Rules(labels=2))
    at_task(page, study.link("ann"))
    press("3", "c")
    page.keyboard.type("ann was here")
    press("Escape", "Enter")
    study.wait_for(1, "answer")
    other = chromium.new_context().new_page()
    at_task(other, study.link("bob"))
    for _ in range(3):
        assert "ann was here" not in other.content()
        now = title(other)
        other.keyboard.press("2")
        other.keyboard.press("Enter")
        moved_on(other, now)
    other.context.close()
