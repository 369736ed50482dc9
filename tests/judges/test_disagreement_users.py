"""Who is another user: a label of the same thing by somebody else, and nothing besides."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.formats import read_judgments
from karat.judges import combined_weights, consistency, disagreement, disagreement_by, overlap
from karat.labels import Panel
from karat.records import Scale
from karat.users import robustness

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def rows(documents: dict[str, dict[str, int]], **more: object) -> list[dict[str, object]]:
    """Labels by document and judge, as `{"a": {"x": 2, "y": 1}}`."""
    return [
        {"query": "q", "doc": doc, "judge": judge, "label": label} | more
        for doc, given in documents.items()
        for judge, label in given.items()
    ]


AGREE = {"a": {"x": 2, "y": 2}, "b": {"x": 1, "y": 1}, "c": {"x": 0, "y": 0}}


@pytest.mark.parametrize("column", ["aspect", "context", "subtopic"])
def test_one_judge_asked_three_things_is_not_three_users(column: str) -> None:
    asked = [
        row for n, value in enumerate("uvw") for row in rows({"a": {"x": n}, "b": {"x": 2 - n}}, **{column: value})
    ]
    with pytest.raises(Undefined, match=f"no document has 2 labels.*each {column} is taken by itself"):
        disagreement(asked)


def test_the_webtracks_diversity_labels_are_of_one_user() -> None:
    path = DATA / "web2010" / "10.diversity-qrels.final.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path}: set KARAT_DATA to the folder with the research data")
    with pytest.raises(Undefined, match="no document has 2 labels"):
        disagreement(read_judgments(str(path)))


def test_judges_who_agree_on_snippet_and_page_agree() -> None:
    # The snippets look worse than the pages, to both: counted as other users they made p(2|2) less than 1.
    both = rows(AGREE, surface="page") + rows({"a": {"x": 1, "y": 1}, "b": {"x": 2, "y": 2}}, surface="snippet")
    found = disagreement(both)
    assert found.p.tolist() == [0.0, 0.0, 1.0]
    assert "4 labels of snippets left aside" in found.notes
    by = disagreement_by(both, "surface").frame
    assert by.filter(pl.col("level") == 2)["p"].to_list() == [1.0, 1.0]
    weights = combined_weights(both, ["snippet", "page"], [1, 2]).frame
    assert weights["p_top"].to_list() == [1.0, 0.0]


def test_snippet_then_page_is_not_judged_twice() -> None:
    both = rows(AGREE, surface="page") + rows(AGREE, surface="snippet")
    with pytest.raises(Undefined, match="no judge judged a document twice"):
        consistency(both)
    assert overlap(both).frame["documents"].to_list() == [3]


def test_a_judges_repeats_are_not_other_users() -> None:
    # Of a: x says 2, y says 1. x says 2 again, twice: another user still never says 2 after 2.
    given = rows({"a": {"x": 2, "y": 1}}) + rows({"a": {"x": 2}}) * 2
    found = disagreement(given)
    assert found.p.tolist() == [1.0, 0.0]
    assert "2 labels repeated by the same judge: the first counts" in found.notes
    # A caller may take all labels for those of users: given 2 (weight 3/4), two of the three others are.
    assert disagreement(Panel.of(given, repeats="all")).p.tolist() == pytest.approx([1.0, 2 / 3])
    alone = rows({"a": {"x": 2}, "b": {"x": 1}})
    with pytest.raises(Undefined, match="no document has 2 labels"):
        disagreement(alone + alone)


def test_consistency_is_exact_and_needs_no_draws() -> None:
    # a: x says 2 2 0, y says 2 0. b: x says 0 0. Of two of x's three labels of a, the other is 2 after a 2 in 1 of 2
    # cases, after the 0 always; of y's never after 2, always after 0. Self p(2|2): (2/3 * 1/2 + 1/2 * 0) / (2/3 + 1/2).
    given = [("a", "x", 2), ("a", "x", 2), ("a", "x", 0), ("a", "y", 2), ("a", "y", 0), ("b", "x", 0), ("b", "x", 0)]
    labels = [{"query": "q", "doc": doc, "judge": judge, "label": label} for doc, judge, label in given]
    found = consistency(labels, draws=0).frame
    p = {(row["kind"], row["level"]): row["p"] for row in found.iter_rows(named=True)}
    assert p["self", 2.0] == pytest.approx((2 / 3 * 1 / 2) / (2 / 3 + 1 / 2))
    assert p["self", 0.0] == pytest.approx((1 / 3 + 1 / 2) / (1 / 3 + 1 / 2 + 1))
    # Cross, x against y and back: 2 * (2/3 * 1/2) / (2/3 + 1/2).
    assert p["cross", 2.0] == pytest.approx(2 * (2 / 3 * 1 / 2) / (2 / 3 + 1 / 2))
    assert found["sd"].is_nan().all()
    drawn = consistency(labels * 3, draws=400, seed=3)
    assert drawn.frame["draws"].list.len().to_list() == [400] * 4
    assert (drawn.frame["sd"] >= 0).all()


@pytest.mark.parametrize("names", ["xyz", "xzy", "zyx", "yzx"])
def test_all_pairs_of_judges_count_alike_whatever_their_names(names: str) -> None:
    # Two say 2, the third 0: of the four times that one said 2 and was compared, another agrees twice.
    given = dict(zip(names, (2, 2, 0), strict=True))
    found = consistency(rows({"a": given}) * 2, draws=0).frame
    assert found.filter(kind="cross", level=2.0)["p"].to_list() == [0.5]
    assert found.filter(kind="cross", level=0.0)["p"].to_list() == [1.0]


@pytest.mark.parametrize("seed", range(30))
def test_no_sentence_has_a_figure_that_is_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    few = [
        {"query": f"q{d % 2}", "doc": str(d), "judge": str(j), "label": int(rng.integers(-2, 3))}
        for d in range(4)
        for j in range(int(rng.integers(1, 3)))
    ]
    for ask in (disagreement, lambda labels: disagreement_by(labels, "query"), consistency, robustness, overlap):
        with suppress(Undefined):
            assert "nan" not in repr(ask(few)), few


def test_a_level_without_documents_is_named() -> None:
    scale = Scale.parse("Non, Rel, HRel, Key")
    labels = rows({"a": {"x": 3, "y": 3}, "b": {"x": 1, "y": 3}, "c": {"x": 2}, "d": {"x": 0, "y": 0}})
    found = disagreement(kt.Judgments.of(labels, scale=scale))
    assert found.finding == (
        "When one user says Rel, another says Key with probability 1.000; when one says Key, 0.667."
    )
    assert "no document with 2 labels was called HRel: nothing is known of it" in found.notes
    assert found.weights(1, 2) == {0.0: 0.0, 1.0: 1.0, 3.0: 1.0}
    never = disagreement(kt.Judgments.of(rows({"a": {"x": 1, "y": 0}, "b": {"x": 3}}), scale=scale))
    assert never.finding.endswith("no document with several labels was called Key.")
    with pytest.raises(Undefined, match="called Key by everybody"):
        disagreement(kt.Judgments.of(rows({"a": {"x": 3, "y": 3}, "b": {"x": 2}}), scale=scale))


def test_levels_have_the_names_of_the_scale_in_every_sentence() -> None:
    scale = Scale.parse("Non, Rel, Key")
    labels = kt.Judgments.of(rows({"a": {"x": 2, "y": 1}, "b": {"x": 1, "y": 0}}, kind="k") * 2, scale=scale)
    assert disagreement_by(labels, "kind").finding.startswith("p(Key|Rel) is")
    assert consistency(labels).finding.startswith("A judge repeats his own Key")
    assert "calls Key or higher" in overlap(labels).finding


def test_a_frame_of_any_kind_will_do() -> None:
    labels = rows({"a": {"x": 2, "y": 1}, "b": {"x": 1, "y": 2}})
    for given in (pl.DataFrame(labels), pl.DataFrame(labels).to_pandas(), labels):
        assert disagreement(given).p.tolist() == [1.0, 0.0]
        assert overlap(given).frame["overlap"].to_list() == [0.0]


def test_a_good_list_is_told_from_other_labels_than_the_two_compared() -> None:
    # Engine e shows a and b, engine f shows c. Of a one user says 2, one 1; nobody says 2 of b: by query all would be
    # good for the very label that is predicted. Of c, three say 2, 2, 1.
    labels = rows({"a": {"x": 2, "y": 1}, "b": {"x": 1, "y": 0}}, engine="e")
    labels += rows({"c": {"x": 2, "y": 2, "z": 1}}, engine="f")
    found = disagreement_by(labels, "list_quality", draws=0)
    p = {(row["list_quality"], row["level"]): row["p"] for row in found.frame.iter_rows(named=True)}
    # b stands in a list where a was called top: given 1, the other says 0. Of c, each pair is judged by the third: the
    # pairs 1 with 2 (both ways) have a third that is 2; the pair 2 and 2 has a third that is 1. Shares are of 6 pairs.
    assert p["with top", 1.0] == pytest.approx((0 + 2 / 6) / (1 / 2 + 2 / 6))
    assert p["with top", 2.0] == pytest.approx(0.0)
    # Without: a, where neither b nor a third says top, and the pair 2, 2 of c.
    assert p["without top", 1.0] == pytest.approx(1.0)
    assert p["without top", 2.0] == pytest.approx((2 / 6) / (1 / 2 + 2 / 6))
    assert any("lists are of query and engine" in note for note in found.notes)
    whole = disagreement_by([{k: v for k, v in row.items() if k != "engine"} for row in labels], "list_quality")
    assert whole.frame["list_quality"].unique().to_list() == ["with top"]


def lists_of_two_engines() -> list[dict[str, object]]:
    """Labels of ann and bob: in e1 both call something top (2), in e2 only bob does."""
    given = {
        ("e1", "d1"): (2, 1),
        ("e1", "d2"): (1, 2),
        ("e1", "d3"): (1, 1),
        ("e2", "d4"): (1, 2),
        ("e2", "d5"): (0, 0),
    }
    return [
        {"query": "q", "doc": doc, "engine": engine, "judge": judge, "label": label}
        for (engine, doc), labels in given.items()
        for judge, label in zip(("ann", "bob"), labels, strict=True)
    ]


def test_list_has_top_goes_by_the_judge_whose_label_is_given() -> None:
    found = disagreement_by(lists_of_two_engines(), "list_has_top", draws=0)
    p = {(row["list_has_top"], row["level"]): row["p"] for row in found.frame.iter_rows(named=True)}
    # In e1 a 1 meets 2, 2, 1 and 1: a half; ann, who calls nothing in e2 top, says 1 of d4, of which bob says 2.
    assert p["with top", 1] == pytest.approx(1 / 2)
    assert p["without top", 1] == pytest.approx(1)
    assert p["without top", 0] == p["with top", 0] == 0
    assert any("if the judge whose label is given calls something in it top" in note for note in found.notes)
    crossed = disagreement_by([row | {"rank": 1} for row in lists_of_two_engines()], ["top5", "list_has_top"], draws=0)
    assert crossed.frame["top5 x list_has_top"].unique().sort().to_list() == ["yes, with top", "yes, without top"]
    with pytest.raises(kt.BadInput, match="column judge for list_has_top"):
        disagreement_by(
            [{k: v for k, v in row.items() if k != "judge"} for row in lists_of_two_engines()], "list_has_top"
        )
    with pytest.raises(kt.BadInput, match="one of list_quality and list_has_top"):
        disagreement_by(lists_of_two_engines(), ["list_quality", "list_has_top"])
