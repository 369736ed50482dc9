"""Labels of one aspect, or of several with weights, in place of overall ones, for every measure."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from commands import typed
from karat.errors import BadInput

GRADES = {"a": (3, 1, None), "b": (0, 2, 4), "c": (1, None, None)}
ROWS = [
    {"query": "q", "doc": doc, "judge": "ann", "aspect": aspect, "label": label}
    for doc, labels in GRADES.items()
    for aspect, label in zip(("overall", "Topicality", "authority"), labels, strict=True)
]
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def test_an_aspect_is_scored_as_if_it_were_overall() -> None:
    def cg(labels: object) -> float:
        return float(kt.score(labels, RUN, "CG@3", draws=0).means["value"][0])

    assert (cg(ROWS), cg(kt.of_aspect(ROWS, "overall"))) == (4.0, 4.0)
    assert cg(kt.of_aspect(ROWS, "topicality")) == 3.0
    assert cg(kt.of_aspect(ROWS, "authority")) == 4.0
    # a: 1 of topicality alone; b: (3 x 2 + 1 x 4) / 4 = 2.5; c: no answer to any.
    both = kt.of_aspect(ROWS, {"topicality": 3, "authority": 1})
    assert dict(both.frame.select("doc", "label").iter_rows()) == {"a": 1.0, "b": 2.5, "c": None}
    assert cg(both) == 3.5
    assert "1 label without an answer to some of these aspects: the others count" in both.notes


def test_what_is_combined_is_of_one_judge_and_one_setting() -> None:
    rows = [
        {"query": "q", "doc": "d", "judge": judge, "context": context, "aspect": aspect, "label": label}
        for judge, context, aspect, label in [
            ("ann", None, "novelty", 4),
            ("ann", None, "quality", 0),
            ("bob", None, "novelty", 1),
            ("bob", None, "quality", 1),
            ("ann", "c", "novelty", 0),
            ("ann", "c", "quality", 0),
        ]
    ]
    found = kt.of_aspect(rows, "novelty=1,quality=1").frame.sort("judge", "context", nulls_last=False)
    assert found.select("judge", "context", "label").rows() == [
        ("ann", None, 2.0),
        ("ann", "c", 0.0),
        ("bob", None, 1.0),
    ]


@pytest.mark.parametrize("wrong", ["", "novelty=", "novelty=x", "novelty=-1", "novelty=0"])
def test_what_is_no_aspect_is_refused(wrong: str) -> None:
    with pytest.raises(BadInput, match="an aspect, or several with weights"):
        kt.of_aspect(ROWS, wrong)


def test_an_aspect_that_nobody_was_asked_about_is_named() -> None:
    with pytest.raises(BadInput, match=r"one that labels are of \(authority, overall, topicality\), found novelty"):
        kt.of_aspect(ROWS, "novelty")
    with pytest.raises(BadInput, match="a column aspect with novelty"):
        kt.of_aspect({"q": {"d": 1}}, "novelty")


def test_every_command_that_scores_takes_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    many = [row | {"query": f"q{n}"} for n in range(6) for row in ROWS]
    pl.DataFrame(many).write_csv(tmp_path / "labels.csv")
    for name, order in (("one", "abc"), ("two", "bca")):
        lines = [f"q{n} 0 {doc} 0 {-place} {name}" for n in range(6) for place, doc in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    said = [("q0", "one", "two", "left"), ("q1", "one", "two", "right")]
    pl.DataFrame(said, schema=["query", "left", "right", "choice"], orient="row").write_csv(tmp_path / "said.csv")
    score = typed("karat score labels.csv one.run -m CG@1 --aspect topicality=3,authority=1 --tsv", tmp_path)
    assert score.stdout.splitlines()[1].split("\t")[3] == "1.0"
    compare = typed(
        "karat compare labels.csv one.run two.run -m CG@1 --aspect authority --draws 100 --allow-unjudged", tmp_path
    )
    assert compare.returncode in (0, 1), compare.stderr
    assert "4" in compare.stdout
    agreement = typed("karat validate said.csv labels.csv one.run two.run -m CG@1 --aspect topicality --json", tmp_path)
    assert agreement.returncode == 0, agreement.stderr
    assert typed("karat score labels.csv one.run -m CG@1 --aspect novelty", tmp_path).returncode == 2
