"""The task file: every question as often as asked for, a trap in every block, sides by lot, nothing twice a round."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt
from karat.errors import BadInput, Undefined
from karat.plan import comparison_tasks
from karat.records import Judgments, Preferences, Queries, Runs
from karat.simulate import preference_study

STUDY = preference_study(queries=12, systems=4, subtopics=3, judges=1, seed=3)
PAIRS = pl.DataFrame(
    {"query": [f"q{n:02}" for n in range(1, 11)], "a": ["s1"] * 10, "b": ["s2", "s3", "s4", "s2", "s3"] * 2}
)


def tasks(**options: object) -> pl.DataFrame:
    return comparison_tasks(PAIRS, STUDY.judgments, STUDY.runs, **options).frame  # type: ignore[arg-type]


def test_every_pair_is_shown_for_every_subtopic_to_so_many_judges_once_a_round() -> None:
    frame = tasks(judges=8).filter(~pl.col("trap"))
    assert frame.height == 10 * 3 * 8
    question = [
        pl.col("query"),
        pl.col("subtopic"),
        pl.min_horizontal("left", "right").alias("a"),
        pl.max_horizontal("left", "right").alias("b"),
    ]
    asked = frame.group_by(question).agg(pl.len(), rounds=pl.col("round").n_unique())
    assert asked.height == 30
    assert (asked["len"] == 8).all()
    assert (asked["rounds"] == 8).all()


def test_blocks_of_five_have_one_trap_each_at_any_place() -> None:
    frame = tasks(judges=20)
    blocks = frame.group_by("block").agg(pl.len(), traps=pl.col("trap").sum(), rounds=pl.col("round").n_unique())
    assert (blocks["traps"] == 1).all()
    assert (blocks["rounds"] == 1).all()
    assert blocks["len"].max() == 5
    assert (blocks["len"] == 5).sum() >= 20 * 7
    assert set(frame.filter("trap")["place"]) == {1, 2, 3, 4, 5}
    assert frame["task"].n_unique() == frame.height


def test_a_trap_sets_a_list_with_something_relevant_against_one_of_another_query() -> None:
    traps = tasks(judges=20).filter("trap")
    relevant = {
        (q, s, d)
        for q, s, d, label in STUDY.judgments.frame.select("query", "subtopic", "doc", "label").iter_rows()
        if label >= 1
    }
    for row in traps.iter_rows(named=True):
        good = row["expected"]
        bad = {"left": "right", "right": "left"}[good]
        assert row[f"{good}_query"] == row["query"] != row[f"{bad}_query"]
        assert row["left"] != row["right"]
        assert any((row["query"], row["subtopic"], doc) in relevant for doc in row[f"{good}_docs"])
        assert not any((row["query"], row["subtopic"], doc) in relevant for doc in row[f"{bad}_docs"])
    assert 0.3 < (traps["expected"] == "left").mean() < 0.7


def test_traps_show_lists_for_queries_that_nobody_is_asked_about() -> None:
    """Whoever is asked about both queries would see a list twice: 2 of the 12 queries are in no pair."""
    traps = tasks(judges=20).filter("trap")
    wrong = traps.select(pl.when(pl.col("expected") == "left").then("right_query").otherwise("left_query")).to_series()
    assert set(wrong) == {"q11", "q12"}


def test_sides_are_drawn_by_lot_and_the_lists_go_with_them() -> None:
    frame = tasks(judges=20).filter(~pl.col("trap"))
    assert 0.4 < (frame["left"] == "s1").mean() < 0.6
    best = {
        (s, q): docs
        for s, q, docs in STUDY.runs.frame.sort("score", descending=True)
        .group_by("system", "query", maintain_order=True)
        .agg(pl.col("doc").head(10))
        .iter_rows()
    }
    for row in frame.head(40).iter_rows(named=True):
        assert row["left_docs"] == best[row["left"], row["query"]]
        assert row["right_docs"] == best[row["right"], row["query"]]


def test_answers_to_the_tasks_are_preferences() -> None:
    frame = tasks(judges=2).with_columns(choice=pl.coalesce("expected", pl.lit("equal")), judge=pl.lit("ann"))
    kept = kt.users.trusted(Preferences.of(frame.drop("left_docs", "right_docs")))
    assert len(kept) == 60


def test_without_traps_or_subtopics_or_with_texts() -> None:
    frame = tasks(judges=1, traps=False, block=7)
    assert not frame["trap"].any()
    assert frame.group_by("block").len()["len"].max() == 7
    plain = Judgments(STUDY.judgments.frame.drop("subtopic").unique(["query", "doc"]), (), STUDY.judgments.scale)
    single = comparison_tasks(PAIRS, plain, STUDY.runs, judges=3).frame
    assert single.filter(~pl.col("trap")).height == 30
    assert single["subtopic"].is_null().all()
    texts = Queries.of(
        {"query": PAIRS["query"], "text": ["words"] * 10},
        subtopics={"query": ["q01"], "subtopic": ["1"], "description": ["find it"]},
    )
    told = comparison_tasks(PAIRS, STUDY.judgments, STUDY.runs, queries=texts, judges=1).frame
    assert told.filter(~pl.col("trap") & (pl.col("query") == "q01"))["description"].to_list() == ["find it"]
    assert (told["text"] == "words").all()


def test_the_same_seed_gives_the_same_file() -> None:
    assert tasks(seed=5).equals(tasks(seed=5))
    assert not tasks(seed=5).equals(tasks(seed=6))


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(BadInput):
        tasks(block=1)
    with pytest.raises(Undefined, match="no pair is left"):
        comparison_tasks(PAIRS.clear(), STUDY.judgments, STUDY.runs)
    nothing = Judgments.of({"q01": {"x": 0}})
    with pytest.raises(Undefined, match="traps cannot be built"):
        comparison_tasks(PAIRS.head(1), nothing, STUDY.runs)
    one_query = Runs(STUDY.runs.frame.filter(pl.col("query") == "q01"))
    with pytest.raises(Undefined, match="leave traps out"):
        comparison_tasks(PAIRS.head(1), STUDY.judgments, one_query)


def test_the_web_tracks_topics_bring_texts_and_descriptions(web2010: Path) -> None:
    labels = kt.read_judgments(str(web2010 / "10.diversity-qrels.final.txt.gz"))
    run = kt.read_runs(str(web2010 / "indri.run.gz")).frame
    runs = Runs.of(
        pl.concat([run.with_columns(system=pl.lit("a")), run.with_columns(system=pl.lit("b"), score=-pl.col("score"))])
    )
    pairs = pl.DataFrame({"query": ["51", "52"], "a": ["a", "a"], "b": ["b", "b"]})
    queries = kt.read_queries(str(web2010 / "wt2010-topics.xml"))
    frame = comparison_tasks(pairs, labels, runs, queries=queries, judges=2).frame
    hooves = frame.filter((pl.col("query") == "51") & ~pl.col("trap"))
    assert set(hooves["text"]) == {"horse hooves"}
    assert "Find pictures of horse hooves." in hooves["description"].to_list()
    assert hooves.height == 2 * queries.subtopics.filter(pl.col("query") == "51").height


def test_nobody_is_asked_about_a_subtopic_that_no_document_serves() -> None:
    """Subtopic 1 has a relevant document; 0 is TREC's "of none"; 2 has documents, all of them bad."""
    labels = [
        {"query": "q", "doc": "d", "subtopic": subtopic, "label": label}
        for subtopic, label in (("0", 1), ("1", 1), ("2", 0))
    ]
    runs = {system: {"q": {"d": 2.0, "e": score}} for system, score in (("x", 1.0), ("y", 3.0))}
    pair = pl.DataFrame({"query": ["q"], "a": ["x"], "b": ["y"]})
    found = comparison_tasks(pair, labels, runs, judges=2, traps=False)
    assert found.frame["subtopic"].to_list() == ["1", "1"]
    assert found.notes == ("1 subtopic without a relevant document in the labels left out (1 of 2 questions)",)
    bad = [row for row in labels if row["subtopic"] == "2"]
    with pytest.raises(Undefined, match="no question is left to be asked: 1 subtopic without a relevant document"):
        comparison_tasks(pair, bad, runs, traps=False)


