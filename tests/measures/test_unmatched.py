"""Queries that labels and runs spell in two ways: the ids are shown and the cause is guessed."""

from __future__ import annotations

import pytest

import karat as kt


def labels_of(queries: list[str]) -> dict[str, dict[str, int]]:
    return {query: {"a": 1, "b": 0} for query in queries}


def run_of(queries: list[str]) -> dict[str, dict[str, float]]:
    return {query: {"a": 2.5, "b": 1.5} for query in queries}


@pytest.mark.parametrize(
    ("labels", "run", "cause"),
    [
        (["01", "02", "03", "04"], ["1", "2", "3", "4"], "leading zeros"),
        (["q01", "q02"], ["q1", "q2"], "leading zeros"),
        (["Apple", "Pear"], ["apple", "pear"], "capital letters"),
        (["x ", "y "], ["x", "y"], "spaces"),
        (["1", "2"], ["1.0", "2.0"], "a .0 at the end"),
        (["Q01", "Q02"], ["q1", "q2"], "leading zeros and capital letters"),
        (["topic-51", "topic-52"], ["51", "52"], 'the prefix "topic-" in the labels'),
        (["51.html", "52.html"], ["51", "52"], 'the suffix ".html" in the labels'),
        (["topic-51", "topic-52"], ["q51", "q52"], "what stands around the number"),
    ],
)
def test_no_query_in_common_shows_ids_of_both_and_the_likely_cause(
    labels: list[str], run: list[str], cause: str
) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.score(labels_of(labels), run_of(run), "P@1")
    said = str(error.value)
    shown = ", ".join(run[:3]), ", ".join(f'"{q}"' if q.strip() != q else q for q in labels[:3])
    assert f"expected queries in common, found none (the run has {shown[0]}" in said
    assert f"the labels {shown[1]}" in said
    assert f"they differ by {cause}" in said


def test_ids_that_have_nothing_to_do_with_each_other_get_no_guess() -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.score(labels_of(["shoes", "hats"]), run_of(["x1", "x2"]), "P@1")
    assert "differ" not in str(error.value)
    assert "(the run has x1, x2, the labels shoes, hats)" in str(error.value)


def test_a_few_in_common_get_a_note_with_ids_and_cause() -> None:
    labels, run = [f"{n:02}" for n in range(1, 13)], [str(n) for n in range(1, 13)]
    notes = kt.score(labels_of(labels), run_of(run), "P@1").notes
    assert (
        "run: 9 queries of the run may be judged under another spelling (1, 2, 3, ... in the run, "
        "01, 02, 03, ... in the labels): they differ by leading zeros"
    ) in notes


def test_a_comparison_has_the_note_too() -> None:
    labels, run = [f"{n:02}" for n in range(1, 13)], [str(n) for n in range(1, 13)]
    found = kt.compare(labels_of(labels), {"a": run_of(run), "b": run_of(run)}, "P@1")
    assert any("they differ by leading zeros" in note for note in found.notes)


@pytest.mark.parametrize(
    ("labels", "run"),
    [
        (["1", "2", "3"], ["1", "2", "3"]),
        (["1", "2", "3", "4"], ["1", "2"]),
        (["1", "2"], ["1", "2", "3", "4"]),
        (["1", "2", "5", "6"], ["1", "2", "7", "8"]),
    ],
)
def test_queries_that_one_side_lacks_are_no_matter_of_spelling(labels: list[str], run: list[str]) -> None:
    notes = kt.score(labels_of(labels), run_of(run), "P@1").notes
    assert not any("spelling" in note for note in notes)


def test_mostly_unlike_ids_are_shown_without_a_guess() -> None:
    notes = kt.score(labels_of(["0", "y7", "y8", "y9"]), run_of(["0", "x1", "x2", "x3"]), "P@1").notes
    assert any("x1, x2, x3 in the run, y7, y8, y9 in the labels" in note for note in notes)
