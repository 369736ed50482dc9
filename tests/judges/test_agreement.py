"""Agreement of judges: rows and columns, awkward studies, intervals that cover."""

from __future__ import annotations

from functools import cache

import krippendorff
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

import karat as kt
from crowds import slips, table_of
from karat.judges import agreement
from simulated import THOROUGH, about, studies

FIGURES = ["raw", "within_one", "cohen", "cohen_linear", "cohen_quadratic", "fleiss", "alpha_nominal", "alpha_ordinal"]


def row(result: kt.records.Result, **wanted: object) -> dict[str, object]:
    found = result.frame
    for name, value in wanted.items():
        found = found.filter(pl.col(name).is_null() if value is None else pl.col(name) == value)
    assert found.height == 1, found
    return found.row(0, named=True)


@pytest.fixture
def groups() -> kt.Judgments:
    rng = np.random.default_rng(5)
    labels = slips(rng, 60, 8, 0.8)
    crowd, trained, gold = labels[:, :4], labels[:, 4:7], labels[:, 7:]
    frame = pl.concat(
        [table_of(crowd, group="crowd"), table_of(trained, group="trained"), table_of(gold, group="gold", first=7)]
    )
    wiki = pl.col("doc").str.ends_with("1")
    return kt.Judgments.of(frame.with_columns(wiki=wiki))


def test_the_table_has_these_columns(groups: kt.Judgments) -> None:
    figures = [*FIGURES, "alpha_interval", "jaccard"]
    ends = [[name, f"{name}_low", f"{name}_high", *(["fleiss_p"] if name == "fleiss" else [])] for name in figures]
    counts = ["labels", "n_queries", "n_pairs", "n_labels", "n_judges", "sample"]
    expected = ["group", "against", *counts, *(name for some in ends for name in some)]
    assert agreement(groups, draws=20).frame.columns == expected
    assert agreement(groups, by="wiki", draws=20).frame.columns == ["group", "against", "wiki", *expected[2:]]


def test_groups_within_all_but_gold_together_and_between(groups: kt.Judgments) -> None:
    frame = agreement(groups, draws=0).frame
    assert frame.select("group", "against").rows() == [
        ("all", None),
        ("crowd", None),
        ("gold", None),
        ("trained", None),
        ("crowd", "gold"),
        ("trained", "gold"),
        ("crowd", "trained"),
    ]
    assert frame["n_judges"].to_list() == [7, 4, 0, 3, 5, 4, 7]
    assert frame["n_labels"].to_list() == [420, 240, 0, 180, 300, 240, 420]
    assert frame["n_pairs"].to_list() == [60, 60, 0, 60, 60, 60, 60]


def test_within_a_group_figures_are_those_of_other_libraries(groups: kt.Judgments) -> None:
    result = agreement(groups, draws=200)
    wide = groups.frame.filter(pl.col("group") == "crowd").pivot("judge", index="doc", values="label").drop("doc")
    labels = wide.to_numpy()
    found = row(result, group="crowd", against=None)
    for kind in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(labels.T, level_of_measurement=kind)
        assert found[f"alpha_{kind}"] == pytest.approx(theirs)
        assert found[f"alpha_{kind}_low"] < theirs < found[f"alpha_{kind}_high"]
    counts = np.stack([(labels == g).sum(axis=1) for g in range(4)], axis=1)
    assert found["fleiss"] == pytest.approx(fleiss_kappa(counts))
    assert found["fleiss_p"] < 0.001
    assert np.isnan(found["cohen"])


def test_between_groups_the_median_counts_and_of_even_splits_the_lower() -> None:
    """Of 0, 1 and 3 the middle is 1; the lowest, which a vote without a majority took, is 0."""
    crowd = np.array([[2, 2, 0], [1, 2, -1], [0, 1, 3], [2, -1, -1], [1, 1, 2]])
    expert = np.array([[2], [1], [1], [1], [-1]])
    labels = pl.concat([table_of(crowd, group="crowd"), table_of(expert, group="expert", first=9)])
    found = row(agreement(labels, at=2), group="crowd", against="expert")
    assert found["n_pairs"] == 4
    assert found["n_labels"] == 9 + 4
    assert found["n_judges"] == 4
    assert found["raw"] == 0.75
    assert found["within_one"] == 1
    assert found["cohen"] == pytest.approx(cohen_kappa_score([2, 1, 1, 2], [2, 1, 1, 1]))
    assert found["jaccard"] == 0.5
    assert found["alpha_ordinal"] == pytest.approx(
        krippendorff.alpha([[2, 1, 1, 2], [2, 1, 1, 1]], level_of_measurement="ordinal")
    )


def test_the_overlap_is_at_the_top_of_the_scale_though_nobody_gave_it() -> None:
    labels = table_of(np.array([[0, 1], [1, 1], [2, 2]]))
    assert agreement(labels, draws=0).frame["jaccard"][0] == 1
    on_scale = agreement(kt.Judgments.of(labels, scale=kt.Scale.parse("bad, fair, good, perfect")), draws=0)
    assert np.isnan(on_scale.frame["jaccard"][0])
    assert "jaccard is undefined: nobody gave perfect" in on_scale.notes


