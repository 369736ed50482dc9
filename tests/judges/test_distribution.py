"""Label distributions: shares by hand, tests as scipy has them, and slices that read well."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import ttest_ind, ttest_rel

from karat.errors import BadInput, Undefined
from karat.judges.distribution import distribution, distribution_tests
from karat.judges.slices import sliced
from karat.records import Judgments
from karat.stats.hypothesis_tests import ordinal_test
from karat.stats.multiple_testing import benjamini_hochberg, holm
from simulated import about, studies


def study(seed: int = 0, queries: int = 40, docs: int = 5, lift: float = 0.0) -> pl.DataFrame:
    """Two groups label the same pairs twice; the crowd lifts Wikipedia pages, and a third group judged other pairs."""
    rng = np.random.default_rng(seed)
    n = queries * docs
    query, doc = np.repeat(np.arange(queries), docs), np.tile(np.arange(docs), queries)
    wp = rng.random(n) < 0.4
    true = rng.normal(size=queries)[query] + rng.normal(size=n) + 2
    rows = []
    for group in ("crowd", "crowd", "nist", "nist", "other"):
        said = true + rng.normal(size=n) * 0.7 + lift * wp * (group == "crowd")
        rows.append(
            pl.DataFrame(
                {
                    "query": query.astype(str),
                    "doc": [f"{'o' if group == 'other' else 'd'}{d}" for d in doc],
                    "label": np.clip(np.round(said), 0, 4),
                    "group": group,
                    "wikipedia": np.where(wp, "WP", "nWP"),
                    "length": doc,
                }
            )
        )
    return pl.concat(rows)


def test_shares_are_counts_over_labels() -> None:
    frame = study()
    found = distribution(Judgments.of(frame), by=["wikipedia"]).frame
    assert {*found["feature"]} == {"all", "wikipedia"}
    for row in found.iter_rows(named=True):
        mine = frame.filter(pl.col("group") == row["group"])
        if row["feature"] == "wikipedia":
            mine = mine.filter(pl.col("wikipedia") == row["value"])
        assert row["n"] == mine.filter(pl.col("label") == row["grade"]).height
        assert row["n_labels"] == mine.height
        assert row["share"] == pytest.approx(row["n"] / mine.height)
        assert row["low"] <= row["share"] <= row["high"]
    assert found.height == 3 * (1 + 2) * 5
    assert found.group_by("group", "feature", "value").agg(pl.col("share").sum())["share"].to_list() == pytest.approx(
        [1] * 9
    )
    assert found.filter(pl.col("feature") == "wikipedia")["value"].unique(maintain_order=True).to_list() == [
        "WP",
        "nWP",
    ]


def test_the_finding_says_each_groups_usual_grade() -> None:
    rows = {"query": list("aabb"), "doc": list("1212"), "label": [2, 2, 1, None], "group": ["crowd"] * 4}
    found = distribution(Judgments.of(rows))
    assert repr(found) == (
        "The crowd gave grade 2 most often (67 % of 3 labels).\n- 1 answer without a label (can't tell) left aside\n"
        "- 3 labels without a judge's name taken for those of one judge"
    )
    assert found.frame["low"].is_nan().all()
    nameless = distribution(Judgments.of({"a": {"1": 1}}))
    assert nameless.finding == "The judges gave grade 1 most often (100 % of 1 label)."


def test_a_grade_that_nobody_gave_has_an_interval_all_the_same() -> None:
    """None of 20 queries: with 95 % certainty fewer than 1 - 0.025 ** (1 / 20) = 16.8 % (Clopper and Pearson)."""
    frame = pl.DataFrame(
        {"query": [str(i) for i in range(20)] * 2, "doc": "d", "label": [1.0] * 20 + [0.0, 1.0] * 10}
    ).with_columns(group=pl.Series(["strict"] * 20 + ["loose"] * 20))
    found = distribution(Judgments.of(frame)).frame.filter(pl.col("group") == "strict")
    assert found["share"].to_list() == [0, 1]
    assert found["high"][0] == pytest.approx(0.168433, abs=1e-6)
    assert found["low"][1] == pytest.approx(1 - 0.168433, abs=1e-6)


@pytest.mark.evidence
def test_intervals_hold_the_true_share_in_about_95_percent() -> None:
    rng = np.random.default_rng(5)
    held, seeds = 0, studies(20, 2000)
    for _ in seeds:
        chance = rng.beta(3, 5, 40)
        labels = rng.random((40, 6)) < chance[:, None]
        frame = pl.DataFrame({"query": np.repeat(np.arange(40), 6).astype(str), "doc": np.arange(240).astype(str)})
        found = distribution(Judgments.of(frame.with_columns(label=labels.ravel().astype(float))))
        row = found.frame.row(1, named=True)
        held += row["low"] <= 3 / 8 <= row["high"]
    assert held / len(seeds) == about(0.95, len(seeds), off=0.01)


def test_the_order_of_rows_changes_nothing() -> None:
    frame = study()
    there = distribution(Judgments.of(frame), by="wikipedia").frame
    back = distribution(Judgments.of(frame.sample(fraction=1, shuffle=True, seed=1)), by="wikipedia").frame
    assert_frame_equal(there, back)


def test_groups_on_the_same_pairs_are_tested_in_pairs() -> None:
    frame = study(lift=0.6)
    found = distribution_tests(Judgments.of(frame)).frame
    row = found.filter((pl.col("first") == "crowd") & (pl.col("second") == "nist")).row(0, named=True)
    means = frame.group_by("group", "query", "doc").agg(pl.mean("label")).sort("query", "doc")
    one, other = (means.filter(pl.col("group") == g)["label"].to_numpy() for g in ("crowd", "nist"))
    theirs, welch = ttest_rel(one, other), ttest_ind(one, other, equal_var=False)
    assert (row["t_paired"], row["p_paired"]) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (row["n_paired"], row["df_paired"]) == (len(one), len(one) - 1)
    assert (row["t_welch"], row["df_welch"], row["p_welch"]) == pytest.approx((welch.statistic, welch.df, welch.pvalue))
    assert row["difference"] == pytest.approx((one - other).mean())
    assert row["low"] < row["difference"] < row["high"]
    labels = [frame.filter(pl.col("group") == g) for g in ("crowd", "nist")]
    ordinal = ordinal_test(*(f["label"].to_numpy() for f in labels), *(f["query"].to_numpy() for f in labels))
    assert (row["effect"], row["p_ordinal"]) == pytest.approx((ordinal.effect, ordinal.p))


def test_groups_without_shared_documents_are_not_compared() -> None:
    found = distribution_tests(Judgments.of(study(lift=0.6)))
    assert found.frame.select("first", "second").rows() == [("crowd", "nist")]
    assert "crowd and other are not compared: they share 0 documents of 0 queries, 5 queries are needed" in found.notes


def test_values_of_a_feature_have_the_paired_test_and_welchs() -> None:
    """As SciPy has them: Welch's over documents, the paired one over the queries that have documents of both values."""
    frame = study(lift=0.6)
    found = distribution_tests(Judgments.of(frame), by="wikipedia").frame
    row = found.filter((pl.col("compared") == "values") & (pl.col("group") == "crowd")).row(0, named=True)
    assert (row["first"], row["second"]) == ("WP", "nWP")
    crowd = frame.filter(group="crowd").group_by("query", "doc", "wikipedia").agg(pl.mean("label"))
    one, other = (crowd.filter(wikipedia=value)["label"].to_numpy() for value in ("WP", "nWP"))
    theirs = ttest_ind(one, other, equal_var=False)
    assert (row["t_welch"], row["df_welch"], row["p_welch"]) == pytest.approx(
        (theirs.statistic, theirs.df, theirs.pvalue)
    )
    queries = crowd.group_by("query", "wikipedia").agg(pl.mean("label")).pivot("wikipedia", values="label").drop_nulls()
    theirs = ttest_rel(queries["WP"].to_numpy(), queries["nWP"].to_numpy())
    assert (row["t_paired"], row["p_paired"]) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (row["n_paired"], row["df_paired"]) == (queries.height, queries.height - 1)
    # One pair of groups over all and in each of two values, and one contrast in each of three groups.
    assert found.height == 3 + 3


