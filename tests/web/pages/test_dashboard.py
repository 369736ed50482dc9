"""The lead's dashboard in a real browser: signs in, sees figures move, pauses and invites judges."""

from __future__ import annotations

import re

import numpy as np
import pytest

from karat.records.study_design import Rules
from karat.study.answers import answer, cant_tell, opened, reject
from karat.study.event_log import Answer
from karat.study.people import add_judge, judge_named
from karat.study.queue import next_task
from karat.study.store import transaction
from karat.web.background import LiveFigure
from live_example import LIVE

TASKS = [{"query": f"x{query}", "doc": f"q1-d{place}"} for query in range(6) for place in range(4)]


def judged(study, judge_id, grades):
    """A judge answers some tasks."""
    for grade in grades:
        task = next_task(study.store, judge_id).task
        answer(study.store, judge_id, task["id"], Answer(label=float(grade), seconds=20.0))


def sign_in(page, study, password="a long password"):
    page.clock.install()
    page.goto(f"{study.url}/lead")
    page.get_by_label("Name").focus()
    page.keyboard.type("lead")
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")


def figures_come_anew(page):
    """The seconds pass after which the page asks again, and it has asked."""
    with page.expect_response("**/api/judges"):
        page.clock.fast_forward("00:05")


@pytest.fixture
def study(serve):
    study = serve(TASKS, rules=Rules(labels=2))
    rng = np.random.default_rng(0)
    for name in ("ann", "bob"):
        judge, _ = add_judge(study.store, name=name)
        judged(study, judge["id"], rng.integers(0, 4, 24))
    return study


def test_the_lead_sees_the_verdict_so_far_as_a_sentence_a_picture_and_numbers(page, serve):
    drawn = [task | {"probability": 0.5} for task in TASKS]
    study = serve(drawn, live=LiveFigure(lambda: LIVE))
    sign_in(page, study)
    page.wait_for_selector("#live svg, #s-live:not(:empty)")
    figures_come_anew(page)
    page.wait_for_selector("#live svg")
    assert page.inner_text("#s-live") == LIVE["finding"]
    said = page.get_attribute("#live svg", "aria-label")
    assert said == "The difference after 60 of 100 gold labels is +0.100, interval -0.050 to +0.250"
    assert page.locator("#live .band").count() == 1
    assert page.locator("#live .future").count() == 2
    page.click(".live-more summary")
    assert page.inner_text("#looks tbody tr >> nth=0").split() == ["60", "+0.100", "-0.050", "+0.250"]
    assert page.inner_text("#n-live") == LIVE["notes"][0]


def test_without_a_plan_there_is_no_verdict_to_wait_for(page, serve):
    study = serve(TASKS, live=LiveFigure(lambda: LIVE))
    sign_in(page, study)
    page.wait_for_selector("#progress svg")
    assert page.locator("#live").count() == 0


def test_a_wrong_password_is_refused_in_words(page, serve):
    study = serve(TASKS[:1])
    sign_in(page, study, "wrong")
    assert page.inner_text("[role=alert]") == "Name or password is wrong."
    page.goto(f"{study.url}/signin?wait=30")
    assert page.inner_text("[role=alert]") == "Too many wrong tries. Wait 30 seconds."


