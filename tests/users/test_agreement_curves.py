"""Curves of agreement with preferences: thresholds by hand, kappa as scikit-learn's, intervals cover."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from karat.errors import BadInput, Undefined
from karat.records import Judgments
from karat.simulate import preference_study
from karat.stats.agreement_coefficients import cohen_kappa
from karat.stats.bootstrap import Resampling
from karat.users.agreement_curves import Sides, points, preference_curves
from karat.users.sign_agreement import jaccard_of_signs, sign_tables

rows = st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([-1, 0, 1]), st.integers(0, 2)), min_size=4, max_size=12)


@given(rows, st.sampled_from([0.0, 0.09, 0.25, 0.5, 0.77, 1.0]))
def test_the_threshold_ties_the_share_that_comes_nearest(drawn: list[tuple[int, int, int]], share: float) -> None:
    apart, sign, times = (np.array(column) for column in zip(*drawn, strict=True))
    apart, times = apart / 7, times.astype(float)
    if not times.sum():
        return
    several, reach = sign_tables(apart, sign[:, None], [0.1, share], times[None])
    tables, t = several[1, 0], reach[1]
    again = np.repeat(np.arange(len(apart)), times.astype(int))
    possible = [0.0, *np.sort(np.abs(apart[again]))]
    by_hand = min(possible, key=lambda v: (round(abs((np.abs(apart[again]) <= v).mean() - share), 9), v))
    assert t[0] == by_hand
    says = np.where(np.abs(apart[again]) <= by_hand, 0, np.sign(apart[again])).astype(int)
    both = [[((says == m) & (sign[again] == u)).sum() for u in (-1, 0, 1)] for m in (-1, 0, 1)]
    assert tables[0].tolist() == both
    agree = int((says == sign[again]).sum())
    # Two sets of statements (pair, sign): what both say, of what either says.
    mine, theirs = (set(enumerate(side.tolist())) for side in (says, sign[again]))
    assert jaccard_of_signs(tables)[0] == pytest.approx(len(mine & theirs) / len(mine | theirs))
    assert jaccard_of_signs(tables)[0] == pytest.approx(agree / (2 * len(again) - agree))
    if len({*says, *sign[again]}) > 1:
        assert cohen_kappa(tables)[0] == pytest.approx(cohen_kappa_score(says, sign[again]))


def test_curves_keep_pairs_with_documents_judged_in_context_only() -> None:
    rows = [("x", 2, None), ("y", 1, None), ("z", 3, "x")]
    labels = [
        {"query": query, "doc": doc, "label": label, "context": above}
        for query in ("q1", "q2", "q3", "q4")
        for doc, label, above in rows
    ]
    runs = {"a": {q: {"x": 2.0, "z": 1.0} for q in ("q1", "q2", "q3", "q4")}}
    runs |= {"b": {q: {"x": 2.0, "y": 1.0} for q in ("q1", "q2", "q3", "q4")}}
    told = [
        {"query": q, "left": "a", "right": "b", "choice": "left", "judge": judge, "strength": 1}
        for q in ("q1", "q2", "q3", "q4")
        for judge in "uv"
    ]
    curves = preference_curves(told, labels, runs, ("CG@2", "CCG@2"), draws=0)
    assert curves.frame["n"].unique().to_list() == [4]
    assert not any("undefined" in note for note in curves.notes)


def test_a_small_study_by_hand() -> None:
    """Four queries, two systems; P@1 holds them apart on q1 (a) and q2 (b); users prefer a, b, a (slightly), none."""
    runs = {"a": {q: {"x": 2.0, "y": 1.0} for q in ("q1", "q2", "q3", "q4")}}
    runs |= {"b": {q: {"x": 1.0, "y": 2.0} for q in ("q1", "q2", "q3", "q4")}}
    labels = {
        "q1": {"x": 1, "y": 0},
        "q2": {"x": 0, "y": 1},
        "q3": {"x": 1, "y": 1},
        "q4": {"x": 0, "y": 0},
    }
    answers = [("q1", "left", 2), ("q2", "right", 2), ("q3", "left", 1), ("q4", "equal", 0)]
    said = [{"query": q, "left": "a", "right": "b", "choice": c, "strength": s} for q, c, s in answers]
    found = preference_curves(said, labels, runs, ["P@1"], tie_shares=[0, 0.75], conditions={"own": None}, draws=0)
    told = {(r["curve"], r["preference"], r["asked"]): r for r in found.frame.iter_rows(named=True)}
    # Weak: P@1 says 1, -1, 0, 0 and users 1, -1, 1, 0: three of four, jaccard 3/5, chance (1x2 + 1x1 + 2x1)/16 = 5/16.
    row = told["ties", "weak", 0.0]
    assert (row["agreement"], row["jaccard"], row["ties"]) == (0.75, pytest.approx(0.6), 0.5)
    assert row["kappa"] == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    # Strong: users say 1, -1, 0, 0 too.
    assert told["ties", "strong", 0.0]["kappa"] == pytest.approx(1)
    # With three ties asked for, both differences of 1 tie together: two or four, equally near, so the fewer.
    assert told["ties", "weak", 0.75]["ties"] == 0.5
    assert told["context", "weak", 0.25]["ties"] == 0.5
    assert told["context", "strong", 0.5]["kappa"] == pytest.approx(1)
    assert {"users tie on 25% of the pairs (weak preference)", "users tie on 50% of the pairs (strong preference)"} <= {
        *found.notes
    }


def in_context(seed: int, weight: float) -> tuple[pl.DataFrame, dict[str, object], Judgments]:
    """Two systems, 120 queries, labels alone and given the one above; users go by CG@4 with this context weight."""
    rng = np.random.default_rng(seed)
    labels, runs, said = [], [], []
    for number in range(120):
        query, docs = f"q{number:03}", [f"d{n}" for n in range(6)]
        alone = rng.integers(0, 4, 6)
        given = rng.integers(0, 4, (6, 6))
        labels += [(query, doc, None, int(alone[n])) for n, doc in enumerate(docs)]
        labels += [(query, docs[n], docs[m], int(given[n, m])) for n in range(6) for m in range(6) if n != m]
        worth = []
        for system in ("a", "b"):
            order = rng.permutation(6)[:4]
            runs += [(system, query, docs[n], rank) for rank, n in enumerate(order, 1)]
            after = [(1 - weight) * alone[n] + weight * given[n, m] for m, n in pairwise(order)]
            worth.append(alone[order[0]] + sum(after))
        felt = round(worth[0] - worth[1], 9)
        choice = "left" if felt > 0 else "right" if felt < 0 else "equal"
        said.append((query, "a", "b", choice, 1 + (abs(felt) > 2)))
    return (
        pl.DataFrame(said, schema=["query", "left", "right", "choice", "strength"], orient="row"),
        {"runs": pl.DataFrame(runs, schema=["system", "query", "doc", "rank"], orient="row")},
        Judgments.of(pl.DataFrame(labels, schema=["query", "doc", "context", "label"], orient="row")),
    )


def test_the_curve_peaks_at_the_users_own_context_weight() -> None:
    said, runs, labels = in_context(2, 0.6)
    found = preference_curves(
        said, labels, runs["runs"], ["CG@4", "P(rel=2)@4"], conditions={"few": 0.0}, tie_shares=[0, 0.5], draws=200
    )
    weak = found.frame.filter(
        (pl.col("curve") == "context") & (pl.col("preference") == "weak") & (pl.col("measure") == "CG@4")
    )
    assert weak["context"].to_list() == [round(0.1 * n, 1) for n in range(11)]
    assert weak.sort("kappa")["context"][-1] == 0.6
    assert weak.filter(pl.col("context") == 0.6)["kappa"][0] == pytest.approx(1)
    low, high = weak.filter(pl.col("context") == 0.0).select("kappa_low", "kappa_high").row(0)
    assert low < weak["kappa"][0] < high < 1
    plain = found.frame.filter((pl.col("measure") == "P(rel=2)@4") & (pl.col("curve") == "context"))
    assert plain.height == 2
    assert found.to_dict()["rows"][-1]["context"] is None
    assert "CG@4 with context weight 0.6 agrees best" in found.finding


def test_the_intervals_cover_the_kappa_of_many_queries() -> None:
    def study(queries: int, rng: np.random.Generator) -> tuple[np.ndarray, Sides]:
        true = np.repeat(rng.normal(size=queries), 2) + 0.5 * rng.normal(size=2 * queries)
        felt = true + 0.8 * rng.normal(size=2 * queries)
        sign = np.where(np.abs(felt) < 0.3, 0, np.sign(felt)).astype(np.int64)
        return true, Sides(["weak"], sign[:, None], np.repeat(np.arange(queries), 2), queries)

    rng = np.random.default_rng(5)
    true, sides = study(200_000, rng)
    tables, _ = sign_tables(true, sides.sign, [0.25], np.ones((1, len(true))))
    truth = {"kappa": cohen_kappa(tables[0, 0])[0], "jaccard": jaccard_of_signs(tables[0, 0])[0]}
    hits = dict.fromkeys(truth, 0)
    for seed in range(200):
        true, sides = study(60, rng)
        row = next(iter(points([({}, 0.25)], true, sides, Resampling(0.95, 300, seed))))
        for name, value in truth.items():
            hits[name] += row[f"{name}_low"] <= value <= row[f"{name}_high"]
    assert all(0.9 <= hit / 200 <= 0.985 for hit in hits.values()), hits


def test_awkward_studies_are_answered_in_words() -> None:
    study = preference_study("DCG@5", queries=4, systems=3, pairs_per_query=1, seed=1)
    found = preference_curves(study.preferences, study.judgments, study.runs, ["DCG@5"], draws=200)
    assert found.frame["kappa_low"].is_nan().all()
    assert any("fewer than 5 queries" in note for note in found.notes)
    bare = study.preferences.frame.drop("strength")
    found = preference_curves(bare, study.judgments, study.runs, ["DCG@5"], draws=0)
    assert found.frame["preference"].unique().to_list() == ["weak"]
    assert any("two strengths" in note for note in found.notes)
    with pytest.raises(Undefined, match="none of the 3 pairs"):
        preference_curves(
            study.preferences.frame.with_columns(pl.lit("q").alias("query")), study.judgments, study.runs, draws=0
        )
    with pytest.raises(BadInput, match="shares from 0 to 1"):
        preference_curves(study.preferences, study.judgments, study.runs, conditions={"weak": 9.0})


def test_differences_that_are_equal_but_for_rounding_tie_together() -> None:
    """0.3 - 0.2, 0.4 - 0.3 and 0.1 are one difference: no share can part them."""
    apart = np.array([0.3 - 0.2, 0.4 - 0.3, -0.1, 0.5])
    assert len(np.unique(np.abs(apart))) == 4
    users = np.array([[1], [1], [-1], [1]])
    for share, attained in ((0.25, 0), (0.3, 0), (0.5, 3), (0.75, 3), (0.9, 4)):
        tables, _ = sign_tables(apart, users, [share], np.ones((1, 4)))
        assert tables[0, 0, 0, 1].sum() == attained, share
    assert sign_tables(apart, users, [0.0], np.ones((1, 4)))[0][0, 0, 0, 1].sum() == 0


def test_no_shares_of_ties_leave_the_other_curve_and_none_at_all_are_refused() -> None:
    made = preference_study(queries=6, judges=1, block=0)
    given_all = (made.preferences, made.judgments, made.runs, ["P@10"])
    found = preference_curves(*given_all, tie_shares=(), draws=0)
    assert found.frame["curve"].unique().to_list() == ["context"]
    with pytest.raises(BadInput, match="a share of ties"):
        preference_curves(*given_all, tie_shares=(), conditions={}, draws=0)
