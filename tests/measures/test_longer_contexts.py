"""Labels given after several documents: a list that has them above counts them, the longest that fits first."""

from __future__ import annotations

import karat as kt
from karat.context.grade_change import mean_change

RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
ALONE = [{"query": "q", "doc": doc, "label": 2} for doc in "abcd"]


def cg(*given: tuple[str, str, int]) -> float:
    rows = [*ALONE, *({"query": "q", "doc": doc, "context": before, "label": label} for doc, before, label in given)]
    return float(kt.score(rows, RUN, "CG(context=1)@4", draws=0).means["value"][0])


def test_a_longer_context_counts_where_the_list_has_it() -> None:
    assert cg(("b", "a", 0)) == 6.0
    assert cg(("c", '["a", "b"]', 0)) == 6.0
    # In another order, or with another document between, it is not what was read.
    assert cg(("c", '["b", "a"]', 0)) == 8.0
    assert cg(("d", '["a", "c"]', 0)) == 8.0
    assert cg(("b", '["x", "a"]', 0)) == 8.0
    # Of two labels that fit, the one that knows more of what was read stands.
    assert cg(("c", "b", 1), ("c", '["a", "b"]', 0)) == 6.0
    assert cg(("c", "b", 1), ("c", '["x", "b"]', 0)) == 7.0
    assert cg(("d", '["a", "b", "c"]', 1)) == 7.0
    # One document in a list is the document.
    assert cg(("b", '["a"]', 0)) == 6.0


def test_they_stay_among_labels_in_context_and_teach_no_model() -> None:
    rows = [*ALONE, {"query": "q", "doc": "c", "context": '["a", "b"]', "label": 0}]
    made = kt.label_in_context(rows, RUN)
    assert made.frame.filter(made.frame["context"] == '["a", "b"]').select("doc", "label", "source").rows() == [
        ("c", 0.0, "judged")
    ]
    assert any("1 label given after several documents" in note for note in made.notes)
    # The made label of c after b is its own grade; what was judged after both stands.
    assert kt.score(made, RUN, "CG(context=1)@4", draws=0).means["value"][0] == 6.0


def test_the_change_is_told_by_how_many_were_read_before() -> None:
    rows = [
        {"query": f"q{n}", "doc": "d", "context": before, "label": label}
        for n in range(6)
        for before, label in ((None, 3), ("a", 2), ('["a", "b"]', 1))
    ]
    found = mean_change(rows, "documents_before").frame
    assert found.select("documents_before", "change", "n").rows() == [("1", -1.0, 6), ("2", -2.0, 6)]