def test_the_dashboard_says_how_far_and_how_good_and_moves_by_itself(page, study):
    sign_in(page, study)
    page.wait_for_selector("#judges tbody tr")
    assert page.inner_text("#finding").startswith("48 of ")
    assert "ordinal alpha" in page.inner_text("#s-agreement")
    assert page.locator("#agreement svg .interval").count() == 1
    assert page.locator("#labels svg rect").count() >= 4
    assert page.locator("#differ tbody tr").count() >= 1
    rows = page.locator("#judges tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["ann", "bob"]
    third, _ = add_judge(study.store, name="cem")
    judged(study, third["id"], [2])
    figures_come_anew(page)
    page.wait_for_function("() => document.querySelector('#finding').textContent.startsWith('49 of ')")


def test_a_paused_judge_gets_no_task_until_released(page, press, study, chromium):
    other = chromium.new_context().new_page()
    other.goto(study.link("eve"))
    other.goto(f"{study.url}/judge")
    other.wait_for_selector(".answer")
    sign_in(page, study)
    page.get_by_role("button", name="Pause eve").press("Enter")
    page.wait_for_selector("text=paused")
    other.keyboard.press("2")
    other.keyboard.press("Enter")
    other.wait_for_selector("text=The lead has paused your work")
    assert len(study.events("answer")) == 48
    page.get_by_role("button", name="Release eve").press("Enter")
    page.get_by_role("button", name="Pause eve").wait_for()
    other.reload()
    other.wait_for_selector(".answer")
    other.context.close()


def test_an_invited_judge_comes_in_by_the_link_that_is_shown_once(page, study, chromium):
    sign_in(page, study)
    page.wait_for_selector("#invite button:enabled")
    page.get_by_label("Name (optional)").fill("zoe")
    page.get_by_label("Name (optional)").press("Enter")
    link = page.locator("[data-link]").get_attribute("data-link")
    other = chromium.new_context().new_page()
    other.goto(link)
    assert other.inner_text("h1") == "Welcome"
    other.get_by_role("link", name="Begin").click()
    other.wait_for_selector(".answer")
    page.reload()
    page.wait_for_selector("#judges tbody tr")
    assert page.locator("[data-link]").count() == 0
    other.goto(f"{study.url}/lead")
    assert "/signin" in other.url, "a judge is no lead"
    other.context.close()


def test_a_link_is_copied_by_its_button(page, study):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, study)
    page.wait_for_selector("#invite button:enabled")
    page.get_by_label("Name (optional)").press("Enter")
    page.get_by_role("button", name="Copy the link of judge 3").click()
    page.wait_for_selector("text=Copied")
    link = page.locator("[data-link]").get_attribute("data-link")
    assert page.evaluate("navigator.clipboard.readText()") == link


def test_what_nobody_there_can_do_is_withdrawn_by_a_button(page, serve):
    study = serve(TASKS[:2], rules=Rules(labels=1))
    ann = add_judge(study.store, name="ann")[0]["id"]
    cant_tell(study.store, ann, next_task(study.store, ann).task["id"], Answer(reason="other"))
    judged(study, ann, [1])
    sign_in(page, study)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Withdraw: 1 answer to 1 task needs 1 more person").press("Enter")
    page.wait_for_function("() => document.querySelector('#finding').textContent.startsWith('1 of 1 answers')")
    assert page.is_hidden("#t-left")


def test_a_name_that_is_taken_is_said_beside_the_form_and_stays_there(page, study):
    sign_in(page, study)
    page.wait_for_selector("#invite button:enabled")
    name = page.get_by_label("Name (optional)")
    name.fill("ann")
    name.press("Enter")
    page.wait_for_function("() => document.querySelector('#invite-hint').textContent")
    said = page.inner_text("#invite-hint")
    assert said.startswith('No link was made: the judge\'s name: expected one that is free, found "ann"')
    figures_come_anew(page)
    assert page.inner_text("#invite-hint") == said
    assert name.input_value() == "ann"
    assert page.locator("[data-link]").count() == 0
    name.fill("anna")
    name.press("Enter")
    page.wait_for_selector("[data-link]")
    assert page.inner_text("#invite-hint") == ""


def test_a_judge_who_lost_the_link_gets_a_new_one_and_the_old_one_ends(page, study, chromium):
    old = study.link("eve")
    sign_in(page, study)
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="New link for eve").press("Enter")
    assert study.events("new_link") == [], "not without being sure"
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="New link for eve").press("Enter")
    page.wait_for_selector("[data-link]")
    link = page.locator("[data-link]").get_attribute("data-link")
    other = chromium.new_context().new_page()
    other.goto(old)
    assert other.inner_text("h1") == "No such link"
    other.goto(link)
    assert other.inner_text("h1") == "Welcome"
    other.context.close()