def test_groups_are_compared_on_shared_documents_alone() -> None:
    """Both groups agree on what they share; the crowd has bad documents of its own, which say nothing of its leniency.

    By hand: 60 shared documents, the crowd a grade higher on every second one: means 1.5 and 1, difference 0.5. With
    the crowd's 90 documents of grade 0 its mean would be 0.6, and the ordinal test would call it lower.
    """
    rows = []
    for n in range(60):
        pair = {"query": f"q{n % 10}", "doc": f"d{n}"}
        rows += [pair | {"group": "crowd", "label": 1 + n % 2}, pair | {"group": "nist", "label": 1}]
    rows += [{"query": f"q{n % 10}", "doc": f"own{n}", "group": "crowd", "label": 0} for n in range(90)]
    found = distribution_tests(Judgments.of(rows))
    row = found.frame.row(0, named=True)
    assert (row["n_first"], row["n_second"], row["n_queries"], row["n_paired"]) == (60, 60, 10, 60)
    assert (row["mean_first"], row["mean_second"], row["difference"]) == pytest.approx((1.5, 1.0, 0.5))
    assert row["effect"] == pytest.approx(0.75)  # half of the labels tie, half are higher
    assert "crowd and nist are compared on the 60 documents both labelled (crowd labelled 150, nist 60)" in found.notes
    # Where most documents of both are their own, too, only the shared ones count.
    rows += [{"query": f"q{n % 10}", "doc": f"other{n}", "group": "nist", "label": 2} for n in range(100)]
    row = distribution_tests(Judgments.of(rows)).frame.row(0, named=True)
    assert (row["n_first"], row["n_second"]) == (60, 60)
    assert (row["mean_first"], row["mean_second"], row["difference"]) == pytest.approx((1.5, 1.0, 0.5))
    assert row["effect"] == pytest.approx(0.75)


