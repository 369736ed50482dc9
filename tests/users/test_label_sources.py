"""Curves by source of labels, and the share of ties that serves weak and strong preferences at once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from karat.context import label_in_context
from karat.errors import BadInput
from karat.simulate import context_study, preference_study
from karat.users import preference_curves
from karat.users.sign_agreement import best_for_both
from simulated import studies


def test_each_part_has_the_share_that_is_best_on_the_others_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    n, shares = 60, [0.0, 0.2, 0.4, 0.6, 0.8]
    query = np.repeat(np.arange(20), 3)
    apart = rng.normal(size=(n, 2))
    felt = apart.mean(axis=1) + 0.3 * rng.normal(size=n)
    users = np.column_stack([np.where(np.abs(felt) < at, 0, np.sign(felt)) for at in (0.1, 0.8)]).astype(np.int64)
    found = best_for_both(apart, users, query, shares, seed=1)
    assert found is not None
    assert len(found.share) == 5
    assert all(len(np.unique(found.fold[query == q])) == 1 for q in range(20))

    def signs(difference: np.ndarray, share: float) -> np.ndarray:
        size = np.sort(np.abs(difference))
        at = round(share * len(size))
        return np.where(np.abs(difference) <= (size[at - 1] if at else -1.0), 0, np.sign(difference)).astype(int)

    for part in range(5):
        rest = found.fold != part
        sums = [
            sum(cohen_kappa_score(signs(column[rest], share), kind[rest]) for column in apart.T for kind in users.T)
            for share in shares
        ]
        # Shares of 48 pairs that are no whole number come to the nearest one, as `round` has it.
        assert found.share[part] == shares[int(np.argmax(sums))]
    # Each pair ties by its own part's share.
    tables, _ = found.tables(apart[:, 0], users, np.ones((1, n)))
    own = np.zeros(n, int)
    for part, share in enumerate(found.share):
        own[found.fold == part] = signs(apart[:, 0], share)[found.fold == part]
    by_hand = [[((own == m) & (users[:, 0] == u)).sum() for u in (-1, 0, 1)] for m in (-1, 0, 1)]
    assert tables[0, 0, 0].tolist() == by_hand


def test_a_share_chosen_on_other_queries_promises_nothing_where_there_is_nothing() -> None:
    """Users who say anything: the kappa at the chosen share is 0 on the mean, that of the best look is not."""
    held_out, best = [], []
    for seed in studies(12, 100):
        made = preference_study(None, queries=30, systems=2, pairs_per_query=1, judges=1, block=0, seed=seed)
        found = preference_curves(
            made.preferences, made.judgments, made.runs, ["DCG@5"], conditions={"both": "both"}, draws=0
        ).frame
        held_out.append(found.filter(pl.col("curve") == "context")["kappa"].sum())
        both = found.filter(pl.col("curve") == "ties").group_by("asked").agg(pl.col("kappa").sum())
        best.append(both["kappa"].max())
    spread = np.std(held_out) / np.sqrt(len(held_out))
    assert abs(np.mean(held_out)) < 3 * spread
    assert np.mean(best) > 2 * spread


def test_users_own_shares_and_the_papers_stand_side_by_side() -> None:
    made = preference_study("DCG@5", queries=40, systems=2, pairs_per_query=1, seed=1)
    conditions = {"weak": "weak", "strong": "strong", "own": None, "paper": 0.25}
    found = preference_curves(
        made.preferences, made.judgments, made.runs, ["DCG@5"], conditions=conditions, tie_shares=(), draws=0
    ).frame
    asked = {(row["condition"], row["preference"]): row["asked"] for row in found.iter_rows(named=True)}
    weak, strong = asked["weak", "weak"], asked["strong", "strong"]
    assert weak < strong
    assert asked["weak", "strong"] == weak
    assert asked["strong", "weak"] == strong
    assert (asked["own", "weak"], asked["own", "strong"]) == (weak, strong)
    assert asked["paper", "weak"] == 0.25
    with pytest.raises(BadInput, match="a share or weak, strong, both"):
        preference_curves(made.preferences, made.judgments, made.runs, ["DCG@5"], conditions={"a": "b"}, draws=0)


def test_where_every_pair_was_judged_the_source_makes_no_difference() -> None:
    made = context_study(seed=1, queries=12, scheme="pairs", spam=0.0)
    sources = ["judged", "backed off", "predicted"]
    found = preference_curves(made.preferences, made.judgments, made.runs, ["CCG@5"], sources=sources, draws=100)
    kappas = found.frame.pivot("source", index=["curve", "condition", "context", "preference", "asked"], values="kappa")
    assert kappas["judged"].equals(kappas["backed off"])
    assert kappas["judged"].equals(kappas["predicted"])
    assert found.between_sources["difference"].abs().max() == 0
    assert found.between_sources.height == 3 * 3 * 2  # every two sources, conditions, kinds of preference
    assert {*found.charts} == {
        *(f"Ties, {name}" for name in sources),
        *(f"Context, {under}, {name}" for under in ("weak", "strong", "both") for name in sources),
    }


def test_a_source_is_the_best_that_may_stand_in_for_a_judge() -> None:
    made = context_study(seed=2, queries=30)
    labels = {
        name: label_in_context(made.judgments, made.runs, source=name).frame
        for name in ("judged", "backed-off", "predicted")
    }
    seen = {name: {*frame["source"]} for name, frame in labels.items()}
    assert seen["judged"] == {"judged"}
    assert seen["backed-off"] == {"judged", "backed off", "alone"}
    assert "predicted" in seen["predicted"]
    # The paper's back-off: the label given the list's first document, where the pair itself was not judged.
    key = ["query", "doc", "context"]
    judged = labels["judged"].drop_nulls("context")
    back = labels["backed-off"].filter(pl.col("source") == "backed off")
    first = made.runs.frame.sort("score", descending=True).group_by("system", "query", maintain_order=True).first()
    given = first.select("query", context="doc").unique().join(judged, on=["query", "context"])
    assert back.join(given, on=["query", "doc"]).height >= back.height
    assert back.join(judged, on=key).height == 0
    with pytest.raises(BadInput, match="the source of labels"):
        label_in_context(made.judgments, made.runs, source="guessed")
    bare = made.judgments.frame.filter(pl.col("context").is_null()).drop("context")
    with pytest.raises(BadInput, match="some in context, to compare their sources"):
        preference_curves(made.preferences, bare, made.runs, sources=["predicted"], draws=0)


def test_labels_that_were_made_before_are_made_anew() -> None:
    made = context_study(seed=2, queries=30)
    labels = label_in_context(made.judgments, made.runs, depth=5)
    asked = {"measures": ["CG@5"], "sources": ["backed off"], "draws": 0}
    again = preference_curves(made.preferences, labels, made.runs, **asked)
    fresh = preference_curves(made.preferences, made.judgments, made.runs, **asked)
    assert again.frame.equals(fresh.frame)
    assert any("that no judge gave: made anew by source" in note for note in again.notes)
