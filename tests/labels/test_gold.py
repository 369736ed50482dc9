"""Gold is split off once, and no label is checked by itself."""

from __future__ import annotations

import pytest

import karat as kt
from karat.labels import split_gold


def rows(judge: str, labels: dict[str, int], **more: object) -> list[dict[str, object]]:
    return [{"query": "q", "doc": doc, "label": label, "judge": judge, **more} for doc, label in labels.items()]


def test_labels_that_are_gold_labels_too_are_left_aside_and_this_is_said() -> None:
    """A study's export has models and people together; what people labelled is the gold to check the model by."""
    model, people = rows("model", {"a": 2, "b": 0, "c": 1}), rows("anna", {"a": 0, "b": 0})
    judged, gold = split_gold(kt.Judgments.of(model + people), kt.Judgments.of(people))
    assert judged.frame["judge"].unique().to_list() == ["model"]
    assert gold is not None
    assert len(gold) == 2
    assert judged.notes == (
        "2 labels that stand among the gold labels, too, left aside: a label cannot be checked by itself",
    )


def test_what_a_gold_judge_says_of_a_snippet_or_an_aspect_is_not_among_the_gold_labels() -> None:
    page = rows("anna", {"a": 1, "b": 0})
    others = [row | more for row in page for more in ({"surface": "snippet"}, {"aspect": "novelty"})]
    said = kt.Judgments.of([*page, *others, *rows("ben", {"a": 1})])
    judged, _ = split_gold(said, kt.Judgments.of(page))
    assert len(judged) == 5
    assert judged.frame.filter(judge="anna").select("surface", "aspect").n_unique() == 2


@pytest.mark.parametrize("name", ["ben", None])
def test_another_judges_label_of_the_same_document_stays(name: str | None) -> None:
    model, others = rows("model", {"a": 2, "b": 0}), rows("ben", {"a": 1})
    gold = [row | {"judge": name} if name != "ben" else row | {"judge": "anna"} for row in rows("anna", {"a": 0})]
    judged, _ = split_gold(kt.Judgments.of(model + others), kt.Judgments.of(gold))
    assert len(judged) == 3


def test_labels_that_are_all_gold_stay_what_they_are() -> None:
    labels = kt.Judgments.of(rows("anna", {"a": 2, "b": 0}))
    assert len(split_gold(labels, labels)[0]) == 2
