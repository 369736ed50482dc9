"""Scores corrected for the judges' errors, from summary figures.

The figures of the example are those of Goldberg et al. (WWW 2017), section 6; the intervals those that Lang and
Reiczigel (2014) print; the rest is worked by hand beside the test.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.correction.error_rates import Accuracy
from karat.correction.published_pairs import CorrectedPair, corrected_difference, needed
from karat.correction.published_scores import Observed, bootstrap, corrected_score
from karat.errors import BadInput, Undefined
from karat.stats.rogan_gladen import lang_reiczigel
from noisy_pairs import bronze_pairs

A, B = Observed(0.6260, 10278, sd=0.414), Observed(0.6385, 20604, sd=0.402)
JUDGES = Accuracy.of("43/59", "67/84")


def row(pair: CorrectedPair, method: str) -> dict[str, float]:
    return pair.frame.row(by_predicate=pl.col("method") == method, named=True)


def test_the_papers_example_comes_out_as_printed() -> None:
    a, b = corrected_score(A, JUDGES), corrected_score(B, JUDGES)
    assert (a.value, b.value) == (pytest.approx(0.805, abs=5e-4), pytest.approx(0.828, abs=5e-4))
    assert (a.standard_error, b.standard_error) == (pytest.approx(0.0903, abs=5e-5), pytest.approx(0.0923, abs=5e-5))
    assert repr(a).startswith("Corrected for the judges' errors the score is 0.80 (95 % interval 0.65 to 1.00)")


def test_the_bootstrap_gives_the_standard_error_of_the_closed_form() -> None:
    many = Accuracy.of("1460/2000", "1600/2000")
    for observed in (Observed(0.6, 400), Observed(0.6, 400, sd=0.3)):
        drawn = bootstrap(observed, many, 100_000, seed=2)
        assert drawn.std() == pytest.approx(corrected_score(observed, many).standard_error, rel=0.02)


@pytest.mark.parametrize(
    ("score", "relevant", "nonrelevant", "low", "high", "digits"),
    [
        ((4060, 11284), "178/179", "358/359", 0.349, 0.372, 3),
        ((51, 2971), "32/33", "20/20", 0, 0.053, 3),
        ((259, 509), "84/127", "96/109", 0.58, 0.87, 2),
    ],
)
def test_intervals_of_lang_and_reiczigel(
    score: tuple[int, int], relevant: str, nonrelevant: str, low: float, high: float, digits: int
) -> None:
    found = corrected_score(Observed(score[0] / score[1], score[1]), Accuracy.of(relevant, nonrelevant))
    assert (round(found.low, digits), round(found.high, digits)) == (low, high)


@pytest.mark.parametrize(
    ("truth", "n", "right", "n_right", "right_not", "n_not"),
    [(0.4, 50, 0.9, 250, 0.8, 250), (0.8, 2000, 0.73, 59, 0.8, 84), (0.1, 500, 0.9, 30, 0.95, 30)],
)
def test_the_interval_holds_the_truth_as_often_as_it_says_also_with_few_gold_labels(
    truth: float, n: int, right: float, n_right: int, right_not: float, n_not: int
) -> None:
    rng = np.random.default_rng(5)
    studies = 20_000
    score = rng.binomial(n, truth * right + (1 - truth) * (1 - right_not), studies) / n
    r, q = rng.binomial(n_right, right, studies) / n_right, rng.binomial(n_not, right_not, studies) / n_not
    low, high = lang_reiczigel(score, n, r, n_right, q, n_not)
    covered = float(((low <= truth) & (truth <= high)).mean())
    assert 0.945 <= covered <= 0.99


@given(st.floats(0.01, 0.99), st.integers(2, 5000))
def test_judges_who_hardly_err_change_nothing(score: float, n: int) -> None:
    found = corrected_score(Observed(score, n), Accuracy.of((10**9, 10**9), (10**9, 10**9)), draws=0)
    assert found.value == pytest.approx(score)
    assert found.standard_error == pytest.approx(math.sqrt(score * (1 - score) / n), rel=1e-3)
    assert 0 <= found.low < found.high <= 1


def test_both_p_values_of_the_example_the_papers_and_ours() -> None:
    pair = corrected_difference(A, B, JUDGES)
    assert row(pair, "naive")["p"] == pytest.approx(0.0116, abs=5e-5)
    assert row(pair, "naive")["p_normal"] == pytest.approx(0.0116, abs=5e-5)
    assert row(pair, "independent")["p_normal"] == pytest.approx(0.854, abs=5e-4)
    assert row(pair, "independent")["p"] == pytest.approx(0.854, abs=1e-3)
    assert row(pair, "shared")["p"] == pytest.approx(0.017, abs=5e-4)
    assert (pair.verdict, pair.method) == ("better", "shared")
    assert "cancels in the difference" in pair.notes[0]
    # Drawn again with the same accuracies for both, the difference varies as the closed form says.
    assert row(pair, "shared")["bootstrap_error"] == pytest.approx(row(pair, "shared")["standard_error"], rel=0.1)


def test_swapping_the_systems_turns_the_answer_round() -> None:
    there, back = corrected_difference(A, B, JUDGES), corrected_difference(B, A, JUDGES)
    for method in ("naive", "independent", "shared"):
        assert row(there, method)["difference"] == pytest.approx(-row(back, method)["difference"])
        assert row(there, method)["low"] == pytest.approx(-row(back, method)["high"])
    assert back.verdict == "worse"
    assert repr(back).startswith("B is worse than A by 0.024")


def test_on_the_same_queries_the_spread_of_the_differences_counts() -> None:
    # d = 0.7; 0.2^2/100/0.49 + 0.05^2 (0.9*0.1/100 + 0.8*0.2/100)/0.2401 = 0.00081633 + 0.00002603
    a, b = Observed(0.60, 100, sd=0.3), Observed(0.65, 100, sd=0.3)
    pair = corrected_difference(a, b, Accuracy.of("90/100", "80/100"), sd_difference=0.2)
    assert row(pair, "shared")["difference"] == pytest.approx(0.05 / 0.7)
    assert row(pair, "shared")["standard_error"] == pytest.approx(math.sqrt(0.00084236), rel=1e-4)
    assert row(pair, "naive")["standard_error"] == pytest.approx(0.02)
    assert row(pair, "naive")["df"] == pytest.approx(99)


def test_with_a_gold_sample_each_the_independent_form_is_the_answer() -> None:
    pair = corrected_difference(A, B, JUDGES, Accuracy.of("43/59", "67/84"))
    assert pair.frame["method"].to_list() == ["naive", "independent"]
    assert (pair.method, pair.verdict) == ("independent", "no difference shown")
    # With accuracies that are known as good as exactly only the queries are left, and they are the same.
    sure = Accuracy.of((9 * 10**8, 10**9), (8 * 10**8, 10**9))
    a, b = Observed(0.60, 100, sd=0.3), Observed(0.65, 100, sd=0.3)
    paired = corrected_difference(a, b, sure, sure, sd_difference=0.2)
    assert row(paired, "independent")["standard_error"] == pytest.approx(0.02 / 0.7, rel=1e-3)


def test_a_corrected_score_above_one_is_said_and_the_nearest_possible_given() -> None:
    # The paper's Table 2, DocRun02: (0.527 - 1 + 216/262) / (17/38 + 216/262 - 1) = 1.293.
    found = corrected_score(Observed(0.527, 30, sd=0.3), Accuracy.of("17/38", "216/262"))
    assert found.value == pytest.approx(1.293, abs=5e-4)
    assert found.possible == 1
    assert found.high == 1
    assert "which no score can be" in found.finding
    assert any("outside 0 to 1" in note for note in found.notes)


def test_the_papers_second_run_is_refused_its_judges_may_be_guessing() -> None:
    # Table 2, YORK07ED4: d = 14/50 + 230/285 - 1 = 0.087, its standard error 0.068; the score would be 3.68.
    first, second = Accuracy.of("17/38", "216/262"), Accuracy.of("14/50", "230/285")
    with pytest.raises(Undefined, match=r"judges of B cannot be told from guessing.*3\.68, outside 0 to 1"):
        corrected_difference(Observed(0.527, 30, sd=0.3), Observed(0.513, 30, sd=0.3), first, second)


@pytest.mark.parametrize(
    ("relevant", "nonrelevant", "said"),
    [
        ("10/59", "20/84", "wrong way round"),
        ("30/60", "42/84", "cannot be told from guessing"),
        ("1/1", "20/84", "1 gold label"),
        ("40/59", "1/1", "1 gold label"),
    ],
)
def test_judges_who_cannot_be_corrected_for_are_refused_with_the_reason(
    relevant: str, nonrelevant: str, said: str
) -> None:
    with pytest.raises(Undefined, match=said):
        corrected_score(Observed(0.5, 100), Accuracy.of(relevant, nonrelevant))


@pytest.mark.parametrize("value", ["60/59", "0/0", "-3/59", "3/-5", "abc", "0.7", "1/2/3", "", "1.5/2"])
def test_counts_that_cannot_be_are_refused(value: str) -> None:
    with pytest.raises(BadInput, match="such as 43/59"):
        Accuracy.of(value, "67/84")


@pytest.mark.parametrize(
    ("score", "n", "sd"),
    [(1.2, 10, None), (-0.1, 10, None), (math.nan, 10, None), (0.5, 1, None), (0.5, 10, -1.0), (0.5, 10, 0.9)],
)
def test_figures_that_cannot_be_are_refused(score: float, n: int, sd: float | None) -> None:
    with pytest.raises(BadInput, match="expected"):
        Observed(score, n, sd)


def test_differences_cannot_spread_more_than_the_two_systems_together() -> None:
    a, b = Observed(0.60, 100, sd=0.3), Observed(0.65, 100, sd=0.3)
    with pytest.raises(BadInput, match=r"0\.000 to 0\.600"):
        corrected_difference(a, b, JUDGES, sd_difference=0.7)
    with pytest.raises(BadInput, match="same queries"):
        corrected_difference(A, B, JUDGES, sd_difference=0.2)


def test_no_interval_without_width_for_lack_of_data() -> None:
    never_wrong = corrected_score(Observed(0.5, 100), Accuracy.of("20/20", "20/20"))
    assert never_wrong.standard_error > math.sqrt(0.25 / 100)
    nothing = corrected_score(Observed(0.0, 40), Accuracy.of("59/60", "84/85"))
    naive = nothing.frame.row(0, named=True)
    assert naive["low"] < naive["high"] == pytest.approx(0.0876, abs=5e-5)  # Wilson: 3.8415 / (40 + 3.8415)
    alike = corrected_score(Observed(0.5, 40, sd=0.0), JUDGES)
    assert math.isnan(alike.low)
    assert "all queries scored alike: no interval" in alike.notes
    with pytest.raises(Undefined, match="no spread"):
        corrected_difference(Observed(0.5, 40, sd=0.0), Observed(0.6, 40, sd=0.0), JUDGES)


def test_queries_needed_are_those_of_the_paired_t_test_when_judges_do_not_err() -> None:
    never = Accuracy.of((10**9, 10**9), (10**9, 10**9))
    plan = needed(0.25, Observed(0.5, 100, sd=0.5), never, sd_difference=0.5).frame
    assert dict(plan.select("method", "queries").iter_rows()) == {"naive": 34, "independent": 34, "shared": 34}


@pytest.mark.parametrize(("n_right", "n_not", "difference", "score"), [(59, 84, 0.1, 0.6), (200, 200, 0.05, 0.5)])
def test_planned_power_is_realised(n_right: int, n_not: int, difference: float, score: float) -> None:
    judges = Accuracy(round(0.73 * n_right), n_right, round(0.8 * n_not), n_not)
    seen = (score + difference / 2) * judges.d + 1 - judges.nonrelevant
    plan = dict(needed(difference, Observed(seen, 1000), judges).frame.select("method", "queries").iter_rows())
    for test in ("naive", "shared"):
        found = bronze_pairs(
            score,
            difference,
            depth=1,
            relevant=judges.relevant,
            nonrelevant=judges.nonrelevant,
            n_relevant=n_right,
            n_nonrelevant=n_not,
            queries=(plan[test], plan[test]),
            studies=10_000,
            seed=3,
        )
        assert dict(found.select("test", "rejected").iter_rows())[test] == pytest.approx(0.8, abs=0.03)


def test_planned_power_of_two_gold_samples_is_realised_and_few_labels_are_never_enough() -> None:
    judges = Accuracy.of("730/1000", "800/1000")
    seen = 0.65 * judges.d + 1 - judges.nonrelevant
    queries = needed(0.1, Observed(seen, 1000), judges).frame["queries"][1]
    found = bronze_pairs(
        0.6,
        0.1,
        depth=1,
        relevant=0.73,
        nonrelevant=0.8,
        n_relevant=1000,
        n_nonrelevant=1000,
        queries=(queries, queries),
        own_gold=True,
        studies=10_000,
        seed=3,
    )
    assert found["rejected"][1] == pytest.approx(0.8, abs=0.03)
    few = needed(0.02, A, JUDGES)
    assert few.frame["queries"][1] is None
    assert any("no number of queries is enough" in note for note in few.notes)
    with pytest.raises(BadInput, match="not 0"):
        needed(0, A, JUDGES)
