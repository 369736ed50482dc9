"""The report's verdict on groups of queries is that of `compare --by`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import karat as kt
from karat.comparison import by_group
from karat.records import Queries
from karat.simulate import two_systems
from karat.study import Study


def two(queries: int = 60) -> Study:
    """Two systems whose queries are of two kinds."""
    made = two_systems(queries, difference=0.1, seed=3)
    names = made.judgments().frame["query"].unique().sort()
    kinds = Queries.of(pl.DataFrame({"query": names, "kind": ["head", "tail", "tail"] * (queries // 3)}))
    return Study("Two", labels=made.judgments(), runs=tuple(made.runs()), queries=kinds)


def test_each_group_is_drawn_with_the_figures_of_compare() -> None:
    study = two()
    assert study.queries is not None
    report = kt.report(study, measure="P@10", measures=[], by=["kind"], draws=100)
    figure = next(figure for figure in report.figures if figure.name == "by-kind")
    found = kt.compare(study.labels, list(study.runs), "P@10")
    groups = study.queries.frame.select("query", group="kind")
    expected = by_group(found, groups, "kind")
    shown = dict(figure.data.select("group", "difference").rows())
    assert shown == pytest.approx(dict(expected.frame.select("group", "difference").rows()))
    assert expected.finding.startswith(figure.title)
    assert "by kind of the queries; holm allows for all groups" in report.html()


def test_a_column_that_is_not_there_is_refused_before_the_work() -> None:
    with pytest.raises(kt.BadInput, match='groups of queries by "colour"'):
        kt.report(two(), by=["colour"])
    with pytest.raises(kt.BadInput, match="give queries with such a column"):
        kt.report(replace(two(), queries=None), by=["kind"])


def test_of_more_systems_the_two_of_the_headline_are_compared() -> None:
    study = two()
    third = kt.Runs.check(study.runs[0].frame.drop("system").with_columns(rank=11 - pl.col("rank")), system="C")
    report = kt.report(replace(study, runs=(*study.runs, third)), measure="P@10", measures=[], by=["kind"], draws=100)
    assert any(figure.name == "by-kind" for figure in report.figures)
