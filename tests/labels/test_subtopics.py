"""Each subtopic as a query of its own."""

from __future__ import annotations

import karat as kt
from karat.labels import one_subtopic_each


def test_a_document_of_no_subtopic_was_judged_for_all_of_them_and_is_relevant_to_none() -> None:
    rows = [
        {"query": "q", "subtopic": "1", "doc": "a", "label": 2},
        {"query": "q", "subtopic": "2", "doc": "b", "label": 1},
        {"query": "q", "subtopic": "0", "doc": "c", "label": 1},
        {"query": "q", "subtopic": "0", "doc": "spam", "label": -2},
        {"query": "q", "subtopic": "0", "doc": "a", "label": 0},
    ]
    labels, runs, table = one_subtopic_each(kt.Judgments.of(rows), kt.Runs.of({"q": {"c": 2.0, "a": 1.0}}))
    assert table["subtopic"].to_list() == ["1", "2"], "0 is no subtopic that anybody asked for"
    found = labels.frame.join(table.select(query="item", subtopic="subtopic"), on="query")
    said = {(row["subtopic"], row["doc"]): row["label"] for row in found.iter_rows(named=True)}
    assert said == {
        ("1", "a"): 2.0,
        ("2", "b"): 1.0,
        ("1", "c"): 0.0,
        ("2", "c"): 0.0,
        ("1", "spam"): -2.0,
        ("2", "spam"): -2.0,
        ("2", "a"): 0.0,
    }
    scores = kt.score(labels, runs, ["Judged@2", "P@1"], draws=0)
    assert scores.means["value"].to_list() == [1.0, 0.0], "both documents were judged, and the first serves neither"
