"""Measures against measures: by hand, as scipy has tau_b, and as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from karat.correction import score
from karat.errors import BadInput, Undefined
from karat.records import Judgments, Runs
from karat.reports.plots import figure_of
from karat.simulate import preference_study
from karat.stats.rank_correlation import kendall, tau_ap, tau_ap_b
from karat.users import matrix, measure_correlation
from karat.users.measure_correlation import kendall_a

MEASURES = ["nDCG@10", "RR", "P@5", "AP"]


def test_figures_are_those_of_the_systems_means() -> None:
    made = preference_study(queries=25, systems=9, seed=8)
    found = measure_correlation(made.judgments, made.runs, MEASURES)
    means = score(made.judgments, made.runs, MEASURES, draws=0).means.pivot(
        on="measure", index="system", values="value"
    )
    assert found.frame.height == 6
    for row in found.frame.iter_rows(named=True):
        x, y = (means[row[side]].round(12).to_numpy() for side in ("first", "second"))
        assert row["tau_b"] == pytest.approx(kendalltau(x, y).statistic)
        assert row["tau_ap"] == pytest.approx(tau_ap(x, y))
        assert row["tau_ap_b"] == pytest.approx(tau_ap_b(x, y))
        assert (row["systems"], row["queries"]) == (9, 25)


def test_ties_count_in_the_base_of_tau_and_not_in_that_of_tau_b() -> None:
    """Of six pairs three go with, two against, one is tied: 1/6, and 1/sqrt(6 x 5)."""
    assert kendall_a([1, 2, 3, 4], [1, 3, 2, 2]) == pytest.approx(1 / 6)
    assert kendall([1, 2, 3, 4], [1, 3, 2, 2]).item() == pytest.approx(1 / np.sqrt(30))
    assert np.isnan(kendall([1, 1, 1], [1, 2, 3])).all()


def test_a_measure_agrees_with_itself_between_halves_the_better_the_more_queries_there_are() -> None:
    alike = []
    for queries in (10, 200):
        made = preference_study(queries=queries, systems=8, seed=5)
        alike.append(measure_correlation(made.judgments, made.runs, ["nDCG@10", "P@10"]).frame["first_self"][0])
    assert alike[0] < alike[1] <= 1


def test_too_few_systems_or_measures_are_refused() -> None:
    runs = Runs.of({"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}})
    labels = Judgments.of({"q": {"d": 1}})
    with pytest.raises(Undefined, match="needs 3 systems or more, not 2"):
        measure_correlation(labels, runs, MEASURES)
    with pytest.raises(BadInput, match="two or more to compare"):
        measure_correlation(labels, runs, ["AP"])


def test_measures_that_tie_all_systems_have_no_correlation() -> None:
    runs = Runs.of({name: {"q": {"d": 1.0}} for name in "abc"})
    found = measure_correlation(Judgments.of({"q": {"d": 1}}), runs, ["AP", "RR"])
    assert found.frame["tau_b"].is_nan().all()
    assert found.finding == "The measures tie all systems: no correlation can be told."


def test_the_matrix_is_square_and_its_picture_holds_every_figure() -> None:
    made = preference_study(queries=25, systems=9, seed=8)
    found = measure_correlation(made.judgments, made.runs, MEASURES)
    square = matrix(found)
    assert square["measure"].to_list() == MEASURES == square.columns[1:]
    values = square.select(MEASURES).to_numpy()
    assert np.allclose(values, values.T)
    assert np.diag(values).tolist() == [1.0] * 4
    picture = replace(figure_of(found), title="Alike & <not>").svg()
    texts = [element.text for element in ET.fromstring(picture).iter() if element.tag.endswith("text")]
    assert "Alike & <not>" in texts
    shown = [f"{value:.2f}" for value in values[~np.eye(len(MEASURES), dtype=bool)]]
    assert sorted(text for text in texts if text in shown) == sorted(shown)  # each twice, as the square has them


def with_gaps() -> tuple[Judgments, dict[str, dict[str, dict[str, float]]]]:
    """Five systems of eight queries; of system s1 two lists are missing, of s2 one."""
    made = preference_study(queries=8, systems=5, seed=8)
    lists = made.runs.frame.with_columns(pl.col("system").cast(pl.String), pl.col("query").cast(pl.String))
    names, queries = lists["system"].unique().sort(), lists["query"].unique().sort()
    runs = {
        system: {
            query: {
                d: s
                for y, q, d, s in lists.select("system", "query", "doc", "score").rows()
                if (y, q) == (system, query)
            }
            for query in queries
        }
        for system in names
    }
    for system, query in ((names[0], queries[0]), (names[0], queries[1]), (names[1], queries[1])):
        del runs[system][query]
    return made.judgments, runs


def test_missing_lists_are_noted_and_count_0_for_every_measure() -> None:
    labels, runs = with_gaps()
    found = measure_correlation(labels, runs, MEASURES)
    (note,) = [note for note in found.notes if "missing" in note]
    first, second = sorted(runs)[:2]
    assert note == (
        f"3 of 40 rankings are missing and count 0 for every measure ({first} 2, {second} 1): common_queries=True "
        "leaves out the 2 queries"
    )
    # A ranking of one unjudged document scores 0, too.
    filled = {system: {query: runs[system].get(query, {"x": 1.0}) for query in runs[max(runs)]} for system in runs}
    assert found.frame.equals(measure_correlation(labels, filled, MEASURES).frame, null_equal=True)


def test_common_queries_leaves_out_queries_with_a_missing_list() -> None:
    labels, runs = with_gaps()
    found = measure_correlation(labels, runs, MEASURES, common_queries=True)
    common = sorted(set.intersection(*(set(lists) for lists in runs.values())))
    only = Judgments.of(labels.frame.filter(pl.col("query").is_in(common)))
    expected = measure_correlation(only, runs, MEASURES)
    assert found.frame["queries"].unique().to_list() == [len(common)] == [6]
    columns = ["tau", "tau_b", "tau_ap", "tau_ap_b"]
    assert found.frame.select(columns).equals(expected.frame.select(columns))
    assert any(note.startswith("2 queries left out: a system has no ranking there") for note in found.notes)
    with pytest.raises(Undefined, match="no query has a ranking of every system"):
        measure_correlation(labels, {**runs, "none": {"elsewhere": {"d": 1.0}}}, MEASURES, common_queries=True)
