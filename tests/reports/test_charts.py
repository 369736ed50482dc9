"""What a chart draws: whole numbers once, no interval above nothing, every error in its place, a diagonal."""

from __future__ import annotations

from typing import Any

import polars as pl

import karat as kt
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.plots import figure_of
from karat.reports.section import Section, section_of


def axes(spec: dict[str, Any], side: str) -> list[dict[str, Any]]:
    """Every axis of one side, layer by layer."""
    return [layer["encoding"][side] for layer in spec["layer"] if side in layer.get("encoding", {})]


def test_whole_numbers_have_one_tick_each() -> None:
    rows = pl.DataFrame({"of": [2, 3, 4], "p": [0.1, 0.2, 0.3], "said": ["x"] * 3})
    spec = charts.lines(rows, x="of", value="p", series="said", x_title="N", y_title="p", whole=True)
    assert all(axis["axis"]["values"] == [2, 3, 4] for axis in axes(spec, "x"))


def test_what_nobody_said_has_no_interval_and_keeps_its_place() -> None:
    rows = pl.DataFrame(
        {"group": ["a", "a"], "error": [-2, 1], "share": [0.0, 1.0], "low": [0.0, 0.9], "high": [0.1, 1.0]}
    )
    spec = charts.bars(rows, x="error", group="group", x_title="error", zero=True)
    assert all(axis["scale"]["domain"] == [-2, -1, 0, 1] for axis in axes(spec, "x"))
    intervals = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "rule")
    assert intervals["transform"] == [{"filter": "datum['share'] > 0"}]


def test_errors_of_a_thousand_million_grades_have_no_place_for_all_between() -> None:
    rows = pl.DataFrame({"group": ["a", "a"], "error": [-1, 10**9], "share": [0.5, 0.5]})
    spec = charts.bars(rows, x="error", group="group", x_title="error", zero=True)
    assert all(axis["scale"]["domain"] == [-1, 10**9] for axis in axes(spec, "x"))


def test_measures_stand_across_as_they_stand_down() -> None:
    rows = pl.DataFrame({"first": ["a", "a", "b"], "second": ["b", "c", "c"], "tau_b": [0.5, 0.6, 0.7]})
    spec = charts.square(rows)
    assert [axes(spec, side)[0]["sort"] for side in "xy"] == [["a", "b", "c"]] * 2


def test_a_title_that_says_it_all_is_not_said_again() -> None:
    figure = Figure("one", "Nobody is a spammer", "How", {}, pl.DataFrame())
    first = Section(("First.",), (figure,))
    parts = [Section((said,), (figure,)) for said in ("Nobody is a spammer.", "Nobody is a spammer (p = 0.4).")]
    made = section_of({"a": lambda: first, "b": lambda: parts[0], "c": lambda: parts[1]})
    assert [one.said for one in made.figures] == ["", "", "Nobody is a spammer (p = 0.4)."]


def test_scores_are_drawn_measure_by_measure_the_best_first() -> None:
    labels = {f"q{n}": {"x": 1, "y": 0} for n in range(6)}
    runs = {"bad": {q: {"y": 2.0, "x": 1.0} for q in labels}, "good": {q: {"x": 2.0, "y": 1.0} for q in labels}}
    drawn = figure_of(kt.score(labels, runs, ["P@1", "RR"], draws=100)).data
    assert drawn["row"].to_list() == ["P@1, good", "P@1, bad", "RR, good", "RR, bad"]
