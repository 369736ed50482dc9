"""The pictures of the documentation, taken of the real pages: python docs/make_pictures.py (needs chromium)."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import sync_playwright

from karat.comparison import live_verdict
from karat.demo import demo_study, write_demo
from karat.plan import plan_gold
from karat.records.study_design import Aspect, Rules
from karat.reports import report as make_report
from karat.simulate.graded_pair import graded_pair
from karat.study import Study
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.web.background import LiveFigure

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"


def loaded(name: str, path: Path) -> Any:
    """What the tests share, as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, str(ROOT / "tests"))  # what the tests share
pages = loaded("pages", ROOT / "tests" / "collect" / "pages" / "conftest.py")
shared = loaded("shared", ROOT / "tests" / "conftest.py")

DOCS = [{"query": "q1", "doc": f"q1-d{place}"} for place in (0, 1, 3)]
NOVELTY = (Aspect("novelty", "says what others do not"), Aspect("authority", "can it be trusted?"))
WIDE, PHONE = {"width": 1180, "height": 720}, {"width": 390, "height": 844}
#: Name of the picture: tasks, keys pressed, screen, light or dark, changes to the study.
SHOTS: dict[str, tuple[list[dict[str, Any]], list[str], dict[str, int], str, dict[str, Any]]] = {
    "judge": (DOCS, ["o", "2"], WIDE, "light", {}),
    "judge-dark": (DOCS, ["2", "3"], WIDE, "dark", {"aspects": NOVELTY}),
    "judge-context": ([{"query": "q1", "doc": "q1-d1", "context": "q1-d0"}], ["o", "2"], WIDE, "light", {}),
    "judge-pair": (
        [{"query": "q1", "subtopic": "1", "left": "up", "right": "down"}],
        ["ArrowLeft", "ArrowDown", "ArrowDown", "1"],
        WIDE,
        "light",
        {},
    ),
    "judge-code": (
        [{"query": "q1", "kind": "code", "reason": "Left names the tools I asked for, right is mostly shops."}],
        ["2", "q"],
        WIDE,
        "light",
        {},
    ),
    "judge-phone": (DOCS, ["2"], PHONE, "light", {}),
}


def task(browser: Any, name: str) -> None:
    """A picture of a task."""
    tasks, keys, screen, scheme, changes = SHOTS[name]
    with tempfile.TemporaryDirectory() as folder, pages.served(Path(folder), tasks, **changes) as study:
        context = browser.new_context(viewport=screen, color_scheme=scheme, reduced_motion="reduce")
        page = context.new_page()
        page.goto(study.link())
        page.goto(f"{study.url}/judge")
        page.wait_for_selector(".answer")
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURES / f"{name}.png")
        context.close()


def dashboard(browser: Any) -> None:
    """A picture of a simulated study on the way: two groups of four judges, the crowd less sure than the experts."""
    rng = np.random.default_rng(3)
    tasks = [{"query": query, "doc": f"{query}-d{place}"} for query in ("q1", "q2") for place in range(12)]
    tasks += [{"query": f"more {n}", "doc": f"q1-d{place}"} for n in range(8) for place in range(4)]
    rules = Rules(labels=2)
    groups = ("crowd", "experts")
    with (
        tempfile.TemporaryDirectory() as folder,
        pages.served(Path(folder), tasks, rules=rules, groups=groups) as study,
    ):
        now = [time.time() - 2 * 3600]
        store = dataclasses.replace(study.store, clock=lambda: now[0])
        people = [
            (add_judge(store, name=f"{name} {n}", group=group)[0]["id"], noise)
            for group, name, noise in (("crowd", "worker", 0.9), ("experts", "expert", 0.4))
            for n in range(1, 5)
        ]
        truth: dict[tuple[str, str], int] = {}
        for _ in range(160):
            now[0] += rng.exponential(45)
            judge, noise = people[rng.integers(len(people))]
            turn = next_task(store, judge)
            if turn.task is None:
                continue
            right = truth.setdefault((turn.task["query"], turn.task["doc"]), int(rng.integers(0, 4)))
            label = float(np.clip(round(right + rng.normal(0, noise)), 0, 3))
            answer(store, judge, turn.task["id"], Answer(label=label, seconds=float(rng.gamma(3, 8))))
        context = browser.new_context(viewport={"width": 1180, "height": 1000}, color_scheme="light")
        page = context.new_page()
        page.goto(f"{study.url}/lead")
        page.get_by_label("Name").fill("lead")
        page.get_by_label("Password").fill("a long password")
        page.keyboard.press("Enter")
        page.wait_for_selector("#judges tbody tr")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURES / "dashboard.png")
        context.close()


def live(browser: Any) -> None:
    """A picture of a verdict on the way: two simulated systems, 50 of 160 gold labels."""
    made = graded_pair(40, shift=2.0, judge="by query", seed=2)
    plan = plan_gold(made.judgments(), made.runs(), "DCG@10", 160, seed=1)
    right = made.judgments(made.truth).frame
    gold = plan.frame.drop("label").join(right, on=["query", "doc"], maintain_order="left")
    gold = gold.with_columns(label=pl.when(pl.int_range(pl.len()) < 50).then("label"))
    runs = dict(zip(("bm25", "hybrid"), made.runs(), strict=True))
    found = live_verdict(made.judgments(), runs, "DCG@10", gold=gold).to_dict()
    drawn = [{"query": "q1", "doc": "q1-d1", "probability": 0.5}]
    figure = LiveFigure(lambda: found)
    with tempfile.TemporaryDirectory() as folder, pages.served(Path(folder), drawn, live=figure) as study:
        context = browser.new_context(viewport={"width": 1000, "height": 800}, color_scheme="light")
        page = context.new_page()
        page.goto(f"{study.url}/lead")
        page.get_by_label("Name").fill("lead")
        page.get_by_label("Password").fill("a long password")
        page.keyboard.press("Enter")
        page.wait_for_selector("#live svg")
        page.locator("section:has(#live)").screenshot(path=PICTURES / "live.png")
        context.close()


def report(browser: Any) -> None:
    """A picture of the top of the demo's report."""
    with tempfile.TemporaryDirectory() as folder:
        write_demo(demo_study(), f"{folder}/demo")
        made = make_report(Study.load(f"{folder}/demo"), group="simulated llm", measure="P@10")
        Path(folder, "report.html").write_text(made.html(), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": 1640})
        page.goto(f"file://{folder}/report.html")
        page.wait_for_selector("#chart-scores svg")
        page.wait_for_timeout(1000)
        page.screenshot(path=PICTURES / "report.png")
        page.close()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shared.CHROMIUM, args=shared.FLAGS)
        for name in SHOTS:
            task(browser, name)
        dashboard(browser)
        live(browser)
        report(browser)
        browser.close()
