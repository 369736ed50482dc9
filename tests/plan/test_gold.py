"""Gold labels where they count: fewer of them, the same interval, coverage kept."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.ppi import powered
from karat.plan.gold_selection import plan_gold, plan_gold_queries
from karat.simulate import two_systems
from karat.stats.sampling import draw, inclusion_probabilities
from pools import pool_of_study
from simulated import about, studies


def swapped(queries: int = 40) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Two lists with the same ten documents, the first and the last of them exchanged: two of ten count in DCG."""
    docs = [f"d{i}" for i in range(10)]
    other = [docs[9], *docs[1:9], docs[0]]
    labels = {f"q{i:02d}": {doc: (i + place) % 2 for place, doc in enumerate(docs)} for i in range(queries)}
    ranked = {
        name: {query: {doc: float(10 - place) for place, doc in enumerate(order)} for query in labels}
        for name, order in (("a", docs), ("b", other))
    }
    return labels, ranked


def test_two_documents_of_ten_need_a_fifth_of_the_gold_labels() -> None:
    labels, runs = swapped()
    plan = plan_gold(labels, runs, "DCG@10", 40)
    assert plan.counting == 80
    assert set(plan.frame["doc"]) <= {"d0", "d9"}
    assert plan.frame["probability"].to_list() == pytest.approx([0.5] * 40)
    assert 1 - 40 / plan.as_many_uniform >= 0.8 - 1e-9
    assert "80 % are spared" in plan.finding


@pytest.mark.evidence
def test_the_interval_is_as_narrow_with_80_percent_fewer_and_holds_as_often() -> None:
    widths: dict[str, list[float]] = {"chosen": [], "uniform": []}
    held: dict[str, list[bool]] = {"chosen": [], "uniform": []}
    seeds = studies(100, 2000)
    for seed in seeds:
        study = two_systems(150, difference=0.01, judge="by document", shared=9, seed=seed)
        counts = (study.rank > 0).sum(axis=1) == 1
        chance = inclusion_probabilities(counts.astype(float), 150)
        uniform = study.draw_gold(750, seed)
        pools = {
            "chosen": pool_of_study(study, draw(chance, seed=seed), chance),
            "uniform": pool_of_study(study, uniform, 750 / len(uniform)),
        }
        for name, pool in pools.items():
            found = powered(pool).difference(0, 1)
            widths[name].append(found.high - found.low)
            held[name].append(found.low <= 0.01 <= found.high)
    assert np.mean(widths["chosen"]) <= np.mean(widths["uniform"])
    for name in held:
        assert float(np.mean(held[name])) == about(0.95, len(seeds), off=0.005)


def test_a_pilot_sends_gold_labels_where_labels_are_often_wrong() -> None:
    study = two_systems(200, right=(0.98, 0.7), seed=2)  # "relevant" is often wrong, "not relevant" hardly ever
    pilot = study.gold(study.draw_gold(600, 1), 600 / len(study.truth))
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 200, pilot=pilot)
    said = study.judgments().frame.join(pilot.frame, on=["query", "doc"], how="anti")
    said = said.filter(pl.Series((study.rank > 0).sum(axis=1) == 1).filter(pl.Series(~study.draw_gold(600, 1))))
    drawn = said.join(plan.frame, on=["query", "doc"], how="semi")
    share = {
        label: drawn.filter(pl.col("label") == label).height / part.height for (label,), part in said.group_by("label")
    }
    assert share[1.0] > 2 * share[0.0] > 0


def test_a_uniform_share_reaches_documents_that_all_systems_show_alike() -> None:
    labels, runs = swapped()
    plan = plan_gold(labels, runs, "DCG@10", 100, uniform=0.5)
    assert not set(plan.frame["doc"]) <= {"d0", "d9"}
    assert plan.frame.height == 100


def test_the_draw_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    labels, runs = swapped()
    first, again, other = (plan_gold(labels, runs, "DCG@10", 30, seed=seed).frame for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_more_gold_labels_than_documents_label_them_all() -> None:
    labels, runs = swapped(4)
    plan = plan_gold(labels, runs, "DCG@10", 1000, uniform=0.2)
    assert plan.frame.height == 40
    assert (plan.frame["probability"] == 1).all()


def test_lists_that_do_not_differ_need_no_gold() -> None:
    labels, runs = swapped()
    with pytest.raises(kt.Undefined, match="no gold label can tell them apart"):
        plan_gold(labels, runs, "P@10", 30)


def test_measures_that_are_no_sums_get_whole_queries() -> None:
    labels, runs = swapped()
    with pytest.raises(kt.BadInput, match="whole queries"):
        plan_gold(labels, runs, "AP", 30)
    plan = plan_gold_queries(labels, runs, "nDCG@10", 105)
    assert plan.frame["query"].n_unique() == 10
    assert plan.frame["probability"].unique().to_list() == [0.25]
    assert plan.frame.group_by("query").len()["len"].unique().to_list() == [10]


def test_rbp_spends_no_label_on_what_it_hardly_looks_at() -> None:
    """Lists of 200: below rank 40 all documents of both lists together are worth 2 * 0.8^40 = 0.0003 of RBP."""
    docs = [f"d{place:03d}" for place in range(400)]
    labels = {f"q{i}": dict.fromkeys(docs, 0) | {"d000": 1} for i in range(20)}
    runs = {
        name: {f"q{i}": {docs[start + place]: 200.0 - place for place in range(200)} for i in range(20)}
        for name, start in (("a", 0), ("b", 200))
    }
    plan = plan_gold(labels, runs, "RBP", 300)
    assert max(int(doc[1:]) % 200 for doc in plan.frame["doc"]) < 40
    assert plan.counting < 20 * 2 * 40
    gold = plan.frame.with_columns(label=pl.when(pl.col("doc") == "d000").then(1.0).otherwise(0.0))
    found = kt.compare(labels, runs, "RBP", gold=gold)
    assert found.verdict == "worse"
    own = plan_gold(labels, {"a": runs["a"]}, "RBP", 200)
    assert max(int(doc[1:]) for doc in own.frame["doc"]) < 40
    alone = own.frame.with_columns(label=pl.when(pl.col("doc") == "d000").then(1.0).otherwise(0.0))
    scored = kt.score(labels, {"a": runs["a"]}, "RBP", gold=alone, draws=0).means
    assert scored is not None
    assert scored["value"][0] == pytest.approx(0.2, abs=0.01)
