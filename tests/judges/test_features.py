"""Features of queries and documents: what they mean, where their facts come from, and what is said when they lack."""

from __future__ import annotations

import polars as pl
import pytest

from karat.errors import BadInput
from karat.judges.features import FEATURES, add_features
from karat.records import Documents, Judgments, Queries, Runs


def feature(name: str, urls: list[str], query: str = "shania twain") -> list[object]:
    """A feature of pages with these addresses, judged for one query."""
    documents = Documents.of({"doc": [f"d{i}" for i in range(len(urls))], "url": urls})
    judgments = Judgments.of({"1": {f"d{i}": 1 for i in range(len(urls))}})
    return (
        add_features(judgments, [name], documents=documents, queries=Queries.of([{"query": "1", "text": query}]))
        .frame[name]
        .to_list()
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://en.wikipedia.org/wiki/Shania_Twain", "WP"),
        ("http://wikipedia.org", "WP"),
        ("//de.m.wikipedia.org/wiki/A?b=c#d", "WP"),
        ("EN.WIKIPEDIA.ORG/wiki/X", "WP"),
        ("https://wikipedia.org.example.com/", "nWP"),
        ("https://notwikipedia.org/", "nWP"),
        ("https://example.com/wiki/wikipedia.org", "nWP"),
    ],
)
def test_wikipedia_is_told_by_the_host(url: str, expected: str) -> None:
    assert feature("wikipedia", [url]) == [expected]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.shaniatwain.com/", "QiU"),
        ("http://example.com/Twain?first=SHANIA", "QiU"),
        ("http://example.com/shania", "nQiU"),
        ("http://example.com/", "nQiU"),
    ],
)
def test_every_word_of_the_query_must_be_in_the_url(url: str, expected: str) -> None:
    assert feature("query_in_url", [url]) == [expected]


def test_letters_that_an_address_writes_in_percent_are_still_letters() -> None:
    assert feature("query_in_url", ["https://x.org/Caf%C3%A9"], query="café!") == ["QiU"]


@pytest.mark.parametrize(
    ("url", "root", "depth"),
    [
        ("http://example.com", "RU", 0),
        ("http://example.com/", "RU", 0),
        ("http://example.com/index.html", "RU", 0),
        ("http://example.com/#top", "RU", 0),
        ("http://example.com/?id=3", "nRU", 0),
        ("http://example.com/a", "nRU", 1),
        ("example.com/a/b/", "nRU", 2),
        ("http://example.com/a//b/default.aspx?q=/x/y", "nRU", 2),
    ],
)
def test_roots_and_depths(url: str, root: str, depth: int) -> None:
    assert feature("root_url", [url]) == [root]
    assert feature("url_depth", [url]) == [depth]


def test_the_domain_is_the_host_without_www_user_and_port() -> None:
    urls = ["https://www.Example.com:8080/x", "ftp://me:pw@files.example.com/", "www.example.com"]
    assert feature("domain", urls) == ["example.com", "files.example.com", "example.com"]


def test_addresses_may_stand_in_documents_in_the_judgments_or_as_ids() -> None:
    rows = {
        "query": ["1"] * 3,
        "doc": ["http://a.com/", "b", "c"],
        "label": [1] * 3,
        "url": [None, "http://b.com/x", None],
    }
    given = Documents.of([{"doc": "c", "url": "http://c.com/y/z"}])
    assert add_features(Judgments.of(rows), ["url_depth"], documents=given).frame["url_depth"].to_list() == [0, 1, 2]


def test_queries_by_their_ids_are_texts_as_in_quepid_but_numbers_are_not() -> None:
    texts = Judgments.of({"star wars": {"d": 1}, "gps": {"d": 0}, "iphone 13 case": {"d": 1}})
    assert add_features(texts, ["query_length"]).frame["query_length"].to_list() == [2, 1, 3]
    with pytest.raises(
        BadInput, match="the feature query_length: expected the column text of queries, found no queries"
    ):
        add_features(Judgments.of({"q1": {"d": 1}, "q2": {"d": 1}}), ["query_length"])


def test_kinds_of_queries_and_of_their_subtopics() -> None:
    judgments = Judgments.of({"query": ["1", "2", "3"], "doc": ["d"] * 3, "label": [1] * 3})
    queries = Queries.of({"query": ["1", "2"], "kind": ["navigational", "informational"]})
    assert add_features(judgments, ["navigational"], queries=queries).frame["navigational"].to_list() == [
        "Nav",
        "nNav",
        None,
    ]
    by_topic = Judgments.of({"query": ["1", "1"], "doc": ["d"] * 2, "label": [1] * 2, "subtopic": ["a", "b"]})
    topics = {"query": ["1", "1"], "subtopic": ["a", "b"], "kind": ["nav", "inf"]}
    queries = Queries.of({"query": ["1"], "kind": ["faceted"]}, topics)
    assert add_features(by_topic, ["navigational"], queries=queries).frame["navigational"].to_list() == ["Nav", "nNav"]


