"""Labels against clicks, on tables small enough to be worked by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import BadInput, Undefined
from karat.records import ClickLog, Clicks, Judgments, Result, Scale
from karat.users.click_preferences import against_clicks, most_clicked

# Differences of the pairs with ten clicks or more: 40, 50 and 10 for q1, 10 for q2, 40 for q4; their median is 40.
CLICKS = Clicks.of(
    pl.DataFrame(
        [
            ("q1", "a", 100),
            ("q1", "b", 60),
            ("q1", "c", 50),
            ("q1", "d", 9),  # too few clicks
            ("q2", "a", 30),
            ("q2", "b", 20),
            ("q3", "a", 500),  # alone
            ("q3", "z", 90),  # nobody judged it
            ("q4", "a", 90),
            ("q4", "b", 50),
            ("q9", "a", 70),  # no labels at all
        ],
        schema=["query", "doc", "clicks"],
        orient="row",
    )
)
ROWS = [
    # (query, doc, Wikipedia page, crowd's labels, professionals' labels)
    ("q1", "a", True, [3, 3], [2]),
    ("q1", "b", True, [3, 3, 1], [3]),
    ("q1", "c", False, [1, 1], []),
    ("q1", "d", False, [4], [4]),
    ("q1", "e", False, [2], [2]),  # no clicks
    ("q2", "a", False, [1], [1]),
    ("q2", "b", False, [0], [0]),
    ("q3", "a", False, [4], [4]),
    ("q4", "a", False, [1], [2]),
    ("q4", "b", False, [2], [0, None]),
]
JUDGMENTS = Judgments.of(
    pl.DataFrame(
        [
            (query, doc, label, f"{group} {number}", group, wp)
            for query, doc, wp, *given in ROWS
            for group, labels in zip(("crowd", "professional"), given, strict=True)
            for number, label in enumerate(labels)
        ],
        schema=["query", "doc", "label", "judge", "group", "wikipedia"],
        orient="row",
    ),
    scale=Scale.parse("0..4"),
)
OUTCOMES = ["correct", "incorrect", "insensitive"]


def row(result: Result, group: str, value: str | None = None) -> dict[str, object]:
    rows = result.frame.filter(pl.col("group") == group)
    if value is not None:
        rows = rows.filter(pl.col("value") == value)
    assert rows.height == 1
    return rows.row(0, named=True)


def shares(result: Result, group: str, value: str | None = None) -> list[object]:
    found = row(result, group, value)
    return [found[name] for name in OUTCOMES]


def test_pairs_at_or_above_the_median_difference_count() -> None:
    # Crowd: q1 ab 3 = 3 (two of three say 3), q1 ac 3 > 1, q4 ab 1 < 2. Professionals: q1 ab 2 < 3, q4 ab 2 > 0.
    result = against_clicks(JUDGMENTS, CLICKS)
    assert shares(result, "crowd") == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert shares(result, "professional") == [0.5, 0.5, 0.0]
    assert [row(result, "crowd")[n] for n in ("n_pairs", "n_queries")] == [3, 2]
    assert [row(result, "professional")[n] for n in ("n_pairs", "n_queries")] == [2, 2]
    assert "a click difference of 40 or more (the median of 5 pairs) is a preference" in result.notes
    assert "1 answer without a label (can't tell) left aside" in result.notes


def test_the_two_most_clicked_documents_are_a_pair_of_their_own() -> None:
    # q2's top two differ by 10 only; q1 ab and q4 ab are left.
    result = against_clicks(JUDGMENTS, CLICKS, pairs="top two")
    assert shares(result, "crowd") == [0.0, 0.5, 0.5]
    assert shares(result, "professional") == [0.5, 0.5, 0.0]
    both = against_clicks(JUDGMENTS, CLICKS, pairs="both").frame
    assert both["pairs"].to_list() == ["all", "all", "top two", "top two"]


def test_one_both_or_none_of_a_pair_has_the_feature() -> None:
    result = against_clicks(JUDGMENTS, CLICKS, by="wikipedia")
    assert shares(result, "crowd", "both") == [0.0, 0.0, 1.0]
    assert shares(result, "crowd", "one") == [1.0, 0.0, 0.0]
    assert shares(result, "crowd", "none") == [0.0, 1.0, 0.0]
    assert row(result, "professional", "one")["n_pairs"] == 0
    assert np.isnan(row(result, "professional", "one")["correct"])  # type: ignore[call-overload]


def test_values_that_name_themselves_give_the_papers_names() -> None:
    named = JUDGMENTS.frame.with_columns(WP=pl.when("wikipedia").then(pl.lit("WP")).otherwise(pl.lit("nWP")))
    result = against_clicks(Judgments.of(named), CLICKS, by="WP")
    assert result.frame["value"].unique(maintain_order=True).to_list() == ["WP1", "WP2", "nWP"]
    assert shares(result, "crowd", "WP2") == [0.0, 0.0, 1.0]


def test_a_feature_with_more_values_is_shared_or_different() -> None:
    kinds = {"q1": "broad", "q4": "home page", "q2": "deep", "q3": "broad"}
    kind = JUDGMENTS.frame.with_columns(kind=pl.col("query").replace_strict(kinds))
    result = against_clicks(Judgments.of(kind), CLICKS, by="kind")
    assert shares(result, "crowd", "broad") == [0.5, 0.0, 0.5]
    assert shares(result, "crowd", "home page") == [0.0, 1.0, 0.0]
    assert "different" not in result.frame["value"]


def test_a_feature_that_is_no_property_of_the_document_is_refused() -> None:
    with pytest.raises(BadInput, match="a column colour"):
        against_clicks(JUDGMENTS, CLICKS, by="colour")
    changing = JUDGMENTS.frame.with_columns(odd=pl.int_range(pl.len()) % 2 == 1)
    with pytest.raises(BadInput, match="one value of odd for a document"):
        against_clicks(Judgments.of(changing), CLICKS, by="odd")
    unsaid = JUDGMENTS.frame.with_columns(rare=pl.when(pl.col("label").is_null()).then(pl.lit("WP")))
    extra = unsaid.tail(1).with_columns(query=pl.lit("q7"), label=pl.lit(None, pl.Float64))
    with pytest.raises(Undefined, match="rare is unknown for every document"):
        against_clicks(
            Judgments.of(pl.concat([unsaid.with_columns(rare=None), extra], how="vertical_relaxed")), CLICKS, by="rare"
        )


def test_numbers_are_cut_into_slices_and_rare_texts_taken_together() -> None:
    names = [f"d{n:02}" for n in range(30)]
    measured = Judgments.of(
        pl.DataFrame(
            {"query": "q", "doc": names, "label": 1, "length": range(30), "site": [f"s{n}" for n in range(30)]}
        )
    )
    clicks = Clicks.of(pl.DataFrame({"query": "q", "doc": names, "clicks": range(10, 40)}))
    cut = against_clicks(measured, clicks, by="length").frame
    assert cut["value"].to_list()[-1] == "different"
    # The median gap of the 435 pairs is 9: 30 - gap pairs have each gap from 9 to 29.
    assert cut["n_pairs"].sum() == 22 * 21 // 2
    site = against_clicks(measured, clicks, by="site")
    assert site.frame.filter(pl.col("value") == "other")["n_pairs"].to_list() == [7 * 3]  # s3 to s9, and s27 to s29
    assert "site has 30 values; all but the 20 most frequent count as other" in site.notes


def test_of_three_different_labels_the_one_in_the_middle_counts() -> None:
    """a has 1, 2, 4 and b 1: the median prefers a, as clicks do; the lowest of the three would be b's."""
    said = [("a", 1), ("a", 2), ("a", 4), ("b", 1), ("b", 1)]
    rows = [{"query": "q", "doc": doc, "label": label, "judge": f"w{n}"} for n, (doc, label) in enumerate(said)]
    clicks = Clicks.of({"query": ["q", "q"], "doc": ["a", "b"], "clicks": [200, 100]})
    assert shares(against_clicks(rows, clicks), "all") == [1.0, 0.0, 0.0]
    top = most_clicked([*rows, {"query": "q", "doc": "c", "label": 0, "judge": "w9"}], clicks, high=2)
    assert row(top, "all")["p_a"] == row(top, "all")["p_r"] == 1.0


