"""Labels come first, then the runs, in every function; what is plainly swapped is refused with that sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import karat as kt
from karat import context, plan
from karat.plan import pilot, preference_pairs, preference_tasks
from karat.plan.gold_selection import plan_gold, plan_gold_queries

QRELS = {f"q{i}": {f"d{j}": j % 3 for j in range(6)} for i in range(4)}
RUN = {query: {doc: float(9 - place) for place, doc in enumerate(docs)} for query, docs in QRELS.items()}
TWO = {"a": RUN, "b": RUN}
SAID = [{"query": query, "left": "a", "right": "b", "choice": "left"} for query in QRELS]
PAIR = pl.DataFrame({"query": ["q0"], "a": ["a"], "b": ["b"]})
LABELS, RUNS = kt.Judgments.of(QRELS), kt.Runs.of(TWO)

#: Each function that takes labels and runs, with what it takes beside them.
FUNCTIONS: list[Callable[[Any, Any], object]] = [
    lambda labels, runs: kt.score(labels, runs, "P@1"),
    lambda labels, runs: kt.compare(labels, runs, "P@1"),
    lambda labels, runs: context.label_in_context(labels, runs),
    lambda labels, runs: context.context_sources(labels, runs),
    lambda labels, runs: plan_gold(labels, runs, "P@1", 3),
    lambda labels, runs: plan_gold_queries(labels, runs, "P@1", 3),
    lambda labels, runs: pilot.pilot_variance(labels, runs, "P@1"),
    lambda labels, runs: preference_pairs.select_pairs(labels, runs),
    lambda labels, runs: preference_tasks.comparison_tasks(PAIR, labels, runs),
    lambda labels, runs: kt.users.measure_correlation(labels, runs, ["P@1", "P@2"]),
    lambda labels, runs: kt.users.agreement(SAID, labels, runs, "P@1"),
    lambda labels, runs: kt.users.agreement_tables(SAID, labels, runs),
    lambda labels, runs: kt.users.preference_curves(SAID, labels, runs, "P@1"),
    lambda labels, runs: kt.users.fit_measure(SAID, labels, runs),
    lambda labels, runs: kt.users.against_click_rates([{"query": "q0", "doc": "d0", "clicks": 1}], labels, runs),
]


#: Analyses of labels alone, which clicks are held against.
ONE_SIDE_OF_LABELS = {"against_clicks", "most_clicked"}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("labels", "runs"),
    [(RUNS, LABELS), (TWO, QRELS), (RUNS.frame, LABELS.frame), ([RUNS], LABELS), (RUN, {"a": QRELS, "b": QRELS})],
    ids=["records", "dictionaries by system", "frames", "a list of runs", "dictionaries of numbers"],
)
def test_runs_in_place_of_labels_are_refused_everywhere(
    function: Callable[[Any, Any], object], labels: object, runs: object
) -> None:
    with pytest.raises(kt.BadInput, match="labels come first, then the runs"):
        function(labels, runs)


def test_whoever_has_labels_and_runs_takes_them_in_one_order() -> None:
    places = {"preferences": 0, "clicks": 0, "ratings": 0, "labels": 1, "judgments": 1, "runs": 2, "lists": 2}
    for module in (kt.api, kt.users, plan, context):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            kinds = inspect.signature(function).parameters.values()
            if name in ONE_SIDE_OF_LABELS:
                continue
            taken = [p.name for p in kinds if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in places]
            assert taken == sorted(taken, key=lambda given: places[given]), name


def test_labels_and_a_run_of_numbers_are_believed_as_they_are_given() -> None:
    whole, real = {"q": {"a": 1, "b": 2}}, {"q": {"a": 0.25, "b": 0.5}}
    assert kt.score(real, whole, "nDCG@2", draws=0).systems == ["run"]
    assert not [note for note in kt.score(real, whole, "nDCG@2", draws=0).notes if "swapped" in note]
