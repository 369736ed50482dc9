"""Algorithm 2 of Goldberg et al. (WWW 2017), and its A/B version."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.reports.plots import figure_of
from karat.simulate.noisy_judges import PAPER_PRECISION, BronzeScores, bronze_scores
from noisy_pairs import bronze_pairs


@pytest.fixture(scope="module")
def paper() -> BronzeScores:
    return bronze_scores(studies=20_000, seed=1)


def test_the_true_score_is_the_papers() -> None:
    assert np.mean(PAPER_PRECISION) == pytest.approx(0.4)


def test_the_naive_score_is_too_high_and_its_interval_misses_the_truth(paper: BronzeScores) -> None:
    # E[naive] = 0.4 * 0.9 + 0.6 * 0.2 = 0.48
    assert paper.frame["naive"].mean() == pytest.approx(0.48, abs=0.001)
    assert paper.covered("naive") == pytest.approx(0.05, abs=0.01)


def test_the_corrected_score_is_right_and_so_is_its_error(paper: BronzeScores) -> None:
    assert paper.frame["corrected"].mean() == pytest.approx(0.4, abs=0.002)
    assert paper.frame["corrected_error"].mean() == pytest.approx(paper.frame["corrected"].to_numpy().std(), rel=0.03)
    assert 0.94 <= paper.covered("corrected") <= 0.955


def test_the_papers_error_of_ten_numbers_would_cover_in_three_of_four_studies(paper: BronzeScores) -> None:
    ten = paper.frame.with_columns(naive_error=pl.col("naive_error") * (50 / 10) ** 0.5)
    assert replace(paper, frame=ten).covered("naive") == pytest.approx(0.76, abs=0.01)


def test_counts_of_queries_are_drawn_as_the_algorithm_draws_labels(paper: BronzeScores) -> None:
    rng = np.random.default_rng(3)
    scores = []
    for _ in range(2000):  # as printed: relevance, then the judges' errors, then P@k for each query
        relevant = rng.random((50, 10)) < np.array(PAPER_PRECISION)
        called = np.where(relevant, rng.random((50, 10)) < 0.9, rng.random((50, 10)) < 0.2)
        scores.append(called.mean(axis=1))
    literal = np.array(scores)
    errors = literal.std(axis=1, ddof=1) / np.sqrt(50)
    assert literal.mean() == pytest.approx(paper.frame["naive"].to_numpy().mean(), abs=0.002)
    assert literal.mean(axis=1).std() == pytest.approx(paper.frame["naive"].to_numpy().std(), rel=0.05)
    assert errors.mean() == pytest.approx(paper.frame["naive_error"].to_numpy().mean(), rel=0.01)


def test_a_seed_repeats_a_simulation() -> None:
    assert bronze_scores(studies=10, seed=4).frame.equals(bronze_scores(studies=10, seed=4).frame)
    assert not bronze_scores(studies=10, seed=4).frame.equals(bronze_scores(studies=10, seed=5).frame)


def test_at_the_papers_sizes_its_test_sees_no_difference_of_a_tenth_and_the_shared_one_all() -> None:
    found = {row["test"]: row for row in bronze_pairs(0.7, 0.1, studies=4000, seed=1).iter_rows(named=True)}
    assert found["independent"]["rejected"] <= 0.001
    assert found["shared"]["rejected"] >= 0.999
    assert 0.93 <= found["shared"]["covered"] <= 0.965
    assert found["naive"]["covered"] <= 0.001  # it is about the difference in labels, half as large


@pytest.mark.parametrize(
    ("queries", "gold"), [((10_278, 20_604), (59, 84)), ((100, 100), (150, 150)), ((400, 400), (300, 300))]
)
def test_the_shared_test_raises_no_more_false_alarms_than_it_says(
    queries: tuple[int, int], gold: tuple[int, int]
) -> None:
    same = bronze_pairs(0.6, 0.0, queries=queries, n_relevant=gold[0], n_nonrelevant=gold[1], studies=20_000, seed=2)
    found = {row["test"]: row for row in same.iter_rows(named=True)}
    assert found["naive"]["rejected"] == pytest.approx(0.05, abs=0.005)
    assert 0.038 <= found["shared"]["rejected"] <= 0.055
    assert found["independent"]["rejected"] <= 0.025


def test_with_a_gold_sample_each_the_independent_test_is_the_right_one() -> None:
    found = bronze_pairs(
        0.6, 0.1, n_relevant=400, n_nonrelevant=400, queries=(400, 400), own_gold=True, studies=20_000, seed=2
    )
    assert found["test"].to_list() == ["naive", "independent"]
    assert 0.945 <= found["covered"][1] <= 0.957


def test_studies_whose_judges_may_be_guessing_are_refused_not_counted_as_differences() -> None:
    found = bronze_pairs(
        0.5, 0.0, relevant=0.6, nonrelevant=0.6, n_relevant=20, n_nonrelevant=20, queries=(100, 100), studies=4000
    )
    assert found["refused"][2] > 0.5
    assert found["rejected"][2] <= 0.05


def test_simulations_that_mean_nothing_are_refused() -> None:
    with pytest.raises(BadInput, match="better than guessing"):
        bronze_scores(relevant=0.4, nonrelevant=0.5)
    with pytest.raises(BadInput, match="whole numbers"):
        bronze_scores(queries=1)


def test_ranks_are_settable_and_the_naive_mean_is_what_the_judges_make_of_them() -> None:
    # Judges say relevant of 0.7 * 0.9 + 0.3 * 0.2 = 0.69 of the documents, whose true precision is 0.7.
    made = bronze_scores(precision=(0.9, 0.7, 0.5), studies=4000, seed=2)
    assert (made.truth, made.ranks) == (pytest.approx(0.7), 3)
    assert made.frame["naive"].mean() == pytest.approx(0.69, abs=0.004)
    assert made.frame["corrected"].mean() == pytest.approx(0.7, abs=0.005)
    with pytest.raises(BadInput, match=r"expected chances from 0 to 1, found 0\.9, 1\.2"):
        bronze_scores(precision=(0.9, 1.2))


def test_the_studies_are_drawn_as_two_histograms_with_the_truth_between() -> None:
    drawn = figure_of(bronze_scores(studies=500, seed=1).summary()).spec
    data = [row for rows in drawn["datasets"].values() for row in rows]
    for series in ("naive", "corrected"):
        assert sum(row["share"] for row in data if row.get("series") == series) == pytest.approx(1.0)
    assert {"at": pytest.approx(0.4)} in data
