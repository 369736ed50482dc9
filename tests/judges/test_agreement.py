"""Agreement of judges: rows and columns, the stop rule, awkward studies, intervals that cover."""

from __future__ import annotations

import krippendorff
import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

import karat as kt
from karat.judges import agreement, pairwise

Labels = npt.NDArray[np.int64]
FIGURES = ["raw", "within_one", "cohen", "cohen_linear", "cohen_quadratic", "fleiss", "alpha_nominal", "alpha_ordinal"]


def study(labels: Labels, per_query: int = 5, group: str | None = None, first: int = 0) -> pl.DataFrame:
    """Judgments from documents x judges, -1 for none, judge after judge."""
    docs, judges = labels.shape
    frame = pl.DataFrame(
        {
            "query": np.tile([f"q{i // per_query:03}" for i in range(docs)], judges),
            "doc": np.tile([f"d{i}" for i in range(docs)], judges),
            "label": labels.T.ravel().astype(float),
            "judge": np.repeat([f"j{i + first:02}" for i in range(judges)], docs),
        }
    ).filter(pl.col("label") >= 0)
    return frame if group is None else frame.with_columns(group=pl.lit(group))


def slips(rng: np.random.Generator, docs: int, judges: int, right: float, grades: int = 4) -> Labels:
    """Judges who say the true grade with probability `right` and any grade otherwise: alpha is `right` squared."""
    truth = rng.integers(0, grades, (docs, 1))
    return np.where(rng.random((docs, judges)) < right, truth, rng.integers(0, grades, (docs, judges)))


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
        [study(crowd, group="crowd"), study(trained, group="trained"), study(gold, group="gold", first=7)]
    )
    wiki = pl.col("doc").str.ends_with("1")
    return kt.Judgments.of(frame.with_columns(wiki=wiki))


def test_the_table_has_these_columns(groups: kt.Judgments) -> None:
    figures = [*FIGURES, "alpha_interval", "jaccard"]
    ends = [[name, f"{name}_low", f"{name}_high", *(["fleiss_p"] if name == "fleiss" else [])] for name in figures]
    counts = ["labels", "n_queries", "n_pairs", "n_labels", "n_judges"]
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


def test_between_groups_the_majority_counts_and_of_ties_the_lower() -> None:
    crowd = np.array([[2, 2, 0], [1, 2, -1], [0, 1, 2], [2, -1, -1], [1, 1, 2]])
    expert = np.array([[2], [1], [0], [1], [-1]])
    judgments = kt.Judgments.of(pl.concat([study(crowd, group="crowd"), study(expert, group="expert", first=9)]))
    found = row(agreement(judgments), group="crowd", against="expert")
    assert found["n_pairs"] == 4
    assert found["n_labels"] == 9 + 4
    assert found["n_judges"] == 4
    assert found["raw"] == 0.75
    assert found["within_one"] == 1
    assert found["cohen"] == pytest.approx(cohen_kappa_score([2, 1, 0, 2], [2, 1, 0, 1]))
    assert found["jaccard"] == 0.5
    assert found["alpha_ordinal"] == pytest.approx(
        krippendorff.alpha([[2, 1, 0, 2], [2, 1, 0, 1]], level_of_measurement="ordinal")
    )


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
    found = agreement(kt.Judgments.of(study(labels)), draws=0).frame.row(0, named=True)
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
    good, bad = study(slips(rng, 40, 2, 0.95)), study(slips(rng, 40, 2, 0.3))
    both = [good.with_columns(aspect=pl.lit(None, pl.String)), bad.with_columns(aspect=pl.lit("novelty"))]
    judgments = kt.Judgments.of(pl.concat(both))
    whole = agreement(judgments, draws=0)
    assert "80 judgments of another aspect than overall left aside" in whole.notes
    assert whole.frame["n_pairs"].to_list() == [40]
    by = agreement(judgments, by="aspect", draws=0).frame
    assert by.select("aspect", "n_pairs").rows() == [(None, 80), ("novelty", 40), ("overall", 40)]
    assert by["alpha_ordinal"][2] == pytest.approx(whole.frame["alpha_ordinal"][0])
    assert by["alpha_ordinal"][1] < 0.5
    alone = agreement(kt.Judgments.of(both[1]), draws=0)
    assert alone.frame["n_pairs"].to_list() == [40]
    assert "a document counts once for each aspect, as none was judged for aspect overall" in alone.notes


def test_a_judge_who_labels_a_pair_again_counts_once() -> None:
    frame = study(np.array([[0, 1], [1, 1], [2, 2]]))
    again = frame.filter(pl.col("judge") == "j00").with_columns(pl.col("label") + 1)
    result = agreement(kt.Judgments.of(pl.concat([frame, again])), draws=0)
    assert result.frame["n_labels"].to_list() == [6]
    assert result.frame["cohen"][0] == pytest.approx(cohen_kappa_score([0, 1, 2], [1, 1, 2]))
    assert "3 labels by a judge who had labelled the same pair before left aside" in result.notes


