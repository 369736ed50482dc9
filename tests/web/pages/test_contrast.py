"""Documents can be read: the text of whatever is opened stands out from its background, light or dark."""

from __future__ import annotations

import base64

import pytest

from karat.records import Scale
from karat.records.study_design import SnippetFirst

#: What WCAG 2.2 (1.4.3, AA) asks of text.
LEAST_CONTRAST = 4.5
TEXT = "A farrier has a hoof knife, nippers and a rasp. " * 8
#: Pages in the ways in which authors give colours, or leave them to the browser.
PAGES = {
    "text": {"text": TEXT},
    "html": {"html": f"<h1>Tools</h1><p>{TEXT}</p>"},
    "doctype": {"html": f"<!-- old --><!DOCTYPE html><html><head><title>T</title></head><body><p>{TEXT}</p></body>"},
    "both-schemes": {"html": f"<style>:root {{ color-scheme: light dark }}</style><p>{TEXT}</p>"},
    "dark-only": {"html": f"<style>:root {{ color-scheme: dark !important }}</style><p>{TEXT}</p>"},
    "ink-only": {"html": f"<style>:root {{ color-scheme: light dark }} body {{ color: #222 }}</style><p>{TEXT}</p>"},
    "paper-only": {
        "html": f"<style>:root {{ color-scheme: light dark }} body {{ background: #fff }}</style><p>{TEXT}</p>"
    },
    "half-dark": {"html": f"<style>@media (prefers-color-scheme: dark) {{ p {{ color: #eee }} }}</style><p>{TEXT}</p>"},
    "half-light": {
        "html": "<style>body { background: #111 } p { color: #eee } @media (PREFERS-COLOR-SCHEME:light) "
        f"{{ body {{ background: #fff }} p {{ color: #111 }} }}</style><p>{TEXT}</p>"
    },
    "own-colours": {"html": f"<style>body {{ background: #123; color: #def }}</style><p>{TEXT}</p>"},
}
KINDS = {
    "judge": {},
    "context": {"context": "q1-d0"},
    "snippet": {},
    "support": {"sentence": "A farrier has a hoof knife."},
    "nugget": {"nugget": "A farrier has a hoof knife."},
}
FIRST = {"snippet": SnippetFirst(Scale.parse("0=would not open, 1=would open"), "Would you open it?")}

#: The contrast of each text of a document, by the colours that are computed for it and what is below it.
COMPUTED = """(root) => {
    const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const paper = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgb(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return null; // nothing says what is below
    };
    const found = [];
    const texts = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.textContent.trim() || !element.getClientRects().length) continue;
        if (["STYLE", "TITLE", "SCRIPT"].includes(element.tagName)) continue;
        const below = paper(element), ink = light(rgb(getComputedStyle(element).color));
        const one = below === null ? null : light(below);
        const contrast = one === null ? 0 : (Math.max(ink, one) + 0.05) / (Math.min(ink, one) + 0.05);
        found.push([texts.currentNode.textContent.trim().slice(0, 40), Math.round(contrast * 100) / 100]);
    }
    return found;
}"""
#: The contrast between the colour of most pixels of a picture and the one that stands out most: what is to be seen.
SEEN = """async (picture) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const { data } = canvas.getContext("2d").getImageData(0, 0, image.width, image.height);
    const many = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
        many.set(colour, (many.get(colour) || 0) + 1);
    }
    const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = (c) => 0.2126 * channel(c >> 16) + 0.7152 * channel((c >> 8) & 255) + 0.0722 * channel(c & 255);
    const most = [...many].sort((one, other) => other[1] - one[1]);
    const paper = light(most[0][0]);
    const inks = most.filter(([, pixels]) => pixels >= 20).map(([colour]) => light(colour));
    return Math.max(...inks.map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)));
}"""


@pytest.fixture
def seen(chromium):
    """A function that measures the contrast of what a part of a page shows."""
    page = chromium.new_page()
    yield lambda part: page.evaluate(SEEN, base64.b64encode(part.screenshot()).decode())
    page.close()


def opened(page, study, press):
    """The frame of the document that a task shows, opened where it does not open by itself."""
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")
    if page.locator("[data-row=snippet]").count():
        press("1")
    elif page.locator(".waits").count():
        press("o")  # what was read before
        page.wait_for_selector(".pinned .page-frame")
    main = ".document:not(.pinned) .page-frame"
    if not page.locator(main).count():
        press("o")
    page.wait_for_selector(main)
    return page.locator(main)


def unreadable(found):
    return [text for text in found if text[1] < LEAST_CONTRAST]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_document_can_be_read_in_every_kind_of_task(kind, scheme, page, press, serve, seen):
    page.emulate_media(color_scheme=scheme)
    task = {"query": "q1", "doc": "plain", **KINDS[kind]}
    study = serve([task], more=[{"doc": "plain", "title": "Tools", **PAGES["text"]}], snippet=FIRST.get(kind))
    opened(page, study, press)
    frames = page.locator(".page-frame")
    for place in range(frames.count()):
        inside = frames.nth(place).element_handle().content_frame()
        inside.wait_for_load_state()
        texts = inside.evaluate(COMPUTED, "body")
        assert texts
        assert unreadable(texts) == []
        assert seen(frames.nth(place)) >= LEAST_CONTRAST, "and that is what the judge sees"
    assert unreadable(page.evaluate(COMPUTED, "#main")) == [], "nor is anything around it"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("form", [form for form in PAGES if form != "text"])
def test_a_page_with_any_colours_of_its_own_can_be_read(form, scheme, page, press, serve, seen):
    page.emulate_media(color_scheme=scheme)
    study = serve([{"query": "q1", "doc": form}], more=[{"doc": form, "title": form, **PAGES[form]}])
    frame = opened(page, study, press)
    inside = frame.element_handle().content_frame()
    inside.wait_for_load_state()
    assert unreadable(inside.evaluate(COMPUTED, "body")) == []
    assert seen(frame) >= LEAST_CONTRAST, "and that is what the judge sees"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["judge", "pair", "code", "support"])
def test_the_look_up_panel_can_be_read_in_every_kind_of_task(kind, scheme, page, press, serve):
    page.emulate_media(color_scheme=scheme)
    tasks = {
        "judge": {"doc": "q1-d1"},
        "pair": {"left": "up", "right": "down"},
        "code": {"kind": "code", "reason": "fewer adverts"},
        "support": {"doc": "q1-d1", "sentence": "A farrier has a hoof knife."},
    }
    study = serve([{"query": "q1", **tasks[kind]}])
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    page.wait_for_selector(".answer")
    press("/")
    page.wait_for_selector("#lookup[open] .result")
    texts = page.evaluate(COMPUTED, "#lookup")
    assert len(texts) > 10
    assert unreadable(texts) == []