def test_labels_of_single_subtopics_are_not_set_beside_clicks() -> None:
    rows = [{"query": "q", "doc": doc, "label": n, "subtopic": "1"} for n, doc in enumerate("ab")]
    clicks = Clicks.of({"query": ["q", "q"], "doc": ["a", "b"], "clicks": [200, 100]})
    with pytest.raises(Undefined, match="the labels of each subtopic"):
        against_clicks(rows, clicks)


def test_repeats_snippets_and_other_names_change_no_figure() -> None:
    more = JUDGMENTS.frame.with_columns(surface=pl.lit("page"))
    snippets = more.with_columns(surface=pl.lit("snippet"), label=pl.lit(0.0))
    renamed = more.with_columns(judge=pl.col("judge").cast(pl.String).str.reverse())
    usual = against_clicks(JUDGMENTS, CLICKS).frame
    for frame in (pl.concat([more, snippets]), renamed, more.sample(fraction=1, shuffle=True, seed=1)):
        assert against_clicks(frame, CLICKS).frame.equals(usual, null_equal=True)
    assert "figures are of these judges, not of others like them: intervals are over queries" in (
        against_clicks(JUDGMENTS, CLICKS).notes
    )


def test_strange_settings_are_refused() -> None:
    for wrong in ({"level": 1.0}, {"draws": -1}, {"minimum_clicks": 0}, {"pairs": "some"}):
        with pytest.raises(BadInput):
            against_clicks(JUDGMENTS, CLICKS, **wrong)  # type: ignore[arg-type]