def test_what_was_refused_stays_said_when_the_figures_come_anew(page, study):
    # Before the page is opened: a route that is laid while it comes may miss what it asks.
    page.route("**/pause", lambda route: route.fulfill(status=409, json={"detail": "somebody else was quicker"}))
    sign_in(page, study)
    page.get_by_role("button", name="Pause ann").press("Enter")
    page.wait_for_selector("text=Not done: somebody else was quicker")
    figures_come_anew(page)
    assert page.is_visible("text=Not done: somebody else was quicker")
    page.wait_for_selector("[aria-label='Pause ann']:enabled")  # it can be tried again


def test_answers_are_taken_home_as_files(page, study):
    sign_in(page, study)
    with page.expect_download() as download:
        page.get_by_role("link", name="Judgments (CSV)").click()
    text = download.value.path().read_text()
    assert text.splitlines()[0].startswith("query,")
    assert len(text.splitlines()) == 49


def test_signing_out_ends_it(page, study):
    sign_in(page, study)
    page.get_by_role("button", name="Sign out").press("Enter")
    page.wait_for_function("() => location.pathname === '/signin'")
    page.goto(f"{study.url}/lead")
    assert "/signin" in page.url


def test_what_is_not_yet_known_is_said_once_and_not_guessed(page, serve):
    study = serve([{"query": "q1", "doc": f"q1-d{place}"} for place in range(2)])
    ann = add_judge(study.store, name="ann")[0]["id"]
    task = next_task(study.store, ann).task
    answer(study.store, ann, task["id"], Answer(label=3.0))
    sign_in(page, study)
    page.wait_for_selector("[data-judge=ann]")
    assert page.inner_text("#s-agreement") == "No document has two labels yet."
    assert page.inner_text("#agreement").strip() == ""
    cells = page.locator("[data-judge=ann] td").all_inner_texts()
    assert cells[-3:-1] == ["-", "-"], "leniency and drift of one label"


def test_disagreements_tell_context_and_long_titles_do_not_push_the_rest_away(page, serve):
    long = "x" * 400
    both = [{"query": "q1", "doc": "odd"}, {"query": "q1", "doc": "odd", "context": "q1-d0"}]
    more = [{"doc": "odd", "title": long, "snippet": "", "url": "", "text": "", "html": ""}]
    study = serve(both, more=more, rules=Rules(labels=2, hours_apart=0))
    for name, label in (("ann", 3.0), ("bob", 0.0)):
        judge = add_judge(study.store, name=name)[0]["id"]
        while (task := next_task(study.store, judge).task) is not None:
            opened(study.store, judge, task["id"], "context")
            answer(study.store, judge, task["id"], Answer(label=label))
    sign_in(page, study)
    page.wait_for_selector("#differ tbody tr")
    rows = page.locator("#differ tbody tr").all_inner_texts()
    assert sorted("(after Shoeing a horse, step by step)" in row for row in rows) == [False, True]
    spill = "() => { const box = document.querySelector('#differ'); return box.scrollWidth - box.clientWidth; }"
    assert page.evaluate(spill) <= 1


