"""Statements of the pages about methods, held against the code: formulas, defaults and names."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import karat as kt
import karat.judges
from karat.correction.ppi import weighed
from karat.stats.cluster_robust import Variance, combined
from karat.stats.confidence_sequences import FIRST
from karat.users.agreement_curves import MEASURES

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text()


def test_the_curves_example_has_the_papers_measures() -> None:
    (measures,) = re.findall(r'karat validate curves .* -m "(.*?)"', page("users.md"))
    assert measures.split(",") == list(MEASURES)
    assert (
        kt.score([{"query": "q", "doc": "d", "label": 2}], {"q": {"d": 1.0}}, "DCG@5", draws=0).means["value"][0] == 2
    )
    (exponential,) = kt.score([{"query": "q", "doc": "d", "label": 2}], {"q": {"d": 1.0}}, MEASURES[1], draws=0).means[
        "value"
    ]
    assert exponential == 2**2 - 1


def test_what_extend_names_of_an_error_model_is_in_its_example() -> None:
    text = page("extend.md")
    example, paragraph = (
        re.search(r"```python\n(.*?)```", text, re.DOTALL),
        re.search(r"\*\*An error model\*\*.*?\n\n", text, re.DOTALL),
    )
    assert example
    assert paragraph
    named = set(re.findall(r"`(\w+)`", paragraph[0])) - {"ErrorModel"}
    assert named == {"Answers", "tally", "fit_em", "described"}
    assert all(name in example[1] and hasattr(karat.judges, name) for name in named)


def test_lambda_is_the_uncentred_one_of_compare() -> None:
    """Sum of c f y by sum of c f^2 with c = (w_B - w_A)^2 (1 / pi^2 - 1 / pi); gold gains that do not vary have one."""
    f, y, pi = np.array([1.0, 2.0, 0.0]), np.ones(3), np.array([0.5, 0.25, 0.5])
    apart = np.array([1.0, 0.5, 1.0])
    pool = SimpleNamespace(predicted=f, truth=y, weight=np.column_stack([np.zeros(3), apart]))
    c = apart**2 * (1 / pi**2 - 1 / pi)
    found = weighed(pool, None, 1 / pi**2 - 1 / pi)  # type: ignore[arg-type]
    assert found == pytest.approx((c * f * y).sum() / (c * f**2).sum() * f)
    assert "λ = Σ c_d f_d y_d / Σ c_d f_d²" in page("compare.md")


def test_equivalent_goes_by_the_printed_interval() -> None:
    rng = np.random.default_rng(0)
    grades = {"a": 1, "b": 1, "x": 0}
    labels = [{"query": f"q{q}", "doc": d, "label": grade} for q in range(60) for d, grade in grades.items()]
    ranked = {name: {f"q{q}": {"a" if rng.random() < 0.5 else "x": 1.0} for q in range(60)} for name in ("A", "B")}
    wide, narrow = (kt.compare(labels, ranked, "P@1", level=level) for level in (0.95, 0.9))
    reach = [max(-row["low"], row["high"]) for one in (wide, narrow) for row in one.to_frame().head(1).to_dicts()]
    assert reach[1] < reach[0]
    margin = sum(reach) / 2
    assert kt.compare(labels, ranked, "P@1", margin=margin).verdict != "equivalent"
    assert kt.compare(labels, ranked, "P@1", margin=margin, level=0.9).verdict == "equivalent"


def test_judges_never_lower_the_variance_of_queries() -> None:
    query, judge = Variance(np.array([4.0]), np.array([20.0])), Variance(np.array([1.0]), np.array([9.0]))
    assert combined(query, judge, np.array([3.0])).variance.tolist() == [4.0]
    assert combined(query, judge, np.array([0.5])).variance.tolist() == [4.5]
    assert "V = V_query + max(V_judge - V_both, 0)" in page("judges.md")


def test_peeking_begins_at_the_query_that_compare_names() -> None:
    assert f"the first look is at {FIRST} queries" in page("compare.md")


def test_labels_of_snippet_and_page_have_a_surface() -> None:
    from karat.study.kinds.judge import _rows

    row = {"more": {"snippet": 2}, "surface": "page", "comment": None, "reason": None, "kind": "answer"}
    assert [one["surface"] for one in _rows(row)] == ["page", "snippet"]
    assert _rows(row | {"more": {}})[0]["surface"] is None


@pytest.mark.parametrize(
    ("measure", "smaller_first"),
    [("RR@10", True), ("Compat(p=0.8)", True), ("RR", False), ("P@1", False), ("nDCG@1", False)],
)
def test_ir_measures_breaks_ties_as_the_page_of_measures_says(measure: str, smaller_first: bool) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    labels, run = {"1": {"a": 1, "b": 0, "c": 0}}, {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(measure)], labels, run)
    assert (next(iter(theirs.values())) == 1) == smaller_first
    assert kt.score(labels, run, measure, draws=0).means["value"][0] < 1


def test_ir_measures_compat_ends_with_the_longer_list() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    labels, run = {"1": {"a": 2, "b": 0, "c": 1, "d": 0}}, {"1": {"c": 4.0, "b": 3.0, "a": 2.0, "d": 0.5}}
    (theirs,) = ir_measures.calc_aggregate([ir_measures.Compat(p=0.8)], labels, run).values()
    found = kt.score(labels, run, ["Compat(p=0.8)", "Compat(p=0.8)@4"], draws=0).means["value"].to_list()
    assert found[1] == pytest.approx(theirs)
    assert found[0] > theirs + 0.05