@pytest.mark.parametrize("with_topics", [False, True])
def test_the_web_tracks_labels_ask_about_subtopics_that_something_serves(web2010: Path, with_topics: bool) -> None:
    """By awk: of 200 subtopics in the labels, all have a relevant one; their topics name 10 more that have none."""
    labels = kt.read_judgments(str(web2010 / "10.diversity-qrels.final.txt.gz"))
    served = {(q, s) for q, s, label in labels.frame.select("query", "subtopic", "label").iter_rows() if label > 0}
    served -= {(q, s) for q, s in served if s == "0"}
    run = kt.read_runs(str(web2010 / "indri.run.gz")).frame
    runs = Runs.of(
        pl.concat([run.with_columns(system=pl.lit("a")), run.with_columns(system=pl.lit("b"), score=-pl.col("score"))])
    )
    queries = kt.read_queries(str(web2010 / "wt2010-topics.xml")) if with_topics else None
    pairs = labels.frame.select("query").unique().sort("query").with_columns(a=pl.lit("a"), b=pl.lit("b"))
    found = comparison_tasks(pairs, labels, runs, queries=queries, judges=1)
    assert {*found.frame.select("query", "subtopic").iter_rows()} == served
    assert len(served) == 200
    said = [note for note in found.notes if "without a relevant document in the labels left out" in note]
    assert [note.split()[0] for note in said] == (["10"] if with_topics else [])
