"""The hits of known engines are found by the form of their answers, those of others by paths; the rest is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_answers import EMPTY, PARTS, WHOLE
from karat.engines.engine import Engine
from karat.engines.hits import Hits, NoHits, read_hits

ANY = Engine("http://localhost/?q={{query}}")


def read(answer: Any, engine: Engine = ANY, depth: int = 10) -> Hits:
    return read_hits(engine, json.dumps(answer), depth)


def refused(answer: Any, engine: Engine = ANY) -> str:
    with pytest.raises(NoHits) as error:
        read(answer, engine)
    return str(error.value)


@pytest.mark.parametrize("name", WHOLE)
def test_the_hits_of_a_known_engine_are_found_in_its_order(name: str) -> None:
    hits = read(WHOLE[name]).hits
    ids = {"Vespa": ["id:docs:doc::b", "id:docs:doc::a"]}.get(name, ["b", "a"])
    assert [hit.doc for hit in hits] == ids
    assert [hit.shown["title"] for hit in hits] == ["Horse hoof", "Horse"]
    scores = [hit.score for hit in hits]
    assert scores == [None, None] if name == "Algolia" else scores[0] > scores[1]  # type: ignore[operator]


def test_snippets_are_those_of_the_engine_without_its_marks() -> None:
    assert read(WHOLE["Elasticsearch"]).hits[0].shown["snippet"] == "The hoof of a horse. ... A hoof grows."
    assert read(WHOLE["Solr"]).hits[0].shown["snippet"] == "The hoof of a horse."
    assert read(WHOLE["Elasticsearch"]).hits[0].shown["url"] == "https://example.org/hoof"
    assert read(WHOLE["Elasticsearch"]).hits[0].shown["text"] == "The hoof of a horse."


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_found_is_an_empty_list(name: str) -> None:
    assert read(EMPTY[name]).hits == []


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_list_is_no_list(name: str) -> None:
    answer, said = PARTS[name]
    assert said in refused(answer)
    hits = {"Groonga": "1.0", "Solr": "response.docs"}.get(name, "hits.hits" if "earch" in name else "root.children")
    assert said in refused(answer, Engine("http://localhost/?q={{query}}", hits=hits))  # neither where a path is named


def test_other_services_are_read_by_paths() -> None:
    answer = {"payload": {"found": [{"sku": 17, "rank.score": "1.5", "info": [{"name": "Shoe"}]}]}, "ads": [{"id": 1}]}
    columns = {"doc": "sku", "score": "rank.score", "title": "info.0.name"}
    hit = read(answer, Engine("http://localhost/?q={{query}}", hits="payload.found", columns=columns)).hits[0]
    assert (hit.doc, hit.score, hit.shown) == ("17", 1.5, {"title": "Shoe"})
    assert read([{"id": "x"}]).hits[0].doc == "x"
    assert read([{"id": "x"}], Engine("http://localhost/?q={{query}}", hits=".")).hits[0].doc == "x"


def test_what_cannot_be_told_is_asked_for() -> None:
    assert refused({"results": [{"id": 1}], "items": [{"id": 2}]}) == (
        "expected one list of hits, found results and items; name the right one by hits="
    )
    assert "found none (the answer has status, answer); name their path by hits=" in refused({"status": 1, "answer": 2})
    assert "at hits.found, found nothing (the answer has results)" in refused(
        {"results": []}, Engine("http://localhost/?q={{query}}", hits="hits.found")
    )
    assert "expected JSON, found a web page: Sign in" in _said("<!doctype html><title> Sign\nin</title>")
    assert 'expected JSON, found "hello"' in _said("hello")
    assert "expected JSON, found nothing" in _said("")
    assert "expected JSON" in _said("[" * 100_000)


def _said(text: str) -> str:
    with pytest.raises(NoHits) as error:
        read_hits(ANY, text, 10)
    return str(error.value)


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        ({"_source": {"sku": 5}}, "expected an id in hit 1 at _id, found none (the hit has _source)"),
        ({"_id": None, "x": 1}, "expected an id in hit 1 at _id, found none"),
        ({"_id": ""}, "a text or a whole number, found a text"),
        ({"_id": 1.5}, "a text or a whole number, found the number 1.5"),
        ({"_id": True}, "a text or a whole number, found true or false"),
        ({"_id": {"$oid": "5"}}, "a text or a whole number, found an object"),
        ("b", "expected an object as hit 1, found a text"),
    ],
)
def test_a_hit_without_an_id_is_refused_in_words(hit: Any, said: str) -> None:
    answer = {"took": 1, "hits": {"hits": [hit]}}
    assert said in refused(answer)


def test_ids_that_are_numbers_are_texts_and_a_document_counts_once() -> None:
    found = read({"hits": {"hits": [{"_id": 7}, {"_id": ["x"]}, {"_id": "7"}, {"_id": 10**20}]}})
    assert [hit.doc for hit in found.hits] == ["7", "x", str(10**20)]
    assert found.again == 1
    assert [hit.doc for hit in read({"hits": {"hits": [{"_id": n % 3} for n in range(9)]}}, depth=2).hits] == ["0", "1"]


def test_a_score_that_is_no_number_is_none() -> None:
    for score in (None, "high", True, {"a": 1}, 10**400):
        assert read({"hits": {"hits": [{"_id": "a", "_score": score}]}}).hits[0].score is None
    assert read_hits(ANY, '{"hits": {"hits": [{"_id": "a", "_score": NaN}]}}', 5).hits[0].score is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["hits", "root", "response", "docs", "body", "columns", "records", "_id", "id", "header"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_hits_or_is_refused(answer: Any) -> None:
    try:
        found = read(answer)
    except NoHits:
        return
    assert all(hit.doc for hit in found.hits)
