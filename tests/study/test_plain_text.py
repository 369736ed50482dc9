"""What a reader sees of a page, in time that grows with its length whatever stands in it."""

from __future__ import annotations

import time

import pytest

from karat.records import Documents
from karat.study.task_material import MOST, TAGS, Material, plain_text

READ = {
    "<p>One</p><p>two &amp; three</p>": "One\ntwo & three",
    'a<img alt="5 > 3" title=\'"\'>b': "ab",
    "1 < 2 and 3 > 2": "1 < 2 and 3 > 2",
    "<style>p > a {}</style>seen<SCRIPT>if (a < b) x('<p>')</SCRIPT> too": "seen too",
    "<noscript>hidden <b>all</b></noscript>shown<template>no</template>": "shown",
    "<!-- <p>no</p> -->yes<!doctype html><?php x ?>": "yes",
    "cut off <a href='x": "cut off",
    "cut off <!-- for ever": "cut off",
    "a<br>b<li>c": "a\nb\nc",
    "&#" + "9" * 5000 + ";": "&#" + "9" * 5000 + ";",
    "İ<p>x</p>İ<script>y</script>z": "İ\nx\nİz",
}


@pytest.mark.parametrize("html", READ)
def test_a_page_reads_as_it_is_seen(html: str) -> None:
    assert plain_text({"html": html}) == READ[html]


PARTS = (
    "<a ",
    '<a "',
    "<a '\"",
    "<",
    "<!--",
    "<script>",
    "</",
    '<a ">',
    "<a '>\">",
    "<p>x",
    "&",
    "<title ",
    "<style>x</p>",
)


@pytest.mark.parametrize("end", ["", ">\"'-->"])
def test_a_hostile_page_takes_no_longer_than_another(end: str) -> None:
    """Python's parser takes minutes for `<a ` 20,000 times; five for all of these are far more than is needed."""
    start = time.process_time()
    for part in PARTS:
        plain_text({"html": part * (60_000 // len(part)) + end})
    assert time.process_time() - start < 5


def test_a_page_is_read_once_however_often_it_is_asked_for() -> None:
    material = Material(documents=Documents.of([{"doc": "d", "html": "<p>Trim <b>them</b>.</p>"}]))
    assert material.text("d") == "Trim them."
    assert material.text("d") is material.text("d")


def test_pages_without_end_are_cut() -> None:
    assert len(plain_text({"html": "a" * (MOST + 10)})) == MOST


@pytest.mark.parametrize("part", ["<", "<p>x"])
def test_the_longest_page_of_nothing_but_tags_is_read_up_to_a_limit(part: str) -> None:
    """Ten seconds for five million `<` before there was one; what was read before it is shown."""
    page = "<p>First.</p>" + part * ((MOST - 13) // len(part))
    start = time.process_time()
    text = plain_text({"html": page})
    assert time.process_time() - start < 5
    assert text.startswith("First.")
    assert len(text) <= 2 * TAGS + 10