def test_gold_given_apart_is_gold_as_a_group(groups: kt.Judgments) -> None:
    of_gold = pl.col("group") == "gold"
    apart = kt.Judgments.of(groups.frame.filter(of_gold).select("query", "doc", "label"))
    rest = kt.Judgments.of(groups.frame.filter(~of_gold))
    one, other = agreement(groups, by="wiki", draws=50), agreement(rest, apart, by="wiki", draws=50)
    assert one.frame.drop("n_judges").equals(other.frame.drop("n_judges"))
    assert row(other, group="crowd", against="gold", wiki=None)["n_judges"] is None
    with pytest.raises(kt.BadInput, match="gold labels in one place"):
        agreement(groups, apart)


def test_two_judges_are_two_sides() -> None:
    labels = slips(np.random.default_rng(0), 50, 2, 0.8)
    found = agreement(kt.Judgments.of(table_of(labels)), draws=0).frame.row(0, named=True)
    for name, weights in (("cohen", None), ("cohen_linear", "linear"), ("cohen_quadratic", "quadratic")):
        assert found[name] == pytest.approx(cohen_kappa_score(labels[:, 0], labels[:, 1], weights=weights))


def test_each_value_of_a_feature_has_the_figures_of_its_documents_alone(groups: kt.Judgments) -> None:
    result = agreement(groups, by="wiki", draws=100)
    assert result.frame.height == 7 * 3
    for wiki in (True, False):
        alone = agreement(kt.Judgments.of(groups.frame.filter(pl.col("wiki") == wiki)), draws=100)
        part = result.frame.filter(pl.col("wiki") == wiki).drop("wiki")
        assert part.drop(pl.selectors.starts_with("jaccard")).equals(
            alone.frame.drop(pl.selectors.starts_with("jaccard"))
        )
    assert result.frame.filter(pl.col("wiki").is_null()).drop("wiki").equals(agreement(groups, draws=100).frame)


def test_a_document_without_the_feature_stands_in_the_whole_only(groups: kt.Judgments) -> None:
    hidden = pl.when(pl.col("doc") != "d1").then("wiki").alias("wiki")
    result = agreement(kt.Judgments.of(groups.frame.with_columns(hidden)), by="wiki", draws=0)
    assert row(result, group="crowd", against=None, wiki=None)["n_pairs"] == 60
    assert result.frame.filter(group="crowd").filter(pl.col("against").is_null())["n_pairs"].to_list() == [60, 54, 5]
    assert "8 labels without wiki stand in no row by wiki" in result.notes


def test_every_query_has_its_own_row_without_interval(groups: kt.Judgments) -> None:
    result = agreement(groups, by="query", draws=100)
    each = result.frame.filter(
        (pl.col("group") == "crowd") & pl.col("against").is_null() & pl.col("query").is_not_null()
    )
    assert each["n_queries"].to_list() == [1] * 12
    assert each["n_pairs"].sum() == 60
    assert each["alpha_ordinal_low"].is_nan().all()
    assert any(note.startswith("no interval for fewer than 5 queries (") for note in result.notes)


def test_aspects_are_kept_apart() -> None:
    rng = np.random.default_rng(2)
    good, bad = table_of(slips(rng, 40, 2, 0.95)), table_of(slips(rng, 40, 2, 0.3))
    both = [good.with_columns(aspect=pl.lit(None, pl.String)), bad.with_columns(aspect=pl.lit("novelty"))]
    judgments = kt.Judgments.of(pl.concat(both))
    whole = agreement(judgments, draws=0)
    assert "80 labels of single aspects left aside" in whole.notes
    assert whole.frame["n_pairs"].to_list() == [40]
    by = agreement(judgments, by="aspect", draws=0).frame
    assert by.select("aspect", "n_pairs").rows() == [(None, 80), ("novelty", 40), ("overall", 40)]
    assert by["alpha_ordinal"][2] == pytest.approx(whole.frame["alpha_ordinal"][0])
    assert by["alpha_ordinal"][1] < 0.5
    alone = agreement(kt.Judgments.of(both[1]), draws=0)
    assert alone.frame["n_pairs"].to_list() == [40]
    assert "there are only labels of single aspects: each aspect is taken by itself" in alone.notes


def test_a_judge_who_labels_a_pair_again_counts_once() -> None:
    frame = table_of(np.array([[0, 1], [1, 1], [2, 2]]))
    again = frame.filter(pl.col("judge") == "j00").with_columns(pl.col("label") + 1)
    result = agreement(kt.Judgments.of(pl.concat([frame, again])), draws=0)
    assert result.frame["n_labels"].to_list() == [6]
    assert result.frame["cohen"][0] == pytest.approx(cohen_kappa_score([0, 1, 2], [1, 1, 2]))
    assert "3 labels repeated by the same judge: the first counts" in result.notes