def test_kinds_that_do_not_tell_navigational_queries_are_no_such_feature() -> None:
    judgments = Judgments.of({"1": {"d": 1}})
    with pytest.raises(BadInput, match="found only the kinds faceted"):
        add_features(judgments, ["navigational"], queries=Queries.of([{"query": "1", "kind": "faceted"}]))


def test_words_of_documents_and_ranks() -> None:
    judgments = Judgments.of({"q": {"a": 1, "b": 1, "c": 1, "d": 1}})
    documents = Documents.of({"doc": ["a", "b"], "text": ["one two  three", ""]})
    runs = Runs.of(
        {"system": ["x"] * 3 + ["y"], "query": ["q"] * 4, "doc": ["a", "b", "c", "c"], "score": [3.0, 2.0, 2.0, 9.0]}
    )
    added = add_features(judgments, ["document_length", "rank_shown"], documents=documents, runs=runs)
    assert added.frame["document_length"].to_list() == [3, None, None, None]
    # Of equal scores the larger id comes first, and c is first for y.
    assert added.frame["rank_shown"].to_list() == [1, 3, 1, None]
    assert "unknown features of 4 judgments: document_length in 3, rank_shown in 1" in added.notes
    shown = Judgments.of({"query": ["q"], "doc": ["a"], "label": [1], "rank": [4.0]})
    assert add_features(shown, ["rank_shown"]).frame["rank_shown"].to_list() == [4]


def test_whose_result_a_document_is() -> None:
    judgments = Judgments.of({"q": {"a": 1, "b": 1, "c": 1, "deep": 1, "never": 1}})
    x = [("x", "q", "a", 30.0), ("x", "q", "b", 20.0), *(("x", "q", f"filler{i}", 10.0 - i) for i in range(8))]
    y = [("y", "q", "b", 9.0), ("y", "q", "c", 8.0)]
    rows = [*x, ("x", "q", "deep", -99.0), *y]
    runs = Runs.of(pl.DataFrame(rows, schema=["system", "query", "doc", "score"], orient="row"))
    said = add_features(judgments, ["shown_by"], runs=runs).frame["shown_by"].to_list()
    assert said == ["x alone", "several systems", "y alone", None, None]
    one = Runs.of(runs.frame.filter(pl.col("system") == "x"))
    with pytest.raises(BadInput, match="expected runs of several systems, found runs of one system"):
        add_features(judgments, ["shown_by"], runs=one)


def test_without_names_all_that_can_be_made_is_made_and_the_rest_is_noted() -> None:
    added = add_features(Judgments.of({"17": {"http://a.com/b": 1}}))
    assert {"wikipedia", "root_url", "url_depth", "domain"} <= set(added.frame.columns)
    assert added.notes == (
        "features that cannot be made: query_in_url (no queries), query_length (no queries), "
        "navigational (no queries), document_length (no documents), query_in_title (no queries), "
        "query_in_text (no queries), text_topic (no documents), kinship (no runs), rank_shown (no runs), "
        "shown_by (no runs)",
    )


def test_a_lacking_column_is_named_with_its_remedy() -> None:
    with pytest.raises(BadInput) as error:
        add_features(Judgments.of({"1": {"d": 1}}), ["wikipedia"], documents=Documents.of([{"doc": "d", "title": "D"}]))
    assert str(error.value) == (
        "the feature wikipedia: expected the column url, found documents with doc, title; "
        "give documents with their url, or addresses as the documents' ids"
    )


def test_unknown_features_are_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"expected some of wikipedia, .*, or a column .*, found wikipdia"):
        add_features(Judgments.of({"1": {"d": 1}}), ["wikipdia"])


def test_a_column_that_is_there_is_kept() -> None:
    judgments = Judgments.of({"query": ["1"], "doc": ["http://a.com/"], "label": [1], "wikipedia": ["mine"]})
    added = add_features(judgments, ["wikipedia", "root_url"])
    assert added.frame.select("wikipedia", "root_url").row(0) == ("mine", "RU")
    assert "kept as the judgments have them: wikipedia" in added.notes


def test_every_feature_says_what_it_means() -> None:
    assert all(feature.about for feature in FEATURES.values())
    assert len(FEATURES) == 14
