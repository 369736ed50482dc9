"""Clicks by rank: COEC and the position-based model find what was planted, where raw rates do not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import karat as kt
from karat.simulate.click_log import position_log
from karat.stats.hypothesis_tests import share_interval
from simulated import about, studies


def rows(*cells: tuple[str, int, int, int]) -> pl.DataFrame:
    """A log of one query from cells of doc, rank, impressions, clicks."""
    made = [
        {"query": "q", "doc": doc, "rank": rank, "clicked": n < clicks}
        for doc, rank, shown, clicks in cells
        for n in range(shown)
    ]
    return pl.DataFrame(made)


def by_doc(found: kt.users.ClickLabels, column: str) -> dict[str, float]:
    return dict(zip(found.frame["doc"], found.frame[column], strict=True))


def test_coec_is_clicks_over_what_the_ranks_would_expect() -> None:
    # Rank 1: 30 of 100 clicked, rank 2: 10 of 100; a was shown 50 times at each.
    found = kt.click_labels_by_rank(rows(("a", 1, 50, 20), ("b", 1, 50, 10), ("a", 2, 50, 4), ("b", 2, 50, 6)))
    assert by_doc(found, "coec") == pytest.approx({"a": 24 / (50 * 0.3 + 50 * 0.1), "b": 16 / 20})
    assert by_doc(found, "rate") == pytest.approx({"a": 0.24, "b": 0.16})


def test_the_model_is_the_most_likely_one() -> None:
    cells = [("a", 1, 80, 40), ("a", 2, 120, 31), ("b", 2, 60, 9), ("b", 3, 90, 10), ("c", 1, 70, 11), ("c", 3, 50, 4)]

    def unlikely(x: np.ndarray) -> float:
        chances = 1 / (1 + np.exp(-x))
        look, docs = {1: 1.0, 2: chances[0], 3: chances[1]}, chances[2:]
        total = 0.0
        for doc, rank, shown, clicks in cells:
            p = look[rank] * docs["abc".index(doc)]
            total -= clicks * np.log(p) + (shown - clicks) * np.log(1 - p)
        return total

    best = minimize(unlikely, np.zeros(5), method="BFGS").x
    ranks = kt.click_labels_by_rank(rows(*cells)).ranks
    assert ranks["examination"].to_list() == pytest.approx([1, *1 / (1 + np.exp(-best[:2]))], abs=1e-4)


def test_the_interval_of_a_rate_is_wilsons() -> None:
    found = kt.click_labels_by_rank(rows(("a", 1, 40, 10), ("b", 1, 40, 30), ("a", 2, 1, 1), ("b", 2, 1, 0))).frame
    low, high = found.filter(doc="a").select("rate_low", "rate_high").row(0)
    assert (low, high) == pytest.approx(share_interval(11, 41))


def test_a_document_without_a_click_has_an_upper_end() -> None:
    found = kt.click_labels_by_rank(rows(("a", 1, 30, 12), ("a", 2, 30, 6), ("b", 1, 20, 0))).frame.filter(doc="b")
    value, low, high = found.select("attractiveness", "attractiveness_low", "attractiveness_high").row(0)
    assert (value, low) == (0, 0)
    assert high == pytest.approx(share_interval(0, 20)[1], abs=0.02)


def test_documents_that_keep_their_ranks_cannot_be_told_apart_from_them() -> None:
    found = kt.click_labels_by_rank(rows(("a", 1, 50, 20), ("b", 2, 50, 10), ("c", 3, 50, 5)))
    assert found.frame["attractiveness"].is_nan().all()
    assert "cannot be told apart" in found.finding
    assert any("cannot be told apart" in note for note in found.notes)
    assert found.labels().frame["label"].to_list() == pytest.approx([1.0, 1.0, 1.0])  # COEC, which says nothing here


def test_ranks_that_no_document_connects_stay_unknown() -> None:
    cells = [("a", 1, 50, 20), ("a", 2, 50, 10), ("b", 1, 50, 8), ("c", 9, 50, 5)]
    found = kt.click_labels_by_rank(rows(*cells))
    assert found.ranks["examination"].is_nan().to_list() == [False, False, True]
    assert np.isnan(by_doc(found, "attractiveness")["c"])
    assert any("rank 9 cannot be told apart" in note for note in found.notes)


def test_clicks_of_one_session_that_hang_together_widen_intervals() -> None:
    one = position_log(queries=2, pages=300, seed=1).frame
    thrice = pl.concat([one, one, one])  # every user reloads the page twice and does the same again
    narrow, wide = (
        kt.click_labels_by_rank(frame).frame.select(pl.col("rate_high") - pl.col("rate_low")).to_series().mean()
        for frame in (thrice.drop("session"), thrice)
    )
    assert wide == pytest.approx(narrow * 3**0.5, rel=0.15)


def test_the_order_of_rows_changes_nothing() -> None:
    frame = position_log(queries=3, pages=200, seed=2).frame
    one, two = (kt.click_labels_by_rank(f).frame.sort("query", "doc") for f in (frame, frame.reverse()))
    assert one["attractiveness"].to_list() == pytest.approx(two["attractiveness"].to_list())


@pytest.mark.evidence
@pytest.mark.parametrize("unlike", [0.0, 0.5])
def test_both_find_what_was_planted_where_raw_rates_do_not(unlike: float) -> None:
    covered: dict[str, list[bool]] = {"rate": [], "coec": [], "attractiveness": []}
    seeds = studies(8, 500)
    for seed in seeds:
        made = position_log(queries=10, documents=8, pages=1500, unlike=unlike, seed=seed)
        found = kt.click_labels_by_rank(made.log).frame.join(made.truth, on=["query", "doc"], suffix="_true")
        # The rate at which each document would be clicked, by the rate that its ranks have on average.
        chance = pl.col("attractiveness") * pl.Series(made.examination).gather(made.frame["rank"] - 1)
        rows_ = made.frame.join(made.truth, on=["query", "doc"], how="left", maintain_order="left").select(
            "query", "doc", "rank", p=chance
        )
        ratio = rows_.with_columns(mean=pl.col("p").mean().over("rank")).group_by("query", "doc")
        found = found.join(ratio.agg(coec_true=pl.col("p").sum() / pl.col("mean").sum()), on=["query", "doc"])
        truth = {"rate": "attractiveness_true", "coec": "coec_true", "attractiveness": "attractiveness_true"}
        for name, true in truth.items():
            inside = pl.col(true).is_between(f"{name}_low", f"{name}_high")
            covered[name] += found.select(inside).to_series().to_list()
    shares = {name: float(np.mean(values)) for name, values in covered.items()}
    print(unlike, len(seeds), shares)
    # Documents of one log share its ranks, so that a log counts for about ten.
    assert shares["attractiveness"] == about(0.95, len(seeds) * 10, off=0.01)
    assert shares["coec"] == about(0.95, len(seeds) * 10, off=0.01)
    assert shares["rate"] < 0.5


def test_where_the_best_stand_first_coec_underrates_them_and_the_model_does_not() -> None:
    made = position_log(queries=10, documents=8, pages=20_000, best_first=True, seed=3)
    found = kt.click_labels_by_rank(made.log).frame.join(made.truth, on=["query", "doc"], suffix="_true")
    best = found.filter(pl.col("doc").str.ends_with("-0"))
    even = found["attractiveness_true"].mean()
    assert (best["coec"] < best["attractiveness_true"] / even * 0.9).all()
    assert (best["attractiveness"] / best["attractiveness_true"]).to_numpy() == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rank": 0}, "expected a whole number from 1 as rank"),
        ({"rank": -3}, "expected a whole number from 1 as rank"),
        ({"rank": None}, "expected"),
        ({"clicked": "maybe"}, "expected true or false as clicked"),
        ({"dwell": -1.0}, "expected a number from 0 as dwell"),
    ],
)
def test_an_impossible_row_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.click_labels_by_rank([{"query": "q", "doc": "d", "rank": 1, "clicked": "true"} | change])


def test_impossible_counts_are_refused() -> None:
    for shown, clicks in ((3, 5), (-1, 0), (3, -1)):
        with pytest.raises(kt.BadInput):
            kt.Clicks.of([{"query": "q", "doc": "d", "impressions": shown, "clicks": clicks}])


def test_without_ranks_or_clicks_nothing_is_told() -> None:
    with pytest.raises(kt.BadInput, match="the column rank"):
        kt.click_labels_by_rank([{"query": "q", "doc": "d", "clicked": True}])
    with pytest.raises(kt.Undefined, match="nobody clicked"):
        kt.click_labels_by_rank(rows(("a", 1, 5, 0)))


def test_only_satisfied_clicks_count_where_that_is_asked() -> None:
    log = rows(("a", 1, 20, 10), ("a", 2, 20, 5)).with_columns(dwell=pl.int_range(pl.len()).cast(pl.Float64))
    assert kt.click_labels_by_rank(log).frame["clicks"].to_list() == [15]
    assert kt.click_labels_by_rank(log, satisfied_after=20).frame["clicks"].to_list() == [5]