def test_few_queries_have_no_interval() -> None:
    result = against_clicks(JUDGMENTS, CLICKS)
    ends = result.frame.select(pl.col("^.*_(low|high)$"))
    assert ends.width == 6
    assert np.isnan(ends.to_numpy()).all()
    assert "no interval where fewer than 5 queries have pairs, or all of them agree" in result.notes


def test_equal_clicks_are_no_preference() -> None:
    clicks = Clicks.of({"query": ["q"] * 3, "doc": list("abc"), "clicks": [20, 20, 20]})
    judgments = Judgments.of({"q": {"a": 1, "b": 0, "c": 2}})
    with pytest.raises(Undefined, match="no two documents of a query"):
        against_clicks(judgments, clicks)


def test_labels_and_clicks_that_share_nothing_have_no_answer() -> None:
    clicks = Clicks.of({"query": ["x", "x"], "doc": ["a", "b"], "clicks": [90, 20]})
    for ask in (against_clicks, most_clicked):
        with pytest.raises(Undefined, match="no document"):
            ask(JUDGMENTS, clicks)
        with pytest.raises(Undefined, match="no document"):
            ask(JUDGMENTS, CLICKS, minimum_clicks=1000)


def test_a_log_counts_as_its_counts() -> None:
    frame = pl.DataFrame({"query": ["q"] * 60, "doc": ["a"] * 40 + ["b"] * 20, "clicked": [True] * 60, "dwell": 40.0})
    log = ClickLog.check(frame)
    judgments = Judgments.of({"q": {"a": 1, "b": 0}})
    result = against_clicks(judgments, log)
    assert shares(result, "all") == [1.0, 0.0, 0.0]


def test_the_most_clicked_document_by_hand() -> None:
    # Most clicked with 60 or more: q1 a, q3 a, q4 a. Crowd: 3, 4, 1 of 0..4: two of three are high.
    # In q1 the crowd labels d (4) higher than a, in q4 b (2) higher than a (1); q3 has one document only.
    # Professionals: 2, 4, 2: one of three; in q1 d and b are higher, in q4 a is the highest.
    result = most_clicked(JUDGMENTS, CLICKS, minimum_clicks=60)
    crowd, professional = (row(result, group) for group in ("crowd", "professional"))
    assert crowd["p_a"] == pytest.approx(2 / 3)
    assert crowd["p_r"] == 0.0
    assert professional["p_a"] == pytest.approx(1 / 3)
    assert professional["p_r"] == 0.5
    assert [crowd[n] for n in ("n_queries", "n_relative")] == [3, 2]


def test_the_most_clicked_document_by_what_it_is() -> None:
    result = most_clicked(JUDGMENTS, CLICKS, minimum_clicks=60, by="wikipedia")
    assert row(result, "crowd", "true")["p_a"] == 1.0
    assert row(result, "crowd", "false")["p_a"] == 0.5
    assert row(result, "professional", "false")["p_r"] == 1.0


def test_equally_clicked_documents_share_their_querys_answer() -> None:
    clicks = Clicks.of({"query": ["q"] * 2, "doc": list("ab"), "clicks": [200, 200]})
    judgments = Judgments.of({"q": {"a": 4, "b": 0, "c": 2}})
    found = row(most_clicked(judgments, clicks, high=3), "all")
    assert (found["p_a"], found["p_r"], found["n_queries"]) == (0.5, 0.5, 1)