def test_adjusted_values_are_over_all_rows() -> None:
    found = distribution_tests(Judgments.of(study(lift=0.6)), by=["wikipedia", "length"]).frame
    for p in ("p", "p_ordinal"):
        assert found[f"{p}_holm"].to_numpy() == pytest.approx(holm(found[p].to_numpy()), nan_ok=True)
        assert found[f"{p}_bh"].to_numpy() == pytest.approx(benjamini_hochberg(found[p].to_numpy()), nan_ok=True)
    assert "the rest" in found.filter(pl.col("feature") == "length")["second"].to_list()


def test_a_lifted_group_is_found_and_equal_ones_are_not() -> None:
    lifted = distribution_tests(Judgments.of(study(lift=1.0)), by="wikipedia")
    row = lifted.frame.filter((pl.col("first") == "crowd") & (pl.col("second") == "nist") & (pl.col("value") == "WP"))
    assert row["p_ordinal_bh"][0] < 0.001
    assert row["effect"][0] > 0.6
    assert "statistically significant (ordinal test, adjusted for their number); the clearest is" in lifted.finding
    assert "crowd and nist, wikipedia WP: mean labels" in lifted.finding
    same = distribution_tests(Judgments.of(study(lift=0.0)))
    assert same.finding == "No significant difference in 1 comparison."


def test_too_few_queries_are_not_compared_and_one_group_alone_is_nothing_to_compare() -> None:
    few = distribution_tests(Judgments.of(study(queries=4)))
    assert few.frame.height == 0
    assert (
        few.notes[-3] == "crowd and nist are not compared: they share 20 documents of 4 queries, 5 queries are needed"
    )
    assert few.finding == "Nothing to compare: one group only, or too few queries in common."


def test_labels_without_variance_leave_tests_undefined() -> None:
    frame = study().with_columns(label=pl.lit(2.0))
    found = distribution_tests(Judgments.of(frame)).frame
    assert (
        found.select(pl.col("t_paired", "p_welch", "p_ordinal", "p_holm", "low").is_nan().all()).row(0) == (True,) * 5
    )


