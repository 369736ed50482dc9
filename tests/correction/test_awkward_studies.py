"""Studies that once gave a wrong number or a crash: each is small enough to check by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import polars as pl
import pytest

import karat as kt


def values(run: object, labels: object, *measures: str, profile: str = "trec_eval") -> list[float]:
    return kt.score(labels, run, list(measures), profile=profile, draws=0).means["value"].to_list()


def test_several_systems_may_come_as_a_dictionary() -> None:
    run = {"q": {"a": 1.0, "b": 2.0}}
    scores = kt.score({"q": {"a": 1}}, {"one": run, "two": {"q": {"a": 1.0}}}, "RR", draws=0)
    assert dict(scores.means.select("system", "value").rows()) == {"one": 0.5, "two": 1.0}


def test_labels_come_first_and_paths_are_read_first() -> None:
    with pytest.raises(kt.BadInput, match="labels come first, then the runs"):
        kt.score({"q": {"a": 1.0}}, kt.Judgments.of({"q": {"a": 1}}))
    with pytest.raises(kt.BadInput, match="read it with kt"):
        kt.score({"q": {"a": 1}}, "run.txt")
    with pytest.raises(kt.BadInput, match='expected a number as label, found "good"'):
        kt.score({"q": {"a": "good"}}, {"q": {"a": 1.0}})


def test_labels_too_large_for_exponential_gains_are_refused() -> None:
    for measure in ("nDCG(gains=exp)", "ERR"):
        with pytest.raises(kt.BadInput, match="up to 1000"):
            values({"q": {"a": 1.0}}, {"q": {"a": 2000}}, measure)


def test_labels_that_nothing_counts_as_relevant_are_said() -> None:
    notes = kt.score({"q": {"a": 0.5}}, {"q": {"a": 1.0}}, ["P@1", "nDCG"], draws=0).notes
    assert "run: no label reaches what P@1 count as relevant (the highest is 0.5): set rel" in notes


def test_weights_must_be_there_and_above_zero() -> None:
    labels = [{"query": "q", "doc": "a", "subtopic": "1", "label": 1}]
    for subtopic, said in (
        ({"weight": 0.0}, "expected some above 0"),
        ({"description": "x"}, "expected a column weight"),
    ):
        queries = kt.Queries.of([{"query": "q"}], [{"query": "q", "subtopic": "1", **subtopic}])
        with pytest.raises(kt.BadInput, match=said):
            kt.score(labels, {"q": {"a": 1.0}}, "P_IA@1", weights=queries)


def test_an_undefined_measure_leaves_the_intervals_of_others_alone() -> None:
    labels = {f"q{i}": {"d1": 1 if i % 3 else 0, "d2": 0} for i in range(12)}
    run = {f"q{i}": {"d1": 1.0 - 2 * (i % 2), "d2": 0.5} for i in range(12)}
    beside = kt.score(labels, run, ["nNRBP", "P@1"]).means.row(1, named=True)
    alone = kt.score(labels, run, ["P@1"]).means.row(0, named=True)
    assert (beside["low"], beside["high"]) == (alone["low"], alone["high"])
    assert beside["low"] < beside["high"]


def test_late_rows_keep_their_types_and_columns() -> None:
    labels = {"q1": {f"d{i}": 0 for i in range(150)}, "q2": {"a": 1.7}}
    assert kt.Judgments.of(labels).frame["label"][-1] == 1.7
    run = {"q1": {f"d{i}": 200 - i for i in range(150)}, "q2": {"a": 2.5, "b": 2.6}}
    assert kt.Runs.of(run).frame["score"].to_list()[-2:] == [2.5, 2.6]
    rows = [{"query": "q", "doc": f"d{i}", "label": 0} for i in range(120)]
    late = kt.Judgments.of([*rows, {"query": "q", "doc": "z", "label": 0.5, "subtopic": "1"}])
    assert late.frame.row(-1, named=True) == {"query": "q", "doc": "z", "label": 0.5, "subtopic": "1"}


def test_an_empty_context_is_none() -> None:
    rows = [{"query": "q", "doc": d, "label": n, "context": ""} for d, n in (("a", 1), ("b", 2))]
    assert values({"q": {"a": 2.0, "b": 1.0}}, rows, "CG") == [3.0]


def test_judgments_without_a_subtopic_are_no_subtopic_beside_others() -> None:
    rows = [{"query": "q", "doc": "a", "label": 1, "subtopic": s} for s in ("0", None)]
    assert values({"q": {"a": 3.0}}, rows, "P_IA@1", "AP_IA", "alpha_nDCG@1") == [1.0, 1.0, 1.0]


def test_ranks_must_be_whole_and_complete() -> None:
    rows = [{"query": "q", "doc": "a", "rank": 1, "score": 1.0}, {"query": "q", "doc": "b", "rank": None, "score": 2.0}]
    with pytest.raises(kt.BadInput, match="row 2: expected a whole number as rank, found nothing"):
        kt.Runs.of(rows)
    with pytest.raises(kt.BadInput, match=r'expected a whole number as rank, found "1\.5"'):
        kt.Runs.of([{"query": "q", "doc": "a", "rank": 1.5}])


def test_a_row_without_system_is_refused() -> None:
    rows = [{"system": s, "query": "q", "doc": d, "score": 1.0} for s, d in (("A", "a"), (None, "b"))]
    with pytest.raises(kt.BadInput, match="row 2: expected a text as system"):
        kt.Runs.of(rows)


def test_gains_of_grades_below_zero_are_the_same_everywhere() -> None:
    labels, run = {"q": {"a": -2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    table = "gains={0:0.5,1:1}"
    assert values(run, labels, f"DCG({table})", f"CG({table})") == pytest.approx([1 / log2(3), 1.0])
    assert values(run, labels, f"nDCG({table})") == pytest.approx([1 / log2(3)])


def test_weights_for_other_subtopics_are_refused() -> None:
    labels = [{"query": "q", "doc": "a", "subtopic": "1", "label": 1}]
    for weights, said in (
        ([{"query": "q", "subtopic": "01", "weight": 1.0}], "a weight for subtopic 1 of query q"),
        ([{"query": "q", "subtopic": "1", "weight": 1.0}] * 2, "expected each subtopic once"),
    ):
        with pytest.raises(kt.BadInput, match=said):
            kt.score(labels, {"q": {"a": 1.0}}, "P_IA@1", weights=kt.Queries.of([{"query": "q"}], weights))


def test_err_of_labels_below_zero_is_zero() -> None:
    assert values({"q": {"d": 1.0}}, {"q": {"d": -1}}, "ERR@5", "ERR") == [0.0, 0.0]


def test_subtopics_and_context_go_together() -> None:
    rows = [
        {"query": "q", "doc": "a", "label": 1, "subtopic": "1", "context": None},
        {"query": "q", "doc": "b", "label": 1, "subtopic": "1", "context": None},
        {"query": "q", "doc": "b", "label": 0.5, "subtopic": "1", "context": "a"},
        {"query": "q", "doc": "b", "label": 0, "subtopic": "2", "context": "a"},
    ]
    assert values({"q": {"a": 2.0, "b": 1.0}}, rows, "CG(context=1)") == [1.5]


def test_a_system_without_judged_queries_is_said_not_lost() -> None:
    frame = pl.DataFrame({"system": ["A", "B"], "query": ["q", "x"], "doc": ["d", "d"], "score": [1.0, 1.0]})
    scores = kt.score({"q": {"d": 1}}, frame, "P@1", draws=0)
    assert scores.means["system"].to_list() == ["A", "B"]
    assert np.isnan(scores.means["value"][1])
    assert scores.means["n"].to_list() == [1, 0]
    assert any(note.startswith("B: 1 judged query of 1 not in the run") for note in scores.notes)
    complete = kt.score({"q": {"d": 1}}, frame, "P@1", draws=0, complete=True)
    assert complete.means["value"].to_list() == [1.0, 0.0]


def test_a_judge_has_one_vote_for_a_label() -> None:
    rows = [{"query": "q", "doc": "d", "label": n, "judge": j} for n, j in ((2, "a"), (2, "a"), (0, "b"))]
    one = kt.consensus(rows)
    assert one.frame["label"].to_list() == [0.0]
    assert "1 label repeated by the same judge: the first counts" in one.notes


def test_the_order_of_rows_changes_no_interval() -> None:
    rng = np.random.default_rng(1)
    labels = {f"q{i}": {f"d{j}": int(rng.integers(0, 2)) for j in range(9)} for i in range(15)}
    run = {f"q{i}": {f"d{j}": float(rng.random()) for j in range(9)} for i in range(15)}
    backwards = {q: dict(reversed(docs.items())) for q, docs in reversed(run.items())}
    there, back = kt.score(labels, run, ["nDCG@5", "AP"]), kt.score(labels, backwards, ["nDCG@5", "AP"])
    assert there.means.equals(back.means)


def test_scores_too_large_for_32_bits_are_ordered_without_a_warning() -> None:
    assert values({"q": {"a": 1e300, "b": 1.0}}, {"q": {"a": 1}}, "RR", profile="trec_eval9") == [1.0]


def test_means_of_few_queries_have_no_interval_and_say_so() -> None:
    labels, run = {f"q{i}": {"d": 1} for i in range(4)}, {f"q{i}": {"d" if i else "e": 1.0} for i in range(4)}
    scores = kt.score(labels, run, "P@1")
    assert np.isnan(scores.means["low"][0])
    assert "no interval for a mean of fewer than 5 queries: too few to tell" in scores.notes


@pytest.mark.parametrize(
    ("option", "said"), [({"seed": -1}, "a whole number from 0"), ({"draws": 10.5}, "0 draws, or 100 or more")]
)
def test_draws_and_seed_are_whole_numbers(option: dict[str, int], said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.score({"q": {"d": 1}}, {"q": {"d": 1.0}}, "P@1", **option)