def test_high_labels_are_those_of_each_groups_own_scale() -> None:
    """Kazai et al. count Key and Nav of one scale, and the two highest of another: 0..2 and 0..4, in one file.

    By hand: the most clicked is labelled 2 by nist, on 0..2, and 2 by the crowd, on 0..4: high for nist alone.
    """
    given = {"nist": {"a": 2, "b": 1, "c": 0}, "crowd": {"a": 2, "b": 4, "c": 3}}
    rows = [
        {"query": "q", "doc": doc, "label": label, "group": group}
        for group, labels in given.items()
        for doc, label in labels.items()
    ]
    clicks = Clicks.of({"query": ["q"] * 2, "doc": list("ab"), "clicks": [200, 100]})
    found = most_clicked(Judgments.of(rows), clicks)
    assert [row(found, "nist")[name] for name in ("p_a", "high_label")] == [1.0, 1.0]
    assert [row(found, "crowd")[name] for name in ("p_a", "high_label")] == [0.0, 3.0]
    said = "no scale given: the two highest labels given count as high: 3 and 4 of crowd, 1 and 2 of nist"
    assert said in found.notes
    # One scale for all: 3 and 4 are high for both.
    one = most_clicked(Judgments.of(rows, scale=Scale.parse("0..4")), clicks)
    assert [row(one, group)["p_a"] for group in given] == [0.0, 0.0]
    # A group of two grades has no high ones; the others keep theirs.
    binary = [r | {"label": min(r["label"], 1)} if r["group"] == "nist" else r for r in rows]
    part = most_clicked(Judgments.of(binary), clicks)
    assert np.isnan(row(part, "nist")["p_a"])  # type: ignore[call-overload]
    assert row(part, "crowd")["p_a"] == 0.0
    assert any("p_a is undefined for nist" in note for note in part.notes)


def test_two_grades_have_no_two_highest() -> None:
    judgments = Judgments.of({"q": {"a": 1, "b": 0}}, scale=Scale.parse("0..1"))
    clicks = Clicks.of({"query": ["q"] * 2, "doc": list("ab"), "clicks": [200, 100]})
    result = most_clicked(judgments, clicks)
    assert np.isnan(row(result, "all")["p_a"])  # type: ignore[call-overload]
    assert row(result, "all")["p_r"] == 1.0
    assert any("name the least high grade with high" in note for note in result.notes)
    assert row(most_clicked(judgments, clicks, high=1), "all")["p_a"] == 1.0


@given(
    st.lists(
        st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdef"), st.integers(0, 40), st.integers(0, 2)),
        unique_by=lambda row: row[:2],
        min_size=1,
    )
)
def test_the_quick_way_counts_what_the_obvious_way_counts(rows: list[tuple[str, str, int, int]]) -> None:
    """All pairs query by query in plain Python, as the paper tells it."""
    kept = [r for r in rows if r[2] >= 10]
    pairs = [sorted(two, key=lambda r: -r[2]) for two in combinations(kept, 2) if two[0][0] == two[1][0]]
    gaps = [more[2] - less[2] for more, less in pairs]
    median = float(np.median(gaps)) if gaps else np.nan
    told = [(m, o) for (m, o), gap in zip(pairs, gaps, strict=True) if gap >= median and gap > 0]
    judgments = Judgments.of([{"query": q, "doc": d, "label": label} for q, d, _, label in rows])
    clicks = Clicks.of([{"query": q, "doc": d, "clicks": c} for q, d, c, _ in rows])
    if not told:
        with pytest.raises(Undefined):
            against_clicks(judgments, clicks, draws=0)
        return
    found = row(against_clicks(judgments, clicks, draws=0), "all")
    signs = [np.sign(more[3] - less[3]) for more, less in told]
    assert [found[f"n_{name}"] for name in OUTCOMES] == [signs.count(1), signs.count(-1), signs.count(0)]


def test_long_lists_are_thinned_and_that_is_said() -> None:
    rng = np.random.default_rng(0)
    queries, docs = 6, 1000
    truth = rng.integers(0, 5, (queries, docs))
    names = {
        "query": np.repeat([f"q{n}" for n in range(queries)], docs),
        "doc": np.tile([f"d{n}" for n in range(docs)], queries),
    }
    clicks = Clicks.of({**names, "clicks": (10 + 100 * truth + rng.integers(0, 300, truth.shape)).ravel()})
    judgments = Judgments.of(pl.DataFrame({**names, "label": truth.ravel()}))
    few = against_clicks(judgments, clicks, most_pairs=60_000, draws=100)
    assert row(few, "all")["n_pairs"] < 60_000  # type: ignore[operator]
    assert any(note.startswith("141 documents drawn from each longer list") for note in few.notes)
    many = against_clicks(judgments, clicks, most_pairs=600_000, draws=100)
    assert row(few, "all")["correct"] == pytest.approx(row(many, "all")["correct"], abs=0.02)