def test_other_aspects_are_left_aside_unless_asked_for() -> None:
    rows = {
        "query": ["a"] * 3,
        "doc": ["1"] * 3,
        "label": [2, 0, 1],
        "aspect": [None, "novelty", "overall"],
        "judge": list("xyz"),
    }
    found = distribution(Judgments.of(rows))
    assert found.frame["grade"].to_list() == [1, 2]
    assert "1 label of single aspects left aside" in found.notes
    asked = distribution(Judgments.of(rows), by="aspect").frame
    assert set(asked["value"]) == {"all", "novelty", "overall"}


def test_a_column_that_is_not_there_is_named_with_its_remedy() -> None:
    with pytest.raises(
        BadInput, match=r"expected a column wikipedia to compare by, .*add_features\(judgments, \['wiki"
    ):
        distribution(Judgments.of({"a": {"1": 1}}), by="wikipedia")
    with pytest.raises(BadInput, match="at most 101 different grades"):
        distribution(Judgments.of({"a": {str(i): i / 7 for i in range(200)}}))
    with pytest.raises(Undefined, match="there is no label"):
        distribution(Judgments.of([{"query": "a", "doc": "1", "label": None}]))
    for wrong in ({"level": 1.5}, {"judges": "random"}):
        with pytest.raises(BadInput):
            distribution(Judgments.of({"a": {"1": 1}}), **wrong)


def test_unknown_values_are_left_aside_and_counted() -> None:
    rows = {"query": ["a"] * 3, "doc": list("123"), "label": [2, 0, 1], "colour": ["red", None, "blue"]}
    found = distribution(Judgments.of(rows), by="colour")
    assert "colour is unknown for 1 label, left aside there" in found.notes
    assert found.frame.filter(pl.col("feature") == "colour")["n"].sum() == 2


@given(st.lists(st.integers(0, 30) | st.none(), min_size=1, max_size=60))
def test_numbers_are_cut_into_few_slices_that_keep_their_order(numbers: list[int | None]) -> None:
    values = pl.Series(numbers, dtype=pl.Int64)
    cut = sliced(values)
    assert cut.null_count() == values.null_count()
    assert cut.drop_nulls().n_unique() <= max(4, 1)
    order = pl.DataFrame({"number": values, "slice": cut}).drop_nulls().sort("number")
    assert order["slice"].is_sorted()
    for number, name in order.with_columns(pl.col("slice").cast(pl.String)).unique().iter_rows():
        low, _, high = name.replace("up to ", "0 to ").replace(" or more", " to 30").partition(" to ")
        assert int(low) <= number <= int(high or low)


def test_slices_of_real_numbers_of_values_that_many_share_and_of_texts() -> None:
    assert sliced(pl.Series([0.1, 0.2, 0.3, 0.4, 0.5, float("nan")]), most=2).to_list() == [
        "under 0.3",
        "under 0.3",
        "0.3 or more",
        "0.3 or more",
        "0.3 or more",
        None,
    ]
    assert sliced(pl.Series([1] * 20 + [2, 3, 4, 5, 6])).unique().sort().to_list() == ["up to 1", "2 or more"]
    assert sliced(pl.Series([1.0, 2, 3, 4, 5, 6] + [float("inf")] * 9)).null_count() == 9
    assert sliced(pl.Series([[1], [2]])).null_count() == 2
    assert sliced(pl.Series(["nWP", "WP", None])).to_list() == ["nWP", "WP", None]
    assert sliced(pl.Series([True, False])).cast(pl.String).to_list() == ["true", "false"]


def test_groups_that_labelled_other_documents_are_named() -> None:
    rows = [{"query": f"q{i % 6}", "doc": f"d{i}", "label": i % 3, "group": "crowd"} for i in range(30)]
    same = [row | {"group": "experts"} for row in rows]
    assert not any("not all groups" in note for note in distribution(Judgments.of(rows + same)).notes)
    notes = distribution(Judgments.of(rows + same[:12])).notes
    assert any("not all groups labelled all 30 documents (experts 12)" in note for note in notes)
