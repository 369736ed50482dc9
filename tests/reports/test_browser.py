"""The page in a real browser: every chart drawn, no error, nothing asked of the network, wide and narrow."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report.html(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opens(chromium, written):
    """A function that opens the page, and tells what the browser complained about and asked for."""
    contexts = []

    def anew(width=1280, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page, wrong, asked = context.new_page(), [], []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(written.as_uri())
        page.wait_for_selector("html[data-drawn=yes]")
        return page, wrong, asked

    yield anew
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def opened(opens):
    """The same, for tests that leave the page as it was: each kind of page is drawn once."""
    return cache(opens)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (1000, "dark")])
def test_all_charts_are_drawn_without_error_or_network(opened, written, report, width, scheme):
    page, wrong, asked = opened(width, scheme)
    assert wrong == []
    assert [url for url in asked if not url.startswith("data:")] == [written.as_uri()]
    assert page.locator(".chart[data-drawn=yes] svg").count() == len(report.figures)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.eval_on_selector_all(".chart svg", "all => all.map(svg => svg.getBoundingClientRect().width)")
    assert min(sizes) > 0.6 * min(width, 800)
    marks = page.eval_on_selector_all(
        ".chart", "all => all.map(c => c.querySelectorAll('.mark-symbol path, .mark-rect path').length)"
    )
    assert min(marks) > 0


def test_a_dark_page_has_light_letters_and_its_own_gold(opened):
    page, _, _ = opened(1000, "dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(238, 232, 220)"
    drawn = page.inner_html("#chart-scores")
    assert "#e0b84c" in drawn
    assert "#9a6b00" not in drawn


def test_the_page_follows_the_readers_setting_while_open(opens):
    page, wrong, _ = opens()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.querySelector('#chart-scores').innerHTML.includes('#e0b84c')")
    assert wrong == []


def test_pictures_and_numbers_can_be_saved_from_the_page(opened):
    page, _, _ = opened(1280, "light")
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as saved:
            page.click(f"#figure-scores button[data-save={kind}]")
        assert saved.value.suggested_filename == f"scores.{kind}"
        assert Path(saved.value.path()).read_bytes()[:4] == start
    href = page.get_attribute("#figure-scores a[download]", "href")
    assert base64.b64decode(href.partition(",")[2]).startswith(b"system,value,low,high")


def test_a_mark_tells_its_numbers_when_pointed_at(opened):
    page, _, _ = opened(1280, "light")
    page.locator("#chart-scores .mark-symbol path").first.hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "value" in page.inner_text("#vg-tooltip-element")


def test_every_section_can_be_reached_by_keyboard(opens, report):
    page, _, _ = opens()
    there = [section for section in report.sections if not section.missing]
    for number, section in enumerate(there, 1):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == f"#{section.name}", number


def test_a_dark_page_prints_in_black_on_white_within_the_paper(opens):
    page, wrong, _ = opens(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 680, "height": 1000})
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    letters = page.eval_on_selector_all(".chart svg text", "all => all.map(t => getComputedStyle(t).fill)")
    assert {*letters} == {"rgb(0, 0, 0)"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert not page.is_visible("nav")
    # What is folded stays so; what the reader opened is printed.
    assert page.eval_on_selector_all("details.table", "all => all.filter(d => d.offsetHeight > 0).length") == 0
    page.evaluate("document.querySelector('details.table').open = true")
    assert page.eval_on_selector_all("details.table", "all => all.filter(d => d.offsetHeight > 0).length") == 1
    assert wrong == []
