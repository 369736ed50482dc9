"""Beside the verdict: groups of queries, what moved, several measures, a margin, and rules to fail by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtrit

import karat as kt
from commands import karat
from karat.comparison import by_group, by_measure, gate, groups_of, moved
from karat.formats import read_user_weights
from karat.records import Queries


def lists(good: dict[str, bool]) -> dict[str, dict[str, float]]:
    """A list of two documents for each query, the relevant one on top where `good`."""
    return {query: {"rel": 2.0 if top else 1.0, "non": 1.0 if top else 2.0} for query, top in good.items()}


@pytest.fixture
def study() -> dict[str, Any]:
    """40 queries; B mostly has the relevant document on top, A in the last twenty: P@1 differs by some .4."""
    queries = [f"q{n:02d}" for n in range(40)]
    rng = np.random.default_rng(3)
    a = {query: bool(rng.random() < (0.1 if n < 20 else 0.9)) for n, query in enumerate(queries)}
    b = {query: bool(rng.random() < 0.9) for query in queries}
    return {
        "labels": {query: {"rel": 1, "non": 0} for query in queries},
        "runs": {"A": lists(a), "B": lists(b)},
        "groups": pl.DataFrame({"query": queries, "group": ["early"] * 20 + ["late"] * 20}),
        "a": a,
        "b": b,
    }


def test_each_group_of_queries_has_the_verdict_of_its_own_t_test(study: dict[str, Any]) -> None:
    from scipy.stats import ttest_rel

    found = kt.compare(study["labels"], study["runs"], "P@1")
    groups = by_group(found, study["groups"])
    rows = {row["group"]: row for row in groups.to_frame().iter_rows(named=True)}
    for name, part in (("early", range(20)), ("late", range(20, 40))):
        a, b = ([float(study[s][f"q{n:02d}"]) for n in part] for s in "ab")
        assert rows[name]["difference"] == pytest.approx(np.mean(b) - np.mean(a))
        assert rows[name]["p"] == pytest.approx(ttest_rel(b, a).pvalue)
    assert rows["early"]["verdict"] == "better"
    assert rows["late"]["verdict"] == "no difference shown"
    assert rows["early"]["holm"] == pytest.approx(2 * rows["early"]["p"])
    assert "B is better than A by P@1 on group early" in groups.finding


def test_a_handful_of_queries_is_no_group(study: dict[str, Any]) -> None:
    found = kt.compare(study["labels"], study["runs"], "P@1")
    few = study["groups"].with_columns(group=pl.when(pl.col("query") < "q04").then(pl.lit("few")))
    groups = by_group(found, few)
    assert groups.to_frame()["verdict"].to_list() == ["too few queries"]
    assert "36 queries without a group left aside" in groups.notes


def test_groups_come_from_a_column_or_the_words_of_the_queries() -> None:
    queries = Queries.of({"query": ["1", "2"], "text": ["how tall is it", "karat"], "kind": ["head", "tail"]})
    assert groups_of(queries, "kind")["group"].to_list() == ["head", "tail"]
    with pytest.raises(kt.BadInput, match="a column of the queries \\(kind\\) or length or question"):
        groups_of(queries, "colour")


def test_what_moved_is_told_with_both_ranks_and_labels(study: dict[str, Any]) -> None:
    found = kt.compare(study["labels"], study["runs"], "P@1")
    told = moved(found, study["labels"], study["runs"], number=1, gold={"q00": {"rel": 1}})
    assert [one["difference"] for one in told] == [-1.0, 1.0]
    docs = {row["doc"]: row for row in told[-1]["documents"]}
    assert (docs["rel"]["rank_a"], docs["rel"]["rank_b"], docs["rel"]["label"]) == (2, 1, 1.0)


def test_what_moved_has_the_documents_that_the_measure_looks_at_wherever_the_other_list_has_them() -> None:
    """By P@2 a shows x, y and b shows z, x: w is below in both, and that y fell to the fourth place is told."""
    labels = {f"q{n}": {"x": 0, "y": 0, "z": 1, "w": 0} for n in range(12)}
    a = {query: {"x": 4.0, "y": 3.0, "w": 2.0, "z": 1.0} for query in labels}
    b = {query: {"z": 4.0, "x": 3.0, "w": 2.0, "y": 1.0} for query in labels}
    told = moved(kt.compare(labels, {"a": a, "b": b}, "P@2"), labels, {"a": a, "b": b}, number=1)
    ranks = {row["doc"]: (row["rank_a"], row["rank_b"]) for row in told[0]["documents"]}
    assert ranks == {"z": (4, 1), "x": (1, 2), "y": (2, 4)}


def test_labels_of_what_moved_are_those_that_the_scores_were_made_of() -> None:
    said = [("rel", "a", 1, "page"), ("rel", "b", 2, "page"), ("rel", "a", 0, "snippet"), ("non", "a", 0, "page")]
    names = ("doc", "judge", "label", "surface")
    labels = [{"query": f"q{n}", **dict(zip(names, row, strict=True))} for n in range(20) for row in said]
    runs = {name: lists({f"q{n}": n > least for n in range(20)}) for name, least in (("A", 9), ("B", 4))}
    gold = [{"query": f"q{n}", "doc": "rel", "label": label, "judge": "g"} for n in range(20) for label in (2, 3)]
    told = moved(kt.compare(labels, runs, "P@1"), labels, runs, number=1, gold=gold)
    rows = {row["doc"]: (row["label"], row["gold"]) for row in told[0]["documents"]}
    # 1 and 2 split evenly: the lower grade; the snippet's is another question, a second answer is not the first.
    assert rows == {"rel": (1.0, 2.0), "non": (0.0, None)}


def test_several_measures_share_the_chance_of_a_false_alarm(study: dict[str, Any]) -> None:
    every = [kt.compare(study["labels"], study["runs"], name) for name in ("P@1", "RR", "P@2")]
    table = by_measure(every).to_frame()
    # P@1 and RR tell the same of lists of two, P@2 is 1/2 throughout: the least p counts for three, the next for two.
    least = table["p"].sort()[0]
    assert table["holm"].min() == pytest.approx(3 * least, rel=1e-6)
    assert table["verdict"].to_list() == [found.verdict for found in every]


@pytest.mark.parametrize(
    ("margin", "verdict"), [(None, "no difference shown"), (0.5, "equivalent"), (0.001, "no difference shown")]
)
def test_a_margin_that_does_not_matter(margin: float | None, verdict: str) -> None:
    rng = np.random.default_rng(1)
    queries = [f"q{n}" for n in range(200)]
    labels = {query: {"rel": 1, "non": 0} for query in queries}
    runs = {name: lists({query: bool(rng.random() < 0.5) for query in queries}) for name in "AB"}
    found = kt.compare(labels, runs, "P@1", margin=margin)
    assert found.verdict == verdict


def test_the_rule_fails_what_is_shown_worse_and_passes_what_is_not(study: dict[str, Any]) -> None:
    better = kt.compare(study["labels"], study["runs"], "P@1")
    worse = kt.compare(study["labels"], {"B": study["runs"]["B"], "A": study["runs"]["A"]}, "P@1")
    assert gate(better) == ""
    assert gate(better, if_worse=0.0).startswith("passed: B is not shown worse than A by P@1 by more than 0 (")
    assert gate(better, unless_better=0.0).startswith("passed: B is better than A by P@1 by more than 0 (")
    assert gate(worse, if_worse=0.0).startswith("failed: A is worse than B by P@1 by more than 0")
    assert gate(worse, if_worse=0.9).startswith("passed")
    assert "not shown better" in gate(better, unless_better=0.9)
    with pytest.raises(kt.BadInput, match="0 or more"):
        gate(better, if_worse=-1.0)


def test_the_command_ends_with_3_where_its_rule_is_not_met(study: dict[str, Any], tmp_path: Any) -> None:
    for name, run in study["runs"].items():
        rows = [f"{q} Q0 {d} 0 {s} {name}" for q, docs in run.items() for d, s in docs.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    rows = [f"{q} 0 {d} {y}" for q, docs in study["labels"].items() for d, y in docs.items()]
    (tmp_path / "qrels").write_text("\n".join(rows) + "\n")
    files = [str(tmp_path / name) for name in ("qrels", "B.run", "A.run")]
    failed = karat("compare", *files, "-m", "P@1", "--fail-if-worse", "0.01")
    assert failed.returncode == 3
    assert "failed: A is worse than B by P@1" in failed.stderr
    # Whichever of several measures is named first, all have to meet the rule.
    for order in (("P@1", "P@2"), ("P@2", "P@1")):
        words = [word for name in order for word in ("-m", name)]
        assert karat("compare", *files, *words, "--fail-if-worse", "0.01").returncode == 3
    passed = karat(
        "compare", files[0], files[2], files[1], "-m", "P@1", "-m", "RR", "--moved", "1", "--fail-if-worse", "0"
    )
    assert passed.returncode == 0
    assert "2 measures of 2 show a difference" in passed.stdout


def test_the_same_lists_pass_the_rule_with_and_without_gold_labels(study: dict[str, Any]) -> None:
    runs = {"A": study["runs"]["A"], "B": study["runs"]["A"]}
    gold = {query: {"rel": 1} for query in list(study["labels"])[:30]}
    for golden in (None, gold):
        found = kt.compare(study["labels"], runs, "P@1", gold=golden, margin=0.1)
        assert found.verdict == "equivalent"
        assert gate(found, if_worse=0.0).startswith("passed")


def test_what_would_do_nothing_is_refused(study: dict[str, Any]) -> None:
    three = study["runs"] | {"C": study["runs"]["A"]}
    with pytest.raises(kt.BadInput, match="two systems"):
        kt.compare(study["labels"], three, "P@1", margin=0.1)
    with pytest.raises(kt.BadInput, match="gold labels to calibrate on"):
        kt.compare(study["labels"], study["runs"], "P@1", calibrate=["expected"])


def test_groups_without_gold_labels_have_no_verdict_of_their_own(study: dict[str, Any]) -> None:
    """Gold labels for the early queries only: of the late ones the corrected comparison knows nothing."""
    rng = np.random.default_rng(5)
    rows = [
        {"query": query, "doc": doc, "label": y, "probability": 1.0}
        for query in list(study["labels"])[:20]
        for doc, y in (("rel", int(rng.random() < 0.9)), ("non", int(rng.random() < 0.1)))
    ]
    rows += [{"query": "q39", "doc": "rel", "label": 1, "probability": 0.05}]
    rows += [{"query": "q38", "doc": "non", "label": 0, "probability": 0.05}]
    found = kt.compare(study["labels"], study["runs"], "P@1", gold=rows)
    table = by_group(found, study["groups"]).to_frame()
    verdicts = dict(zip(table["group"], table["verdict"], strict=True))
    assert verdicts["late"] == "too few gold labels"
    assert (
        by_group(found, study["groups"]).to_dict()["rows"][0]["p"] is None or verdicts["early"] != "too few gold labels"
    )


def test_lengths_stand_in_their_order_and_other_groups_by_size(study: dict[str, Any]) -> None:
    found = kt.compare(study["labels"], study["runs"], "P@1")
    lengths = [5, 5, 5, 10, 10, 10, 10, 1, 1, 1] * 4
    groups = study["groups"].with_columns(group=pl.Series([f"{n} words" if n > 1 else "1 word" for n in lengths]))
    assert by_group(found, groups).to_frame()["group"].to_list() == ["1 word", "5 words", "10 words"]
    kinds = groups.with_columns(group=pl.col("group").replace({"1 word": "tail", "5 words": "head", "10 words": "x"}))
    assert by_group(found, kinds).to_frame()["group"].to_list() == ["x", "head", "tail"]


@pytest.mark.parametrize("names", ["ABC", "CBA", "BAC"])
def test_of_several_systems_the_leader_less_the_next_is_told_whatever_their_order(
    study: dict[str, Any], names: str
) -> None:
    """C has the relevant document on top nowhere: B leads, A is next, by as much as their means differ."""
    runs = study["runs"] | {"C": lists(dict.fromkeys(study["labels"], False))}
    every = [kt.compare(study["labels"], {name: runs[name] for name in names}, measure) for measure in ("P@1", "RR")]
    told = by_measure(every)
    rows = told.to_frame()
    gap = np.mean([*study["b"].values()]) - np.mean([*study["a"].values()])
    assert rows.select("a", "b").rows() == [("A", "B")] * 2
    # The reciprocal rank of a list of two is 1 or 1/2: half of what P@1 makes of it.
    assert rows["difference"].to_list() == pytest.approx([gap, gap / 2])
    assert (rows["low"] < rows["difference"]).all()
    assert told.finding == "2 measures of 2 show a difference, allowing for all of them: B is better by P@1, RR."


def test_the_difference_holds_the_error_of_weights_of_users(tmp_path: Path) -> None:
    # a finds a document of grade 1 in 30 of 40 queries and one of grade 2 in 10, b the other way round: the difference
    # is half of 1 - w. The weight's error, 0.0784 / 1.96 = 0.04, moves it by 0.02, and cancels where both find grade 1.
    labels = {f"q{q}": {"one": 1, "two": 2} for q in range(40)}
    first = ("one", "two")
    lists = [{f"q{q}": {first[int((q % 4 == 0) ^ turned)]: 1.0} for q in range(40)} for turned in (False, True)]
    runs = dict(zip("ab", lists, strict=True))
    path, found = tmp_path / "weights.csv", {}
    for name, ends in (("sure", "\n1,3,1,0.5\n1,3,2,1"), ("unsure", ",low,high\n1,3,1,0.5,0.4216,0.5784\n1,3,2,1,,")):
        path.write_text(f"at_least,of,level,weight{ends}\n")
        found[name] = kt.compare(labels, runs, "DCG(gains=udm(1/3))@1", user_weights=read_user_weights(path))
    halves = {
        name: (one.methods["high"][0] - one.methods["low"][0]) / 2 / stdtrit(39, 0.975) for name, one in found.items()
    }
    assert found["sure"].methods["difference"][0] == found["unsure"].methods["difference"][0] == pytest.approx(0.25)
    assert halves["unsure"] ** 2 == pytest.approx(halves["sure"] ** 2 + 0.02**2, rel=1e-4)
    assert any("allow for the weights" in note for note in found["unsure"].notes)
    assert not any("allow for the weights" in note for note in found["sure"].notes)
    alike = kt.compare(
        labels, {"a": lists[0], "b": lists[0]}, "DCG(gains=udm(1/3))@1", user_weights=read_user_weights(path)
    )
    assert alike.methods["difference"][0] == 0
    assert alike.verdict == "no difference shown"
