"""A failed trap, as an invited judge and the lead see it."""

from __future__ import annotations

from karat.records.study_design import Rules
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task

PAIR = {"query": "q1", "left": "up", "right": "down"}
TRAP = PAIR | {"right_query": "q2", "trap": True, "expected": "left"}
#: Which list of a trap belongs to another query; -1 where both belong to one.
WRONG = """() => {
    const walls = [...document.querySelectorAll('.list')].map((list) => list.textContent.includes('wall'));
    return walls[0] === walls[1] ? -1 : walls.indexOf(true);
}"""


def test_an_invited_judge_reads_why_pairs_end_and_goes_on(page, press, serve):
    tasks = [PAIR | {"order": 1}, PAIR | {"query": "q2", "order": 2}, TRAP, {"query": "q1", "doc": "q1-d1", "order": 3}]
    study = serve(tasks, rules=Rules(labels=1, judges_per_pair=1, block=2))
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    wrong = -1
    while wrong < 0:  # a pair or two, then the trap
        page.wait_for_selector(".work.of-pair")
        shown = page.inner_text("#work")
        wrong = page.evaluate(WRONG)
        press("1" if wrong == 0 else "3", "1", "1", "Enter")
        page.wait_for_function("(before) => document.querySelector('#work').innerText !== before", arg=shown)
    page.wait_for_selector(".work.of-judge .answer")
    assert "A control question was answered wrongly" in page.inner_text("#banner")
    press("1", "Enter")
    page.wait_for_function("() => location.pathname === '/done'")
    said = page.inner_text("main")
    assert "You gave one answer" in said, "the document"
    assert "not accepted: a control question was answered wrongly" in said


def test_the_lead_sees_an_excluded_judge_and_readmits_them(page, serve):
    study = serve([PAIR, TRAP, {"query": "q2", "doc": "q2-d1"}], rules=Rules(labels=1, judges_per_pair=1, block=2))
    judge, _ = add_judge(study.store, name="ann")
    while (task := next_task(study.store, judge["id"]).task) is not None:
        said = Answer(choice="left" if task["turned"] else "right", reason="x", seconds=9.0)
        answer(study.store, judge["id"], task["id"], Answer(label=1.0) if task["kind"] == "judge" else said)
    page.goto(f"{study.url}/lead")
    page.get_by_label("Name").fill("lead")
    page.get_by_label("Password").fill("a long password")
    page.keyboard.press("Enter")
    row = page.locator("#judges tr[data-judge=ann]")
    row.wait_for()
    assert "active, no more Pairs of lists: failed a trap" in row.inner_text()
    assert page.get_by_role("button", name="Pause ann").is_visible()
    page.get_by_role("button", name="Readmit ann").click()
    page.wait_for_function("() => !document.querySelector('#judges').innerText.includes('failed a trap')")
    assert page.get_by_role("button", name="Readmit ann").count() == 0
