"""Labels and run in the order of pytrec_eval, which is not karat's: refused where it is certain, noted where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt

RNG = np.random.default_rng(0)
QRELS = {f"q{i}": {f"d{j}": int(RNG.integers(0, 3)) for j in range(12)} for i in range(8)}
RUN = {f"q{i}": {f"d{j}": float(RNG.normal(5, 2)) for j in range(20)} for i in range(8)}
NOTE = "the scores of the run look like labels and the labels like scores: are they swapped?"

queries = st.sampled_from(["q1", "q2", "q3"])
docs = st.sampled_from([f"d{i}" for i in range(12)])


def two_levels(values: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    return st.dictionaries(queries, st.dictionaries(docs, values, min_size=1), min_size=1).map(
        lambda d: {"q0": {"d0": 1.0}} | d
    )


def test_a_run_and_labels_swapped_are_refused() -> None:
    assert not any(NOTE in note for note in kt.score(RUN, QRELS, "nDCG@10").notes)
    with pytest.raises(kt.BadInput) as error:
        kt.score(QRELS, RUN, "nDCG@10")
    assert "kt.score takes the runs first, then the labels" in str(error.value)
    assert "kt.Runs.of" in str(error.value)


def test_who_says_which_is_which_is_believed() -> None:
    assert kt.score(kt.Runs.of(QRELS), kt.Judgments.of(RUN), "nDCG@10").systems == ["run"]


def test_a_handful_of_numbers_is_no_proof_but_noted() -> None:
    labels, run = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}, {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
    assert any(NOTE in note for note in kt.score(labels, run, "nDCG@10").notes)
    assert not any(NOTE in note for note in kt.score(run, labels, "nDCG@10").notes)


def test_ranks_as_scores_with_labels_between_the_grades_are_taken() -> None:
    top5 = {query: {doc: 5 - place for place, doc in enumerate(list(docs)[:5])} for query, docs in RUN.items()}
    assert kt.score(top5, RUN, "P@5").systems == ["run"]


def test_averages_of_judges_are_labels() -> None:
    averages = {query: {doc: label / 3 for doc, label in docs.items()} for query, docs in QRELS.items()}
    matched_words = {query: {doc: int(RNG.integers(0, 4)) for doc in docs} for query, docs in RUN.items()}
    assert not any(NOTE in note for note in kt.score(matched_words, averages, "P@5").notes)


@settings(deadline=None, max_examples=80)
@given(run=two_levels(st.integers(-50, 50)), labels=two_levels(st.integers(-2, 4)))
def test_runs_with_whole_scores_are_never_refused_with_whole_labels(
    run: dict[str, dict[str, float]], labels: dict[str, dict[str, float]]
) -> None:
    assert not any(NOTE in note for note in kt.score(run, labels, "P@5", draws=0).notes)


@settings(deadline=None, max_examples=80)
@given(
    run=two_levels(st.integers(0, 1000)), labels=two_levels(st.sampled_from([0, 1 / 3, 0.5, 2 / 3, 1, 4 / 3, 5 / 3, 2]))
)
def test_runs_with_whole_scores_are_never_refused_with_labels_of_few_values(
    run: dict[str, dict[str, float]], labels: dict[str, dict[str, float]]
) -> None:
    assert kt.score(run, labels, "P@5", draws=0).systems == ["run"]


@settings(deadline=None, max_examples=80)
@given(run=two_levels(st.floats(0, 100)), labels=two_levels(st.floats(0, 4)))
def test_runs_with_real_scores_are_taken_with_any_labels(
    run: dict[str, dict[str, float]], labels: dict[str, dict[str, float]]
) -> None:
    run = {"q9": {"x": 0.125}} | run
    assert kt.score(run, labels, "P@5", draws=0).systems == ["run"]


def test_labels_in_place_of_the_runs_of_several_systems_are_refused() -> None:
    with pytest.raises(kt.BadInput, match=r"kt.compare takes the runs first, then the labels"):
        kt.compare(QRELS, {"a": RUN, "b": RUN}, "P@10")
    with pytest.raises(kt.BadInput, match=r"kt.compare takes the runs first, then the labels"):
        kt.compare(kt.Judgments.of(QRELS), kt.Runs.of(RUN), "P@10")
    with pytest.raises(kt.BadInput, match=r"kt.score takes the runs first, then the labels"):
        kt.score(QRELS, {"a": RUN, "b": RUN}, "P@10")
