"""Agreement of measures with users: by hand, in every split, and with the error rates that it promises."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import BadInput, Undefined
from karat.records import Judgments, Preferences, Queries, Runs
from karat.simulate import preference_study, side_by_side
from karat.users import agreement, agreement_tables, preferred
from karat.users.pair_scores import PairScores, score_pairs, split_pairs

#: Query: the labels by doc, the lists of x and y, and what users say (for x, for y).
CASES = {
    "q1": ({"a": 1, "b": 0}, "ab", "ba", (3, 0)),  # RR prefers x, and so do users
    "q2": ({"a": 1, "b": 0}, "ba", "ab", (2, 1)),  # RR prefers y, users x
    "q3": ({"a": 1, "b": 1}, "ab", "ba", (0, 2)),  # RR ties
    "q4": ({"a": 1, "b": 0}, "ab", "bc", (1, 1)),  # RR prefers x, users find both equal; y scores 0
    "q5": ({"a": 1, "b": 0}, "cb", "ab", (0, 1)),  # RR prefers y, and so do users; x scores 0
}


def study() -> tuple[Preferences, Judgments, Runs]:
    runs: dict[str, dict[str, dict[str, float]]] = {"x": {}, "y": {}}
    rows = []
    for query, (_, x, y, (for_x, for_y)) in CASES.items():
        runs["x"][query] = {doc: 9.0 - place for place, doc in enumerate(x)}
        runs["y"][query] = {doc: 9.0 - place for place, doc in enumerate(y)}
        choices = ["left"] * for_x + ["right"] * for_y
        rows += [{"query": query, "left": "x", "right": "y", "choice": c} for c in choices]
    return Preferences.of(rows), Judgments.of({query: case[0] for query, case in CASES.items()}), Runs.of(runs)


def test_agree_equal_disagree_and_ties_by_hand() -> None:
    found = agreement(*study(), ["RR", "P@2"], split=["zero", "difference"], draws=0)
    rows = {(r["measure"], r["split"]): r for r in found.frame.iter_rows(named=True)}
    names = ("agree", "equal", "disagree", "ties", "n")
    assert [rows["RR", "all"][name] for name in names] == [2, 1, 1, 1, 4]
    assert rows["RR", "all"]["agree_share"] == 0.5
    # Users prefer a side in q1, q2, q3, q5: right, wrong, tied, right.
    assert rows["RR", "all"]["credit"] == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert [rows["RR", "one scores 0"][name] for name in names] == [1, 1, 0, 0, 2]
    assert [rows["RR", "both score above 0"][name] for name in names] == [1, 0, 1, 1, 2]
    # Differences of RR: 0.5, 0.5, 0, 1, 1; the mean of those that are not ties is 0.75.
    assert [rows["RR", "small difference"][name] for name in names] == [1, 0, 1, 1, 2]
    assert [rows["RR", "large difference"][name] for name in names] == [1, 1, 0, 0, 2]
    assert [rows["P@2", "all"][name] for name in names] == [1, 1, 0, 3, 2]


def test_ties_may_be_a_row_of_the_table() -> None:
    row = agreement(*study(), ["P@2"], ties="in", draws=0).frame.row(0, named=True)
    assert (row["n"], row["agree_share"], row["ties_share"]) == (5, 0.2, 0.6)


def test_two_measures_are_compared_on_the_same_pairs() -> None:
    """Users prefer a side in four queries: RR has 1, 0, 1/2, 1 and P@2 1/2, 1/2, 1/2, 1: one each way.

    Only RR agrees with users in the first query, and in no query P@2 only: a tie is better than a wrong answer.
    """
    row = agreement(*study(), ["RR", "P@2"], draws=0).between_measures.row(0, named=True)
    assert (row["first_better"], row["second_better"], row["n"], row["difference"]) == (1, 1, 4, 0.0)
    assert row["sign_p"] == 1.0
    assert row["better"] is None


def test_the_document_has_the_promised_rows() -> None:
    document = agreement(*study(), ["RR"], draws=0).to_dict()
    assert list(document) == ["finding", "rows", "between_measures", "between_splits", "ceiling", "notes"]
    assert {"measure", "split", "agree", "equal", "disagree", "ties", "n", "p"} <= set(document["rows"][0])
    json.dumps(document)


def test_pairs_of_one_query_count_as_one_throw() -> None:
    """Six pairs that agree, all of one query, are no evidence; of six queries they are: 2 / 64."""
    labels = Judgments.of({f"q{n}": {"a": 1} for n in range(6)})
    p = []
    for queries, systems in ((6, 2), (1, 4)):
        lists = {
            f"s{s}": {f"q{q}": {**{f"x{n}": 9.0 - n for n in range(s)}, "a": 1.0} for q in range(queries)}
            for s in range(systems)
        }
        rows = [
            {"query": f"q{q}", "left": f"s{a}", "right": f"s{b}", "choice": "left"}
            for q in range(queries)
            for a in range(systems)
            for b in range(a + 1, systems)
        ]
        found = agreement(Preferences.of(rows), labels, Runs.of(lists), ["RR"]).frame.row(0, named=True)
        assert (found["agree"], found["disagree"]) == (6, 0)
        assert found["binomial_p"] == pytest.approx(2 / 64)
        p.append(found["p"])
    assert p == pytest.approx([2 / 64, 1.0])


def test_by_subtopic_each_need_has_its_own_labels() -> None:
    labels = Judgments.of(
        [{"query": "q", "subtopic": s, "doc": d, "label": float(s == d)} for s in ("1", "2") for d in ("1", "2")]
    )
    runs = Runs.of({"x": {"q": {"1": 2.0, "2": 1.0}}, "y": {"q": {"2": 2.0, "1": 1.0}}})
    said = [{"query": "q", "subtopic": s, "left": "x", "right": "y", "choice": "left"} for s in ("1", "2", "3")]
    found = agreement(Preferences.of(said), labels, runs, ["RR"], by="subtopic", draws=0)
    assert found.frame.select("agree", "disagree", "ties").row(0) == (1, 1, 0)
    assert any("1 pair of 3 without labels for the subtopic" in note for note in found.notes)
    by_query = agreement(Preferences.of(said), labels, runs, ["RR"], by="query", draws=0)
    assert by_query.frame.select("agree", "disagree", "ties").row(0) == (0, 0, 1)


def test_kinds_of_queries_are_a_split() -> None:
    preferences, labels, runs = study()
    kinds = Queries.of({"query": list(CASES), "kind": ["faceted", "faceted", "faceted", "ambiguous", "ambiguous"]})
    found = agreement(preferences, labels, runs, ["RR"], split=["kind"], queries=kinds, draws=0)
    rows = {r["split"]: (r["agree"], r["equal"], r["disagree"], r["ties"]) for r in found.frame.iter_rows(named=True)}
    assert rows["kind faceted"] == (1, 0, 1, 1)
    assert rows["kind ambiguous"] == (1, 1, 0, 0)
    assert found.between_splits.select("first", "second").row(0) == ("kind ambiguous", "kind faceted")


def test_what_cannot_be_done_is_said() -> None:
    preferences, labels, runs = study()
    with pytest.raises(BadInput, match="the systems that users compared, such as y"):
        agreement(preferences, labels, Runs.of({"x": {"q1": {"a": 1.0}}}), ["RR"])
    with pytest.raises(Undefined, match="none of the 5 pairs"):
        agreement(preferences, Judgments.of({"other": {"a": 1}}), runs, ["RR"])
    with pytest.raises(BadInput, match="difference or difference_all or zero or list_length or a column"):
        agreement(preferences, labels, runs, ["RR"], split=["colour"])
    with pytest.raises(BadInput, match="a list of splits"):
        agreement(preferences, labels, runs, ["RR"], split="zero")
    twice = preferences.frame.with_columns(subtopic=pl.lit("1"))
    with pytest.raises(BadInput, match="a column subtopic"):
        agreement(Preferences.of(twice), labels, runs, ["RR"], by="subtopic")


def test_one_query_and_one_pair_have_figures_but_no_interval_and_no_claim() -> None:
    said = Preferences.of([{"query": "q1", "left": "x", "right": "y", "choice": "left"}])
    found = agreement(said, study()[1], study()[2], ["RR", "AP"])
    row = found.frame.row(0, named=True)
    assert (row["agree"], row["n"], row["p"]) == (1, 1, 1.0)
    assert np.isnan(row["low"])
    assert "may be chance" in found.finding
    assert any("fewer than 5 queries" in note for note in found.notes)


def test_an_undefined_measure_is_left_out_where_it_is() -> None:
    said, _, runs = study()
    labels = Judgments.of({query: case[0] if query != "q1" else {"a": 0} for query, case in CASES.items()})
    found = agreement(said, labels, runs, ["nNRBP"], draws=0)
    assert "nNRBP is undefined in 1 pair: left out of its counts" in found.notes


def test_unanimous_queries_have_an_interval_with_width() -> None:
    labels = Judgments.of({f"q{n}": {"a": 1, "b": 0} for n in range(8)})
    runs = Runs.of(
        {
            "x": {q: {"a": 2.0, "b": 1.0} for q in labels.frame["query"]},
            "y": {q: {"b": 2.0, "a": 1.0} for q in labels.frame["query"]},
        }
    )
    said = [{"query": f"q{n}", "left": "x", "right": "y", "choice": "left"} for n in range(8)]
    row = agreement(Preferences.of(said), labels, runs, ["RR"]).frame.row(0, named=True)
    assert row["agree_share"] == 1.0
    assert 0.5 < row["low"] < row["high"] == 1.0


def test_all_tables_of_the_paper_by_one_call() -> None:
    made = preference_study("nDCG@10", queries=30, subtopics=3, relevant=0.1, seed=6)
    found = agreement_tables(made.preferences, made.judgments, made.runs, queries=made.queries, draws=0)
    assert list(found) == [f"Table {n}" for n in range(1, 10)]
    four, six, seven, eight = (found[f"Table {n}"].frame for n in (4, 6, 7, 8))
    assert four.height > 1
    for measure in four["measure"]:
        whole, zero, above, with_ties = (
            t.filter(pl.col("measure") == measure).row(0, named=True) for t in (four, six, seven, eight)
        )
        assert whole["agree"] == zero["agree"] + above["agree"]
        assert whole["n"] == zero["n"] + above["n"]
        assert with_ties["n"] == above["n"] + above["ties"]
    assert found["Table 9"].frame["split"].to_list() == ["all", "kind ambiguous", "kind faceted"]
    plain = preference_study("nDCG@10", queries=10, seed=6)
    assert next(iter(agreement_tables(plain.preferences, plain.judgments, plain.runs, draws=0))) == "Table 4"


def test_scores_of_pairs_are_those_of_scoring() -> None:
    from karat.correction import score

    made = preference_study(queries=12, seed=2)
    compared = score_pairs(preferred(made.preferences), made.judgments, made.runs, ["nDCG@10", "AP"], depth=1000)
    scores = score(made.judgments, made.runs, ["nDCG@10", "AP"], draws=0).queries
    values = {(s, q): (x, y) for s, q, x, y in scores.select("system", "query", "nDCG@10", "AP").iter_rows()}
    for row, a, b in zip(compared.pairs.iter_rows(named=True), compared.score_a, compared.score_b, strict=True):
        assert tuple(a) == pytest.approx(values[row["a"], row["query"]])
        assert tuple(b) == pytest.approx(values[row["b"], row["query"]])


def test_no_measures_are_refused() -> None:
    with pytest.raises(BadInput, match="at least one, such as nDCG@10"):
        agreement(*study(), [])


def test_the_web_tracks_subtopics_have_kinds_of_their_own(web2010: Path) -> None:
    """Users whose utility is nDCG@10, on the real labels, with runs made by shuffling a real one."""
    rng = np.random.default_rng(7)
    place = pl.col("score").rank("ordinal", descending=True).over("query")
    top = (
        kt.read_runs(str(web2010 / "indri.run.gz"))
        .frame.select("query", "doc", place=place)
        .filter(pl.col("place") <= 50)
    )
    lists = [
        top.select(
            pl.lit(f"p{n}").alias("system"),
            "query",
            "doc",
            score=-(pl.col("place") + pl.Series(8 * rng.normal(size=top.height))),
        )
        for n in range(4)
    ]
    runs, labels = Runs.of(pl.concat(lists)), kt.read_judgments(str(web2010 / "10.diversity-qrels.final.txt.gz"))
    queries = kt.read_queries(str(web2010 / "wt2010-topics.xml"))
    said = side_by_side(labels, runs, "nDCG@10", judges=5, seed=1)
    found = agreement_tables(said, labels, runs, queries=queries, draws=0)
    kinds = {row["split"]: row for row in found["Table 9"].frame.iter_rows(named=True)}
    assert set(kinds) == {"all", "kind informational", "kind navigational"}
    assert kinds["all"]["n"] == kinds["kind informational"]["n"] + kinds["kind navigational"]["n"]
    credit = dict(found["Table 4"].frame.select("measure", "credit").iter_rows())
    assert max(credit, key=lambda name: credit[name]) == "nDCG@10"


def test_unjudged_is_counted_by_subtopic_where_users_are_asked_about_one() -> None:
    # d1 is labelled for both subtopics, d2 for subtopic 1 only, d3 for none.
    labels = [
        {"query": "q", "doc": doc, "subtopic": subtopic, "label": 1}
        for doc, subtopic in (("d1", "1"), ("d1", "2"), ("d2", "1"))
    ]
    runs = {"a": {"q": {"d1": 2.0, "d2": 1.0}}, "b": {"q": {"d2": 2.0, "d3": 1.0}}}
    pairs = [{"query": "q", "subtopic": s, "a": "a", "b": "b", "sign": 1} for s in ("1", "2")]
    # By subtopic 1 one of four documents has no label, by subtopic 2 three of four.
    (note,) = [note for note in score_pairs(pl.DataFrame(pairs), labels, runs, "P@2").notes if "label" in note]
    assert note == (
        "50% of the documents in the top 10 have no label for the subtopic that users were asked about and count as "
        "not relevant (25% have no label for any subtopic)"
    )
    by_query = pl.DataFrame(pairs[:1]).drop("subtopic")
    (note,) = [note for note in score_pairs(by_query, labels, runs, "P@2").notes if "no label" in note]
    assert note == "25% of the documents in the top 10 have no label and count as not relevant"


def test_table_5_splits_at_the_mean_of_all_pairs() -> None:
    # The mean difference is 0.95 / 3 = 0.317 without the tied pair and 0.95 / 4 = 0.2375 with it.
    pairs = pl.DataFrame([{"query": f"q{n}", "a": "x", "b": "y", "sign": 1} for n in range(4)])
    compared = PairScores(pairs, ("nDCG@10",), np.array([[0.0], [0.1], [0.25], [0.6]]), np.zeros((4, 1)))
    untied, every = (split_pairs(compared, name, 0) for name in ("difference", "difference_all"))
    assert untied["large difference"].tolist() == [False, False, False, True]
    assert every["large difference (mean of all pairs)"].tolist() == [False, False, True, True]
    study = preference_study(queries=12, subtopics=2, relevant=0.1)
    tables = agreement_tables(study.preferences, study.judgments, study.runs, draws=0)
    assert "large difference" in tables["Table 1"].frame["split"].to_list()
    assert "large difference (mean of all pairs)" in tables["Table 5"].frame["split"].to_list()