def test_answers_without_a_label_are_counted_and_left_aside() -> None:
    frame = study(np.array([[0, 1], [1, 1], [2, 2]]))
    silent = pl.DataFrame({"query": ["q000"], "doc": ["d0"], "label": [None], "judge": ["j02"]}, schema=frame.schema)
    result = agreement(kt.Judgments.of(pl.concat([frame, silent])), draws=0)
    assert result.frame["n_judges"].to_list() == [2]
    assert "1 answer without a label (can't tell) left aside" in result.notes


def test_the_order_of_rows_changes_nothing(groups: kt.Judgments) -> None:
    mixed = kt.Judgments.of(groups.frame.sample(fraction=1, shuffle=True, seed=1))
    assert agreement(mixed, by="wiki", draws=50).frame.equals(agreement(groups, by="wiki", draws=50).frame)


def stopped(labels: Labels) -> Labels:
    """Three labels per document, the third only where the first two differ."""
    cut = labels.copy()
    cut[labels[:, 0] == labels[:, 1], 2] = -1
    return cut


def test_a_third_label_only_on_disagreement_is_noticed_and_the_first_two_are_read() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    judgments = kt.Judgments.of(study(stopped(labels), group="crowd"))
    result = agreement(judgments, draws=200)
    assert result.frame["labels"].to_list() == ["all", "first two"]
    full = agreement(kt.Judgments.of(study(labels[:, :2], group="crowd")), draws=200).frame
    assert result.frame[1].drop("labels").equals(full.drop("labels"))
    assert result.frame["fleiss"][0] > result.frame["fleiss"][1] + 0.05
    assert np.isnan(result.frame["fleiss_p"][0])
    assert result.frame["fleiss_p"][1] < 0.001
    assert f"ordinal alpha {full['alpha_ordinal'][0]:.2f}" in result.finding
    assert "first two labels" in result.finding
    assert result.notes[0].startswith("crowd: more than two labels only where the first two differed")


def test_time_says_which_labels_came_first() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = study(stopped(labels)).with_columns(time="2024-05-0" + pl.col("judge").str.slice(2, 1))
    backwards = kt.Judgments.of(frame.reverse())
    assert agreement(backwards, draws=0).frame.equals(agreement(kt.Judgments.of(frame), draws=0).frame)


def test_the_first_two_differed_even_where_their_order_was_lost() -> None:
    labels = slips(np.random.default_rng(4), 200, 3, 0.85)
    frame = study(stopped(labels))
    shuffled = agreement(kt.Judgments.of(frame.sample(fraction=1, shuffle=True, seed=3)), draws=0).frame
    kept = agreement(kt.Judgments.of(frame), draws=0).frame
    assert shuffled["labels"].to_list() == ["all", "first two"]
    assert shuffled["raw"][1] == kept["raw"][1]
    assert shuffled["alpha_nominal"][1] == pytest.approx(kept["alpha_nominal"][1], abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_labels_missing_at_random_are_no_stop_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = slips(rng, 60, 4, [0.5, 0.7, 0.9, 0.97, 1.0][seed % 5])
    labels[rng.random(labels.shape) < 0.3] = -1
    assert set(agreement(kt.Judgments.of(study(labels)), draws=0).frame["labels"]) == {"all"}


def test_the_stop_rule_inflates_alpha_on_all_labels_and_not_on_the_first_two() -> None:
    """With slips to any grade, alpha of a full design is the square of the share of careful labels."""
    means = []
    for seed in range(20):
        labels = slips(np.random.default_rng(seed), 600, 3, 0.8)
        frame = agreement(kt.Judgments.of(study(stopped(labels))), draws=0).frame
        means.append(frame["alpha_ordinal"].to_list() + frame["fleiss"].to_list())
    alpha_all, alpha_two, fleiss_all, fleiss_two = np.mean(means, axis=0)
    assert alpha_two == pytest.approx(0.64, abs=0.01)
    assert fleiss_two == pytest.approx(0.64, abs=0.01)
    assert alpha_all > alpha_two + 0.01
    assert fleiss_all > fleiss_two + 0.08


def test_one_nameless_judge_has_nobody_to_agree_with() -> None:
    result = agreement(kt.Judgments.of({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}))
    assert result.finding == "No pair has two labels: there is no agreement to measure."
    assert result.frame["n_pairs"].to_list() == [0]
    assert result.frame.select(FIGURES).row(0) == pytest.approx([np.nan] * len(FIGURES), nan_ok=True)
    assert result.notes == ("no pair has two labels within all: no agreement to measure there",)


def test_labels_all_alike_are_undefined_beyond_raw_agreement() -> None:
    result = agreement(kt.Judgments.of(study(np.ones((30, 3), int))))
    found = result.frame.row(0, named=True)
    assert result.finding == "All labels are alike: there is no telling agreement from chance."
    assert found["raw"] == 1
    assert np.isnan([found["raw_low"], found["fleiss"], found["fleiss_p"], found["alpha_ordinal"]]).all()
    assert "all labels alike in 1 row: agreement beyond chance is undefined there" in result.notes


def test_one_query_has_figures_but_no_interval() -> None:
    result = agreement(kt.Judgments.of(study(slips(np.random.default_rng(0), 30, 3, 0.8), per_query=30)))
    assert np.isfinite(result.frame["alpha_ordinal"][0])
    assert np.isnan(result.frame["alpha_ordinal_low"][0])
    assert "no interval for fewer than 5 queries (1 row): too few to tell" in result.notes


def test_groups_that_share_no_document_say_so() -> None:
    one, other = study(np.array([[1], [0]]), group="a"), study(np.array([[1], [0]]), group="b", first=1)
    result = agreement(kt.Judgments.of(pl.concat([one, other.with_columns(doc="x" + pl.col("doc"))])))
    assert np.isnan(row(result, group="a", against="b")["cohen"])
    assert "nothing judged by both a and b" in result.notes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "colour"}, "expected the column colour for agreement by its values"),
        ({"by": "label"}, "something about the query or document"),
        ({"by": "judge"}, r"pairwise\(\) compares every two judges"),
        ({"level": 95.0}, "a share such as 0.95"),
        ({"draws": -1}, "0 draws or more"),
    ],
)
def test_bad_questions_are_answered_with_what_was_expected(options: dict[str, object], said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        agreement(kt.Judgments.of(study(np.array([[0, 1], [1, 1]]))), **options)


def test_no_labels_and_too_many_grades_are_refused() -> None:
    with pytest.raises(kt.BadInput, match="at least one label"):
        agreement(kt.Judgments.of(pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [None]})))
    with pytest.raises(kt.BadInput, match="round the labels to the grades of a scale"):
        agreement(kt.Judgments.of({"q": {f"d{i}": i / 7 for i in range(200)}}))


