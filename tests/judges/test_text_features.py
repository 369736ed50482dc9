"""Features of texts: the query's words, clusters, kinship; and a bias that nobody named."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat as kt
from karat.judges import add_features, find_bias
from karat.records import Documents, Queries

WORDS = {
    "boats": "sail mast keel rudder harbour anchor deck rope wind tide",
    "bread": "flour yeast dough oven crust loaf knead salt starter rise",
    "clocks": "spring gear pendulum dial hour wheel escapement brass weight chime",
}


def texts(rng: np.random.Generator, each: int = 40) -> Documents:
    rows = [
        {"doc": f"{topic}{n}", "title": f"{topic} {n}", "text": " ".join(rng.choice(words.split(), 30))}
        for topic, words in WORDS.items()
        for n in range(each)
    ]
    return Documents.of(pl.DataFrame(rows))


def test_words_of_the_query_in_title_and_text() -> None:
    labels = kt.Judgments.of({"q": {"a": 1, "b": 1}})
    titles = {"a": ("Old Clocks", "a clock"), "b": ("Clocks", "old")}
    documents = Documents.of([{"doc": doc, "title": title, "text": text} for doc, (title, text) in titles.items()])
    queries = Queries.of({"query": ["q"], "text": ["old clocks"]})
    found = add_features(labels, ["query_in_title", "query_in_text"], queries=queries, documents=documents).frame
    assert found.select("query_in_title", "query_in_text").rows() == [("QiT", 0), ("nQiT", 50)]


def test_clusters_are_the_topics_that_texts_are_about() -> None:
    rng = np.random.default_rng(0)
    documents = texts(rng)
    labels = kt.Judgments.of({"q": dict.fromkeys(documents.frame["doc"].to_list(), 1)})
    found = add_features(labels, ["text_topic"], documents=documents).frame
    named = found.with_columns(about=pl.col("doc").str.extract(r"([a-z]+)"))
    # Every cluster is of one topic, and its name is made of that topic's words.
    for topic, about in named.select("text_topic", "about").unique().iter_rows():
        assert set(topic.split(", ")) <= set(WORDS[about].split())


def test_few_texts_make_no_clusters() -> None:
    labels = kt.Judgments.of({"q": {"a": 1}})
    found = add_features(labels, ["text_topic"], documents=Documents.of([{"doc": "a", "text": "one text"}]))
    assert found.frame["text_topic"].to_list() == [None]


def test_a_bias_that_nobody_named_is_found_by_clusters_of_texts() -> None:
    rng = np.random.default_rng(1)
    documents = texts(rng)
    rows = []
    for place, doc in enumerate(documents.frame["doc"].to_list()):
        gold = int(rng.integers(0, 3))
        rows.append((f"q{place % 20}", doc, "gold", "gold", gold))
        for judge in range(3):
            label = gold + int(rng.integers(-1, 2)) + (1 if doc.startswith("bread") else 0)
            rows.append((f"q{place % 20}", doc, f"j{judge}", "crowd", int(np.clip(label, 0, 4))))
    labels = kt.Judgments.of(pl.DataFrame(rows, schema=["query", "doc", "judge", "group", "label"], orient="row"))
    found = find_bias(add_features(labels, ["text_topic"], documents=documents), judges="fixed")
    top = found.frame.filter(pl.col("found")).row(0, named=True)
    assert set(str(top["slice"]).split(", ")) & set(WORDS["bread"].split()), top
    assert "documents about" in found.finding


def test_a_judge_is_akin_to_the_system_whose_name_it_shares() -> None:
    rows = [{"query": "q", "doc": doc, "label": 1, "judge": "gpt-4o"} for doc in ("a", "b", "c")]
    runs = kt.Runs.of({"gpt-rerank": {"q": {"a": 2.0, "c": 1.0}}, "bm25": {"q": {"b": 2.0, "c": 1.0}}})
    found = add_features(kt.Judgments.of(rows), ["kinship"], runs=runs).frame
    assert found["kinship"].to_list() == ["Kin", "nKin", None]
