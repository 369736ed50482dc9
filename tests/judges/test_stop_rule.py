"""Agreement where a third label was asked for on disagreement only: noticed, and not taken for more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import karat as kt
from crowds import slips, table_of
from karat.judges import agreement

Labels = npt.NDArray[np.int64]


def row(result: kt.records.Result, **wanted: object) -> dict[str, object]:
    found = result.frame
    for name, value in wanted.items():
        found = found.filter(pl.col(name).is_null() if value is None else pl.col(name) == value)
    assert found.height == 1, found
    return found.row(0, named=True)


def stopped(labels: Labels) -> Labels:
    """Three labels per document, the third only where the first two differ."""
    cut = labels.copy()
    cut[labels[:, 0] == labels[:, 1], 2] = -1
    return cut


def test_a_third_label_only_on_disagreement_is_noticed_and_the_first_two_are_read() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    judgments = kt.Judgments.of(table_of(stopped(labels), group="crowd"))
    result = agreement(judgments, draws=200)
    assert result.frame["labels"].to_list() == ["all", "first two"]
    full = agreement(kt.Judgments.of(table_of(labels[:, :2], group="crowd")), draws=200).frame
    assert result.frame[1].drop("labels").equals(full.drop("labels"))
    assert result.frame["fleiss"][0] > result.frame["fleiss"][1] + 0.05
    assert np.isnan(result.frame["fleiss_p"][0])
    assert result.frame["fleiss_p"][1] < 0.001
    assert f"ordinal alpha {full['alpha_ordinal'][0]:.2f}" in result.finding
    assert "first two labels" in result.finding
    assert result.notes[0].startswith("crowd: more than two labels only where the first two differed")


def test_time_says_which_labels_came_first() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = table_of(stopped(labels)).with_columns(time="2024-05-0" + pl.col("judge").str.slice(2, 1))
    backwards = kt.Judgments.of(frame.reverse())
    assert agreement(backwards, draws=0).frame.equals(agreement(kt.Judgments.of(frame), draws=0).frame)


def test_the_first_two_differed_even_where_their_order_was_lost() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = table_of(stopped(labels))
    shuffled = agreement(kt.Judgments.of(frame.sample(fraction=1, shuffle=True, seed=3)), draws=0).frame
    kept = agreement(kt.Judgments.of(frame), draws=0).frame
    assert shuffled["labels"].to_list() == ["all", "first two"]
    assert shuffled["raw"][1] == kept["raw"][1]
    assert shuffled["alpha_nominal"][1] == pytest.approx(kept["alpha_nominal"][1], abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_labels_missing_at_random_are_no_stop_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = slips(rng, 60, 4, [0.5, 0.7, 0.9, 0.97, 1.0][seed % 5])
    labels[rng.random(labels.shape) < 0.3] = -1
    assert set(agreement(kt.Judgments.of(table_of(labels)), draws=0).frame["labels"]) == {"all"}


def test_the_stop_rule_inflates_alpha_on_all_labels_and_not_on_the_first_two() -> None:
    """With slips to any grade, alpha of a full design is the square of the share of careful labels."""
    means = []
    for seed in range(20):
        labels = slips(np.random.default_rng(seed), 600, 3, 0.8)
        frame = agreement(kt.Judgments.of(table_of(stopped(labels))), draws=0).frame
        means.append(frame["alpha_ordinal"].to_list() + frame["fleiss"].to_list())
    alpha_all, alpha_two, fleiss_all, fleiss_two = np.mean(means, axis=0)
    assert alpha_two == pytest.approx(0.64, abs=0.01)
    assert fleiss_two == pytest.approx(0.64, abs=0.01)
    assert alpha_all > alpha_two + 0.01
    assert fleiss_all > fleiss_two + 0.08