@pytest.mark.parametrize(("queries", "lowest"), [(12, 0.88), (40, 0.88)])
def test_intervals_over_queries_cover_about_as_often_as_they_say(queries: int, lowest: float) -> None:
    """Queries differ in how hard they are, so labels of a query go together; alpha's truth is from a huge study."""

    def drawn(rng: np.random.Generator, queries: int) -> kt.Judgments:
        right = np.repeat(rng.beta(6, 2, queries), 8)[:, None]
        truth = rng.binomial(3, np.repeat(rng.beta(1, 2, queries), 8))[:, None]
        noise = rng.integers(0, 4, (queries * 8, 3))
        return kt.Judgments.of(study(np.where(rng.random(noise.shape) < right, truth, noise), per_query=8))

    names = ["alpha_ordinal", "fleiss", "raw"]
    truth = agreement(drawn(np.random.default_rng(0), 20_000), draws=0).frame.select(names).row(0)
    held = np.zeros(3)
    for seed in range(120):
        found = agreement(drawn(np.random.default_rng(seed + 1), queries), draws=200, seed=seed).frame
        low = np.array(found.select(f"{name}_low" for name in names).row(0))
        high = np.array(found.select(f"{name}_high" for name in names).row(0))
        held += (low <= truth) & (truth <= high)
    assert (held / 120 >= lowest).all(), held / 120
    assert (held / 120 < 1).all(), held / 120


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_every_two_judges_are_compared_on_what_both_labelled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = slips(rng, 30, 4, 0.6)
    labels[rng.random(labels.shape) < 0.4] = -1
    frame = pairwise(kt.Judgments.of(study(labels)), min_pairs=8).frame
    expected = {}
    for a in range(4):
        for b in range(a + 1, 4):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            if both.sum() >= 8:
                expected[f"j{a:02}", f"j{b:02}"] = (int(both.sum()), labels[both, a], labels[both, b])
    assert {(r["judge"], r["against"]) for r in frame.iter_rows(named=True)} == set(expected)
    for found in frame.iter_rows(named=True):
        n, one, other = expected[found["judge"], found["against"]]
        assert found["n_pairs"] == n
        assert found["raw"] == pytest.approx(np.mean(one == other))
        quadratic = cohen_kappa_score(one, other, weights="quadratic", labels=[*range(4)])
        assert found["cohen"] == pytest.approx(cohen_kappa_score(one, other), nan_ok=True)
        assert found["cohen_quadratic"] == pytest.approx(quadratic, nan_ok=True)
        alpha = krippendorff.alpha([one, other], level_of_measurement="ordinal")
        assert found["alpha_ordinal"] == pytest.approx(alpha, nan_ok=True)


def test_judges_who_hardly_meet_are_not_compared() -> None:
    labels = np.array([[0, 1, -1], [1, 1, -1], [2, -1, 2]])
    result = pairwise(kt.Judgments.of(study(labels)), min_pairs=2)
    assert result.frame.select("judge", "against", "n_pairs", "n_queries").rows() == [("j00", "j01", 2, 1)]
    assert "1 pair of judges with fewer than 2 labelled pairs in common left out" in result.notes
    nobody = pairwise(kt.Judgments.of(study(labels)))
    assert nobody.frame.height == 0
    assert nobody.finding == "No two judges have 10 pairs in common on which to compare them."
    with pytest.raises(kt.BadInput, match="the column judge for comparing every two of them"):
        pairwise(kt.Judgments.of({"q": {"d": 1}}))
