"""Random users, users of another group, weights with intervals, tests between conditions, gains of documents."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.judges import (
    combined_gains,
    combined_weights,
    consistency,
    disagreement,
    disagreement_by,
    document_gains,
    opinions,
    overlap,
    random_user,
    soft_relevance,
)
from karat.judges.conditions import condition_tests
from karat.simulate import DisagreementStudy, disagreement_study
from simulated import about, studies


@pytest.fixture(scope="module")
def study() -> DisagreementStudy:
    return disagreement_study(queries=30, engines=9, docs=8, crowd_queries=80, seed=5)


def rows(documents: dict[str, list[int]], group: str = "people", query: str = "q") -> list[dict[str, object]]:
    return [
        {"query": query, "doc": doc, "label": label, "judge": f"{group}{n}", "group": group}
        for doc, given in documents.items()
        for n, label in enumerate(given)
    ]


def test_a_person_given_what_an_llm_said_is_counted_across_groups() -> None:
    # The LLM says 1 of a and b, 2 of c. Of a's people one of two is content with 1 or more, of b's none, of c's all.
    people, llm = {"a": [1, 0], "b": [0, 0], "c": [2, 1, 1]}, {"a": [1], "b": [1], "c": [2]}
    found = random_user(rows(people) + rows(llm, "llm"), 1, given="llm", group="people", draws=0).frame
    assert found.select("level", "weight", "n").rows() == [(1.0, 0.25, 2), (2.0, 1.0, 1)]


def test_a_random_user_of_the_judges_own_group_is_somebody_else() -> None:
    # One of a's two labels is 1 or more: after the 1 nobody else is, after the 0 the other one is.
    found = random_user(rows({"a": [1, 0], "b": [2, 2]}), 1, draws=0).frame
    assert found.select("level", "weight").rows() == [(0.0, 1.0), (1.0, 0.0), (2.0, 1.0)]


def test_the_random_user_of_the_top_level_is_the_disagreement_model(study: DisagreementStudy) -> None:
    model = disagreement(study.crowd, draws=0)
    assert random_user(study.crowd, draws=0).frame["weight"].to_list() == pytest.approx(model.p.tolist())


def test_what_is_planted_lies_within_the_intervals(study: DisagreementStudy) -> None:
    truth, inside = study.truth, list[bool]()
    pages = disagreement(study.judgments, 3).to_frame()
    inside += [row["low"] < truth[f"p_{row['level']:g}"] < row["high"] for row in pages.to_dicts()]
    crowd = disagreement(study.crowd).to_frame()
    inside += [row["low"] < truth[f"crowd_{row['level']:g}"] < row["high"] for row in crowd.to_dicts()]
    both = pl.concat([study.llm.frame, study.judgments.frame], how="diagonal")
    across = random_user(both, 3, given="llm", group="assessor").frame
    ends = [(row, f"llm_{row['level']:g}") for row in across.to_dicts()]
    inside += [row["weight_low"] < truth[name] < row["weight_high"] for row, name in ends]
    kinds = disagreement_by(study.judgments, "kind", 3).frame
    inside += [row["p_low"] < truth[f"p_{row['level']:g}_{row['kind']}"] < row["p_high"] for row in kinds.to_dicts()]
    combined = combined_weights(study.judgments, ["snippet", "page"], [3, 3]).frame.drop_nans("p_top_low")
    names = [f"combined_{row['snippet']:g}_{row['page']:g}" for row in combined.to_dicts()]
    wide = combined.with_columns(truth=pl.Series([truth[name] for name in names])).filter(pl.col("told") >= 5)
    inside += (wide["p_top_low"] < wide["truth"]).to_list()
    inside += (wide["truth"] < wide["p_top_high"]).to_list()
    # 30 and more figures at 95 %: more than five outside would be a chance of 1 in 100.
    assert len(inside) >= 30
    assert sum(not one for one in inside) <= 5


def test_a_judge_repeats_himself_as_often_as_planted(study: DisagreementStudy) -> None:
    found = consistency(study.judgments, 3, draws=100)
    row = found.frame.filter(pl.col("kind") == "self", pl.col("level") == 3).row(0, named=True)
    # Three standard errors of 200 times that a judge judged a document twice.
    assert row["p"] == pytest.approx(study.truth["self_3"], abs=0.06)


def test_a_weights_interval_is_that_of_p_through_the_formula(study: DisagreementStudy) -> None:
    model = disagreement(study.crowd, draws=200)
    low, high = model.intervals
    table = model.table([(1, 3)]).frame
    assert table["binomial_low"][1] == pytest.approx(1 - (1 - low[1]) ** 2)
    assert table["binomial_high"][1] == pytest.approx(1 - (1 - high[1]) ** 2)
    assert np.isnan(table["binomial_low"][2])  # top is top: 1 for 1 of N, whatever p is
    written = model.weights_for([(1, 3)])
    assert written.columns == ["at_least", "of", "level", "weight", "low", "high"]


def test_of_two_users_what_is_counted_is_p_with_its_interval(study: DisagreementStudy) -> None:
    model = disagreement(study.crowd, draws=200)
    counted = model.table([(1, 2)]).frame.head(2)
    assert counted["experimental"].to_list() == pytest.approx(model.p[:2].tolist())
    assert counted["experimental_low"].to_list() == pytest.approx(model.intervals[0][:2].tolist())


def test_combined_levels_with_a_page_of_nothing_are_worth_nothing(study: DisagreementStudy) -> None:
    found = combined_weights(study.judgments, ["snippet", "page"], [3, 3], zero={"page": 0}, draws=200).frame
    nothing = found.filter(pl.col("page") == 0)
    assert nothing.height == 4
    assert nothing["weight"].to_list() == [0.0] * 4
    assert nothing["weight_low"].is_nan().all()
    some = found.filter(pl.col("page") > 0).drop_nans("weight_low")
    assert ((some["weight_low"] <= some["weight"]) & (some["weight"] <= some["weight_high"])).all()
    with pytest.raises(kt.BadInput, match="expected one of snippet, page, found title"):
        combined_weights(study.judgments, ["snippet", "page"], [3, 3], zero={"title": 0})


def test_beside_a_combined_level_stands_what_the_page_is_worth_alone(study: DisagreementStudy) -> None:
    found = combined_weights(study.judgments, ["snippet", "page"], [3, 3], zero={"page": 0}, draws=0).frame
    pages = disagreement(study.judgments, 3, draws=0).weights(1, 3, zero_lowest=True)
    assert found["alone"].to_list() == pytest.approx([pages[page] for page in found["page"].to_list()])


def test_conditions_are_crossed_and_every_two_tested(study: DisagreementStudy) -> None:
    found = disagreement_by(study.judgments, ["kind", "vertical"], 3, draws=0)
    assert found.frame["kind x vertical"].unique(maintain_order=True).to_list() == [
        "ambiguous, other", "ambiguous, web", "faceted, other", "faceted, web",
    ]  # fmt: skip
    assert found.tests.frame.height == 6 * 4
    # Engines for the web show what users like: a document called HRel is Key to another there more often.
    row = (
        disagreement_by(study.judgments, "vertical", 3, draws=0)
        .tests.frame.filter(pl.col("level") == 2)
        .row(0, named=True)
    )
    assert (row["first"], row["second"]) == ("other", "web")
    assert row["difference_low"] > 0


def test_the_error_of_a_difference_is_that_of_two_means_where_each_query_has_one_document() -> None:
    # p is then a mean over queries: the test is Welch's, with the smaller sample's degrees of freedom.
    one, two = np.array([1.0, 0, 1, 1, 0, 1]), np.array([0.0, 0, 1, 0, 0])
    ones = [np.ones((len(x), 1)) for x in (one, two)]
    given = [("x", one[:, None], ones[0], np.arange(6)), ("y", two[:, None], ones[1], np.arange(6, 11))]
    row = condition_tests(given, [0.0]).frame.row(0, named=True)
    error = np.sqrt(one.var(ddof=1) / 6 + two.var(ddof=1) / 5)
    assert row["difference"] == pytest.approx(two.mean() - one.mean())
    half = row["difference_high"] - row["difference"]
    assert half == pytest.approx(2.7764 * error, rel=1e-3)  # t of 4 degrees of freedom


@pytest.mark.evidence
def test_conditions_without_a_difference_are_told_apart_as_rarely_as_promised() -> None:
    seeds = studies(200, 4000)
    alarms = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts = []
        for name, start in (("x", 0), ("y", 12)):
            asked = rng.integers(1, 8, (12, 1)).astype(float)
            chance = rng.beta(4, 8, (12, 1))  # queries differ
            parts.append(
                (name, rng.binomial(asked.astype(int), chance).astype(float), asked, np.arange(start, start + 12))
            )
        alarms += condition_tests(parts, [0.0]).frame["p_value"][0] < 0.05
    assert alarms / len(seeds) == about(0.05, len(seeds), off=0.01)


def test_documents_are_worth_what_their_label_is(study: DisagreementStudy) -> None:
    # 1 of 3 users: p(2|0) = 1/2, p(2|1) = 1/2: 1 - (1/2)^2 = 3/4 for both.
    labels = rows({"a": [2, 0], "b": [0, 0], "c": [1, 2], "d": [1, 1]})
    found = dict(document_gains(labels).frame.select("doc", "gain").rows())
    assert found == pytest.approx({"a": (1 + 5 / 9) / 2, "b": 5 / 9, "c": (1 + 5 / 9) / 2, "d": 5 / 9})
    weights = combined_weights(study.judgments, ["snippet", "page"], [3, 3], zero={"page": 0}, draws=0)
    gains = combined_gains(weights, study.judgments).frame
    assert gains.height == study.judgments.frame.select("query", "doc").n_unique()
    assert gains["gain"].is_between(0, 1).all()


def test_soft_relevance_is_the_models_posterior_and_is_calibrated(study: DisagreementStudy) -> None:
    model = disagreement(study.crowd, draws=0)
    found = soft_relevance(study.crowd, draws=200)
    mine = study.crowd.frame.filter(pl.col("doc") == found.frame["doc"][0])["label"].to_list()
    # Each label in turn tells the beta distribution of its level, and the others are votes.
    seen, m = sum(label == 2 for label in mine), len(mine)
    each = [
        (a + seen - (label == 2)) / (a + b + m - 1)
        for label, (a, b) in ((label, model.opinions[int(label)]) for label in mine)
    ]
    assert found.frame["gain"][0] == pytest.approx(np.mean(each))
    assert found.calibration is not None
    table = found.calibration.frame.drop_nans("said_low")
    held = (table["said_low"] <= table["expected"]) & (table["expected"] <= table["said_high"])
    assert held.sum() >= table.height - 1
    with pytest.raises(kt.Undefined, match="three labels or more"):
        soft_relevance(study.judgments, 3)


def test_overlap_by_a_column_is_over_all_pairs_of_judges() -> None:
    labels = [
        row | {"vertical": "web" if row["doc"] in "ab" else "news"}
        for row in rows({"a": [2, 2], "b": [2, 0], "c": [0, 2]})
    ]
    found = overlap(kt.Judgments.of(labels), 2, by="vertical").frame
    assert found.select("vertical", "overlap", "both", "either").rows() == [("web", 0.5, 1, 2), ("news", 0.0, 0, 1)]


def test_overlap_by_a_column_has_one_interval_for_one_seed() -> None:
    rng = np.random.default_rng(0)
    labels = [
        {"query": f"q{q}", "doc": f"d{d}", "judge": judge, "label": int(rng.integers(3)), "vertical": f"v{d % 2}"}
        for q in range(12)
        for d in range(6)
        for judge in "xyz"
    ]
    ends = {tuple(overlap(labels, 2, by="vertical").frame["overlap_low"].to_list()) for _ in range(5)}
    assert len(ends) == 1


def test_two_people_of_one_name_in_two_groups_have_an_opinion_each() -> None:
    said = [{"query": "q", "doc": "a", "judge": "kim", "group": g, "label": n} for g, n in (("crowd", 0), ("staff", 2))]
    assert opinions(said).frame.to_dicts() == [{"doc": "a", "kim (crowd)": "0", "kim (staff)": "2"}]


def test_opinions_have_the_documents_most_call_top_first(study: DisagreementStudy) -> None:
    labels = rows({"a": [0, 1, 0], "b": [2, 2, 2], "c": [2, 0, 2]})
    found = opinions(labels)
    assert found.frame["doc"].to_list() == ["b", "c", "a"]
    assert found.finding == "Of 3 documents of q, 2 are 2 to at least one of 3 judges, 1 to all of them."
    with pytest.raises(kt.BadInput, match="expected one that has labels, found q9"):
        opinions(labels, "q9")