def test_answers_without_a_label_are_counted_and_left_aside() -> None:
    frame = table_of(np.array([[0, 1], [1, 1], [2, 2]]))
    silent = pl.DataFrame({"query": ["q000"], "doc": ["d0"], "label": [None], "judge": ["j02"]}, schema=frame.schema)
    result = agreement(kt.Judgments.of(pl.concat([frame, silent])), draws=0)
    assert result.frame["n_judges"].to_list() == [2]
    assert "1 answer without a label (can't tell) left aside" in result.notes


def test_the_order_of_rows_changes_nothing(groups: kt.Judgments) -> None:
    mixed = kt.Judgments.of(groups.frame.sample(fraction=1, shuffle=True, seed=1))
    assert agreement(mixed, by="wiki", draws=50).frame.equals(agreement(groups, by="wiki", draws=50).frame)


def test_one_nameless_judge_has_nobody_to_agree_with() -> None:
    result = agreement(kt.Judgments.of({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}))
    assert result.finding == "No pair has two labels: there is no agreement to measure."
    assert result.frame["n_pairs"].to_list() == [0]
    assert result.frame.select(FIGURES).row(0) == pytest.approx([np.nan] * len(FIGURES), nan_ok=True)
    assert result.notes == (
        "3 labels without a judge's name taken for those of one judge",
        "no pair has two labels within all: no agreement to measure there",
    )


def test_labels_all_alike_are_undefined_beyond_raw_agreement() -> None:
    result = agreement(kt.Judgments.of(table_of(np.ones((30, 3), int))))
    found = result.frame.row(0, named=True)
    assert "all labels are alike: raw agreement is 1, and kappa and alpha are undefined" in result.finding
    assert found["raw"] == 1
    assert np.isnan([found["raw_low"], found["fleiss"], found["fleiss_p"], found["alpha_ordinal"]]).all()
    assert "all labels alike in 1 row: agreement beyond chance is undefined there" in result.notes


def test_one_query_has_figures_but_no_interval() -> None:
    result = agreement(kt.Judgments.of(table_of(slips(np.random.default_rng(0), 30, 3, 0.8), per_query=30)))
    assert np.isfinite(result.frame["alpha_ordinal"][0])
    assert np.isnan(result.frame["alpha_ordinal_low"][0])
    assert "no interval for fewer than 5 queries (1 row): too few to tell" in result.notes


def test_groups_that_share_no_document_say_so() -> None:
    one, other = table_of(np.array([[1], [0]]), group="a"), table_of(np.array([[1], [0]]), group="b", first=1)
    result = agreement(kt.Judgments.of(pl.concat([one, other.with_columns(doc="x" + pl.col("doc"))])))
    assert np.isnan(row(result, group="a", against="b")["cohen"])
    assert "nothing judged by both a and b" in result.notes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "colour"}, "expected a column colour"),
        ({"by": "label"}, "something about the query or document"),
        ({"by": "judge"}, r"overlap\(\) compares every two judges"),
        ({"level": 95.0}, "a share such as 0.95"),
        ({"draws": -1}, "0 draws or more"),
        ({"judges": "all"}, "sample or fixed"),
    ],
)
def test_bad_questions_are_answered_with_what_was_expected(options: dict[str, object], said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        agreement(kt.Judgments.of(table_of(np.array([[0, 1], [1, 1]]))), **options)


def test_no_labels_and_too_many_grades_are_refused() -> None:
    with pytest.raises(kt.Undefined, match="there is no label"):
        agreement(kt.Judgments.of(pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [None]})))
    with pytest.raises(kt.BadInput, match="round the labels to the grades of a scale"):
        agreement(kt.Judgments.of({"q": {f"d{i}": i / 7 for i in range(200)}}))


def hard_and_easy(rng: np.random.Generator, queries: int) -> kt.Judgments:
    """Queries differ in how hard they are, so labels of a query go together."""
    right = np.repeat(rng.beta(6, 2, queries), 8)[:, None]
    truth = rng.binomial(3, np.repeat(rng.beta(1, 2, queries), 8))[:, None]
    noise = rng.integers(0, 4, (queries * 8, 3))
    return kt.Judgments.of(table_of(np.where(rng.random(noise.shape) < right, truth, noise), per_query=8))


@cache
def true_agreement() -> tuple[float, ...]:
    """That of a huge study."""
    huge = hard_and_easy(np.random.default_rng(0), 20_000 if THOROUGH else 4000)
    return agreement(huge, draws=0).frame.select(OF_QUERIES).row(0)


OF_QUERIES = ["alpha_ordinal", "fleiss", "raw"]


@pytest.mark.parametrize(("queries", "off"), [(12, 0.03), (40, 0.015)])
@pytest.mark.evidence
def test_intervals_over_queries_cover_about_as_often_as_they_say(queries: int, off: float) -> None:
    truth, held, seeds = true_agreement(), np.zeros(3), studies(8, 500)
    for seed in seeds:
        found = agreement(hard_and_easy(np.random.default_rng(seed + 1), queries), draws=200, seed=seed).frame
        low = np.array(found.select(f"{name}_low" for name in OF_QUERIES).row(0))
        high = np.array(found.select(f"{name}_high" for name in OF_QUERIES).row(0))
        held += (low <= truth) & (truth <= high)
    assert list(held / len(seeds)) == [about(0.95, len(seeds), off=off)] * 3
