"""Labels against gold: errors by hand, planted effects found, and gold in every place where it may stand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from karat.correction.gold_sample import Gold
from karat.errors import BadInput, Undefined
from karat.judges.gold_errors import against_gold, error_distribution, gold_regression
from karat.records import Judgments
from simulated import about, studies


def labels(rows: list[tuple[str, str, float | None, str]]) -> Judgments:
    return Judgments.of(dict(zip(("query", "doc", "label", "group"), zip(*rows, strict=True), strict=True)))


#: By hand: errors of the crowd +1, 0, -2, +1; of the expert 0.
SMALL = [
    ("q1", "a", 2, "gold"),
    ("q1", "b", 3, "gold"),
    ("q2", "a", 1, "gold"),
    ("q1", "a", 3, "crowd"),
    ("q1", "a", 2, "crowd"),
    ("q1", "b", 1, "crowd"),
    ("q2", "a", 2, "crowd"),
    ("q2", "a", None, "crowd"),
    ("q9", "z", 2, "crowd"),
    ("q1", "b", 3, "expert"),
]


def study(seed: int = 0, queries: int = 60, docs: int = 8, lift: float = 0.5) -> Judgments:
    """Gold, a crowd that lifts Wikipedia pages by `lift` on the mean, and professionals who do not."""
    rng = np.random.default_rng(seed)
    query, n = np.repeat(np.arange(queries), docs), queries * docs
    wp, length = rng.random(n) < 0.3, rng.integers(1, 9, queries)[query]
    gold = rng.integers(1, 4, n)
    frames = []
    for group in ("gold", "crowd", "professional"):
        error = np.zeros(n) if group == "gold" else rng.choice([-1, 0, 1], n, p=[0.2, 0.6, 0.2])
        error = error + (group == "crowd") * wp * (rng.random(n) < lift)
        frames.append(
            pl.DataFrame(
                {
                    "query": query.astype(str),
                    "doc": np.arange(n).astype(str),
                    "label": (gold + error).astype(float),
                    "group": group,
                    "wikipedia": np.where(wp, "WP", "nWP"),
                    "length": length,
                }
            )
        )
    return Judgments.of(pl.concat(frames))


def test_errors_by_hand() -> None:
    found = against_gold(labels(SMALL))
    rows = found.frame.select("group", "n", "n_queries", "error", "under", "correct", "over").rows()
    assert rows == [("crowd", 4, 2, 0.0, 0.25, 0.25, 0.5), ("expert", 1, 1, 0.0, 0.0, 1.0, 0.0)]
    assert found.frame.select("low", "high", "over_low").row(0) == pytest.approx((np.nan,) * 3, nan_ok=True)
    assert found.notes == (
        "1 answer without a label (can't tell) left aside",
        "6 labels without a judge's name taken for those of different people",
        "3 documents of 4 judged ones have a gold label",
        "crowd has judges without names: intervals are for these judges, not for others like them",
    )
    assert found.finding == (
        "The crowd equals gold on average and is right in 25 % of 4 labels; "
        "expert equals gold on average and is right in 100 % of 1 label."
    )


def test_the_distribution_of_errors_by_hand() -> None:
    found = error_distribution(labels(SMALL)).frame
    assert found.filter(pl.col("group") == "crowd").select("error", "n", "share").rows() == [
        (-2.0, 1, 0.25),
        (0.0, 1, 0.25),
        (1.0, 2, 0.5),
    ]
    assert found.filter(pl.col("group") == "expert")["n"].to_list() == [0, 1, 0]


def test_gold_may_be_a_group_or_come_apart() -> None:
    apart = labels([row for row in SMALL if row[3] != "gold"])
    gold = Judgments.of({"q1": {"a": 2, "b": 3}, "q2": {"a": 1}})
    assert against_gold(apart, gold).frame.equals(against_gold(labels(SMALL)).frame)
    assert against_gold(apart, labels(SMALL)).frame.equals(against_gold(labels(SMALL)).frame)
    nameless = Judgments.of({"q1": {"a": 3, "b": 1}})
    assert against_gold(nameless, gold).frame.select("group", "error").row(0) == ("all", -0.5)
    assert against_gold(nameless, gold).finding.startswith(
        "The judges underrate by 0.50 of a grade and are right in 0 %"
    )


def test_gold_in_two_places_in_none_or_of_other_documents_is_refused() -> None:
    with pytest.raises(BadInput, match="expected gold labels in one place"):
        against_gold(labels(SMALL), Judgments.of({"q1": {"a": 2}}))
    with pytest.raises(BadInput, match="expected a group called gold, found crowd"):
        against_gold(labels(SMALL[3:4]))
    with pytest.raises(Undefined, match="no label is of a document with a gold label"):
        against_gold(labels(SMALL[3:4]), Judgments.of({"q7": {"a": 2}}))


def test_several_gold_labels_count_as_their_median_and_the_lower_grade_of_an_even_split() -> None:
    rows = [("q", "a", 3, "gold"), ("q", "a", 3, "gold"), ("q", "a", 0, "gold"), ("q", "a", 3, "crowd")]
    rows += [("q", "b", 1, "gold"), ("q", "b", 2, "gold"), ("q", "b", 2, "crowd")]
    found = against_gold(labels(rows))
    assert found.frame["error"][0] == 0.5
    assert "gold labels of 1 document split evenly: the lower grade counts" in found.notes


def test_labels_meet_gold_of_the_same_aspect_only() -> None:
    rows = {
        "query": ["q"] * 2,
        "doc": ["a"] * 2,
        "label": [3, 1],
        "group": ["crowd"] * 2,
        "aspect": ["overall", "novelty"],
    }
    found = against_gold(Judgments.of(rows), Judgments.of({"q": {"a": 2}}))
    assert found.frame.select("n", "error").row(0) == (1, 1.0)


def test_a_column_called_gold_does_no_harm() -> None:
    rows = {"query": ["q"], "doc": ["a"], "label": [3], "gold": ["x"], "error": ["y"], "over": ["z"], "item": ["u"]}
    found = against_gold(Judgments.of(rows), Judgments.of({"q": {"a": 2}}), by=["gold", "error", "over", "item"]).frame
    assert found["error"].to_list() == [1.0] * 5
    assert found["value"].to_list() == ["all", "x", "y", "z", "u"]


def test_a_planted_bias_shows_in_its_slice_alone() -> None:
    found = against_gold(study(), by=["wikipedia", "length"]).frame
    row = found.filter((pl.col("group") == "crowd") & (pl.col("value") == "WP")).row(0, named=True)
    assert row["low"] <= 0.5 <= row["high"]
    assert row["over"] == pytest.approx(0.2 + 0.6 * 0.5, abs=0.1)
    for group, value in (("crowd", "nWP"), ("professional", "WP"), ("professional", "nWP")):
        row = found.filter((pl.col("group") == group) & (pl.col("value") == value)).row(0, named=True)
        assert row["low"] <= 0 <= row["high"]
        assert row["under"] + row["correct"] + row["over"] == pytest.approx(1)
    # A number of eight values is cut into four slices.
    assert found.filter(pl.col("feature") == "length")["value"].n_unique() == 4


@pytest.mark.evidence
def test_intervals_of_the_mean_error_hold_it_in_about_95_percent() -> None:
    held, seeds = 0, studies(20, 1000)
    for seed in seeds:
        found = against_gold(study(seed, queries=30, docs=4), by="wikipedia").frame
        row = found.filter((pl.col("group") == "crowd") & (pl.col("value") == "WP")).row(0, named=True)
        held += row["low"] <= 0.5 <= row["high"]
    assert held / len(seeds) == about(0.95, len(seeds), off=0.01)


def test_real_labels_have_their_errors_rounded_in_the_distribution() -> None:
    rng = np.random.default_rng(0)
    rows = {"query": ["q"] * 200, "doc": [str(i) for i in range(200)], "label": rng.random(200) * 3}
    gold = Judgments.of({"q": {str(i): 1 for i in range(200)}})
    found = error_distribution(Judgments.of(rows), gold)
    assert found.frame["error"].to_list() == [-1, 0, 1, 2]
    assert "errors are rounded to whole grades" in found.notes


def test_coefficients_are_those_of_statsmodels() -> None:
    judgments = study(3)
    found = gold_regression(judgments, ["wikipedia", "length"], "error").frame
    frame = judgments.frame
    truth = frame.filter(pl.col("group") == "gold").select("query", "doc", gold="label")
    crowd = frame.filter(pl.col("group") == "crowd").join(truth, on=["query", "doc"])
    crowd = crowd.with_columns(
        error=pl.col("label") - pl.col("gold"), wp=(pl.col("wikipedia") == "WP").cast(pl.Float64)
    )
    design = np.column_stack([np.ones(crowd.height), crowd["wp"].to_numpy(), crowd["length"].to_numpy()])
    theirs = sm.OLS(crowd["error"].to_numpy(), design).fit(
        cov_type="cluster", cov_kwds={"groups": crowd["query"].cast(pl.Int64).to_numpy()}, use_t=True
    )
    ours = found.filter(pl.col("group") == "crowd")
    assert ours["term"].to_list() == ["intercept", "wikipedia=WP", "length"]
    assert ours["coefficient"].to_numpy() == pytest.approx(theirs.params)
    assert ours["standard_error"].to_numpy() == pytest.approx(theirs.bse)
    assert ours["p"].to_numpy() == pytest.approx(theirs.pvalues)
    assert ours["n"].to_list() == [480] * 3
    assert ours["n_queries"].to_list() == [60] * 3


def test_the_error_is_explained_by_wikipedia_for_the_crowd_but_gold_is_not() -> None:
    judgments = study(4)
    error = gold_regression(judgments, "wikipedia")
    table = error.frame.filter(pl.col("term") == "wikipedia=WP")
    crowd, professional = (table.filter(pl.col("group") == g).row(0, named=True) for g in ("crowd", "professional"))
    assert crowd["low"] <= 0.5 <= crowd["high"]
    assert crowd["p"] < 0.001 < professional["p"]
    assert error.finding.startswith("For the crowd, wikipedia=WP adds +0.")
    assert "wikipedia: coefficients are differences from nWP" in error.notes
    gold = gold_regression(judgments, "wikipedia", "gold")
    assert gold.frame.filter(pl.col("term") == "wikipedia=WP")["p"].min() > 0.01
    assert gold.finding == "No feature has an effect on gold beyond chance."
    label = gold_regression(judgments, "wikipedia", "label").frame
    assert label["group"].unique().sort().to_list() == ["crowd", "gold", "professional"]


def test_features_that_tell_the_same_are_named_and_rare_values_go_together() -> None:
    judgments = study(5)
    frame = judgments.frame.with_columns(
        again=pl.col("wikipedia").replace_strict({"WP": "yes", "nWP": "no"}),
        site=pl.when(pl.col("query").cast(pl.Int64) < 3).then("query").otherwise(pl.lit("common")),
        flag=pl.col("wikipedia") == "WP",
    )
    found = gold_regression(Judgments.of(frame), ["wikipedia", "again"])
    assert "crowd: no coefficient for again=yes: other features tell it, or all are alike" in found.notes
    assert found.frame.filter(pl.col("term") == "again=yes")["coefficient"].is_nan().all()
    rare = gold_regression(Judgments.of(frame), ["site", "flag"])
    assert "site: 3 values, rare or of fewer than 5 queries, put together as other" in rare.notes
    assert rare.frame["term"].unique(maintain_order=True).to_list() == ["intercept", "site=other", "flag=true"]


def test_too_few_labels_are_not_taken_for_no_effect() -> None:
    rows = {"query": ["a", "a", "b"], "doc": ["1", "2", "1"], "label": [1, 2, 0], "colour": ["r", "g", "r"]}
    found = gold_regression(Judgments.of(rows), "colour", "label")
    assert found.finding.startswith("The labels are too few, or too much alike, to tell what features do to the label")
    assert found.frame["p"][1] is None or np.isnan(found.frame["p"][1])


def test_bad_targets_and_missing_features_are_refused() -> None:
    with pytest.raises(BadInput, match="expected error, label or gold, found clicks"):
        gold_regression(study(), "wikipedia", "clicks")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="expected a column domain to compare by"):
        gold_regression(study(), "domain")
    with pytest.raises(BadInput, match="expected at least one, found none"):
        gold_regression(study(), [])


def test_documents_drawn_for_gold_count_with_one_over_their_probability() -> None:
    """By hand: errors 2, 0, 0 of documents drawn with 1, 1/2, 1/4: (2 * 1 + 0 * 2 + 0 * 4) / 7 = 2/7; right in 6/7."""
    rows = [{"query": f"q{n}", "doc": "d", "label": label} for n, label in enumerate((3, 1, 1))]
    gold = [
        {"query": f"q{n}", "doc": "d", "label": 1, "probability": chance} for n, chance in enumerate((1.0, 0.5, 0.25))
    ]
    found = against_gold(rows, gold)
    assert found.frame.select("n", "error", "correct").row(0) == pytest.approx((3, 2 / 7, 6 / 7))
    said = "gold documents were drawn with different probabilities"
    assert f"{said}: each counts with 1 / its probability" in found.notes
    shares = error_distribution(rows, gold).frame
    assert shares.select("error", "n", "share").rows() == [
        (0.0, 2, pytest.approx(6 / 7)),
        (2.0, 1, pytest.approx(1 / 7)),
    ]
    coloured = [row | {"colour": "red" if row["label"] > 1 else "blue"} for row in rows]
    assert f"{said}, but count alike here" in gold_regression(coloured, "colour", "error", gold).notes
    alike = [row | {"probability": 0.5} for row in gold]
    assert not any(said in note for note in against_gold(rows, alike).notes)


def test_a_blank_sampling_probability_is_refused_as_compare_does() -> None:
    """A blank was taken for a probability of 1. What compare refuses, judges gold refuses in the same words."""
    rows = [{"query": f"q{n}", "doc": "d", "label": 1} for n in range(3)]
    gold = [row | {"probability": chance} for row, chance in zip(rows, (0.5, None, 0.25), strict=True)]
    said = r"document d of query q1: expected a probability above 0 .* found none \(1 such label\)"
    with pytest.raises(BadInput, match=said) as mine:
        against_gold(rows, gold)
    with pytest.raises(BadInput) as theirs:
        Gold.of(Judgments.of(gold))
    assert str(mine.value) == str(theirs.value)
    # Blanks among the judges' own labels are nothing amiss: nobody sampled those.
    inside = [row | {"group": "crowd", "probability": None} for row in rows]
    inside += [row | {"group": "gold", "probability": 0.5} for row in rows]
    assert against_gold(inside).frame["n"].to_list() == [3]
    # An item with two sampling probabilities is refused, too.
    with pytest.raises(BadInput, match="expected one probability"):
        against_gold(rows, [gold[0], gold[0] | {"probability": 0.4, "judge": "b"}])
