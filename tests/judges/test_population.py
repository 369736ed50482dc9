"""Whom figures about groups of judges are about: other judges like these, unless there are too few of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput, Undefined
from karat.judges import (
    against_gold,
    distribution,
    distribution_tests,
    error_distribution,
    find_bias,
    gold_regression,
)
from karat.judges.jackknife import sampled_groups
from karat.labels import Panel

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from group_figures import rates, study
from simulated import studies

ANALYSES = {
    "against_gold": against_gold,
    "error_distribution": error_distribution,
    "distribution": distribution,
    "distribution_tests": distribution_tests,
    "gold_regression": lambda labels, **more: gold_regression(labels, "device", **more),
    "find_bias": lambda labels, **more: find_bias(labels, ["device"], **more),
}


@pytest.mark.parametrize("judges", [5, 20])
@pytest.mark.evidence
def test_where_nothing_is_the_matter_little_is_found(judges: int) -> None:
    """benchmarks/group_figures.py has the figures of 1,000 studies."""
    seeds = studies(6, 150)
    found = rates(len(seeds), 3, judges)
    assert len(found) == 7
    for name, rate in found.items():
        assert rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(seeds)), name


def test_judges_taken_as_they_are_make_findings_of_their_habits() -> None:
    found = rates(20, 4, 10, "fixed")
    assert found["a column about judges is found by find_bias"] > 0.3
    assert found["two groups of one population differ (mean)"] > 0.2
    assert found["a group of unbiased judges is biased"] > 0.3


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_says_whom_it_is_about(name: str) -> None:
    panel = study(np.random.default_rng(1), 8)
    usual, these = ANALYSES[name](panel), ANALYSES[name](panel, judges="fixed")
    assert "intervals are for judges like these: errors are clustered by query and judge" in usual.notes
    assert "intervals are for these judges, not for others like them" in these.notes
    with pytest.raises(BadInput, match="expected sample or fixed"):
        ANALYSES[name](panel, judges="random")


@pytest.mark.parametrize("name", ANALYSES)
def test_figures_do_not_depend_on_names_order_repeats_or_other_surfaces(name: str) -> None:
    frame = study(np.random.default_rng(2), 6).frame.drop_nulls("label").with_columns(surface=pl.lit("page"))
    again = frame.filter(pl.col("group") == "group0").with_columns(label=pl.lit(0.0))
    others = {
        "renamed": frame.with_columns(
            judge=pl.lit("z") + (9 - pl.col("judge").cast(pl.Int64, strict=False)).cast(pl.String)
        ),
        "shuffled": frame.sample(fraction=1, shuffle=True, seed=1),
        "repeated": pl.concat([frame, again]),
        "snippets": pl.concat([frame, again.with_columns(surface=pl.lit("snippet"))]),
    }

    def figures(rows: pl.DataFrame) -> list[float]:
        more: dict[str, Any] = {"everything": True} if name == "find_bias" else {}
        table = ANALYSES[name](rows, **more).frame
        return table.select(pl.col(pl.Float64)).to_numpy().ravel().tolist()

    usual = figures(frame)
    for what, rows in others.items():
        assert figures(rows) == pytest.approx(usual, nan_ok=True, rel=1e-9, abs=1e-12), what


def test_few_judges_and_nameless_ones_stand_for_themselves() -> None:
    frame = study(np.random.default_rng(3), 5).frame
    four = frame.filter(pl.col("judge") != "4")
    note = "group0 has 4 judges: intervals are for these judges, not for others like them"
    assert note in against_gold(four).notes
    nameless = frame.with_columns(judge=pl.when(pl.col("group") == "gold").then("judge"))
    found = against_gold(nameless)
    assert "group0 has judges without names: intervals are for these judges, not for others like them" in found.notes
    assert found.frame["low"].to_list() == pytest.approx(against_gold(frame, judges="fixed").frame["low"].to_list())
    assert sampled_groups(Panel.of(frame))[0] == {"group0"}


def test_intervals_for_judges_like_these_are_wider() -> None:
    panel = study(np.random.default_rng(4), 8)
    for figure in (against_gold, distribution):
        sample, fixed = (figure(panel, judges=judges).frame for judges in ("sample", "fixed"))  # type: ignore[operator]
        width = [(f["high"] - f["low"]).drop_nans().mean() for f in (sample, fixed)]
        assert width[0] > 1.2 * width[1]


def test_two_judges_on_a_side_who_labelled_unlike_many_are_too_few_for_a_finding() -> None:
    """Two means of 162 and 126 labels have less than one degree of freedom: no interval, and no other reason given."""
    panel = study(np.random.default_rng([20261116, 5, 119]), 5)
    with pytest.raises(Undefined, match="judges enough on either side"):
        find_bias(panel, ["device"])
