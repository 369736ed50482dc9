"""Leniency and drift: found with their size, and rarely where there is none."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy.special import ndtr

from crowds import crowd
from karat.judges.judge_table import judge_table
from karat.records import Judgments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def row(frame: pl.DataFrame, judge: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("judge") == judge, named=True)


def expected_error(leniency: float, spread: float, prior: tuple[float, ...]) -> float:
    """What a normal error and a leniency do to the mean label on a scale that ends."""
    grades = np.arange(len(prior))
    below = ndtr((grades[:-1][None, :] + 0.5 - (grades[:, None] + leniency)) / spread)
    labels = (1 - below).sum(axis=1)
    return float(np.dot(prior, labels - grades))


def test_a_lenient_judge_is_found_with_the_right_size() -> None:
    prior = (0.1, 0.2, 0.4, 0.2, 0.1)
    lean = np.zeros(25)
    lean[7] = 0.8
    judgments, gold = crowd(6, leniency=lean, spread=(0.6, 0.6), prior=prior, per_judge=200)
    by_gold, by_others = judge_table(judgments, gold=gold), judge_table(judgments)
    expected = expected_error(0.8, 0.6, prior)
    for result in (by_gold, by_others):
        found = row(result.frame, "007")
        assert found["leniency"] == pytest.approx(expected, abs=0.12)
        assert found["leniency_low"] > 0.3
        assert result.finding.startswith("None of 25 judges looks like a spammer; the most lenient is 007 (+0.")


def test_intervals_of_leniency_cover_about_95_percent() -> None:
    prior = (0.1, 0.2, 0.4, 0.2, 0.1)
    expected, held = expected_error(0.4, 0.7, prior), []
    for seed in range(12):
        judgments, gold = crowd(seed, leniency=0.4, spread=(0.7, 0.7), prior=prior, per_judge=60, queries=15)
        frame = judge_table(judgments, gold=gold).frame
        held += ((frame["leniency_low"] <= expected) & (expected <= frame["leniency_high"])).to_list()
    assert 0.91 <= np.mean(held) <= 0.985


def test_drift_is_found_with_its_size_and_rarely_where_there_is_none() -> None:
    lean = np.zeros(25)
    lean[3] = 1.2
    judgments, _ = crowd(8, drift=lean, per_judge=200, spread=(0.5, 0.5), prior=(0.1, 0.2, 0.4, 0.2, 0.1))
    result = judge_table(judgments)
    found = row(result.frame, "003")
    assert found["drift"] == pytest.approx(1.1, abs=0.35)
    assert found["drift_p"] < 0.001
    assert any("drifted by time (1 to higher grades): 003" in note for note in result.notes)
    quiet = np.concatenate([judge_table(crowd(s, per_judge=60, queries=12)[0]).frame["drift_p"] for s in range(12)])
    assert 0.02 <= np.mean(quiet <= 0.05) <= 0.09


def test_who_always_says_the_same_does_not_drift_when_documents_get_better() -> None:
    judgments, gold = crowd(9, constant=1, better=2.0)
    for result in (judge_table(judgments), judge_table(judgments, gold=gold)):
        constant = row(result.frame, "000")
        assert constant["drift"] == pytest.approx(0.0, abs=0.15)
        assert not constant["drift_p"] <= 0.001
        assert not any("drifted" in note and "000" in note for note in result.notes)


WRITTEN = {
    "whole numbers": (None, lambda n: str(n)),
    "milliseconds since 1970": (None, lambda n: str(1_700_000_000_000 + 60_000 * n)),
    "American dates": ("%m/%d/%Y %H:%M", lambda n: f"{datetime(2023, 12, 25) + timedelta(hours=n):%m/%d/%Y %H:%M}"),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_drift_is_by_time_however_it_is_written_and_whatever_the_order_of_rows(written: str) -> None:
    """A grade up from first to last. Sorted as text, 10 comes before 9 and January before December."""
    time_format, write = WRITTEN[written]
    rng = np.random.default_rng(8)
    rows = []
    for n in range(400):
        truth = int(rng.integers(1, 4))
        for judge, lean in (("ann", 0.0), ("bob", 0.0), ("eve", n / 400 - 0.5)):
            label = int(np.rint(truth + lean + rng.uniform(-0.5, 0.5)))
            rows.append({"query": f"q{n % 20}", "doc": f"d{n}", "label": label, "judge": judge, "time": write(n)})
    frame = pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1)
    judgments = Judgments.check(frame, time_format=time_format)
    gold = Judgments.of(pl.DataFrame(rows).filter(pl.col("judge") == "ann").select("query", "doc", "label"))
    found = row(judge_table(judgments).frame, "eve")
    assert found["drift"] == pytest.approx(1.0, abs=0.15)
    assert row(judge_table(judgments, gold=gold).frame, "eve")["drift"] == pytest.approx(1.0, abs=0.15)


def test_without_time_drift_is_by_the_order_of_the_rows_and_that_is_said() -> None:
    judgments, _ = crowd(8, per_judge=60)
    told = judge_table(Judgments.of(judgments.frame.drop("time"))).notes
    assert any("the order of the rows, as no time is known" in note for note in told)
