"""What users were asked and shown: one subtopic with its own labels, and no further than they saw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.errors import BadInput
from karat.records import Judgments, Preferences, Runs
from karat.users import agreement, fit_measure, preference_curves

#: Document 1 serves subtopic 1, document 2 serves subtopic 2; x has the first on top, y the second.
LABELS = [{"query": "q", "subtopic": s, "doc": d, "label": float(s == d)} for s in "12" for d in "12"]
RUNS = {"x": {"q": {"1": 2.0, "2": 1.0}}, "y": {"q": {"2": 2.0, "1": 1.0}}}
SAID = [
    {"query": "q", "subtopic": s, "left": "x", "right": "y", "choice": c} for s, c in (("1", "left"), ("2", "right"))
]


def test_who_was_asked_about_a_subtopic_is_compared_with_its_labels() -> None:
    """By hand: RR of subtopic 1 is 1 for x and 1/2 for y, and users prefer x; of subtopic 2 the other way round. Merged
    to the highest label both lists are relevant on top: a tie, which is what the default said before."""
    found = agreement(SAID, LABELS, RUNS, ["RR@10"], draws=0)
    assert found.frame.select("agree", "disagree", "ties", "n").row(0) == (2, 0, 0, 2)
    assert any("by subtopic" in note for note in found.notes)
    merged = agreement(SAID, LABELS, RUNS, ["RR@10"], by="query", draws=0)
    assert merged.frame.select("agree", "disagree", "ties").row(0) == (0, 0, 1)
    assert any("RR@10: a document has its highest label for any subtopic (by query)" in note for note in merged.notes)


def test_measures_of_diversity_are_of_whole_queries_and_others_beside_them_are_said_to_be_merged() -> None:
    alone = agreement(SAID, LABELS, RUNS, ["alpha_nDCG@10"], draws=0)
    assert alone.frame["ties"].to_list() == [1]
    assert not any("highest label" in note for note in alone.notes)
    both = agreement(SAID, LABELS, RUNS, ["alpha_nDCG@10", "RR@10"], draws=0)
    assert any(
        "RR@10: a document has its highest label for any subtopic (by query, as alpha_nDCG@10 is of whole" in note
        for note in both.notes
    )


def test_without_subtopics_on_either_side_a_pair_is_of_a_query() -> None:
    bare = [{name: value for name, value in row.items() if name != "subtopic"} for row in SAID]
    assert "subtopic" not in " ".join(agreement(bare, {"q": {"1": 1, "2": 0}}, RUNS, ["RR@10"], draws=0).notes)


def many(queries: int = 24) -> tuple[list[dict[str, Any]], Runs, Judgments]:
    said = [row | {"query": f"q{n}"} for n in range(queries) for row in SAID]
    runs = {system: {f"q{n}": lists["q"] for n in range(queries)} for system, lists in RUNS.items()}
    return said, Runs.of(runs), Judgments.of([row | {"query": f"q{n}"} for n in range(queries) for row in LABELS])


def test_curves_and_fits_look_at_subtopics_too() -> None:
    """Merged, every pair ties and nothing can be told; by subtopic the measure says what users say: kappa 1."""
    said, runs, labels = many()
    curves = preference_curves(said, labels, runs, ["DCG@5"], tie_shares=(0.0,), conditions={}, draws=0)
    assert (curves.frame["kappa"][0], curves.frame["n"][0]) == (1.0, 48)
    merged = preference_curves(said, labels, runs, ["DCG@5"], tie_shares=(0.0,), conditions={}, by="query", draws=0)
    assert (np.isnan(merged.frame["kappa"][0]), merged.frame["n"][0]) == (True, 24)
    assert any("highest label" in note for note in merged.notes)
    fitted = fit_measure(said, labels, runs, "RBP(p=0.8)@10", {"p": [0.5, 0.8]}, draws=0)
    assert fitted.held_out["agreement"][0] == 1.0
    assert any("by subtopic" in note for note in fitted.notes)


def long_lists(**shown: Any) -> tuple[list[dict[str, Any]], Runs, Judgments]:
    """Both lists have twelve documents, the only relevant one at rank 11 and 12."""
    order = [f"d{n}" for n in range(1, 11)]
    lists = {"x": [*order, "good", "bad"], "y": [*order, "bad", "good"]}
    runs = {system: {"q": {doc: 20.0 - n for n, doc in enumerate(docs)}} for system, docs in lists.items()}
    said = [{"query": "q", "left": "x", "right": "y", "choice": "left"} | shown]
    return said, Runs.of(runs), Judgments.of({"q": {"good": 1, "bad": 0}})


def test_measures_that_look_below_what_users_saw_are_named() -> None:
    said, runs, labels = long_lists()
    found = agreement(said, labels, runs, ["RR", "P@5", "RR@10", "nDCG@20"], draws=0)
    note = "users saw 10 results of a list, and RR, nDCG@20 look further down: what stands below counts for none"
    assert note in found.notes
    assert not any("saw" in note for note in agreement(said, labels, runs, ["RR", "nDCG@20"], depth=12, draws=0).notes)


@pytest.mark.parametrize("docs", [["d1", "d2", "d3"], "d1 d2 d3"])
def test_the_lists_that_came_with_the_answers_say_how_much_was_shown(docs: Any) -> None:
    said, runs, labels = long_lists(left_docs=docs, right_docs=docs)
    found = agreement(said, labels, runs, ["P@5", "P@3"], draws=0)
    assert "users saw 3 results of a list, and P@5 look further down: what stands below counts for none" in found.notes
    with pytest.raises(BadInput, match="1 result of a list or more"):
        agreement(said, labels, runs, ["P@5"], depth=0, draws=0)


def test_a_measure_that_has_no_pair_left_is_called_neither_worse_nor_better() -> None:
    """P@2 ties in all twelve pairs, RR agrees in all: what P@2 would say of others is not known."""
    queries = [f"q{n}" for n in range(12)]
    runs = {
        "x": {q: {"good": 2.0, "bad": 1.0} for q in queries},
        "y": {q: {"bad": 2.0, "good": 1.0} for q in queries},
    }
    labels = {q: {"good": 1, "bad": 0} for q in queries}
    said = Preferences.of([{"query": q, "left": "x", "right": "y", "choice": "left"} for q in queries])
    found = agreement(said, labels, runs, ["P@2", "RR"], seed=1)
    row = found.between_measures.row(0, named=True)
    assert row["better"] is None
    assert row["n"] == 0
    assert np.isnan(row["p_adjusted"])
    assert "none of 2 measures is shown to agree better than another" in found.finding
    assert "P@2 tells no two systems of a pair apart: whether it agrees with users cannot be told" in found.notes


def test_a_measure_that_has_no_pair_left_is_not_the_best_when_others_go_against_users() -> None:
    runs = {"x": {"q": {"good": 2.0, "bad": 1.0}}, "y": {"q": {"bad": 2.0, "good": 1.0}}}
    said = [{"query": "q", "left": "x", "right": "y", "choice": "right"}]
    found = agreement(said, {"q": {"good": 1, "bad": 0}}, runs, ["P@2", "RR"], draws=0)
    assert found.finding.startswith("RR agrees with users in 0 % of 1 pair")


def test_what_users_did_not_see_counts_for_no_measure() -> None:
    """A has its relevant result at rank 1, B three below the five that users saw, and users prefer A."""
    from karat.users import agreement

    docs = [f"n{n}" for n in range(4)]
    one = ["r1", *docs, "x1", "x2", "x3"]
    two = [*docs, "n4", "r1", "r2", "r3"]
    runs = {
        name: {f"q{q}": {doc: 100.0 - place for place, doc in enumerate(order)} for q in range(10)}
        for name, order in (("A", one), ("B", two))
    }
    labels = {f"q{q}": {"r1": 1, "r2": 1, "r3": 1} for q in range(10)}
    said = [{"query": f"q{q}", "left": "A", "right": "B", "choice": "left"} for q in range(10)]
    found = agreement(said, labels, runs, ["P@10", "P@5"], depth=5, draws=0).frame
    assert found["agree"].to_list() == [10, 10]
