"""Which labels score a list: per query, and never those of another question."""

import pytest

import karat as kt

RUN = kt.Runs.of({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}})
PLAIN = {"query": "q1", "doc": "a", "label": 1, "judge": "x"}


@pytest.mark.parametrize("more", [{"context": "z"}, {"surface": "snippet"}, {"aspect": "novelty"}])
def test_a_query_with_labels_of_another_question_only_is_not_judged(more: dict[str, str]) -> None:
    labels = kt.Judgments.of([PLAIN, {**PLAIN, "query": "q2", **more}])
    (row,) = kt.score(labels, RUN, ["RR"], draws=0).to_frame().iter_rows(named=True)
    assert (row["value"], row["n"]) == (1.0, 1)


def test_a_query_that_was_judged_by_subtopics_only_has_its_highest_label_of_them() -> None:
    labels = kt.Judgments.of([PLAIN, {**PLAIN, "query": "q2", "subtopic": "1"}])
    (row,) = kt.score(labels, RUN, ["RR"], draws=0).to_frame().iter_rows(named=True)
    assert (row["value"], row["n"]) == (1.0, 2)


def test_labels_in_context_alone_score_nothing_that_reads_documents_alone() -> None:
    labels = kt.Judgments.of([{**PLAIN, "context": "z"}])
    with pytest.raises(kt.BadInput, match="only labels given after another document"):
        kt.score(labels, RUN, ["RR"], draws=0)
    assert kt.score(labels, RUN, ["CCG(context=0.5)@2"], draws=0)


def test_gold_that_begins_elsewhere_is_refused_everywhere() -> None:
    labels = {f"q{n}": {"a": n % 2, "b": 0} for n in range(20)}
    gold = {f"q{n}": {"a": 2 + n % 2, "b": 3} for n in range(20)}
    runs = {name: {f"q{n}": {"a": a, "b": 1.5} for n in range(20)} for name, a in (("one", 1.0), ("two", 2.0))}
    for analysis in (kt.compare, kt.score):
        with pytest.raises(kt.BadInput, match=r"begin where the labels do \(0 to 1\), found 2 to 3"):
            analysis(labels, runs, "P@1", gold=gold)