@pytest.mark.parametrize("size", [(1280, 720), pytest.param((1440, 900), marks=pytest.mark.thorough), (1920, 1080)])
def test_the_table_of_judges_fits_its_box_with_all_its_buttons(size, page, serve):
    study = serve(TASKS, rules=Rules(labels=2))
    rng = np.random.default_rng(0)
    for name in ("ann", "bob"):
        judge, _ = add_judge(study.store, name=name, source="prolific", external=f"5f{name}0123456789abcdef012345")
        judged(study, judge["id"], rng.integers(0, 4, 24))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    sign_in(page, study)
    page.wait_for_selector("[data-judge=bob]")
    wide, box = page.evaluate(
        "() => [document.querySelector('#judges').scrollWidth, document.querySelector('#judges').clientWidth]"
    )
    assert wide <= box
    parted = re.findall(r"\[[^]]* [^]]*]", page.locator("#judges").text_content())
    assert not parted, "the space in an interval is one that holds it together"
    assert "[" in page.locator("#judges").text_content()
    assert "5fbob0123456789abcdef012345" in page.inner_text("[data-judge=bob]")


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.thorough), 1920])
def test_the_words_beside_a_dot_stay_inside_the_figure(width, page, serve):
    study = serve([{"query": "q1", "doc": f"q1-d{place}"} for place in range(4)], rules=Rules(labels=2))
    for name, grades in (("ann", (0, 1, 2, 3)), ("bob", (0, 2, 2, 0))):
        judged(study, add_judge(study.store, name=name)[0]["id"], grades)
    page.set_viewport_size({"width": width, "height": 844})
    sign_in(page, study)
    words = page.locator("#agreement svg text", has_text="no interval yet")
    words.wait_for()
    box, figure = words.bounding_box(), page.locator("#agreement svg").bounding_box()
    assert box["x"] + box["width"] <= figure["x"] + figure["width"]


def test_the_lead_rejects_a_judge_with_a_reason(page, study):
    sign_in(page, study)
    page.wait_for_selector("[data-judge=bob]")
    page.once("dialog", lambda dialog: dialog.accept("answers at random"))
    with page.expect_response("**/reject"):
        page.get_by_role("button", name="Reject bob").click()
    page.wait_for_selector("[data-judge=bob].off")
    assert "answers at random" in page.inner_text("[data-judge=bob]")
    assert len(study.events("reject")) == 24
    said = page.locator("#judges tr[data-judge=bob]").inner_text()
    assert "figures of the 24 answers taken back" in said
    assert "20 s" in said, "the median time, which may have been the reason"


def test_a_judge_whom_a_trap_stopped_is_not_taken_for_one_whose_labels_are_gone(page, study):
    bob = judge_named(study.store, "bob")
    transaction(reject)(study.store, bob, "a control question was answered wrongly", kind="pair")
    sign_in(page, study)
    page.wait_for_selector("[data-judge=bob].off")
    said = "rejected: a control question was answered wrongly; 24 answers still count: Reject takes them back, too"
    assert said in page.inner_text("[data-judge=bob]")
    page.once("dialog", lambda dialog: dialog.accept("at random"))
    page.get_by_role("button", name="Reject bob").click()
    page.wait_for_selector("text=rejected: at random")
    assert "count" not in page.inner_text("[data-judge=bob]")


def test_a_study_of_lists_alone_shows_what_judges_of_lists_did_and_has_their_reasons_coded_by_a_button(page, serve):
    study = serve([{"query": "q1", "left": "up", "right": "down"}], rules=Rules(judges_per_pair=2))
    for name in ("ann", "bob"):
        judge, _ = add_judge(study.store, name=name)
        task = next_task(study.store, judge["id"]).task
        side = "right" if task["turned"] else "left"
        answer(study.store, judge["id"], task["id"], Answer(choice=side, reason=f"{name} likes it", seconds=9.0))
    sign_in(page, study)
    page.wait_for_selector("#pairs tbody tr")
    assert "100 % of 2 answers for a side go with the majority" in page.inner_text("#s-pairs")
    assert page.locator("#agreement, #labels, #differ").count() == 0, "nothing was graded"
    with page.expect_response("**/api/codes"):
        page.get_by_role("button", name="Have the reasons coded").click()
    page.wait_for_function("() => document.querySelector('#coding-hint').textContent !== ''")
    assert page.inner_text("#coding-hint") == "2 reasons are asked about now."
