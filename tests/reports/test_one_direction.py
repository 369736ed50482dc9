"""`compare`, the page, its charts and the LaTeX tables of one study tell the same difference with the same sign."""

from __future__ import annotations

import re

import polars as pl
import pytest

import karat as kt
from karat.study import Study

#: In how many of 20 queries each system has the relevant document first.
RIGHT = {"good": 20, "half": 10, "bad": 0}


def study_of(names: tuple[str, ...]) -> Study:
    def run(name: str) -> kt.Runs:
        lists = {f"q{i}": {"x": 2.0 if i < RIGHT[name] else 0.0, "y": 1.0} for i in range(20)}
        return kt.Runs.of(lists, system=name)

    labels = kt.Judgments.of({f"q{i}": {"x": 1, "y": 0} for i in range(20)})
    return Study("Order", labels=labels, runs=tuple(run(name) for name in names))


def number(text: str) -> float:
    return float(re.search(r"[+-]\d\.\d+", text)[0])


# P@1 is 1, 0.5 and 0; of two systems the second less the first, of three the leader less the next.
@pytest.mark.parametrize(
    ("names", "b", "a", "difference"),
    [
        (("good", "half"), "half", "good", -0.5),
        (("half", "good"), "good", "half", 0.5),
        (("bad", "good", "half"), "good", "half", 0.5),
        (("good", "half", "bad"), "good", "half", 0.5),
    ],
)
def test_a_difference_has_one_sign_everywhere(names, b, a, difference):
    study = study_of(names)
    report = kt.report(study, measure="P@1", measures=[], draws=100)
    found = kt.compare(study.labels, list(study.runs), "P@1")
    assert report.comparison.finding == found.finding
    assert number(found.finding) == pytest.approx(difference)
    assert number(re.search(r'<p class="reason">(.*?)</p>', report.html())[1]) == pytest.approx(difference)
    charts = {figure.name: figure.data for figure in report.figures}
    drawn = charts["naive-and-corrected"].filter(pl.col("pair") == f"{b} less {a}")
    assert drawn["difference"].to_list() == pytest.approx([difference])
    assert drawn["low"][0] < difference < drawn["high"][0]
    assert charts["by-query"]["difference"].mean() == pytest.approx(difference)
    row = next(line for line in report.latex().splitlines() if line.startswith(f"{b} & {a} & "))
    assert number(row) == pytest.approx(difference)
    # b wins, or loses, half of the queries.
    assert row.endswith(r"10/10/0 \\" if difference > 0 else r"0/10/10 \\")


@pytest.mark.parametrize(
    ("off", "title", "said"),
    [
        ((1, -1, 1, 0, -1), "Labels are not shown to be too high or too low on average", "The judges equal gold"),
        ((1, 1, 1, 0, 1), "Labels are 0.80 of a grade too high", "The judges overrate by 0.80 of a grade"),
    ],
)
def test_errors_that_cancel_out_are_not_called_errors_in_one_direction(off, title, said):
    def labelled(number: int, label: int) -> dict[str, object]:
        return {"query": f"q{number}", "doc": "x", "label": label, "judge": "ann", "group": "judges"}

    labels = kt.Judgments.of([labelled(i, 1 + off[i % 5]) for i in range(20)])
    gold = kt.Judgments.of([{"query": f"q{i}", "doc": "x", "label": 1} for i in range(20)])
    report = kt.report(Study("Errors", labels=labels, gold=gold), draws=100)
    assert title in {figure.title for figure in report.figures}
    assert said in report.html()


def test_every_pair_of_more_than_two_has_the_better_one_second():
    pairs = kt.report(study_of(("half", "bad", "good")), measure="P@1", measures=[], draws=100).comparison.pairs
    told = {(row["b"], row["a"]): row["difference"] for row in pairs.iter_rows(named=True)}
    assert told == pytest.approx({("good", "half"): 0.5, ("good", "bad"): 1.0, ("half", "bad"): 0.5})
    assert (pairs["effect"].drop_nans() > 0).all()
