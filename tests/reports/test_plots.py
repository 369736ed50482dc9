"""Every result shows itself in a notebook: few columns, nothing of it run as markup, and a chart where it has one."""

from __future__ import annotations

import re

import altair
import polars as pl
import pytest

import karat as kt
from karat import judges
from karat.records import Result
from karat.records.result import ResultBase
from karat.simulate import preference_study
from karat.users.measure_correlation import measure_correlation

MARKUP = "<script>alert(1)</script>"
ROWS = [
    {"query": f"q{i}", "doc": doc, "judge": judge, "group": MARKUP, "label": (i * place + len(judge)) % 3}
    for i in range(12)
    for place, doc in enumerate(["a", "b", "c"])
    for judge in ("x", "yy", MARKUP)
]
GOLD = [
    {"query": f"q{i}", "doc": doc, "label": (i * place + 1) % 3, "probability": 1.0}
    for i in range(12)
    for place, doc in enumerate("abc")
]
FIRST = {f"q{i}": {"a": 3.0, "b": 2.0, "c": 1.0} for i in range(12)}
SECOND = {f"q{i}": {"a": 1.0, "b": 2.0, "c": 3.0 - i % 3} for i in range(12)}
RUNS = {MARKUP: FIRST, "<b>other</b>": SECOND}
STUDY = preference_study(queries=12, judges=2, block=0, seed=1)

RESULTS: dict[str, ResultBase] = {
    "scores": kt.score(ROWS, RUNS, ["nDCG@2", "P@1"], draws=100),
    "comparison": kt.compare(ROWS, RUNS, "P@1", gold=GOLD),
    "comparison of three": kt.compare(ROWS, {**RUNS, "third": FIRST | {"q0": {"c": 1.0}}}, "P@1"),
    "agreement of judges": judges.agreement(ROWS, draws=100),
    "agreement of measures": kt.users.agreement(STUDY.preferences, STUDY.judgments, STUDY.runs, ["P@10", "RR"]),
    "judge table": judges.judge_table(ROWS),
    "error model": judges.dawid_skene(ROWS),
    "disagreement": judges.disagreement(ROWS, draws=100),
    "gold plan": kt.plan_gold(ROWS, RUNS, "P@1", 5),
    "power plan": kt.plan_power(0.1, kt.pilot_variance(ROWS, RUNS, "P@1")),
    "corrected score": kt.corrected_score(kt.Observed(0.4, 50), kt.Accuracy(40, 50, 90, 100)),
    "confusion": kt.confusion(ROWS, GOLD),
    "corrected runs": kt.corrected_runs(ROWS, RUNS, "DCG@2", gold=GOLD, draws=100),
    "correlation of measures": measure_correlation(STUDY.judgments, STUDY.runs, ["nDCG@10", "RR", "P@5"]),
    "a result": Result(pl.DataFrame({"name": [MARKUP], "kappa": [0.4]}), f"{MARKUP} agrees.", (MARKUP,)),
}
#: Results without a figure that has an interval.
NO_CHART = ["gold plan", "a result"]


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_keeps_to_one_protocol(name: str) -> None:
    result = RESULTS[name]
    assert isinstance(result.finding, str)
    assert isinstance(result.notes, tuple)
    assert isinstance(result.to_frame(), pl.DataFrame)
    document = result.to_dict()
    assert document["finding"] == result.finding
    assert document["notes"] == list(result.notes)
    assert repr(result).startswith(result.finding)


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_few_columns_and_runs_no_markup(name: str) -> None:
    html = RESULTS[name]._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert 2 <= html.count("<th ") <= 9
    assert not re.search(r">-?\d\.\d{7,}<", html), "figures are rounded"


def test_what_karat_read_runs_no_markup_either() -> None:
    for records in (kt.Judgments.of(ROWS), kt.Runs.of(RUNS)):
        assert "<script" not in records._repr_html_()


def test_p_adjusted_for_many_is_shown() -> None:
    assert ">p adjusted<" in RESULTS["agreement of measures"]._repr_html_()
    assert ">holm<" in RESULTS["comparison of three"]._repr_html_()


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in NO_CHART])
def test_a_result_draws_itself_under_its_finding(name: str) -> None:
    chart = RESULTS[name].plot()
    assert isinstance(chart, altair.TopLevelMixin)
    drawn = chart.to_dict()
    assert " ".join(drawn["title"]["text"])[:20] == RESULTS[name].finding[:20]


@pytest.mark.parametrize("name", NO_CHART)
def test_a_result_without_an_interval_says_that_it_has_no_chart(name: str) -> None:
    with pytest.raises(kt.Undefined, match="no chart"):
        RESULTS[name].plot()
